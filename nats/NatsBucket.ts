/**
 * Stores keys with values and revisions, with compare-and-set: a JetStream stream that keeps the last message of each subject. Reads go to
 * the stream's leader, so that a read after a write sees it. Timeouts are short. A write that fails as `unavailable` may have happened; a
 * caller that depends on the outcome reads again.
 */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream"
import { headers } from "@nats-io/transport-node"
import { Effect } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { bucketSubject, ensure, recreating, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"

export interface BucketEntry {
  readonly key: string
  readonly value: string
  /** Increases with every write to the bucket, whatever its key. */
  readonly revision: number
}

/** The last change of a key: a value, or the deletion of the key. */
type BucketChange = BucketEntry | { readonly key: string; readonly value: undefined; readonly revision: number }

export interface NatsBucket {
  readonly get: (key: string) => Effect.Effect<BucketEntry | undefined, NatsError>
  /** Reads like `get`, but returns the revision of the deletion for a deleted key. */
  readonly last: (key: string) => Effect.Effect<BucketChange | undefined, NatsError>
  /** Returns the new revision. Fails with `conflict` if the key has another revision; 0 is the revision of a key that never had a value. */
  readonly update: (key: string, value: string, revision: number) => Effect.Effect<number, NatsError>
  readonly put: (key: string, value: string) => Effect.Effect<number, NatsError>
  /** Deletes the key. Fails with `conflict` if a revision is given and the key has another. */
  readonly delete: (key: string, revision?: number) => Effect.Effect<void, NatsError>
  /** Returns the keys with a value at one moment. `filter` is a key with wildcards `*` and `>`. */
  readonly keys: (filter?: string) => Effect.Effect<ReadonlyArray<string>, NatsError>
  /** Returns the keys at one moment, including deleted ones. */
  readonly subjects: (filter: string) => Effect.Effect<ReadonlyArray<string>, NatsError>
  /** Returns `keys` with their values. A key that is written continuously is included. */
  readonly entries: (filter?: string) => Effect.Effect<ReadonlyArray<BucketEntry>, NatsError>
}

/** Keys: letters, digits, `-`, `_`, `=`, `/`, and dots between parts. */
const validKey = /^[-/=\w]+(\.[-/=\w]+)*$/

type BucketPlan = StreamPlan & { readonly kind: "bucket" }

/** The bucket as promises that reject with the client's errors. */
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

  /** Includes deletion markers. */
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

  async delete(key: string, revision: number | undefined): Promise<void> {
    const marker = headers()
    marker.set("KV-Operation", "DEL")
    await this.#connection.jetstream.publish(this.#subject(key), "", { headers: marker, ...expecting(revision) })
  }

  async subjects(filter: string): Promise<ReadonlyArray<string>> {
    const info = await this.#connection.manager.streams.info(this.#stream, {
      subjects_filter: `${this.#base}.${filter}`
    })
    return Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(this.#base.length + 1))
  }

  async entries(filter: string): Promise<ReadonlyArray<BucketEntry>> {
    const changes = await Promise.all((await this.subjects(filter)).map((key) => this.last(key)))
    return changes.flatMap((entry) => (entry === undefined || entry.value === undefined ? [] : [entry]))
  }
}

const expecting = (revision: number | undefined) =>
  revision === undefined ? {} : { expect: { lastSubjectSequence: revision } }

/** Creates the bucket if it does not exist. */
export const makeBucket = Effect.fnUntraced(function* (
  plan: BucketPlan
): Effect.fn.Return<NatsBucket, NatsError, NatsConnection> {
  yield* ensure([plan])
  const connection = yield* NatsConnection
  const messages = new BucketMessages(connection, plan)
  const attemptOn = recreating(connection, plan)
  const attemptAt = <A>(key: string, run: () => Promise<A>) => attemptOn(`bucket ${plan.name}, key ${key}`, run)
  const entries = (filter = ">") => attemptOn(`bucket ${plan.name}`, () => messages.entries(filter))

  return {
    get: (key) =>
      Effect.map(
        attemptAt(key, () => messages.last(key)),
        (entry) => (entry === undefined || entry.value === undefined ? undefined : entry)
      ),
    last: (key) => attemptAt(key, () => messages.last(key)),
    update: (key, value, revision) => attemptAt(key, () => messages.write(key, value, revision)),
    put: (key, value) => attemptAt(key, () => messages.write(key, value, undefined)),
    delete: (key, revision) => attemptAt(key, () => messages.delete(key, revision)),
    subjects: (filter) => attemptOn(`bucket ${plan.name}`, () => messages.subjects(filter)),
    keys: (filter) => Effect.map(entries(filter), (current) => current.map(({ key }) => key)),
    entries
  }
})
