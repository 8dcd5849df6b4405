/**
 * The queue in Redis (queue.kind redis), for one node or several. Every transition is one Lua script (redis/*.lua) that does there
 * what Transitions.ts says; here its arguments are made and its answers read. What survives a restart of Redis is what its
 * append-only file holds. All keys are `{<prefix>}:queue:…`, in one slot of a cluster.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { Redacted } from "effect"
import { maxLosses } from "../domain/Entry.ts"
import type { EntryStatus } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import { noEntries } from "./EntryTable.ts"
import { Queue, QueueError } from "./Queue.ts"
import type { Admitted, Cancelled, Finish, Renewal } from "./Queue.ts"
import { QueueControl } from "./QueueControl.ts"
import type { Pause } from "./QueueControl.ts"
import { connect } from "./RedisConnection.ts"
import type { RedisConnection } from "./RedisConnection.ts"
import { admissionArgs, decodeSurvey, decodeWhole, decodeWholes, pairs } from "./RedisEntry.ts"
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
/** Entries that one page of a listing looks at. */
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
  <A>(script: ScriptName, args: ReadonlyArray<string | number>, read: (answer: unknown) => A) =>
    Effect.flatMap(run(script, args), (answer) => decoded(() => read(answer)))

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
            [limits.perWorkspace, limits.total, ...items.flatMap((item) => admissionArgs(item, newId()))],
            decodeAdmitted
          ).pipe(
            Effect.flatMap((answer) =>
              Array.isArray(answer) ? Effect.succeed(answer) : Effect.fail(refused(answer.full, limits))
            )
          ),
    load: (workspace) => ask("load", [workspace], decodeWholes),
    survey: (workspace, now, places) => ask("survey", [workspace, now, places], decodeSurvey),
    workspaces: command((redis) => redis.hkeys(`${base}active`)),
    get: (entryId) => ask("get", [entryId], (answer) => (answer === null ? undefined : decodeWhole(answer))),
    release: (entryIds, now) =>
      entryIds.length === 0 ? Effect.succeed([]) : ask("release", [now, ...entryIds], decodeStrings),
    withdraw: (entryIds) => (entryIds.length === 0 ? Effect.void : ask("withdraw", entryIds, () => undefined)),
    claim: (entryId, owner, now, ttlMillis) =>
      ask("claim", [entryId, owner, now + ttlMillis], (answer) => {
        if (answer === null) return undefined
        const entry = decodeWhole(answer)
        return { lease: { entryId, token: entry.token }, entry }
      }),
    renew: ({ entryId, token }, until) => ask("renew", [entryId, token, until], decodeRenewal),
    finish: ({ entryId, token }, how) => ask("finish", [entryId, token, ...finishArgs(how)], (answer) => answer === 1),
    cancel: (target, reason) => ask("cancel", [target, reason], decodeCancelled),
    reclaim: Effect.fnUntraced(function* (now, lost) {
      const running = yield* ask("running", [], decodeRunning)
      const gone = running.flatMap(([id, token, owner, lease]) =>
        lost(owner) ? [id, token, 1] : Number(lease) <= now ? [id, token, 0] : []
      )
      return gone.length === 0 ? [] : yield* ask("reclaim", [now, maxLosses, ...gone], decodeWholes)
    }),
    expire: Effect.fnUntraced(function* (before, reason) {
      const all = []
      while (true) {
        const expired = yield* ask("expire", [before, reason, step], decodeWholes)
        all.push(...expired)
        if (expired.length < step) return all
      }
    }),
    prune: Effect.fnUntraced(function* ({ maxCount, before }) {
      let removed = 0
      while (true) {
        const some = yield* ask("prune", [maxCount, before, step], Number)
        removed += some
        if (some < step) return removed
      }
    }),
    stats: ask("stats", [], decodeStats)
  })
}

const control = (connection: RedisConnection, base: string): QueueControl["Service"] => {
  const ask = reader(connection)
  const { command } = connection
  const pauses = `${base}pauses`
  return QueueControl.of({
    list: ({ after = "", limit, workspace = "", targetKey = "", statuses = [] }) =>
      ask("list", [after, limit, lookAt, workspace, targetKey, ...statuses], (answer) => {
        const [next, entries] = decodePage(answer)
        return { entries: decodeWholes(entries), next: next === "" ? undefined : next }
      }),
    cancelEntry: (entryId, reason) => ask("cancel-entry", [entryId, reason], decodeCancelled),
    retry: (entryId, now) =>
      ask(
        "retry",
        [entryId, now, "an operator asked for another try"],
        Schema.decodeUnknownSync(Schema.Literals(["retried", "unknown", "not_dead", "newer"]))
      ),
    pause: (pause) =>
      Effect.asVoid(command((redis) => redis.hset(pauses, `${pause.scope}:${pause.name}`, JSON.stringify(pause)))),
    resume: (scope, name) => Effect.asVoid(command((redis) => redis.hdel(pauses, `${scope}:${name}`))),
    pauses: Effect.flatMap(
      command((redis) => redis.hvals(pauses)),
      (values) => decoded(() => values.map(decodePause))
    )
  })
}

const refused = (workspace: string, limits: Limits): QueueError =>
  workspace === ""
    ? full("the service", limits.total, "queue.limits.total")
    : full(`workspace ${workspace}`, limits.perWorkspace, "queue.limits.per_workspace")

const decodeStrings = Schema.decodeUnknownSync(Schema.Array(Schema.String))
const decodeFull = Schema.decodeUnknownSync(Schema.Tuple([Schema.Literal("full"), Schema.String]))
const decodeAnswers = Schema.decodeUnknownSync(
  Schema.Array(
    Schema.Tuple([
      Schema.String,
      Schema.Literals(["queued", "deferred", "coalesced", "duplicate"]),
      Schema.String,
      Schema.String
    ])
  )
)
const decodeAdmitted = (answer: unknown): Array<Admitted> | { readonly full: string } => {
  if (Array.isArray(answer) && answer[0] === "full") return { full: decodeFull(answer)[1] }
  return decodeAnswers(answer).map(([entryId, status, due, superseded]) => ({
    entryId,
    status,
    dueAt: Number(due),
    superseded: superseded.split("\n").filter((event) => event !== "")
  }))
}

const decodeRenewal = (answer: unknown): Renewal => {
  const [what, reason = ""] = decodeStrings(answer)
  return what === "lost" ? { _tag: "Lost" } : what === "kept" ? { _tag: "Kept" } : { _tag: "Cancelled", reason }
}

const finishArgs = (how: Finish): ReadonlyArray<string | number> => {
  switch (how._tag) {
    case "Done":
      return ["done", how.reason ?? "", 0, 1]
    case "Dead":
      return ["dead", how.reason, 0, 1]
    case "Cancelled":
      return ["cancelled", how.reason, 0, 0]
    case "Retry":
      return ["retry", how.reason, how.dueAt, how.counted ? 1 : 0]
  }
}

const decodePage = Schema.decodeUnknownSync(Schema.Tuple([Schema.String, Schema.Unknown]))

const decodeBecame = Schema.decodeUnknownSync(
  Schema.Array(Schema.Tuple([Schema.Literals(["ended", "stopping"]), Schema.Unknown]))
)
const decodeCancelled = (answer: unknown): Cancelled => {
  const became = decodeBecame(answer)
  const those = (how: "ended" | "stopping") =>
    became.flatMap(([what, whole]) => (what === how ? [decodeWhole(whole)] : []))
  return { ended: those("ended"), stopping: those("stopping") }
}

const decodeRunning = Schema.decodeUnknownSync(
  Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.String, Schema.String]))
)

const decodeCounts = Schema.decodeUnknownSync(Schema.Tuple([Schema.Array(Schema.String), Schema.String]))
const decodeStats = (answer: unknown) => {
  const [flat, oldest] = decodeCounts(answer)
  const counts = pairs(flat)
  const byStatus: Record<EntryStatus, number> = { ...noEntries }
  for (const status of statuses) byStatus[status] = Number(counts[status] ?? 0)
  return { byStatus, oldestWaiting: oldest === "" ? undefined : Number(oldest) }
}
const statuses: ReadonlyArray<EntryStatus> = [
  "waiting",
  "ready",
  "running",
  "done",
  "superseded",
  "cancelled",
  "expired",
  "dead"
]

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
