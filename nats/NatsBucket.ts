/**
 * Keys with values and revisions, and compare-and-set over them: a JetStream stream that keeps the last message of each subject. Reads
 * go to the stream's leader, so that a read after a write sees it. Timeouts are short, and a write whose reply got lost
 * (`unavailable`) may have happened: a caller that needs to know reads again.
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

/** A change in a watch: a value, or the deletion of the key. A value that ended by its time is not part of it. */
export type BucketChange = BucketEntry | { readonly key: string; readonly value: undefined; readonly revision: number }

export interface NatsBucket {
  readonly get: (key: string) => Effect.Effect<BucketEntry | undefined, NatsError>
  /** As `get`, but for a key that was deleted it returns the revision of the deletion. */
  readonly last: (key: string) => Effect.Effect<BucketChange | undefined, NatsError>
  /** The revision. Fails with `conflict` when the key has a value. */
  readonly create: (key: string, value: string) => Effect.Effect<number, NatsError>
  /** The new revision. Fails with `conflict` when the key has another revision; 0 is the revision of a key that never had a value. */
  readonly update: (key: string, value: string, revision: number) => Effect.Effect<number, NatsError>
  readonly put: (key: string, value: string) => Effect.Effect<number, NatsError>
  /** Fails with `conflict` when a revision is given and the key has another. */
  readonly delete: (key: string, revision?: number) => Effect.Effect<void, NatsError>
  /** Keys with a value, as they are at one moment. `filter` is a key with wildcards `*` and `>`. */
  readonly keys: (filter?: string) => Effect.Effect<ReadonlyArray<string>, NatsError>
  /** `keys` with their values. One that is written all the time is never left out. */
  readonly entries: (filter?: string) => Effect.Effect<ReadonlyArray<BucketEntry>, NatsError>
  /**
   * First the current values, then every change. After a reconnect the current values come again; between changes of one key
   * that come fast, some may be left out, never the last.
   */
  readonly watch: (filter?: string) => Stream.Stream<BucketChange, NatsError>
}

/** Keys: letters, digits, `-`, `_`, `=`, `/`, and dots between parts. */
const validKey = /^[-/=\w]+(\.[-/=\w]+)*$/

type BucketPlan = StreamPlan & { readonly kind: "bucket" }

/** The bucket as promises that throw what the client throws. */
class BucketMessages {
  readonly #connection: NatsConnection["Service"]
  readonly #stream: string
  readonly #base: string

  constructor(connection: NatsConnection["Service"], plan: BucketPlan) {
    this.#connection = connection
    this.#stream = streamName(connection.prefix, plan)
    this.#base = bucketSubject(connection.prefix, plan)
  }

  #subject(key: string): string {
    if (!validKey.test(key)) throw new Error(`invalid bucket key "${key}"`)
    return `${this.#base}.${key}`
  }

  /** With markers of deletion. */
  async last(key: string): Promise<BucketChange | undefined> {
    try {
      const { streams } = this.#connection.manager
      const message = await streams.getMessage(this.#stream, { last_by_subj: this.#subject(key) })
      if (message === null) return undefined
      const isDeleted = message.header.has("KV-Operation")
      return { key, value: isDeleted ? undefined : message.string(), revision: message.seq }
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.NoMessageFound) return undefined
      throw cause
    }
  }

  async write(key: string, value: string, revision: number | undefined): Promise<number> {
    return (await this.#connection.jetstream.publish(this.#subject(key), value, expecting(revision))).seq
  }

  /** Also where the key was deleted: then the revision of its marker is expected. */
  async create(key: string, value: string): Promise<number> {
    try {
      return await this.write(key, value, 0)
    } catch (cause) {
      const marker = cause instanceof JetStreamApiError ? await this.last(key) : undefined
      if (marker === undefined || marker.value !== undefined) throw cause
      return this.write(key, value, marker.revision)
    }
  }

  async delete(key: string, revision: number | undefined): Promise<void> {
    const marker = headers()
    marker.set("KV-Operation", "DEL")
    await this.#connection.jetstream.publish(this.#subject(key), "", { headers: marker, ...expecting(revision) })
  }

  async entries(filter: string): Promise<ReadonlyArray<BucketEntry>> {
    const info = await this.#connection.manager.streams.info(this.#stream, {
      subjects_filter: `${this.#base}.${filter}`
    })
    const keys = Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(this.#base.length + 1))
    const changes = await Promise.all(keys.map((key) => this.last(key)))
    return changes.flatMap((entry) => (entry === undefined || entry.value === undefined ? [] : [entry]))
  }
}

const expecting = (revision: number | undefined) =>
  revision === undefined ? {} : { expect: { lastSubjectSequence: revision } }

/** Opens the bucket and returns a watch, which runs until it fails or the connection to NATS was made again. */
const openWatch = Effect.fnUntraced(function* (
  { jetstream, prefix, reconnected }: NatsConnection["Service"],
  plan: BucketPlan,
  filter: string,
  onChange: (change: BucketChange) => void
) {
  const bucket = yield* attempt(`bucket ${plan.name}`, () =>
    new Kvm(jetstream).open(`${prefix}_${plan.name}`, { allow_direct: true })
  )
  const watching = Effect.tryPromise({
    try: async (signal) => {
      const changes = await bucket.watch({ key: filter, include: KvWatchInclude.LastValue })
      if (signal.aborted) return changes.stop()
      signal.addEventListener("abort", () => changes.stop())
      for await (const entry of changes) {
        const { key, operation, revision } = entry
        const value = operation === "PUT" ? entry.string() : undefined
        onChange({ key, revision, value })
      }
    },
    catch: (cause) => toNatsError(`watch of bucket ${plan.name}`, cause)
  })
  return Effect.raceFirst(watching, reconnected)
})

/** Makes the bucket when it does not exist. */
export const makeBucket = Effect.fnUntraced(function* (
  plan: BucketPlan
): Effect.fn.Return<NatsBucket, NatsError, NatsConnection> {
  yield* ensure([plan])
  const connection = yield* NatsConnection
  const messages = new BucketMessages(connection, plan)
  const attemptAt = <A>(key: string, run: () => Promise<A>) => attempt(`bucket ${plan.name}, key ${key}`, run)
  const entries = (filter = ">") => attempt(`bucket ${plan.name}`, () => messages.entries(filter))

  return {
    get: (key) =>
      Effect.map(
        attemptAt(key, () => messages.last(key)),
        (entry) => (entry === undefined || entry.value === undefined ? undefined : entry)
      ),
    last: (key) => attemptAt(key, () => messages.last(key)),
    create: (key, value) => attemptAt(key, () => messages.create(key, value)),
    update: (key, value, revision) => attemptAt(key, () => messages.write(key, value, revision)),
    put: (key, value) => attemptAt(key, () => messages.write(key, value, undefined)),
    delete: (key, revision) => attemptAt(key, () => messages.delete(key, revision)),
    keys: (filter) => Effect.map(entries(filter), (current) => current.map(({ key }) => key)),
    entries,
    watch: (filter = ">") =>
      Stream.callback<BucketChange, NatsError>((queue) =>
        Effect.flatMap(
          openWatch(connection, plan, filter, (change) => Queue.offerUnsafe(queue, change)),
          (watching) =>
            // Repeated while the stream is consumed: NATS is unavailable, elects, or forgot the watch in a restart.
            watching.pipe(
              Effect.catch((error) =>
                Effect.logDebug("watch of a bucket interrupted", { bucket: plan.name, error: error.message })
              ),
              Effect.andThen(Effect.sleep("100 millis")),
              Effect.forever
            )
        )
      )
  }
})
