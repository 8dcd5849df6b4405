/**
 * Keys with values and revisions, and compare-and-set over them: a JetStream stream that keeps the last message of each subject. Reads
 * are answered by the stream's leader, so that a read after a write sees it. Timeouts are short, and a write that was not answered
 * (`unavailable`) may have happened: whoever needs to know reads again.
 */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream"
import { KvWatchInclude, Kvm } from "@nats-io/kv"
import { headers } from "@nats-io/transport-node"
import { Effect, Queue, Stream } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { attempt, toNatsError } from "./NatsError.ts"
import { bucketSubject, ensure, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"

export interface BucketEntry {
  readonly key: string
  readonly value: string
  /** Grows with every write to the bucket, whatever its key. */
  readonly revision: number
}

/** What a watch tells: a value, or that the key was deleted. A value that ended by its time is not told. */
export type BucketChange = BucketEntry | { readonly key: string; readonly value: undefined; readonly revision: number }

export interface NatsBucket {
  readonly get: (key: string) => Effect.Effect<BucketEntry | undefined, NatsError>
  /** As `get`, but of a key that was deleted it tells the revision of that. */
  readonly last: (key: string) => Effect.Effect<BucketChange | undefined, NatsError>
  /** The revision. Fails with `conflict` when the key has a value. */
  readonly create: (key: string, value: string) => Effect.Effect<number, NatsError>
  /** The new revision. Fails with `conflict` when the key has another revision; 0 is the revision of a key that never was. */
  readonly update: (key: string, value: string, revision: number) => Effect.Effect<number, NatsError>
  readonly put: (key: string, value: string) => Effect.Effect<number, NatsError>
  /** Fails with `conflict` when a revision is given and the key has another. */
  readonly delete: (key: string, revision?: number) => Effect.Effect<void, NatsError>
  /** Keys with a value, as they are at one moment. `filter` is a key with wildcards `*` and `>`. */
  readonly keys: (filter?: string) => Effect.Effect<ReadonlyArray<string>, NatsError>
  /** `keys` with their values. One that is written all the time is never left out. */
  readonly entries: (filter?: string) => Effect.Effect<ReadonlyArray<BucketEntry>, NatsError>
  /**
   * First the values that are there, then every change. After a reconnect the values that are there come again; between changes of one key
   * that come fast, some may be left out, never the last.
   */
  readonly watch: (filter?: string) => Stream.Stream<BucketChange, NatsError>
}

/** Keys: letters, digits, `-`, `_`, `=`, `/`, and dots between parts. */
const validKey = /^[-/=\w]+(\.[-/=\w]+)*$/

/** Makes the bucket when it is not there. */
export const makeBucket = Effect.fnUntraced(function* (
  plan: StreamPlan & { readonly kind: "bucket" }
): Effect.fn.Return<NatsBucket, NatsError, NatsConnection> {
  yield* ensure([plan])
  const { jetstream, manager, prefix, reconnected } = yield* NatsConnection
  const stream = streamName(prefix, plan)
  const base = bucketSubject(prefix, plan)
  const what = (key: string) => `bucket ${plan.name}, key ${key}`
  const subject = (key: string): string => {
    if (!validKey.test(key)) throw new Error(`${key} cannot be a key`)
    return `${base}.${key}`
  }

  /** With markers of deletion. */
  const last = async (key: string): Promise<BucketChange | undefined> => {
    try {
      const found = await manager.streams.getMessage(stream, { last_by_subj: subject(key) })
      if (found === null) return undefined
      const isGone = found.header.has("KV-Operation")
      return { key, value: isGone ? undefined : found.string(), revision: found.seq }
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.NoMessageFound) return undefined
      throw cause
    }
  }
  const write = async (key: string, value: string, revision: number | undefined): Promise<number> => {
    const expect = revision === undefined ? {} : { expect: { lastSubjectSequence: revision } }
    return (await jetstream.publish(subject(key), value, expect)).seq
  }
  const keysNow = async (filter: string): Promise<ReadonlyArray<string>> => {
    const info = await manager.streams.info(stream, { subjects_filter: `${base}.${filter}` })
    return Object.keys(info.state.subjects ?? {}).map((found) => found.slice(base.length + 1))
  }
  const entriesNow = async (filter: string): Promise<ReadonlyArray<BucketEntry>> => {
    const found = await Promise.all((await keysNow(filter)).map(last))
    return found.flatMap((entry) => (entry === undefined || entry.value === undefined ? [] : [entry]))
  }
  const entries = (filter = ">") => attempt(`bucket ${plan.name}`, () => entriesNow(filter))

  return {
    get: (key) =>
      Effect.map(
        attempt(what(key), () => last(key)),
        (found) => (found === undefined || found.value === undefined ? undefined : found)
      ),
    last: (key) => attempt(what(key), () => last(key)),
    create: (key, value) =>
      attempt(what(key), async () => {
        try {
          return await write(key, value, 0)
        } catch (cause) {
          const found = cause instanceof JetStreamApiError ? await last(key) : undefined
          if (found === undefined || found.value !== undefined) throw cause
          return write(key, value, found.revision)
        }
      }),
    update: (key, value, revision) => attempt(what(key), () => write(key, value, revision)),
    put: (key, value) => attempt(what(key), () => write(key, value, undefined)),
    delete: (key, revision) =>
      attempt(what(key), async () => {
        const marker = headers()
        marker.set("KV-Operation", "DEL")
        const expect = revision === undefined ? {} : { expect: { lastSubjectSequence: revision } }
        await jetstream.publish(subject(key), "", { headers: marker, ...expect })
      }),
    keys: (filter) => Effect.map(entries(filter), (found) => found.map(({ key }) => key)),
    entries,
    watch: (filter = ">") =>
      Stream.callback<BucketChange, NatsError>((queue) =>
        Effect.gen(function* () {
          const bucket = yield* attempt(`bucket ${plan.name}`, () =>
            new Kvm(jetstream).open(`${prefix}_${plan.name}`, { allow_direct: true })
          )
          const watching = Effect.tryPromise({
            try: async (signal) => {
              const found = await bucket.watch({ key: filter, include: KvWatchInclude.LastValue })
              if (signal.aborted) return found.stop()
              signal.addEventListener("abort", () => found.stop())
              for await (const entry of found) {
                const { key, operation, revision } = entry
                const value = operation === "PUT" ? entry.string() : undefined
                Queue.offerUnsafe(queue, { key, revision, value })
              }
            },
            catch: (cause) => toNatsError(`watch of bucket ${plan.name}`, cause)
          })
          // Begun again for as long as somebody looks: NATS is away, elects, or forgot the watch in a restart.
          return yield* Effect.raceFirst(watching, reconnected).pipe(
            Effect.catch((error) => Effect.logDebug(error.message)),
            Effect.andThen(Effect.sleep("100 millis")),
            Effect.forever
          )
        })
      )
  }
})
