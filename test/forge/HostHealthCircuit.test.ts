/** The circuit of a host: when it opens and closes, who probes, and how repeated reads behave. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../src/domain/Reason.ts"
import {
  admit,
  afterFailure,
  closed,
  isOpen,
  maxProbeInterval,
  DuringOutage,
  observe,
  retryRead,
  waitUntilAvailable
} from "../../src/forge/HostHealth.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { newTraffic } from "../harness/Owners.ts"

const failing = (times: number, now = 0) => {
  let circuit = closed
  for (let n = 0; n < times; n++) circuit = afterFailure(circuit, now)
  return circuit
}

describe("a circuit", () => {
  it("opens with the third failure in a row", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((times) => isOpen(failing(times))),
      [false, false, true, true]
    )
  })
  it("grants one probe per interval, at growing intervals", () => {
    let circuit = failing(3)
    const granted: Array<number> = []
    for (let now = 0; now <= 60_000; now += 500) {
      const admitted = admit(circuit, now)
      circuit = admitted.circuit
      if (admitted.waitMillis === 0) granted.push(now)
    }
    assert.deepStrictEqual(granted, [1000, 3000, 7000, 15_000, 30_000, 45_000, 60_000])
    assert.strictEqual(admit(circuit, 61_000).waitMillis, maxProbeInterval - 1000)
  })
  it("is not put off by further failures", () => {
    assert.strictEqual(admit(afterFailure(failing(3), 900), 1000).waitMillis, 0)
  })
})

const down = new ForgeError({ reason: "unavailable", operation: "GET /x", why: verbatimReason("down") })
const origin = "http://host.test"
const alone = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, DuringOutage, "wait")

/** A host that fails all requests until a time, and the times of its requests. */
const host = (upAt: number) => {
  const requests: Array<number> = []
  const { states } = newTraffic()
  const request = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    requests.push(now)
    return now < upAt ? Effect.fail(down) : Effect.succeed(now)
  })
  return { requests, states, read: observe(states, origin, request) }
}

describe("waiting for a host", () => {
  it.effect("one of many reads probes, and all continue within one interval of the end of the outage", () =>
    alone(
      Effect.gen(function* () {
        const upAt = 10 * 60_000
        const { requests, read, states } = host(upAt)
        const all = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 20 }, () => retryRead(states, origin, read)),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("11 minutes")
        const ends = yield* Fiber.join(all)
        assert.isAtMost(Math.max(...ends), upAt + maxProbeInterval)
        const during = requests.filter((at) => at > 1000 && at < upAt)
        assert.isAtMost(during.length, 3 + upAt / maxProbeInterval)
      })
    )
  )
  it.effect("a read that fails while the host responds to others is given up after a few times", () =>
    alone(
      Effect.gen(function* () {
        const { requests, read, states } = host(Number.POSITIVE_INFINITY)
        const responded = observe(states, origin, Effect.void)
        const fiber = yield* Effect.forkChild(
          Effect.flip(
            retryRead(
              states,
              origin,
              Effect.tapError(read, () => responded)
            )
          )
        )
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(fiber)).reason, "unavailable")
        assert.strictEqual(requests.length, 6)
      })
    )
  )
  it.effect("a refusal is a response: it closes the circuit and is not repeated", () =>
    alone(
      Effect.gen(function* () {
        const { read, states } = host(Number.POSITIVE_INFINITY)
        for (let n = 0; n < 3; n++) yield* Effect.flip(read)
        const refused = new ForgeError({ reason: "forbidden", operation: "GET /x", why: verbatimReason("no") })
        assert.strictEqual(yield* Effect.flip(observe(states, origin, Effect.fail(refused))), refused)
        yield* waitUntilAvailable(states, origin)
        assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      })
    )
  )
  it.effect("marks an error as an outage of the whole host, with its message", () =>
    alone(
      Effect.gen(function* () {
        const { read } = host(Number.POSITIVE_INFINITY)
        const errors = yield* Effect.all([Effect.flip(read), Effect.flip(read), Effect.flip(read)])
        assert.deepStrictEqual(
          errors.map(({ isOutage }) => isOutage),
          [undefined, undefined, true]
        )
        assert.strictEqual(errors[2].message, "down")
      })
    )
  )
  it.effect("a call that does not wait is not delayed", () =>
    alone(
      Effect.gen(function* () {
        const { requests, read, states } = host(Number.POSITIVE_INFINITY)
        for (let n = 0; n < 5; n++) yield* Effect.flip(retryRead(states, origin, read))
        assert.deepStrictEqual(requests, [0, 0, 0, 0, 0])
      }).pipe(Effect.provideService(DuringOutage, "fail"))
    )
  )
})
