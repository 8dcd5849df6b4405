/** The lines of log about a call that takes long. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Gateway } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { reportWait } from "../../../src/llm/calls/AttemptModel.ts"
import { faults, startFakeModel } from "../../harness/FakeModel.ts"
import { testOwners } from "../../harness/Owners.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols } from "../Protocols.ts"

it.effect("logs a call that waits after 1, 2, 4 and 8 minutes, with the silence that it tolerates", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(message))
    const receipt = { characters: 0, hasReceived: false }
    const config = { kind: "openai_compatible", base_url: "https://llm.example.com/v1", timeout_ms: 30_000 } as const
    yield* Effect.forkChild(
      Effect.provide(
        reportWait("main/slow", receipt, { ...config, base_url: "http://127.0.0.1:1/v1" }),
        Logger.layer([logger])
      )
    )
    yield* TestClock.adjust("59 seconds")
    assert.deepStrictEqual(lines, [])
    yield* TestClock.adjust("1 seconds")
    receipt.characters = 12
    receipt.hasReceived = true
    yield* TestClock.adjust("8 minutes")
    const fields = { model: "main/slow", since: "1970-01-01T00:00:00.000Z" }
    const line = (waited: number, more: object) => [
      "model has not ended its response yet",
      { ...fields, waited_s: waited, ...more }
    ]
    // A local server may be silent for longer before it begins.
    const later = { received_characters: 12, silence_limit_s: 30 }
    assert.deepStrictEqual(lines, [
      line(60, { received_characters: 0, silence_limit_s: 360 }),
      line(120, later),
      line(240, later),
      line(480, later)
    ])
  })
)

it.effect("a call of the gateway logs for how long its model has been silent", () =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeModel(faults.silent)),
      (started) => Effect.promise(() => started.close())
    )
    const [protocol] = protocols
    assert(protocol !== undefined)
    const messages: Array<unknown> = []
    const logger = Logger.make<unknown, void>(
      ({ message }) => void messages.push(Array.isArray(message) ? message[0] : message)
    )
    const snapshot = testSnapshot(documentFor(protocol, fake.url), env)
    const fiber = yield* Gateway.use((gateway) =>
      gateway.call({
        snapshot,
        group: "default",
        role: "heavy",
        system: "You review.",
        messages: [{ role: "user", text: "the diff" }],
        tools: [],
        deadlineMillis: 3_600_000
      })
    ).pipe(Effect.provide([gatewayLayer, Logger.layer([logger]), testOwners]), Effect.forkChild)
    while (fake.requests.length === 0) yield* Effect.promise(() => new Promise(setImmediate))
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(messages, ["model has not ended its response yet"])
    yield* Fiber.interrupt(fiber)
  })
)
