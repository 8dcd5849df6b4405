/**
 * Defines every stream and bucket on the bus in one table. A bucket is a stream that keeps the last value of each subject. The first node
 * creates what is missing at start, and adjusts the number of copies of existing streams. A stream that is missing later, because the server
 * lost its data, is created again by the first call that needs it: nothing on the bus is the only copy.
 */
import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, jetstreamManager } from "@nats-io/jetstream"
import type { StreamConfig } from "@nats-io/jetstream"
import { Effect, Schedule, Semaphore } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { attempt, isStreamMissing, toNatsError } from "./NatsError.ts"
import { allWork, logSubject, pagesSubject } from "./NatsSubjects.ts"

export type StreamPlan =
  /** `ttlMillis`: time after which a value expires unless it is written again. */
  | { readonly kind: "bucket"; readonly name: string; readonly ttlMillis?: number; readonly durable: boolean }
  /** A work queue: a message exists until a consumer has acknowledged it; one per key. */
  | { readonly kind: "work"; readonly name: string; readonly maxMessages: number }
  /** An ordered log, kept until its owner removes messages that are no longer needed. */
  | { readonly kind: "log"; readonly name: string }
  /** Snapshots of the state of a log, removed by its owner. */
  | { readonly kind: "pages"; readonly name: string }

/** Time without a refresh after which leases of runners and nodes expire. */
export const leaseMillis = 9000

/** Streams of the service. Other users of buckets and work queues pass their plans. */
export const streams = {
  /** Leases and shards of the cluster's runners; see NatsRunnerStorage. */
  leases: { kind: "bucket", name: "leases", ttlMillis: leaseMillis, durable: true },
  shards: { kind: "bucket", name: "shards", durable: true },
  /** Records of nodes with any role; see NatsNodes. */
  nodes: { kind: "bucket", name: "nodes", ttlMillis: leaseMillis, durable: false }
} as const satisfies Record<string, StreamPlan>

export const streamName = (prefix: string, plan: StreamPlan): string =>
  plan.kind === "bucket" ? `KV_${prefix}_${plan.name}` : `${prefix}_${plan.kind}_${plan.name}`

export const bucketSubject = (prefix: string, plan: StreamPlan): string => `$KV.${prefix}_${plan.name}`

type Wanted = Partial<StreamConfig> & Pick<StreamConfig, "name" | "num_replicas">

const configOf = (prefix: string, replicas: number, plan: StreamPlan): Wanted => {
  const name = streamName(prefix, plan)
  switch (plan.kind) {
    case "bucket":
      return {
        name,
        num_replicas: replicas,
        subjects: [`${bucketSubject(prefix, plan)}.>`],
        max_msgs_per_subject: 1,
        // Clients of NATS's key-value buckets expect these settings.
        discard: DiscardPolicy.New,
        allow_rollup_hdrs: true,
        deny_delete: true,
        allow_direct: true,
        storage: plan.durable ? StorageType.File : StorageType.Memory,
        // The default duplicate window of two minutes would make later changes of the stream fail.
        ...(plan.ttlMillis === undefined
          ? {}
          : { max_age: plan.ttlMillis * 1_000_000, duplicate_window: Math.min(plan.ttlMillis, 120_000) * 1_000_000 })
      }
    case "work":
      return {
        name,
        num_replicas: replicas,
        subjects: [allWork(prefix, plan.name)],
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        max_msgs: plan.maxMessages,
        max_msgs_per_subject: 1,
        discard: DiscardPolicy.New,
        discard_new_per_subject: true
      }
    case "log":
      return {
        name,
        num_replicas: replicas,
        subjects: [logSubject(prefix, plan.name)],
        storage: StorageType.File,
        discard: DiscardPolicy.New
      }
    case "pages":
      return {
        name,
        num_replicas: replicas,
        subjects: [`${pagesSubject(prefix, plan.name)}.>`],
        storage: StorageType.File,
        discard: DiscardPolicy.New
      }
  }
}

/** Creating a stream with several copies takes an election. */
const managementMillis = 5000

/** Creates the streams of the plans. Idempotent; retries while other nodes start and while the cluster elects its leader. */
export const ensure = (plans: Iterable<StreamPlan>): Effect.Effect<void, NatsError, NatsConnection> =>
  Effect.forEach(plans, (plan) => retryUntilReady(ensureStream(plan)), { discard: true })

/** Returns whether the stream was missing. */
const ensureStream = Effect.fnUntraced(function* (plan: StreamPlan) {
  const { raw, prefix, replicas } = yield* NatsConnection
  const manager = yield* attempt("JetStream", () =>
    jetstreamManager(raw, { checkAPI: false, timeout: managementMillis })
  )
  const wanted = configOf(prefix, replicas, plan)
  return yield* attempt(`stream ${wanted.name}`, async () => {
    const findStream = () => manager.streams.info(wanted.name).catch(noStream)
    const make = () =>
      manager.streams.add(wanted).catch(async (cause: unknown) => {
        // Another node is creating it. Depending on its progress the server reports the name or the subjects as already in use.
        const made = await findStream()
        if (made === undefined) throw cause
        return made
      })
    // Another node may have created it with a different number of copies; the last node to start decides.
    const found = await findStream()
    const { config } = found ?? (await make())
    if (config.num_replicas !== wanted.num_replicas || differs(config.max_age, wanted.max_age)) {
      await manager.streams.update(wanted.name, { ...config, ...wanted })
    }
    return found === undefined
  })
})

/**
 * Returns a function that attempts a call and, if the server lacks the stream because it lost its data, creates the stream and attempts the
 * call once more. Calls that fail together create it once.
 */
export const recreating = (connection: NatsConnection["Service"], plan: StreamPlan) => {
  const name = streamName(connection.prefix, plan)
  const creating = Semaphore.makeUnsafe(1)
  let createdAt = 0
  const recreate = (since: number) =>
    Effect.suspend(() => {
      if (createdAt > since) return Effect.void
      return Effect.flatMap(ensureStream(plan), (isCreated) => {
        if (!isCreated) return Effect.void
        createdAt = performance.now()
        return Effect.logWarning("stream was missing on the NATS server, created again", { stream: name })
      })
    }).pipe(creating.withPermits(1), Effect.provideService(NatsConnection, connection))
  return <A>(what: string, call: () => Promise<A>): Effect.Effect<A, NatsError> =>
    Effect.suspend(() => {
      const since = performance.now()
      return Effect.tryPromise({ try: call, catch: (cause) => cause }).pipe(
        Effect.catch((cause) =>
          isStreamMissing(cause)
            ? Effect.andThen(recreate(since), attempt(what, call))
            : Effect.fail(toNatsError(what, cause))
        )
      )
    })
}

/** Retries an effect at start for 20 seconds while the server is slow or elects its leader. The effect must be idempotent. */
export const retryUntilReady = <A, R>(making: Effect.Effect<A, NatsError, R>): Effect.Effect<A, NatsError, R> =>
  Effect.retry(making, {
    while: (error) => error.reason === "unavailable",
    schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: "20 seconds" }))
  })

const streamNotFound = 10059

const noStream = (cause: unknown): undefined => {
  if (cause instanceof JetStreamApiError && cause.code === streamNotFound) return undefined
  throw cause
}

const differs = (found: number | undefined, wanted: number | undefined): boolean => (found ?? 0) !== (wanted ?? 0)
