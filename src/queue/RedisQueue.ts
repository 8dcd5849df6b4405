/**
 * The queue in Redis (queue.kind redis), for one node or several. Every transition is one Lua script (redis/*.lua) that does there
 * what Transitions.ts says; here its arguments are made and its answers read. What survives a restart of Redis is what its
 * append-only file holds. All keys are `{<prefix>}:queue:…`, in one slot of a cluster.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { Redacted } from "effect"
import { EntryStatus, maxLosses } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import { noEntries } from "./EntryTable.ts"
import type { Packable } from "./MessagePack.ts"
import { Queue, QueueError } from "./Queue.ts"
import type { Admission, Admitted, Cancelled, Finish, Renewal } from "./Queue.ts"
import { pauseKey, QueueControl } from "./QueueControl.ts"
import type { ListPage, Pause, Retried } from "./QueueControl.ts"
import { connect } from "./RedisConnection.ts"
import type { More, RedisConnection } from "./RedisConnection.ts"
import {
  admissionTexts,
  linesOf,
  listOf,
  numberOf,
  stringOf,
  timeIfAny,
  toEntries,
  toEntry,
  toSurvey
} from "./RedisEntry.ts"
import type { ScriptName } from "./RedisScripts.ts"
import { full } from "./TableQueue.ts"
import type { Limits } from "./TableQueue.ts"

export interface RedisQueueOptions extends Limits {
  readonly url: Redacted.Redacted
  /** Of the keys; services that share a Redis have one each. `aicr` when left out. */
  readonly prefix?: string | undefined
}

/** Entries ended or removed by one run of a script, so that no script holds Redis up for long. */
const step = 500
/** Entries that one page of a listing looks at, and one look for the oldest that waits. */
const lookAt = 2000

export const layerRedis = (options: RedisQueueOptions): Layer.Layer<Queue | QueueControl, QueueError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const base = `{${options.prefix ?? "aicr"}}:queue:`
      const connection = yield* connect(options.url, base)
      return Context.make(Queue, queue(connection, base, options)).pipe(
        Context.add(QueueControl, control(connection, base))
      )
    })
  )

/** Runs a script and reads its answer; one that does not decode was not written by this service. */
const reader =
  ({ run }: RedisConnection) =>
  <A>(script: ScriptName, args: ReadonlyArray<Packable>, read: (answer: unknown) => A, more?: More) =>
    Effect.flatMap(run(script, args, more), (answer) => decoded(() => read(answer)))

const decoded = <A>(read: () => A): Effect.Effect<A, QueueError> =>
  Effect.try({
    try: read,
    catch: (cause) =>
      new QueueError({
        reason: "unavailable",
        message: `What Redis holds is not of this release's queue: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

const queue = (connection: RedisConnection, base: string, limits: Limits): Queue["Service"] => {
  const ask = reader(connection)
  const { command } = connection
  return Queue.of({
    admit: (items) =>
      items.length === 0
        ? Effect.succeed([])
        : ask(
            "admit",
            [limits.perWorkspace, limits.total, pushesOf(items), items.map(({ eventId }) => eventId)],
            decodeAdmitted,
            { texts: items.flatMap((item) => admissionTexts(item, newId())) }
          ).pipe(
            Effect.flatMap((answer) =>
              "full" in answer ? Effect.fail(refused(answer.full, limits)) : Effect.succeed(answer.admitted)
            )
          ),
    load: (workspace) => ask("load", [workspace], toEntries),
    survey: (workspace, now, places) => ask("survey", [workspace, now, places], toSurvey),
    // The empty name has what all of them count together.
    workspaces: Effect.map(
      command((redis) => redis.hkeys(`${base}workspaces`)),
      (names) => names.filter((name) => name !== "")
    ),
    get: (entryId) => ask("get", [entryId], (answer) => (answer === false ? undefined : toEntry(answer))),
    release: (entryIds, now) =>
      entryIds.length === 0 ? Effect.succeed([]) : ask("release", [now, entryIds], decodeStrings),
    withdraw: (entryIds) => (entryIds.length === 0 ? Effect.void : ask("withdraw", [entryIds], () => undefined)),
    claim: (entryId, owner, now, ttlMillis) =>
      ask(
        "claim",
        [entryId, owner, now + ttlMillis],
        (answer) => {
          if (listOf(answer, "a claim")[0] === false) return undefined
          const entry = toEntry(answer)
          return { lease: { entryId, token: entry.token }, entry }
        },
        { detailsOf: entryId }
      ),
    renew: ({ entryId, token }, until) => ask("renew", [entryId, token, until], decodeRenewal),
    finish: ({ entryId, token }, how) => ask("finish", [entryId, token, ...finishArgs(how)], (answer) => answer === 1),
    cancel: (target, reason) => ask("cancel", [target, reason], decodeCancelled),
    reclaim: Effect.fnUntraced(function* (now, lost) {
      const gone = []
      let from = "0"
      do {
        const page = yield* ask("running", [from, step], decodeRunning)
        for (const [id, token, owner, lease] of page.running) {
          if (lost(owner)) gone.push([id, token, true])
          else if (lease <= now) gone.push([id, token, false])
        }
        from = page.next
      } while (from !== "0")
      return gone.length === 0 ? [] : yield* ask("reclaim", [now, maxLosses, gone], toEntries)
    }),
    expire: Effect.fnUntraced(function* (before, reason) {
      const all = []
      while (true) {
        const expired = yield* ask("expire", [before, reason, step], toEntries)
        all.push(...expired)
        if (expired.length < step) return all
      }
    }),
    prune: Effect.fnUntraced(function* ({ maxCount, before }) {
      let removed = 0
      while (true) {
        const some = yield* ask("prune", [maxCount, before, step], (answer) => numberOf(answer, "removed"))
        removed += some
        if (some < step) return removed
      }
    }),
    stats: Effect.gen(function* () {
      while (true) {
        const { more, ...stats } = yield* ask("stats", [lookAt], decodeStats)
        if (!more) return stats
      }
    })
  })
}

const control = (connection: RedisConnection, base: string): QueueControl["Service"] => {
  const ask = reader(connection)
  const { command } = connection
  const pauses = `${base}pauses`
  return QueueControl.of({
    list: ({ after = "", limit, workspace = "", targetKey = "", statuses = [] }) =>
      ask("list", [after, limit, lookAt, workspace, targetKey, statuses], decodePage),
    cancelEntry: (entryId, reason) => ask("cancel-entry", [entryId, reason], decodeCancelled),
    retry: (entryId, now) => ask("retry", [entryId, now, "an operator asked for another try"], decodeRetried),
    pause: (pause) =>
      Effect.asVoid(command((redis) => redis.hset(pauses, pauseKey(pause.scope, pause.name), JSON.stringify(pause)))),
    resume: (scope, name) => Effect.asVoid(command((redis) => redis.hdel(pauses, pauseKey(scope, name)))),
    pauses: Effect.flatMap(
      command((redis) => redis.hvals(pauses)),
      (values) => decoded(() => values.map(decodePause))
    )
  })
}

/** Numbers of those that are pushes, from 1. */
const pushesOf = (items: ReadonlyArray<Admission>): ReadonlyArray<number> =>
  items.flatMap(({ change }, index) => (change.target.kind === "push" ? [index + 1] : []))

const refused = (workspace: string, limits: Limits): QueueError =>
  workspace === ""
    ? full("the service", limits.total, "queue.limits.total")
    : full(`workspace ${workspace}`, limits.perWorkspace, "queue.limits.per_workspace")

const decodeStrings = (answer: unknown): ReadonlyArray<string> => listOf(answer, "ids").map((id) => stringOf(id, "id"))

const oneOf = <A extends string>(known: ReadonlyArray<A>, answer: unknown): A => {
  const text = stringOf(answer, "an answer")
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Error(`an answer is ${text}`)
  return found
}

const statusesOfAdmission = ["queued", "deferred", "coalesced", "duplicate"] as const
const decodeAdmitted = (
  answer: unknown
): { readonly admitted: ReadonlyArray<Admitted> } | { readonly full: string } => {
  const answers = listOf(answer, "admissions")
  if (Buffer.isBuffer(answers[0])) return { full: stringOf(answers[1], "workspace") }
  const admitted = answers.map((one) => {
    const [entryId, given, dueAt, superseded] = listOf(one, "an admission")
    const status = oneOf(statusesOfAdmission, given)
    return {
      entryId: stringOf(entryId, "id"),
      status,
      dueAt: numberOf(dueAt, "due time"),
      superseded: linesOf(stringOf(superseded, "events"))
    }
  })
  return { admitted }
}

const decodeRenewal = (answer: unknown): Renewal => {
  const [what, reason = ""] = decodeStrings(answer)
  return what === "lost" ? { _tag: "Lost" } : what === "kept" ? { _tag: "Kept" } : { _tag: "Cancelled", reason }
}

const finishArgs = (how: Finish): ReadonlyArray<Packable> => {
  switch (how._tag) {
    case "Done":
      return ["done", how.reason ?? false, 0, 1]
    case "Dead":
      return ["dead", how.reason, 0, 1]
    case "Cancelled":
      return ["cancelled", how.reason, 0, 0]
    case "Retry":
      return ["retry", how.reason, how.dueAt, how.counted ? 1 : 0]
  }
}

const decodePage = (answer: unknown): ListPage => {
  const [next, entries] = listOf(answer, "a page")
  return { entries: toEntries(entries), next: stringOf(next, "next page") || undefined }
}

const decodeCancelled = (answer: unknown): Cancelled => {
  const became = listOf(answer, "entries").map((one) => {
    const [what, entry] = listOf(one, "an entry")
    return { what: oneOf(["ended", "stopping"], what), entry: toEntry(entry) }
  })
  const those = (how: "ended" | "stopping") => became.flatMap(({ what, entry }) => (what === how ? [entry] : []))
  return { ended: those("ended"), stopping: those("stopping") }
}

const decodeRunning = (answer: unknown) => {
  const [next, entries] = listOf(answer, "a page")
  const running = listOf(entries, "entries").map((one) => {
    const [id, token, owner, lease] = listOf(one, "an entry")
    return [stringOf(id, "id"), numberOf(token, "token"), stringOf(owner, "owner"), numberOf(lease, "lease")] as const
  })
  return { next: stringOf(next, "next page"), running }
}

const decodeStats = (answer: unknown) => {
  const [counts, oldest, more] = listOf(answer, "counts")
  const byStatus: Record<EntryStatus, number> = { ...noEntries }
  for (const one of listOf(counts, "counts")) {
    const [status, many] = listOf(one, "a count")
    byStatus[oneOf(EntryStatus.literals, status)] = numberOf(many, "a count")
  }
  return { byStatus, oldestWaiting: timeIfAny(oldest, "admission"), more: more === 1 }
}

const decodeRetried = (answer: unknown): Retried => oneOf(["retried", "unknown", "not_dead", "newer"], answer)

const decodePause: (text: string) => Pause = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      scope: Schema.Literals(["workspace", "node"]),
      name: Schema.String,
      reason: Schema.String,
      since: Schema.Int
    })
  )
)
