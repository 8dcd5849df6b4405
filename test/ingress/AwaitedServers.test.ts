import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { AwaitedServers } from "../../src/ingress/AwaitedServers.ts"

describe("awaited servers", () => {
  it.effect("are named until they are connected, and logged once a minute with the number of other attempts", () => {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(message))
    return Effect.gen(function* () {
      const awaited = yield* AwaitedServers
      const redis = awaited.of("redis")
      yield* awaited.of("nats").connected
      assert.deepStrictEqual(awaited.names(), [])
      for (const _ of [1, 2, 3]) yield* redis.failed("refused")
      assert.deepStrictEqual(awaited.names(), ["redis"])
      yield* TestClock.adjust("1 minute")
      yield* redis.failed("refused")
      yield* redis.connected
      assert.deepStrictEqual(awaited.names(), [])
      assert.deepStrictEqual(lines, [
        ["waiting for a server", { server: "redis", error: "refused", suppressed: 0 }],
        ["waiting for a server", { server: "redis", error: "refused", suppressed: 2 }],
        ["awaited server connected", { server: "redis" }]
      ])
    }).pipe(Effect.provide([AwaitedServers.layer, Logger.layer([logger])]))
  })
})
