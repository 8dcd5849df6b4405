/**
 * Every stream and bucket on the bus, as one table. A bucket is a stream that keeps the last value of each subject. What is missing is
 * made at start, by whichever node is first; what is there with fewer or more copies than wanted is changed to that.
 */
import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, jetstreamManager } from "@nats-io/jetstream"
import type { StreamConfig } from "@nats-io/jetstream"
import { Effect, Schedule } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { attempt } from "./NatsError.ts"
import { allWork, logSubject } from "./NatsSubjects.ts"

export type StreamPlan =
  /** `ttlMillis`: a value that is not written again ends by itself. */
  | { readonly kind: "bucket"; readonly name: string; readonly ttlMillis?: number; readonly durable: boolean }
  /** Work for whoever is free: a message is there until one consumer has acknowledged it; one per key. */
  | { readonly kind: "work"; readonly name: string; readonly maxMessages: number }
  /** Everything that happened, in one order, until whoever keeps the log removes what nobody needs any more. */
  | { readonly kind: "log"; readonly name: string }

/** Leases of runners and nodes end after this without a refresh. */
export const leaseMillis = 9000

/** What the service itself keeps on the bus. Other users of buckets and work queues bring a plan of their own. */
export const streams = {
  /** Of runners of the cluster: see NatsRunnerStorage. */
  leases: { kind: "bucket", name: "leases", ttlMillis: leaseMillis, durable: true },
  shards: { kind: "bucket", name: "shards", durable: true },
  /** Of nodes with whatever roles: see NatsNodes. */
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
        // As clients of NATS's key-value buckets expect it.
        discard: DiscardPolicy.New,
        allow_rollup_hdrs: true,
        deny_delete: true,
        allow_direct: true,
        storage: plan.durable ? StorageType.File : StorageType.Memory,
        // The server would make the window two minutes, and then refuse to change the stream.
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
  }
}

/** Making a stream with several copies takes an election. */
const managementMillis = 5000

/** Idempotent; nodes that start together and a cluster that still elects its leader are waited for. */
export const ensure = Effect.fnUntraced(function* (
  plans: Iterable<StreamPlan>
): Effect.fn.Return<void, NatsError, NatsConnection> {
  const { raw, prefix, replicas } = yield* NatsConnection
  const manager = yield* attempt("JetStream", () =>
    jetstreamManager(raw, { checkAPI: false, timeout: managementMillis })
  )
  for (const plan of plans) {
    const wanted = configOf(prefix, replicas, plan)
    yield* attempt(`stream ${wanted.name}`, async () => {
      const look = () => manager.streams.info(wanted.name).catch(noStream)
      const make = () =>
        manager.streams.add(wanted).catch(async (cause: unknown) => {
          // Another node made it a moment ago. What the server says then depends on how far that has come: the name or the subjects are taken.
          const made = await look()
          if (made === undefined) throw cause
          return made
        })
      // Perhaps with other copies in mind; the last one to start decides.
      const { config } = (await look()) ?? (await make())
      if (config.num_replicas !== wanted.num_replicas || differs(config.max_age, wanted.max_age)) {
        await manager.streams.update(wanted.name, { ...config, ...wanted })
      }
    }).pipe(patiently)
  }
})

/** What is made at the start waits for a server that is slow to answer or elects. Repeating it must change nothing. */
export const patiently = <A, R>(making: Effect.Effect<A, NatsError, R>): Effect.Effect<A, NatsError, R> =>
  Effect.retry(making, {
    while: (error) => error.reason === "unavailable",
    schedule: Schedule.max([Schedule.spaced("500 millis"), Schedule.recurs(40)])
  })

const streamNotFound = 10059

const noStream = (cause: unknown): undefined => {
  if (cause instanceof JetStreamApiError && cause.code === streamNotFound) return undefined
  throw cause
}

const differs = (found: number | undefined, wanted: number | undefined): boolean => (found ?? 0) !== (wanted ?? 0)
