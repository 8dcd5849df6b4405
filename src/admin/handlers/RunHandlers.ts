/** Handles requests about runs. */
import { Clock, Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { toDecided } from "../../domain/Change.ts"
import { TargetKey } from "../../domain/Keys.ts"
import type { Finding } from "../../domain/Problem.ts"
import { RunStatus } from "../../domain/Run.ts"
import { searchTerms } from "../../domain/SearchText.ts"
import { readDiffAround } from "../../engine/DiffOfRun.ts"
import { Evidence } from "../../llm/Evidence.ts"
import { makeReviewLink } from "../../outputs/ReviewLinks.ts"
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
import {
  continued,
  toPage,
  isCount,
  otherCursor,
  pageFilter,
  parseSort,
  parseTime,
  parseValueCursor
} from "./Paging.ts"
import { callView, readCallTexts } from "../views/CallViews.ts"
import { withEvents } from "../views/RunEvents.ts"
import { toTime } from "../views/Views.ts"
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

const share = Effect.fnUntraced(function* (id: string) {
  const run = yield* load(id)
  const link = makeReviewLink((yield* ConfigStore).current(), run.id, yield* Clock.currentTimeMillis)
  if (link === undefined) return yield* conflict("links_off", { _tag: "LinksOff" })
  const { username } = yield* CurrentUser
  yield* Effect.logInfo("review shared", { run_id: run.id, username, expires_at: toTime(link.expiresAt) })
  return { url: link.url, expires_at: toTime(link.expiresAt) }
})

/** Maximum number of deliveries in the timeline of a run. */
const maxDeliveries = 50

/** Maximum number of replies to comments among which those about its findings are. */
const maxReplies = 100

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
  const replies = fingerprints.length === 0 ? [] : yield* (yield* Runs).replies(toDecided(found.change), maxReplies)
  return runDetails(found, {
    publications,
    outcomes,
    replies,
    spans: yield* (yield* RunLogs).spans(id),
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

interface ListQuery extends Query {
  readonly workspace?: string
  readonly q?: string
  readonly number?: number
  readonly repo?: string
  readonly since?: string
  readonly until?: string
  readonly status?: string
  readonly target?: string
  readonly trigger?: string
}

const listRuns = Effect.fnUntraced(function* (query: ListQuery) {
  const { number, q, repo, since, status, target, trigger, until, workspace } = query
  const filter = {
    workspace,
    number,
    repo,
    trigger,
    statuses: status === undefined ? undefined : selected(RunStatus, status),
    targetKey: target === undefined ? undefined : TargetKey.make(target),
    since: parseTime(since),
    until: parseTime(until)
  }
  const runs = yield* Runs
  const terms = searchTerms(q ?? "")
  const selection = { ...filter, ...(yield* runPageFilter(query)) }
  const { runs: found, searchedTo } =
    terms.length === 0
      ? { runs: yield* runs.list(selection), searchedTo: undefined }
      : yield* runs.search({ ...selection, terms, isNewest: false })
  return continued(toPage(yield* withEvents(found), query, listedRunView, runCursorValue(query)), searchedTo)
})

/** Lists recorded model calls. Cursors are the ids of calls, which are in the order of time. */
const listCalls = Effect.fnUntraced(function* (
  evidence: Evidence["Service"],
  runId: string,
  query: { readonly cursor?: string; readonly limit?: number }
) {
  yield* load(runId)
  const ids = (yield* evidence.list(runId)).filter((id) => query.cursor === undefined || id > query.cursor)
  const calls = yield* Effect.forEach(ids.slice(0, pageSize(query) + 1), (id) =>
    Effect.map(evidence.call(runId, id), (call) => (call === undefined ? undefined : { id, call }))
  )
  const found = calls.filter((one) => one !== undefined)
  return toPage(found, query, ({ call, id }) => callView(id, call))
})

const unknownCall = notFound({ _tag: "ModelCallUnknown" })
const privateCall = notFound({ _tag: "ModelCallPrivate" })

/** Returns whether texts of model calls contain findings that only maintainers get, or may contain some: before a review ended that is not known. */
const hidesCalls = Effect.fnUntraced(function* ({ analysis, workspace }: Run) {
  if (analysis !== undefined) return analysis.private !== undefined || analysis.privateRefuted !== undefined
  const { workspaces } = (yield* ConfigStore).current()
  return workspaces.get(workspace)?.review.private.channel !== undefined
})

const getCall = Effect.fnUntraced(function* (evidence: Evidence["Service"], runId: string, id: string) {
  if (yield* hidesCalls(yield* load(runId))) return yield* privateCall
  const call = (yield* evidence.list(runId)).includes(id) ? yield* evidence.call(runId, id) : undefined
  return call === undefined ? yield* unknownCall : yield* readCallTexts(evidence, runId, id, call)
})

const findingDiff = Effect.fnUntraced(function* (id: string, fingerprint: string) {
  const { analysis } = yield* load(id)
  const finding = analysis?.findings.find((one) => one.fingerprint === fingerprint)
  return { diff: yield* readDiffAround(id, finding?.anchor === undefined ? [] : [finding.anchor]) }
})

export const layer = HttpApiBuilder.group(
  AdminHttpApi,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const open = yield* makeSessionStreams
    const evidence = yield* Evidence
    return handlers.handleAll({
      list: ({ query }) => orUnavailable(listRuns(query)),
      live: () => Effect.flatMap(liveEvents, open),
      get: ({ params }) => orUnavailable(get(params.id)),
      compare: ({ params, query }) => orUnavailable(compare(params.id, query.with)),
      log: ({ params }) => orUnavailable(readLog(params.id)),
      calls: ({ params, query }) => orUnavailable(listCalls(evidence, params.id, query)),
      call: ({ params }) => orUnavailable(getCall(evidence, params.id, params.call)),
      findingDiff: ({ params }) => orUnavailable(findingDiff(params.id, params.fingerprint)),
      cancel: ({ params: { id } }) =>
        orUnavailable(Effect.flatMap(load(id), ({ entryId }) => cancelReview(entryId, id))),
      link: ({ params }) => orUnavailable(share(params.id)),
      rereview: ({ params }) => orUnavailable(rereview(params.id))
    })
  })
).pipe(Layer.provide(Evidence.layer))
