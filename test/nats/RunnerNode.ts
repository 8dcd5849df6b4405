/**
 * A node of these tests in a separate process: `node RunnerNode.ts NAME`, with the settings in its environment. Prints `up` when it is
 * ready.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Result } from "effect"
import { Sharding } from "effect/cluster"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import * as NatsRunner from "../../nats/NatsRunner.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { counterLayer, shardGroups } from "./Counter.ts"

const name = process.argv[2] ?? "runner"
const settings = Result.getOrThrow(natsSettings(process.env))
if (settings === undefined) throw new Error("SVC_NATS_URL is not set")

const up = Layer.effectDiscard(
  Effect.andThen(
    Sharding.Sharding,
    Effect.sync(() => process.send?.("up"))
  )
)
// The parent process has ended.
process.once("disconnect", () => process.exit())

const main = Layer.mergeAll(counterLayer(name), up).pipe(
  Layer.provide(NatsRunner.layer({ node: name, shardGroups, assigned: shardGroups })),
  Layer.provide(NatsConnection.layer({ settings, name }))
)
NodeRuntime.runMain(Layer.launch(main))
