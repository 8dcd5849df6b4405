/** Checks the login by OpenID Connect: the fields that it needs, and that a group has a role; and those that links to reviews need. */
import type { Check } from "./Check.ts"
import { recordAt, textAt } from "./Tree.ts"

const oidc = ["admin", "oidc"] as const
const loopback: ReadonlyArray<string> = ["127.0.0.1", "[::1]", "localhost"]

const isEncrypted = (issuer: string): boolean => {
  if (!URL.canParse(issuer)) return true
  const { hostname, protocol } = new URL(issuer)
  return protocol === "https:" || loopback.includes(hostname)
}

/** Links carry the public address of the service, and summaries can only have links that are on. */
export const checkLinks: Check = (tree, { error }) => {
  const settings = recordAt(tree, "server", "links")
  const hasKey = settings["key"] !== undefined || settings["key_env"] !== undefined
  if (hasKey && textAt(tree, "server", "base_url") === undefined)
    error({ path: ["server", "base_url"], reason: { _tag: "NeededBy", who: "server.links" }, at: "value" })
  if (settings["in_summaries"] === true && !hasKey)
    error({
      path: ["server", "links", "key_env"],
      reason: { _tag: "NeededBy", who: "server.links.in_summaries" },
      at: "value"
    })
}

export const checkLogin: Check = (tree, { error }) => {
  const settings = recordAt(tree, ...oidc)
  if (Object.keys(settings).length === 0) return
  const missing = (path: ReadonlyArray<string>): void =>
    error({ path, reason: { _tag: "NeededBy", who: "admin.oidc" }, at: "value" })
  const issuer = textAt(settings, "issuer")
  for (const key of ["issuer", "client_id"]) if (settings[key] === undefined) missing([...oidc, key])
  if (textAt(tree, "server", "base_url") === undefined) missing(["server", "base_url"])
  if (issuer !== undefined && !isEncrypted(issuer))
    error({ path: [...oidc, "issuer"], reason: { _tag: "IssuerUnencrypted" }, at: "value" })
  const { scopes } = settings
  if (Array.isArray(scopes) && !scopes.includes("openid"))
    error({ path: [...oidc, "scopes"], reason: { _tag: "OpenidScopeMissing" }, at: "value" })
  const groups = Object.values(recordAt(settings, "roles")).flat()
  if (groups.length === 0) missing([...oidc, "roles"])
}
