/** Sources of the administrator's user name and password: each field set in a configuration, observed at the login. */
import { createHash } from "node:crypto"
import { afterEach, assert, it } from "vitest"
import { password, startAdmin } from "./AdminServer.ts"
import type { AdminServer } from "./AdminServer.ts"

let admin: AdminServer | undefined
afterEach(async () => {
  await admin?.stop()
  admin = undefined
})

const hash = `sha256:${createHash("sha256").update(password).digest("hex")}`

it.each<readonly [string, object, Record<string, string>]>([
  [
    "username_env and password_env",
    { username_env: "ADMIN_NAME", password_env: "ADMIN_PASSWORD" },
    { ADMIN_NAME: "root", ADMIN_PASSWORD: password, SVC_ADMIN_USERNAME: "other", SVC_ADMIN_PASSWORD: "other" }
  ],
  ["password", { password }, { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "other" }],
  ["password_hash", { password_hash: hash }, { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "other" }]
])("the login takes what %s configure", async (_, fields, env) => {
  admin = await startAdmin({ env, document: { admin: fields } })
  assert.strictEqual((await admin.login()).status, 200)
  assert.strictEqual((await admin.login("other")).status, 401)
  assert.strictEqual((await admin.login("other", "other")).status, 401)
})
