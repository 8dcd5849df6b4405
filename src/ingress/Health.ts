/**
 * Serves `/readyz`: whether configuration, record store, queue and, in a cluster, the bus are available. Names the part that is not ready,
 * without details, and where the administration is served the nodes of the cluster with their versions.
 */
import { Cause, Clock, Effect, Exit } from "effect"
import { basename } from "node:path"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { RefusedDocument } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { currentState } from "../domain/ChatHealth.ts"
import { findNodeWarnings } from "../domain/NodeWarnings.ts"
import type { NodeVersion } from "../domain/NodeWarnings.ts"
import { Queue } from "../queue/Queue.ts"
import { ChatHealths } from "../store/ChatHealths.ts"
import { Receipts } from "../store/Receipts.ts"
import type { IngressResponse } from "./Responses.ts"
import { health } from "./Responses.ts"
import type { Intake } from "./Intake.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"

const checkTimeout = "2 seconds"
/** Minimum interval of checks, so that callers do not decide how often the stores are queried. */
const rememberedMillis = 1000

const alive: IngressResponse = health(200, { status: "up" })

/** Serves `/healthz`: 503 only for a state that a restart of the process may end. Never depends on other servers. */
const makeLiveness = (checks: ReadonlyArray<ReadyCheck>): Effect.Effect<IngressResponse> =>
  Effect.map(
    Effect.forEach(checks, ({ check, name }) => Effect.map(Effect.exit(check), (exit) => ({ exit, name }))),
    (results) => {
      const failed = results.flatMap(({ exit, name }) => (Exit.isSuccess(exit) ? [] : [name]))
      return failed.length === 0 ? alive : health(503, { status: "stuck", failed })
    }
  )

/** Responses of `/readyz`: with nodes, connections and a refused configuration, and for a port that anyone may reach without them. */
export interface ReadyResponses {
  readonly detailed: IngressResponse
  readonly brief: IngressResponse
}

/** Another dependency that must respond before this node takes work. */
export interface ReadyCheck {
  readonly name: string
  readonly check: Effect.Effect<unknown, unknown>
}

/** Names servers by their product, embedded stores by their function. */
const namesOf = ({ queue, storage }: Snapshot["document"]) => ({
  store: storage.database.kind === "postgres" ? "postgres" : "store",
  queue: queue.kind === "redis" || queue.kind === "nats" ? queue.kind : "queue"
})

/** The node works with the previous document. Values of the document and the location of the file are not exposed here. */
const refusedDocument = (refused: RefusedDocument | undefined) =>
  refused === undefined
    ? {}
    : {
        configuration: {
          status: "refused",
          file: basename(refused.file),
          reason: refused.reason,
          errors: refused.errors,
          line: refused.line,
          since: new Date(refused.since).toISOString()
        }
      }

/** Nodes that differ are ready: an upgrade replaces them one by one. So is a node while a role has none: it works. Returns nothing while the bus, which has its own check, is unavailable. */
const describeNodes = (list: Effect.Effect<ReadonlyArray<NodeVersion>, unknown> | undefined): Effect.Effect<object> => {
  if (list === undefined) return Effect.succeed({})
  const listed = Effect.map(Effect.timeout(list, checkTimeout), (found) => {
    const warnings = findNodeWarnings(found)
    const nodes = found.map(({ configuration, name, roles, version }) => ({ name, roles, version, configuration }))
    return warnings.length === 0 ? { nodes } : { nodes, warnings }
  })
  return Effect.orElseSucceed(listed, () => ({}))
}

/** Describes the configured chat connections. One that does not work does not make the node unready, which serves others. */
const describeChat = Effect.fnUntraced(function* (
  { connections }: Snapshot["document"]["im"],
  healths: ChatHealths["Service"]
) {
  const ids = Object.keys(connections)
  if (ids.length === 0) return {}
  const now = yield* Clock.currentTimeMillis
  const listed = yield* Effect.orElseSucceed(Effect.timeout(healths.list, checkTimeout), () => [])
  const known = new Map(listed.map((reported) => [reported.connection, reported]))
  const chat = ids.map((id) => {
    const reported = known.get(id)
    return reported === undefined
      ? ([id, { state: "unknown" }] as const)
      : ([id, { state: currentState(reported, now), since: new Date(reported.since).toISOString() }] as const)
  })
  return { chat: Object.fromEntries(chat) }
})

/** Returns an effect that checks at most once a second and otherwise returns the previous result. */
const makeReadiness = Effect.fnUntraced(function* (
  intake: Pick<Intake, "failed" | "recovered">,
  further: ReadonlyArray<ReadyCheck>,
  nodes: Effect.Effect<object>
) {
  const config = yield* ConfigStore
  const receipts = yield* Receipts
  const queue = yield* Queue
  const healths = yield* ChatHealths

  const check = <A, E>(name: string, effect: Effect.Effect<A, E>) =>
    effect.pipe(
      Effect.timeout(checkTimeout),
      Effect.as({ name, ready: true }),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.as(
              limitWarning(`ready ${name}`, (suppressed) =>
                Effect.logWarning("readiness check failed", { part: name, suppressed }, cause)
              ),
              { name, ready: false }
            )
      )
    )

  /** Write failures are observed on deliveries, because reads still succeed with a full disk. A probe that succeeds ends them. */
  const writes = <E>(what: "store" | "queue", probe: Effect.Effect<unknown, E> | undefined) =>
    Effect.gen(function* () {
      if (!intake.failed(what, yield* Clock.currentTimeMillis)) return
      if (probe === undefined) return yield* Effect.fail("the last delivery could not be written")
      yield* probe
      intake.recovered(what)
    })
  // A server takes writes when it responds. A file may be readable on a full disk, which may take a small write and not a delivery.
  const { queue: queueSettings, storage } = config.current().document
  const queueProbe = queueSettings.kind === "redis" || queueSettings.kind === "nats" ? queue.stats : undefined
  const storeProbe = storage.database.kind === "postgres" ? receipts.probe : undefined

  const names = namesOf(config.current().document)
  const checks = Effect.all(
    [
      check(
        "config",
        Effect.sync(() => config.current())
      ),
      check(names.store, Effect.andThen(writes("store", storeProbe), receipts.list({ limit: 1 }))),
      check(names.queue, Effect.andThen(writes("queue", queueProbe), queue.stats)),
      ...further.map(({ name, check: probe }) => check(name, probe))
    ],
    { concurrency: "unbounded" }
  )
  const chat = Effect.suspend(() => describeChat(config.current().document.im, healths))
  const checkAll = Effect.all([checks, nodes, chat], { concurrency: "unbounded" }).pipe(
    Effect.map(([results, cluster, connections]) => {
      // One server may hold the queue and the bus, or the queue and the records.
      const missing = [...new Set(results.filter(({ ready }) => !ready).map(({ name }) => name))]
      const details = { ...refusedDocument(config.refused()), ...cluster, ...connections }
      const respond = (more: object) =>
        missing.length === 0
          ? health(200, { status: "ready", ...more })
          : health(503, { status: "not_ready", not_ready: missing, ...more })
      return { detailed: respond(details), brief: respond({}) }
    })
  )

  let known: { readonly response: ReadyResponses; readonly at: number } | undefined
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && now - known.at < rememberedMillis) return known.response
    const response = yield* checkAll
    known = { response, at: now }
    return response
  })
})

/** Handles `/healthz` and `/readyz`. */
export const makeProbes = Effect.fnUntraced(function* (
  intake: Pick<Intake, "failed" | "recovered">,
  checks: {
    readonly alive?: ReadonlyArray<ReadyCheck> | undefined
    readonly ready?: ReadonlyArray<ReadyCheck> | undefined
    readonly nodes?: Effect.Effect<ReadonlyArray<NodeVersion>, unknown> | undefined
  }
) {
  return {
    liveness: makeLiveness(checks.alive ?? []),
    readiness: yield* makeReadiness(intake, checks.ready ?? [], describeNodes(checks.nodes))
  }
})
