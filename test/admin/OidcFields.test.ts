/** Fields of `admin.oidc`: each set in a configuration, observed at a login at a real provider. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { oidcClient, OidcProvider } from "../harness/OidcProvider.ts"
import { password, startAdmin } from "./AdminServer.ts"
import type { AdminServer } from "./AdminServer.ts"

const back = "https://aicr.test/dashboard/login"
const wrong = "another secret"

let provider: OidcProvider
let admin: AdminServer | undefined
beforeAll(async () => {
  provider = await OidcProvider.start([back])
})
afterEach(async () => {
  await admin?.stop()
  admin = undefined
})
afterAll(() => provider[Symbol.asyncDispose]())

const person = {
  sub: "mika",
  email: "mika@acme.test",
  preferred_username: "mika",
  groups: ["first", "second"],
  realm_access: { roles: ["first"] }
}

const start = async (over: object): Promise<URLSearchParams> => {
  const oidc = {
    issuer: provider.issuer,
    client_id: oidcClient.id,
    client_secret: oidcClient.secret,
    roles: { viewer: ["first"] },
    ...over
  }
  admin = await startAdmin({
    env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, RIGHT: oidcClient.secret, WRONG: wrong },
    document: { server: { base_url: "https://aicr.test" }, admin: { oidc } }
  })
  const { body } = await admin.call("POST", "/login/oidc")
  const url = new URL(String(body["url"]))
  assert.strictEqual(url.origin, provider.issuer)
  url.searchParams.set("binding", String(body["binding"]))
  url.searchParams.set("address", url.href)
  return url.searchParams
}

const logIn = async (over: object) => {
  const query = await start(over)
  const url = new URL(query.get("address") ?? "")
  url.searchParams.delete("binding")
  const response = (await provider.logIn(url.href, person)).search.slice(1)
  const reply = await admin?.call("POST", "/login/oidc/finish", { body: { binding: query.get("binding"), response } })
  const session = await admin?.call("GET", "/session", { token: reply?.body["token"] })
  return { status: reply?.status, username: reply?.body["username"], role: session?.body["role"] }
}

describe("admin.oidc", () => {
  it("issuer and client_id name the provider and the client", async () => {
    assert.strictEqual((await start({})).get("client_id"), oidcClient.id)
  })

  it("scopes are requested", async () => {
    assert.strictEqual((await start({ scopes: ["openid", "email"] })).get("scope"), "openid email")
  })

  it("client_secret is sent", async () => {
    assert.strictEqual((await logIn({})).status, 200)
    await admin?.stop()
    assert.strictEqual((await logIn({ client_secret: wrong })).status, 401)
  })

  it("client_secret_env is sent", async () => {
    const named = (variable: string) => logIn({ client_secret: undefined, client_secret_env: variable })
    assert.strictEqual((await named("RIGHT")).status, 200)
    await admin?.stop()
    assert.strictEqual((await named("WRONG")).status, 401)
  })

  it("username_claim has the name", async () => {
    assert.include(await logIn({ username_claim: "preferred_username" }), { username: "mika" })
  })

  it("groups_claim has the groups", async () => {
    const roles = { viewer: ["second"], editor: ["first"] }
    assert.include(await logIn({ groups_claim: "realm_access.roles", roles }), { role: "editor" })
  })

  it.each(["viewer", "operator", "editor", "administrator"])("roles.%s has the groups of the role", async (role) => {
    assert.include(await logIn({ roles: { [role]: ["second"] } }), { role })
  })
})
