/**
 * The nodes that are alive, whatever their roles: each writes what it tells of itself every 3 s, and is off the list 9 s after it
 * stopped doing so, or at once when it leaves in order. Two processes with one name are two entries.
 */
import { nuid } from "@nats-io/transport-node"
import { Context, Effect, Layer, Schema } from "effect"
import { makeBucket } from "./NatsBucket.ts"
import type { NatsBucket } from "./NatsBucket.ts"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { leaseMillis, patiently, streams } from "./NatsStreams.ts"
import { token } from "./NatsSubjects.ts"

export const NodeRecord = Schema.Struct({
  name: Schema.String,
  roles: Schema.Array(Schema.String),
  version: Schema.String,
  /** Milliseconds since the epoch. */
  startedAt: Schema.Finite,
  /** Whatever else the node tells of itself; small, and JSON. */
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

/** Those alive, for who only looks and is none of them. */
export const listNodes = Effect.flatMap(makeBucket(streams.nodes), listOf)

export class NatsNodes extends Context.Service<
  NatsNodes,
  {
    /** Those alive, by name. */
    readonly list: Effect.Effect<ReadonlyArray<NodeRecord>, NatsError>
    /** Changes what this node tells of itself; the others see it with their next look. */
    readonly tell: (more: NodeRecord["more"]) => Effect.Effect<void, NatsError>
  }
>()("aicr/nats/NatsNodes") {
  /** On the list from when this is built until its scope closes. */
  static readonly layer = (self: NodeRecord) => Layer.effect(NatsNodes, make(self))
}

const make = Effect.fnUntraced(function* (self: NodeRecord) {
  const { reconnected } = yield* NatsConnection
  const bucket = yield* makeBucket(streams.nodes)
  const key = `${token(self.name)}.${nuid.next()}`
  let record = self
  const write = Effect.suspend(() => Effect.asVoid(bucket.put(key, encode(record))))
  yield* Effect.addFinalizer(() => Effect.ignore(bucket.delete(key)))
  yield* patiently(write)
  yield* write.pipe(
    // The next time is soon enough.
    Effect.catch((error) => Effect.logDebug("node record not written, retry scheduled", { error: error.message })),
    Effect.delay("1 millis"),
    Effect.andThen(Effect.raceFirst(Effect.sleep(leaseMillis / 3), reconnected)),
    Effect.forever,
    Effect.forkScoped
  )
  return NatsNodes.of({
    list: listOf(bucket),
    tell: (more) =>
      Effect.suspend(() => {
        record = { ...record, more }
        return write
      })
  })
})
