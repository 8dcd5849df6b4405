/** The actor of these tests: it counts its calls, and replies with its node and its activation. */
import { Effect, Schema, Stream } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { NatsRunnerLease } from "../../nats/NatsRunnerStorage.ts"

const Answer = Schema.Struct({
  count: Schema.Int,
  node: Schema.String,
  /** Differs after every move and restart. */
  life: Schema.String,
  fence: Schema.UndefinedOr(Schema.Int)
})
export type Answer = typeof Answer.Type

export const Counter = Entity.make("Counter", [
  Rpc.make("Add", { payload: { amount: Schema.Int }, success: Answer }),
  Rpc.make("Wait", { payload: { millis: Schema.Int } }),
  Rpc.make("Ended", { success: Schema.Int }),
  Rpc.make("Die", {}),
  Rpc.make("Echo", { payload: { text: Schema.String, times: Schema.Int }, success: Schema.String }),
  Rpc.make("Range", { payload: { count: Schema.Int }, success: Schema.Int, stream: true }),
  Rpc.make("Texts", { payload: { bytes: Schema.Int }, success: Schema.String, stream: true })
])

export const counterLayer = (node: string) =>
  Counter.toLayer(
    Effect.gen(function* () {
      const { shardId } = yield* Entity.CurrentAddress
      const { fence } = yield* NatsRunnerLease
      const life = `${node}/${Math.random()}`
      let count = 0
      let ended = 0
      return Counter.of({
        Add: ({ payload: { amount } }) => {
          count += amount
          return Effect.map(fence(shardId.toString()), (number) => ({ count, node, life, fence: number }))
        },
        Wait: ({ payload: { millis } }) =>
          Effect.onInterrupt(Effect.sleep(millis), () =>
            Effect.sync(() => {
              ended += 1
            })
          ),
        Ended: () => Effect.sync(() => ended),
        Die: () =>
          Effect.suspend(() => {
            count += 1000
            return Effect.die(new Error("died of this"))
          }),
        Echo: ({ payload: { text, times } }) => Effect.sync(() => text.repeat(times)),
        Range: ({ payload: { count: until } }) => Stream.range(1, until),
        Texts: ({ payload: { bytes } }) => Stream.make("small", "x".repeat(bytes), "never")
      })
    }),
    { disableFatalDefects: true, maxIdleTime: "5 minutes" }
  )

export const shardGroups = ["default"]
