/** Handles requests about the actions of administrators. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminActions } from "../../store/AdminActions.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { adminAction } from "../api/AuditGroup.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"

export const layer = HttpApiBuilder.group(AdminHttpApi, "audit", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { action, actor, outcome, since } = query
      const filter = { action, actor, outcome, since: since === undefined ? undefined : Date.parse(since) }
      return AdminActions.use((actions) => actions.list({ ...filter, ...pageFilter(query) })).pipe(
        Effect.map((found) => toPage(found, query, adminAction.view)),
        orUnavailable
      )
    }
  })
)
