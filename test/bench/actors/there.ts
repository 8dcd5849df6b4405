/** The other process of the benchmark: holds the actors that are called remotely, and replies to plain requests over NATS. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Result } from "effect"
import { Sharding } from "effect/cluster"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import * as NatsRunner from "../../../nats/NatsRunner.ts"
import { natsSettings } from "../../../nats/NatsSettings.ts"
import { plainSubject, shardGroups, thereLayer } from "./Echo.ts"

process.once("disconnect", () => process.exit())

const settings = Result.getOrThrow(natsSettings(process.env))
if (settings === undefined) throw new Error("SVC_NATS_URL is not set")

const up = Layer.effectDiscard(
  Effect.gen(function* () {
    const { raw } = yield* NatsConnection
    raw.subscribe(plainSubject, { callback: (_error, message) => void message.respond(message.data) })
    yield* Sharding.Sharding
    process.send?.("up")
  })
)
NodeRuntime.runMain(
  Layer.launch(
    Layer.mergeAll(thereLayer, up).pipe(
      Layer.provide(NatsRunner.layer({ node: "there", shardGroups, assigned: ["there"] })),
      Layer.provide(NatsConnection.layer({ settings, name: "there" }))
    )
  )
)
