/** Handles requests about reviewed changes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { searchTerms } from "../../domain/SearchText.ts"
import { RunStatus } from "../../domain/Run.ts"
import { Runs } from "../../store/Runs.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { selected } from "../api/Parameters.ts"
import { orUnavailable } from "./Available.ts"
import { continued, pageFilter, parseTime, toPage } from "./Paging.ts"
import { withEvents } from "../views/RunEvents.ts"
import { reviewedChangeView } from "../views/RunViews.ts"

export const layer = HttpApiBuilder.group(AdminHttpApi, "changes", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { number, q, repo, since, status, trigger, until, workspace } = query
      const statuses = status === undefined ? undefined : selected(RunStatus, status)
      const times = { since: parseTime(since), until: parseTime(until) }
      const filter = { workspace, number, repo, trigger, statuses, ...times, ...pageFilter(query) }
      const terms = searchTerms(q ?? "")
      return Runs.use((runs) =>
        terms.length === 0
          ? Effect.map(runs.newest(filter), (found) => ({ runs: found, searchedTo: undefined }))
          : runs.search({ ...filter, terms, isNewest: true })
      ).pipe(
        Effect.flatMap(({ runs, searchedTo }) =>
          Effect.map(withEvents(runs), (found) => continued(toPage(found, query, reviewedChangeView), searchedTo))
        ),
        orUnavailable
      )
    }
  })
)
