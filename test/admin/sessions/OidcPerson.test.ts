/** Tests the name and the role of a person, or the refusal, by the claims of a provider. */
import { describe, expect, it } from "vitest"
import { decidePerson, lacksClaims } from "../../../src/admin/sessions/OidcPerson.ts"
import type { OidcSettings } from "../../../src/admin/sessions/OidcPerson.ts"

const settings = (over: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer: "https://id.test",
  clientId: "aicr",
  clientSecret: undefined,
  scopes: ["openid"],
  usernameClaim: "email",
  groupsClaim: "groups",
  roles: { viewer: ["all"], operator: ["ops"], editor: ["leads", "platform"], administrator: ["admins"] },
  redirectUri: "https://aicr.test/dashboard/login",
  digest: "d",
  ...over
})

const many = Array.from({ length: 500 }, (_, at) => `group-${at}`)
const decide = (claims: object, over: Partial<OidcSettings> = {}) => {
  const person = decidePerson({ email: "mika@acme.test", ...claims }, settings(over), "root")
  return person._tag === "Person" ? [person.username, person.role] : person.why._tag
}

describe("a role", () => {
  it.each<readonly [string, object, Partial<OidcSettings>, unknown]>([
    ["one group", { groups: ["ops"] }, {}, ["mika@acme.test", "operator"]],
    ["several groups: the highest", { groups: ["all", "leads", "ops"] }, {}, ["mika@acme.test", "editor"]],
    ["one of 500 groups", { groups: [...many, "admins"] }, {}, ["mika@acme.test", "administrator"]],
    ["a text in place of a list", { groups: "all" }, {}, ["mika@acme.test", "viewer"]],
    ["a path", { realm: { roles: ["all"] } }, { groupsClaim: "realm.roles" }, ["mika@acme.test", "viewer"]],
    ["a name with dots", { "https://a.b/c": ["all"] }, { groupsClaim: "https://a.b/c" }, ["mika@acme.test", "viewer"]],
    ["no group that has a role", { groups: many }, {}, "OidcNoRole"],
    ["a group of another spelling", { groups: ["Ops", "ops "] }, {}, "OidcNoRole"],
    ["objects as groups", { groups: [{ name: "ops" }, ["ops"]] }, {}, "OidcNoRole"],
    ["no groups", { groups: [] }, {}, "OidcNoRole"],
    ["no claim", {}, {}, "OidcGroupsMissing"],
    ["a number", { groups: 7 }, {}, "OidcGroupsMissing"],
    ["a reference to groups", { _claim_names: { groups: "src1" } }, {}, "OidcGroupOverage"],
    ["a mark of many groups", { hasgroups: true }, {}, "OidcGroupOverage"],
    ["a claim of the prototype", {}, { groupsClaim: "constructor.name" }, "OidcGroupsMissing"]
  ])("of %s", (_, claims, over, expected) => expect(decide(claims, over)).toEqual(expected))
})

describe("a name", () => {
  const groups = ["ops"]
  it.each<readonly [string, object, Partial<OidcSettings>, unknown]>([
    ["another claim", { upn: "mika", groups }, { usernameClaim: "upn" }, ["mika", "operator"]],
    ["a verified address", { email_verified: true, groups }, {}, ["mika@acme.test", "operator"]],
    ["an address that is not verified", { email_verified: false, groups }, {}, "OidcNameUnverified"],
    ["none", { email: undefined, groups }, {}, "OidcNameMissing"],
    ["spaces", { email: "  ", groups }, {}, "OidcNameMissing"],
    ["a line break", { email: "a\nb", groups }, {}, "OidcNameMissing"],
    ["a very long text", { email: "x".repeat(257), groups }, {}, "OidcNameMissing"],
    ["the administrator's", { email: "Root", groups: ["admins"] }, {}, "OidcNameTaken"],
    ["a program's", { email: "token laptop", groups: ["admins"] }, {}, "OidcNameTaken"]
  ])("of %s", (_, claims, over, expected) => expect(decide(claims, over)).toEqual(expected))
})

it("userinfo is read only if the token lacks a claim, and not for groups that the provider only refers to", () => {
  expect(lacksClaims({ email: "a", groups: [] }, settings())).toBe(false)
  expect(lacksClaims({ email: "a" }, settings())).toBe(true)
  expect(lacksClaims({ groups: [] }, settings())).toBe(true)
  expect(lacksClaims({ email: "a", _claim_names: { groups: "src1" } }, settings())).toBe(false)
})
