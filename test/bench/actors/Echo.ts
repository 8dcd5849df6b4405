/** Actors of both processes of the benchmark, which return what they get: some in the other process, some in this one. */
import { Effect, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

const Text = { payload: { text: Schema.String }, success: Schema.String }

const inGroup = <Type extends string>(type: Type, group: string) =>
  Entity.make(type, [Rpc.make("Echo", Text)]).annotate(ClusterSchema.ShardGroup, () => group)

/** Calls without a span: a plain request has none either. */
export const There = inGroup("There", "there").annotate(ClusterSchema.ClientTracingEnabled, false)
/** Calls as Effect makes them by default, with a span for each. */
export const Traced = inGroup("Traced", "there")
export const Here = inGroup("Here", "here").annotate(ClusterSchema.ClientTracingEnabled, false)

export const shardGroups = ["there", "here"]

const options = { disableFatalDefects: true, maxIdleTime: "1 hour" } as const
const handlers = { Echo: ({ payload: { text } }: { payload: { text: string } }) => Effect.succeed(text) }
export const thereLayer = Layer.mergeAll(
  There.toLayer(Effect.succeed(There.of(handlers)), options),
  Traced.toLayer(Effect.succeed(Traced.of(handlers)), options)
)
export const hereLayer = Here.toLayer(Effect.succeed(Here.of(handlers)), options)

/** A call within the process, without any actor. */
export const plainSubject = "bench.plain"
