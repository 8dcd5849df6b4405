/** Tests the fields that the login by OpenID Connect needs. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"

const oidc = { issuer: "https://id.test", client_id: "aicr", roles: { viewer: ["all"] } }
const server = { base_url: "https://aicr.test" }

const load = (document: object) =>
  Effect.runPromise(
    toSnapshot({ allow_empty: true, ...document }, {}).pipe(
      Effect.as("valid"),
      Effect.catch((error) => Effect.succeed(error.message))
    )
  )

it("a complete login is valid, and none needs nothing", async () => {
  expect(await load({ server, admin: { oidc } })).toBe("valid")
  expect(await load({ admin: {} })).toBe("valid")
})

it.each<readonly [string, object, string]>([
  ["no issuer", { server, admin: { oidc: { ...oidc, issuer: undefined } } }, "admin.oidc.issuer"],
  ["no client", { server, admin: { oidc: { ...oidc, client_id: undefined } } }, "admin.oidc.client_id"],
  ["no public address", { admin: { oidc } }, "server.base_url"],
  ["no group", { server, admin: { oidc: { ...oidc, roles: { viewer: [] } } } }, "admin.oidc.roles"],
  ["an issuer without encryption", { server, admin: { oidc: { ...oidc, issuer: "http://id.test" } } }, "https://"],
  ["scopes without openid", { server, admin: { oidc: { ...oidc, scopes: ["email"] } } }, "openid"]
])("%s is an error that names the field", async (_, document, named) => {
  expect(await load(document)).toContain(named)
})
