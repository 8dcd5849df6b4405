/** Decides who logs in by OpenID Connect: the name and the role of a person according to the claims of the provider. Pure. */
import { createHash } from "node:crypto"
import { Predicate, Redacted } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import { AccessRole } from "../../domain/AccessRole.ts"
import type { Reason } from "../../domain/Reason.ts"
import { isStorable } from "../../domain/Text.ts"
import { dashboardUrl } from "./DashboardAddress.ts"

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted | undefined
  readonly scopes: ReadonlyArray<string>
  readonly usernameClaim: string
  readonly groupsClaim: string
  readonly roles: Readonly<Record<AccessRole, ReadonlyArray<string>>>
  /** Page of the dashboard to which the provider returns. */
  readonly redirectUri: string
  /** Digest of what decides who gets in. Sessions end when it changes. */
  readonly digest: string
}

/** Returns undefined if login by OpenID Connect is not configured. */
export const readOidc = (snapshot: Snapshot): OidcSettings | undefined => {
  const { oidc } = snapshot.document.admin
  const { client_id: clientId, groups_claim: groupsClaim, issuer, roles, scopes, username_claim: usernameClaim } = oidc
  if (issuer === undefined || clientId === undefined) return undefined
  const decisive = [issuer, clientId, groupsClaim, usernameClaim, roles]
  return {
    issuer,
    clientId,
    clientSecret: snapshot.credential(oidc, "client_secret"),
    scopes,
    usernameClaim,
    groupsClaim,
    roles,
    redirectUri: `${dashboardUrl(snapshot.document.server)}/login`,
    digest: createHash("sha256").update(JSON.stringify(decisive)).digest("hex")
  }
}

type Claims = Readonly<Record<string, unknown>>

/** Returns a claim by its name, or by the path to it. */
const claimAt = (claims: Claims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split("."))
    value = Predicate.isReadonlyObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

/** Returns whether the provider sent a reference in place of the groups, as Entra does for people with many of them. */
const isReferenced = (claims: Claims, name: string): boolean =>
  (Predicate.isReadonlyObject(claims["_claim_names"]) && Object.hasOwn(claims["_claim_names"], name)) ||
  claims["hasgroups"] === true

/** Returns whether userinfo may complete the claims. */
export const lacksClaims = (claims: Claims, { groupsClaim, usernameClaim }: OidcSettings): boolean =>
  claimAt(claims, usernameClaim) === undefined ||
  (claimAt(claims, groupsClaim) === undefined && !isReferenced(claims, groupsClaim))

const maxName = 256

const nameFrom = (
  claims: Claims,
  { usernameClaim: claim }: OidcSettings,
  administrator: string
): { readonly name: string } | { readonly refused: Reason } => {
  const given = claimAt(claims, claim)
  const name = typeof given === "string" ? given.trim() : ""
  if (name === "" || name.length > maxName || !isStorable(name) || /\p{Cc}/u.test(name))
    return { refused: { _tag: "OidcNameMissing", claim } }
  if (claim === "email" && claims["email_verified"] === false) return { refused: { _tag: "OidcNameUnverified", claim } }
  return name.toLowerCase() === administrator.toLowerCase() || /^token /i.test(name)
    ? { refused: { _tag: "OidcNameTaken" } }
    : { name }
}

/** Roles from the highest one on. */
const descending = AccessRole.literals.toReversed()

export type OidcPerson =
  | { readonly _tag: "Person"; readonly username: string; readonly role: AccessRole }
  | { readonly _tag: "Refused"; readonly username: string | undefined; readonly why: Reason }

/** `administrator`: the name of the administrator with a password, which no other person gets. */
export const decidePerson = (claims: Claims, settings: OidcSettings, administrator: string): OidcPerson => {
  const named = nameFrom(claims, settings, administrator)
  if ("refused" in named) return { _tag: "Refused", username: undefined, why: named.refused }
  const { name: username } = named
  const { groupsClaim: claim, roles } = settings
  const given = claimAt(claims, claim)
  const groups = typeof given === "string" ? [given] : given
  if (!Array.isArray(groups)) {
    const why = { _tag: isReferenced(claims, claim) ? "OidcGroupOverage" : "OidcGroupsMissing", claim } as const
    return { _tag: "Refused", username, why }
  }
  const held = new Set<unknown>(groups)
  const role = descending.find((one) => roles[one].some((group) => held.has(group)))
  return role === undefined
    ? { _tag: "Refused", username, why: { _tag: "OidcNoRole", name: username } }
    : { _tag: "Person", username, role }
}
