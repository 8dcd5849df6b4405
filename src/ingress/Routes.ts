/** Parses the paths of the service. A host may be addressed by product name or by its neutral token. */
import type { ForgeKind } from "../domain/Kinds.ts"
import { listNames, listSpellings } from "../domain/Vocabulary.ts"
import { sharedPath } from "../domain/ReviewLink.ts"
import type { Name } from "../domain/Vocabulary.ts"
import type { DevelopersLanguage } from "./DevelopersPage.ts"

export type Route =
  | { readonly _tag: "Webhook"; readonly kind: ForgeKind }
  | { readonly _tag: "Trigger"; readonly path: Name<"triggerPath"> }
  | { readonly _tag: "ChatCallback"; readonly connection: string }
  | { readonly _tag: "Health" }
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Metrics" }
  /** `path` is below `/dashboard`. */
  | { readonly _tag: "Dashboard"; readonly path: string }
  /** The page for developers, without login. */
  | { readonly _tag: "Developers"; readonly language: DevelopersLanguage }
  /** A shared review, without login. `path` is below `/shared/`. */
  | { readonly _tag: "SharedReview"; readonly path: string }
  /** Description of the administration, for programs or for people. */
  | { readonly _tag: "ApiDescription"; readonly form: "openapi" | "docs" }
  /** Tools for coding agents. */
  | { readonly _tag: "Mcp" }
  /** `path` is below `/api/admin`. */
  | { readonly _tag: "Admin"; readonly path: string }

/** Returns the methods of a route as an `allow` header. The administration determines its methods itself. */
export const listMethods = (route: Route): "POST" | "GET, HEAD" | "GET, POST" | "GET, HEAD, POST, PUT, DELETE" => {
  if (route._tag === "Admin") return "GET, HEAD, POST, PUT, DELETE"
  if (route._tag === "ChatCallback") return "GET, POST"
  return route._tag === "Webhook" || route._tag === "Trigger" || route._tag === "Mcp" ? "POST" : "GET, HEAD"
}

const callbacks = "/callbacks/im/"
const connectionId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const routes = new Map<string, Route>([
  ["/healthz", { _tag: "Health" }],
  ["/readyz", { _tag: "Ready" }],
  ["/metrics", { _tag: "Metrics" }],
  ["/", { _tag: "Dashboard", path: "" }],
  ["/dashboard", { _tag: "Dashboard", path: "" }],
  ["/developers", { _tag: "Developers", language: "en" }],
  ["/developers/zh", { _tag: "Developers", language: "zh" }],
  ["/mcp", { _tag: "Mcp" }],
  ["/api/openapi.json", { _tag: "ApiDescription", form: "openapi" }],
  ["/api/docs", { _tag: "ApiDescription", form: "docs" }],
  ...listNames("webhookPath").flatMap((kind) =>
    [kind, ...listSpellings("webhookPath", kind)].map((name): [string, Route] => [
      `/webhooks/${name}`,
      { _tag: "Webhook", kind }
    ])
  ),
  ...listNames("triggerPath").flatMap((path) =>
    [path, ...listSpellings("triggerPath", path)].map((name): [string, Route] => [
      `/triggers/${name}`,
      { _tag: "Trigger", path }
    ])
  )
])

/** Normalises `/aicr/` and `aicr` to `/aicr`; no prefix becomes "". */
export const normalisePrefix = (prefix: string | undefined): string => {
  const trimmed = (prefix ?? "").replace(/^\/+|(?<!\/)\/+$/g, "")
  return trimmed === "" ? "" : `/${trimmed}`
}

/** Returns the route of a request target. The query and a trailing slash are ignored. */
export const parseRoute = (prefix: string, target: string): Route | undefined => {
  const question = target.indexOf("?")
  const path = question === -1 ? target : target.slice(0, question)
  if (prefix !== "" && path !== prefix && !path.startsWith(`${prefix}/`)) return undefined
  const inner = path.slice(prefix.length)
  const found = routes.get(inner === "" ? "/" : inner)
  if (found !== undefined) return found
  if (inner.startsWith(sharedPath)) return { _tag: "SharedReview", path: inner.slice(sharedPath.length) }
  if (inner.startsWith("/dashboard/")) {
    return { _tag: "Dashboard", path: inner.slice("/dashboard".length) }
  }
  if (inner.startsWith(callbacks)) {
    const connection = inner.slice(callbacks.length)
    return connectionId.test(connection) ? { _tag: "ChatCallback", connection } : undefined
  }
  if (inner.startsWith("/api/verdicts/")) return { _tag: "Admin", path: inner.slice("/api".length) }
  if (inner.startsWith("/api/admin/")) return { _tag: "Admin", path: inner.slice("/api/admin".length) }
  return inner.length > 1 && inner.endsWith("/") ? routes.get(inner.slice(0, -1)) : undefined
}
