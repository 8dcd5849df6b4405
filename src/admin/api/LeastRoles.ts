/** The least role of each endpoint: the one table that decides who may do what. An endpoint without a row does not compile. Pure. */
import { includesRole } from "../../domain/AccessRole.ts"
import type { AccessRole } from "../../domain/AccessRole.ts"
import type { AdminRoute } from "./AdminRoute.ts"

/** `anyone`: the endpoint opens a session, or is public. */
const leastRoles = {
  "POST /login": "anyone",
  "POST /login/redeem": "anyone",
  "GET /login/methods": "anyone",
  "POST /login/oidc": "anyone",
  "POST /login/oidc/finish": "anyone",
  "GET /verdicts/key": "anyone",

  "GET /session": "viewer",
  "POST /logout": "viewer",
  "GET /live": "viewer",
  "GET /queue": "viewer",
  "GET /queue/causes": "viewer",
  "GET /queue/:id": "viewer",
  "GET /batches": "viewer",
  "GET /batches/:id": "viewer",
  "GET /events": "viewer",
  "GET /events/reasons": "viewer",
  "GET /events/:id": "viewer",
  "GET /events/:id/story": "viewer",
  "GET /story": "viewer",
  "GET /rejected-signatures": "viewer",
  "GET /runs": "viewer",
  "GET /runs/live": "viewer",
  "GET /runs/:id": "viewer",
  "GET /runs/:id/compare": "viewer",
  "GET /runs/:id/log": "viewer",
  "GET /runs/:id/findings/:fingerprint/diff": "viewer",
  "GET /changes": "viewer",
  "GET /nodes": "viewer",
  "GET /providers": "viewer",
  "GET /chat/connections": "viewer",
  "GET /chat/notices": "viewer",
  "GET /chat/requests": "viewer",
  "GET /chat/bindings": "viewer",
  "GET /verdicts/statement": "viewer",
  "GET /triggers": "viewer",
  "GET /triggers/:name/inventory": "viewer",
  "GET /projects": "viewer",
  "GET /acceptance": "viewer",
  "GET /stats": "viewer",
  "GET /stats/periods": "viewer",
  "GET /stats/projects": "viewer",
  "GET /stats/providers": "viewer",
  "GET /stats/outcomes": "viewer",
  "GET /stats/findings": "viewer",
  "GET /stats/timeline": "viewer",
  "GET /budgets": "viewer",
  "GET /rules": "viewer",
  "GET /views": "viewer",
  "POST /views": "viewer",
  "DELETE /views/:id": "viewer",
  "GET /config": "viewer",
  "GET /config/workspaces/:id": "viewer",
  "GET /config/schema": "viewer",
  "GET /config/options/:source": "viewer",
  "GET /config/status": "viewer",
  "GET /config/revisions": "viewer",
  "GET /config/revisions/:number": "viewer",
  "POST /config/preview-route": "viewer",

  "GET /events/:id/payload": "operator",
  "GET /runs/:id/calls": "operator",
  "GET /runs/:id/calls/:call": "operator",
  "POST /queue/pause": "operator",
  "POST /queue/resume": "operator",
  "POST /queue/drain": "operator",
  "POST /providers/:id/resume": "operator",
  "POST /queue/bulk": "operator",
  "POST /queue/:id/retry": "operator",
  "POST /queue/:id/cancel": "operator",
  "POST /batches/:id/retry": "operator",
  "POST /batches/:id/cancel": "operator",
  "POST /events/:id/replay": "operator",
  "POST /runs/:id/cancel": "operator",
  "POST /runs/:id/link": "operator",
  "POST /runs/:id/rereview": "operator",
  "POST /triggers/:name/check": "operator",
  "POST /triggers/:name/catch-up": "operator",
  "POST /triggers/:name/inventory": "operator",

  "POST /triggers/:name/setup": "editor",
  "DELETE /projects/:id": "editor",
  "POST /projects/:id/restore": "editor",
  "POST /acceptance/reset": "editor",
  "POST /config/validate": "editor",
  "POST /config/changesets": "editor",
  "GET /config/operations/:id": "editor",
  "POST /config/revisions/:number/preview-restore": "editor",
  "POST /config/revisions/:number/restore": "editor",
  "GET /config/export": "editor",
  "POST /config/import": "editor",
  "GET /config/audit": "editor",
  "GET /config/drafts": "editor",
  "POST /config/drafts": "editor",
  "GET /config/drafts/:id": "editor",
  "GET /config/drafts/:id/document": "editor",
  "POST /config/drafts/:id/preview": "editor",
  "PUT /config/drafts/:id": "editor",
  "DELETE /config/drafts/:id": "editor",
  "POST /config/drafts/:id/approve": "editor",
  "POST /config/drafts/:id/publish": "editor",

  "POST /config/reseal": "administrator",
  "GET /audit": "administrator",
  "GET /stats/authors": "administrator",
  "POST /login/link": "administrator",
  "GET /sessions": "administrator",
  "POST /sessions/revoke": "administrator",
  "POST /sessions/:id/revoke": "administrator",
  "GET /tokens": "administrator",
  "POST /people/preview": "administrator",
  "POST /people/erase": "administrator",
  "POST /tokens": "administrator",
  "POST /tokens/:id/revoke": "administrator"
} as const satisfies Record<AdminRoute, AccessRole | "anyone">

/** Routes for people only: a program with a token would approve its owner's edit, or outlive its own token, and it has no views. */
export const peopleOnly: ReadonlySet<string> = new Set<AdminRoute>([
  "POST /config/drafts/:id/approve",
  "POST /tokens",
  "GET /views",
  "POST /views",
  "DELETE /views/:id"
])

const rows = new Map<string, AccessRole | "anyone">(Object.entries(leastRoles))

/** Returns the least role of a route; an administrator's if it has no row. Undefined: anyone may request it. */
export const readLeastRole = (route: string): AccessRole | undefined => {
  const row = rows.get(route) ?? "administrator"
  return row === "anyone" ? undefined : row
}

/** Returns the routes that a role may not request, each with its least role. */
export const listRefusals = (role: AccessRole): Readonly<Record<string, AccessRole>> => {
  const refused: Record<string, AccessRole> = {}
  for (const [route, least] of rows) if (least !== "anyone" && !includesRole(role, least)) refused[route] = least
  return refused
}
