/** Handles requests about runs. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TargetKey } from "../../domain/Keys.ts"
import type { Finding } from "../../domain/Problem.ts"
import { RunStatus } from "../../domain/Run.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Outcomes } from "../../store/Outcomes.ts"
import { Receipts } from "../../store/Receipts.ts"
import { RunLogs } from "../../store/RunLogs.ts"
import { Runs, listedValue, runValues } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { selected, pageSize } from "../api/Parameters.ts"
import { conflict, notFound, invalid } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { cancelReview } from "./CancelReview.ts"
import { liveEvents } from "../views/LiveRuns.ts"
import { toPage, isCount, otherCursor, pageFilter, parseSort, parseValueCursor } from "./Paging.ts"
import { withEvents } from "../views/RunEvents.ts"
import { logLine } from "../api/RunRecords.ts"
import { findingView, listedRunView, runDetails } from "../views/RunViews.ts"
import { makeSessionStreams } from "../sessions/SessionStreams.ts"

/** Orders lists of runs: by id with any filter, or by a value that has an index, which serves a filter by workspace only. */

interface Query {
  readonly cursor?: string
  readonly limit?: number
  readonly sort?: string
}

/** Parameters that a list by a value can have. */
const combined: ReadonlySet<string> = new Set(["workspace", "sort", "cursor", "limit"])

const valueNamed = (sort: string | undefined) => {
  const { isDescending, key } = parseSort(sort ?? "")
  const by = runValues.find((name) => name === key)
  return by === undefined ? undefined : { by, smallestFirst: !isDescending }
}

/** Returns the part of the filter that selects a page of runs. */
const runPageFilter = Effect.fnUntraced(function* (query: Query) {
  const order = valueNamed(query.sort)
  if (order === undefined) return pageFilter(query)
  const other = Object.keys(query).find((name) => !combined.has(name))
  if (other !== undefined) return yield* Effect.fail(invalid("sort", { _tag: "SortExpected", other, by: order.by }))
  const limit = pageSize(query) + 1
  if (query.cursor === undefined) return { order, limit }
  const { id, value } = yield* parseValueCursor(query.cursor)
  if (!isCount(value)) return yield* Effect.fail(otherCursor)
  return { order: { ...order, from: { value: Number(value), id } }, limit }
})

/** Returns what the cursor of a page of runs continues after, in addition to the id. */
const runCursorValue = ({ sort }: Query): ((run: Run) => number) | undefined => {
  const order = valueNamed(sort)
  return order === undefined ? undefined : (run) => listedValue(run, order.by)
}

const unknownRun = notFound({ _tag: "RunUnknown" })

const load = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* Runs).get(id)) ?? (yield* unknownRun)
})

/** Maximum number of deliveries in the timeline of a run. */
const maxDeliveries = 50

/** Numbers of earlier runs among which the one to compare with is searched: mostly it is the first. */
const earlierRuns = [1, 50]

/** Returns the newest earlier run of the same change whose analysis is stored. */
const previousRun = Effect.fnUntraced(function* ({ id, targetKey }: Run) {
  const runs = yield* Runs
  for (const limit of earlierRuns) {
    const earlier = yield* runs.list({ targetKey, before: id, limit })
    const found = earlier.find(({ analysis }) => analysis !== undefined)
    if (found !== undefined || earlier.length < limit) return found
  }
  return undefined
})

const get = Effect.fnUntraced(function* (id: string) {
  const publications = yield* (yield* Outbox).history(id)
  const [found] = yield* withEvents([yield* load(id)])
  if (found === undefined) return yield* unknownRun
  const receipts = yield* Receipts
  const deliveries = yield* Effect.forEach(found.eventIds.slice(-maxDeliveries), receipts.get)
  const fingerprints = (found.analysis?.findings ?? []).map(({ fingerprint }) => fingerprint)
  const outcomes = yield* (yield* Outcomes).ofTarget(found.targetKey, fingerprints)
  return runDetails(found, {
    publications,
    outcomes,
    previous: found.analysis === undefined ? undefined : yield* previousRun(found),
    deliveries: deliveries.flatMap((event) => event ?? [])
  })
})

const noOtherRun = notFound({ _tag: "NoEarlierRun" })

const compare = Effect.fnUntraced(function* (id: string, otherId: string | undefined) {
  const run = yield* load(id)
  const other = yield* otherId === undefined ? previousRun(run) : load(otherId)
  if (other === undefined) return yield* noOtherRun
  const listed = yield* withEvents([run, other])
  const findings = run.analysis?.findings ?? []
  const others = other.analysis?.findings ?? []
  const has = (list: ReadonlyArray<Finding>) => {
    const fingerprints = new Set(list.map(({ fingerprint }) => fingerprint))
    return ({ fingerprint }: Finding) => fingerprints.has(fingerprint)
  }
  const [inRun, inOther] = [has(findings), has(others)]
  const [shown, otherShown] = listed.map(listedRunView)
  if (shown === undefined || otherShown === undefined) return yield* noOtherRun
  return {
    run: shown,
    other: otherShown,
    added: findings.filter((finding) => !inOther(finding)).map(findingView),
    kept: findings.filter(inOther).map(findingView),
    removed: others.filter((finding) => !inRun(finding)).map(findingView)
  }
})

const rereview = Effect.fnUntraced(function* (id: string) {
  const { username } = yield* CurrentUser
  const result = yield* (yield* Operations).reviewAgain((yield* load(id)).change, username)
  if (result._tag === "Queued") return { id, event_id: result.eventId, status: result.status }
  return yield* conflict("workspace_gone", { _tag: "TargetGone" })
})

const readLog = Effect.fnUntraced(function* (id: string) {
  yield* load(id)
  const { cut, lines } = yield* (yield* RunLogs).read(id)
  return { run_id: id, lines: lines.map(logLine.view), cut }
})

export const layer = HttpApiBuilder.group(
  AdminHttpApi,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const open = yield* makeSessionStreams
    return handlers.handleAll({
      list: ({ query }) => {
        const { number, repo, since, status, target, trigger, until, workspace } = query
        const filter = {
          workspace,
          number,
          repo,
          trigger,
          statuses: status === undefined ? undefined : selected(RunStatus, status),
          targetKey: target === undefined ? undefined : TargetKey.make(target),
          since: since === undefined ? undefined : Date.parse(since),
          until: until === undefined ? undefined : Date.parse(until)
        }
        return runPageFilter(query).pipe(
          Effect.flatMap((page) => Runs.use((runs) => runs.list({ ...filter, ...page }))),
          Effect.flatMap(withEvents),
          Effect.map((found) => toPage(found, query, listedRunView, runCursorValue(query))),
          orUnavailable
        )
      },
      live: () => Effect.flatMap(liveEvents, open),
      get: ({ params }) => orUnavailable(get(params.id)),
      compare: ({ params, query }) => orUnavailable(compare(params.id, query.with)),
      log: ({ params }) => orUnavailable(readLog(params.id)),
      cancel: ({ params: { id } }) =>
        orUnavailable(Effect.flatMap(load(id), ({ entryId }) => cancelReview(entryId, id))),
      rereview: ({ params }) => orUnavailable(rereview(params.id))
    })
  })
)
