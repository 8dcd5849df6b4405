/** Handles requests about reviewed changes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RunStatus } from "../../domain/Run.ts"
import { Runs } from "../../store/Runs.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { selected } from "../api/Parameters.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { withEvents } from "../views/RunEvents.ts"
import { reviewedChangeView } from "../views/RunViews.ts"

export const layer = HttpApiBuilder.group(AdminHttpApi, "changes", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { number, repo, status, trigger, workspace } = query
      const statuses = status === undefined ? undefined : selected(RunStatus, status)
      const filter = { workspace, number, repo, trigger, statuses, ...pageFilter(query) }
      return Runs.use((runs) => runs.newest(filter)).pipe(
        Effect.flatMap(withEvents),
        Effect.map((found) => toPage(found, query, reviewedChangeView)),
        orUnavailable
      )
    }
  })
)
