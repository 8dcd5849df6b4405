/** What both processes of the benchmark know: actors that give back what they get, some over there, some here. */
import { Effect, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

const Text = { payload: { text: Schema.String }, success: Schema.String }

const inGroup = <Type extends string>(type: Type, group: string) =>
  Entity.make(type, [Rpc.make("Echo", Text)]).annotate(ClusterSchema.ShardGroup, () => group)

/** Like for like: a plain request has no span either. */
export const There = inGroup("There", "there").annotate(ClusterSchema.ClientTracingEnabled, false)
/** As Effect makes calls by default, with a span for each. */
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

/** Where the same process answers without any actor. */
export const plainSubject = "bench.plain"
