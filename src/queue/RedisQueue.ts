/**
 * Implements the queue in Redis (queue.kind redis) for one node or several. Every transition is one Lua script (redis/*.lua) with the
 * semantics of Transitions.ts; this file encodes its arguments and decodes its results. The append-only file decides what survives a
 * restart of Redis. All keys are `{<prefix>}:queue:…`, in one slot of a cluster.
 */
import { Context, Effect, Layer, Result, Schema } from "effect"
import type { Redacted } from "effect"
import { EntryStatus, isTerminal, maxLosses } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import { noEntries } from "./EntryTable.ts"
import { latestCutoff } from "./ExpiryCutoffs.ts"
import type { Packable } from "./MessagePack.ts"
import { Queue, QueueError } from "./Queue.ts"
import type { QueueAdmission, QueueAdmitted, Cancelled, Finish, Renewal } from "./Queue.ts"
import { pauseKey, QueueControl } from "./QueueControl.ts"
import type { Pause, Retried } from "./QueueControl.ts"
import { connect } from "./RedisConnection.ts"
import type { More, RedisConnection } from "./RedisConnection.ts"
import {
  admissionTexts,
  readLines,
  readList,
  readNumber,
  readEntry,
  readString,
  timeIfAny,
  toSurvey
} from "./RedisEntry.ts"
import type { Damage } from "./RedisEntry.ts"
import type { ScriptName } from "./RedisScripts.ts"
import { full } from "./TableQueue.ts"
import { storable } from "./Storable.ts"
import type { QueueLimits } from "./TableQueue.ts"

export interface RedisQueueOptions extends QueueLimits {
  readonly url: Redacted.Redacted
  /** Prefix of the keys; services that share a Redis have one each. `aicr` by default. */
  readonly prefix?: string | undefined
}

/** Entries ended or removed by one run of a script, so that no script blocks Redis for long. */
const step = 500
/** Entries read by one page of a listing, and by one search for the oldest waiting one. */
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

/** Runs a script and decodes its result; a result that cannot be decoded was not written by this service. */
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
        message: `Redis holds a record that this release cannot read: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

/** Reads entries row by row: one that cannot be decoded is quarantined, and returned in that state. */
const entryReader = (connection: RedisConnection) => {
  const ask = reader(connection)
  const quarantine = ({ id, why }: Damage): Effect.Effect<Entry, QueueError> =>
    ask("quarantine", [id, why.slice(0, 200)], (row) =>
      Result.getOrThrowWith(readEntry(row), (damage) => new Error(damage.why))
    )
  const entry = (row: unknown): Effect.Effect<Entry, QueueError> =>
    Effect.flatMap(
      decoded(() => readEntry(row)),
      Result.match({ onSuccess: Effect.succeed, onFailure: quarantine })
    )
  return { entry, entries: (rows: ReadonlyArray<unknown>) => Effect.forEach(rows, entry) }
}

const rowsOf = (reply: unknown): ReadonlyArray<unknown> => readList(reply, "entries")

const queue = (connection: RedisConnection, base: string, limits: QueueLimits): Queue["Service"] => {
  const ask = reader(connection)
  const { entry, entries } = entryReader(connection)
  const { command } = connection
  const load = (workspace: string) => Effect.flatMap(ask("load", [workspace], rowsOf), entries)
  return Queue.of({
    admit: (given) => {
      const items = given.map(storable)
      return items.length === 0
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
          )
    },
    load: (workspace) => Effect.map(load(workspace), (active) => active.filter(({ status }) => !isTerminal(status))),
    survey: (workspace, now, places) => {
      const survey = ask("survey", [workspace, now, places], (reply) => reply)
      return Effect.flatMap(survey, (reply) =>
        Effect.catch(
          decoded(() => toSurvey(reply)),
          // An unreadable entry in flight is quarantined when all of them are loaded.
          () => Effect.andThen(load(workspace), ask("survey", [workspace, now, places], toSurvey))
        )
      )
    },
    // The empty name holds the total of all workspaces.
    workspaces: Effect.map(
      command((redis) => redis.hkeys(`${base}workspaces`)),
      (names) => names.filter((name) => name !== "")
    ),
    get: (entryId) =>
      Effect.flatMap(
        ask("get", [entryId], (row) => row),
        (row) => (row === false ? Effect.succeed(undefined) : entry(row))
      ),
    release: (entryIds, now) =>
      entryIds.length === 0 ? Effect.succeed([]) : ask("release", [now, entryIds], decodeStrings),
    withdraw: (entryIds) => (entryIds.length === 0 ? Effect.void : ask("withdraw", [entryIds], () => undefined)),
    claim: (entryId, owner, now, ttlMillis) =>
      Effect.gen(function* () {
        const [claimed, details] = yield* ask(
          "claim",
          [entryId, owner, now + ttlMillis],
          (reply) => readList(reply, "a claim"),
          { detailsOf: entryId }
        )
        if (claimed === false) return undefined
        const found = yield* entry([claimed, details, Buffer.from(entryId)])
        return found.status === "running" ? { lease: { entryId, token: found.token }, entry: found } : undefined
      }),
    renew: ({ entryId, token }, until) => ask("renew", [entryId, token, until], decodeRenewal),
    finish: ({ entryId, token }, how) => ask("finish", [entryId, token, ...finishArgs(how)], (answer) => answer === 1),
    cancel: (target, reason) => Effect.flatMap(ask("cancel", [target, reason], rowsOf), cancelled(entry)),
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
      return gone.length === 0 ? [] : yield* entries(yield* ask("reclaim", [now, maxLosses, gone], rowsOf))
    }),
    expire: Effect.fnUntraced(function* (before, reason) {
      const latest = latestCutoff(before)
      if (latest === undefined) return []
      const named = Array.from(before.workspaces, ([workspace, cutoff]) => [workspace, cutoff ?? false]).flat()
      const all: Array<Entry> = []
      let from = 0
      while (true) {
        const args = [latest, before.others ?? false, named, reason, from, step]
        const { rows, scanned, stayed } = yield* ask("expire", args, decodeExpired)
        for (const expired of yield* entries(rows)) if (expired.status === "expired") all.push(expired)
        if (scanned < step) return all
        from += stayed
      }
    }),
    prune: Effect.fnUntraced(function* ({ maxCount, before }) {
      let removed = 0
      while (true) {
        const some = yield* ask("prune", [maxCount, before, step], (answer) => readNumber(answer, "removed"))
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
  const { entry, entries } = entryReader(connection)
  const { command } = connection
  const pauses = `${base}pauses`
  return QueueControl.of({
    list: ({ after = "", limit, workspace = "", targetKey = "", statuses = [] }) =>
      Effect.gen(function* () {
        const { next, rows } = yield* ask("list", [after, limit, lookAt, workspace, targetKey, statuses], decodePage)
        return { entries: yield* entries(rows), next }
      }),
    cancelEntry: (entryId, reason) => Effect.flatMap(ask("cancel-entry", [entryId, reason], rowsOf), cancelled(entry)),
    retry: (entryId, now) => ask("retry", [entryId, now, "retried by an operator"], decodeRetried),
    pause: (pause) =>
      Effect.asVoid(command((redis) => redis.hset(pauses, pauseKey(pause.scope, pause.name), JSON.stringify(pause)))),
    resume: (scope, name) => Effect.asVoid(command((redis) => redis.hdel(pauses, pauseKey(scope, name)))),
    pauses: Effect.flatMap(
      command((redis) => redis.hvals(pauses)),
      (values) => decoded(() => values.map(decodePause))
    )
  })
}

/** Returns the positions of pushes, from 1. */
const pushesOf = (items: ReadonlyArray<QueueAdmission>): ReadonlyArray<number> =>
  items.flatMap(({ change }, index) => (change.target.kind === "push" ? [index + 1] : []))

const refused = (workspace: string, limits: QueueLimits): QueueError =>
  workspace === ""
    ? full("the service", limits.total, "queue.limits.total")
    : full(`workspace ${workspace}`, limits.perWorkspace, "queue.limits.per_workspace")

const decodeStrings = (answer: unknown): ReadonlyArray<string> =>
  readList(answer, "ids").map((id) => readString(id, "id"))

const oneOf = <A extends string>(known: ReadonlyArray<A>, answer: unknown): A => {
  const text = readString(answer, "an answer")
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Error(`an answer is ${text}`)
  return found
}

const statusesOfAdmission = ["queued", "deferred", "coalesced", "duplicate"] as const
const decodeAdmitted = (
  answer: unknown
): { readonly admitted: ReadonlyArray<QueueAdmitted> } | { readonly full: string } => {
  const answers = readList(answer, "admissions")
  if (Buffer.isBuffer(answers[0])) return { full: readString(answers[1], "workspace") }
  const admitted = answers.map((one) => {
    const [entryId, given, dueAt, superseded] = readList(one, "an admission")
    const status = oneOf(statusesOfAdmission, given)
    return {
      entryId: readString(entryId, "id"),
      status,
      dueAt: readNumber(dueAt, "due time"),
      superseded: readLines(readString(superseded, "events"))
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

const decodeExpired = (reply: unknown) => {
  const [scanned, stayed, rows] = readList(reply, "expired entries")
  return { rows: rowsOf(rows), scanned: readNumber(scanned, "a count"), stayed: readNumber(stayed, "a count") }
}

const decodePage = (reply: unknown) => {
  const [next, rows] = readList(reply, "a page")
  return { rows: rowsOf(rows), next: readString(next, "next page") || undefined }
}

/** Decodes pairs of the outcome of an entry and its row. */
const cancelled = (entry: (row: unknown) => Effect.Effect<Entry, QueueError>) =>
  Effect.fnUntraced(function* (pairs: ReadonlyArray<unknown>): Effect.fn.Return<Cancelled, QueueError> {
    const became = yield* Effect.forEach(pairs, (pair) =>
      Effect.flatMap(
        decoded(() => {
          const [what, row] = readList(pair, "an entry")
          return { what: oneOf(["ended", "stopping"], what), row }
        }),
        ({ what, row }) => Effect.map(entry(row), (found) => ({ what, found }))
      )
    )
    const those = (how: "ended" | "stopping") => became.flatMap(({ what, found }) => (what === how ? [found] : []))
    return { ended: those("ended"), stopping: those("stopping") }
  })

const decodeRunning = (answer: unknown) => {
  const [next, entries] = readList(answer, "a page")
  const running = readList(entries, "entries").map((one) => {
    const [id, token, owner, lease] = readList(one, "an entry")
    return [
      readString(id, "id"),
      readNumber(token, "token"),
      readString(owner, "owner"),
      readNumber(lease, "lease")
    ] as const
  })
  return { next: readString(next, "next page"), running }
}

const decodeStats = (answer: unknown) => {
  const [counts, oldest, more] = readList(answer, "counts")
  const byStatus: Record<EntryStatus, number> = { ...noEntries }
  for (const one of readList(counts, "counts")) {
    const [status, many] = readList(one, "a count")
    byStatus[oneOf(EntryStatus.literals, status)] = readNumber(many, "a count")
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
