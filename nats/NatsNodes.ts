/**
 * Lists the live nodes, whatever their roles. Each node writes its record every 3 s. The record expires after 9 s without a write and is
 * deleted when the node leaves in an orderly way. Two processes with one name are two entries.
 */
import { errors, nuid } from "@nats-io/transport-node"
import { Context, Effect, Layer, Schema } from "effect"
import { makeBucket } from "./NatsBucket.ts"
import type { NatsBucket } from "./NatsBucket.ts"
import { NatsConnection, callTimeoutMillis } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { leaseMillis, retryUntilReady, streams } from "./NatsStreams.ts"
import { presenceSubject, token } from "./NatsSubjects.ts"

export const NodeRecord = Schema.Struct({
  name: Schema.String,
  roles: Schema.Array(Schema.String),
  version: Schema.String,
  /** Milliseconds since the epoch. */
  startedAt: Schema.Finite,
  /** Further properties of the node; small, and JSON. */
  more: Schema.Record(Schema.String, Schema.Json)
})
export type NodeRecord = typeof NodeRecord.Type

const RecordJson = Schema.fromJsonString(NodeRecord)
const decode = Schema.decodeUnknownOption(RecordJson)
const encode = Schema.encodeSync(RecordJson)

const listOf = (bucket: NatsBucket) =>
  Effect.map(bucket.entries(), (entries) =>
    entries
      .flatMap(({ value }) => {
        const found = decode(value)
        return found._tag === "Some" ? [found.value] : []
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.startedAt - b.startedAt))
  )

/** Lists the live nodes for a process that is not a node. */
export const listNodes = Effect.flatMap(makeBucket(streams.nodes), listOf)

export class NatsNodes extends Context.Service<
  NatsNodes,
  {
    /** Returns the live nodes by name. */
    readonly list: Effect.Effect<ReadonlyArray<NodeRecord>, NatsError>
    /** Changes the properties of this node. Other nodes see them with their next read. */
    readonly update: (more: NodeRecord["more"]) => Effect.Effect<void, NatsError>
    /** Changes the properties of this node with its next record, which it writes within seconds. */
    readonly updateLater: (more: NodeRecord["more"]) => Effect.Effect<void>
    /** False if no connected process has this id. True also if that is undetermined. */
    readonly isConnected: (id: string) => Effect.Effect<boolean>
  }
>()("aicr/nats/NatsNodes") {
  /** Registers the node while the scope is open. `id` is that of the process. */
  static readonly layer = (self: NodeRecord, id: string = nuid.next()) => Layer.effect(NatsNodes, make(self, id))
}

const isRefused = (cause: unknown): boolean => cause instanceof errors.RequestError && cause.isNoResponders()

const make = Effect.fnUntraced(function* (self: NodeRecord, id: string) {
  const { prefix, raw, reconnected } = yield* NatsConnection
  yield* Effect.acquireRelease(
    Effect.sync(() => raw.subscribe(presenceSubject(prefix, id), { callback: (_, message) => void message.respond() })),
    (subscription) => Effect.sync(() => subscription.unsubscribe())
  )
  const bucket = yield* makeBucket(streams.nodes)
  const key = `${token(self.name)}.${token(id)}`
  let record = self
  const write = Effect.suspend(() => Effect.asVoid(bucket.put(key, encode(record))))
  yield* Effect.addFinalizer(() => Effect.ignore(bucket.delete(key)))
  yield* retryUntilReady(write)
  yield* write.pipe(
    // The next write retries it.
    Effect.catch((error) => Effect.logDebug("node record not written, retry scheduled", { error: error.message })),
    Effect.delay("1 millis"),
    Effect.andThen(Effect.raceFirst(Effect.sleep(leaseMillis / 3), reconnected)),
    Effect.forever,
    Effect.forkScoped
  )
  return NatsNodes.of({
    list: listOf(bucket),
    update: (more) =>
      Effect.suspend(() => {
        record = { ...record, more }
        return write
      }),
    updateLater: (more) =>
      Effect.sync(() => {
        record = { ...record, more }
      }),
    isConnected: (other) =>
      Effect.promise(() =>
        raw.request(presenceSubject(prefix, other), "", { timeout: callTimeoutMillis }).then(
          () => true,
          (cause: unknown) => !isRefused(cause)
        )
      )
  })
})
