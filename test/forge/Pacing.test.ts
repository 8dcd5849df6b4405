/** Writes of one token keep their distance, and a closed token is closed for all of its users. */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { WriteOwner } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { chooseGap, WriteGap, fencedWrite, paced, pacedWrite } from "../../src/forge/Pacing.ts"
import { newTraffic, owned } from "../harness/Owners.ts"

const { paces } = newTraffic()

/** Runs a test with paces that no other has used. */
const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(
    Effect.sync(() => paces.clear()),
    owned(effect)
  )

const limited = (retryAfterMillis: number) =>
  new ForgeError({ reason: "rate_limited", retryAfterMillis, operation: "POST /x", why: verbatimReason("slow down") })

describe("pacing", () => {
  it.effect("starts the writes of one token at least a second apart, those of another token immediately", () =>
    fresh(
      Effect.gen(function* () {
        const starts: Array<readonly [string, number]> = []
        const write = (token: string) =>
          pacedWrite(
            paces,
            token,
            "POST /x",
            Effect.map(Clock.currentTimeMillis, (now) => starts.push([token, now]))
          )
        const all = yield* Effect.forkChild(
          Effect.all([write("a"), write("a"), write("b"), write("a")], { concurrency: "unbounded" })
        )
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(all)
        expect(starts.filter(([token]) => token === "a").map(([, at]) => at)).toEqual([0, 1000, 2000])
        expect(starts.filter(([token]) => token === "b").map(([, at]) => at)).toEqual([0])
      })
    )
  )

  it.effect("keeps a gap of a second for ten minutes after the host has limited the account", () =>
    fresh(
      Effect.gen(function* () {
        const ofHost = (key: string, millis: number, isFixed = false) =>
          Effect.map(chooseGap(paces, key, { gap: Duration.millis(millis), isFixed }), Duration.toMillis)
        const gap = ofHost("a", 0)
        expect(yield* gap).toBe(0)
        yield* Effect.ignore(paced(paces, "a", "GET /x", Effect.fail(limited(10))))
        expect([yield* gap, yield* ofHost("b", 0), yield* ofHost("a", 0, true)]).toEqual([1000, 0, 0])
        expect(yield* ofHost("a", 5000)).toBe(5000)
        yield* TestClock.adjust("10 minutes")
        expect(yield* gap).toBe(0)
      })
    )
  )

  it.effect("does not pause when the gap is zero", () =>
    fresh(
      Effect.gen(function* () {
        for (let i = 0; i < 5; i++) yield* pacedWrite(paces, "a", "POST /x", Effect.void)
        expect(yield* Clock.currentTimeMillis).toBe(0)
      }).pipe(Effect.provideService(WriteGap, Duration.zero))
    )
  )

  it.effect("sends no write that belongs to another node by now, whatever it waited for; reads pass", () =>
    fresh(
      Effect.gen(function* () {
        const sent: Array<string> = []
        const send = (name: string) => Effect.sync(() => sent.push(name))
        let ours = true
        const taken = new ForgeError({
          reason: "unavailable",
          operation: "publish",
          why: verbatimReason("another node publishes")
        })
        const fence = Effect.suspend(() => (ours ? Effect.void : Effect.fail(taken)))
        yield* Effect.gen(function* () {
          yield* pacedWrite(paces, "a", "POST /x", send("first"))
          const waits = yield* Effect.forkChild(Effect.flip(pacedWrite(paces, "a", "POST /x", send("second"))), {
            startImmediately: true
          })
          ours = false
          yield* TestClock.adjust("2 seconds")
          expect((yield* Fiber.join(waits)).message).toBe(taken.message)
          expect((yield* Effect.flip(fencedWrite(paces, "a", "POST /status", send("status")))).message).toBe(
            taken.message
          )
          yield* paced(paces, "a", "GET /x", send("read"))
          expect(sent).toEqual(["first", "read"])
        }).pipe(Effect.provideService(WriteOwner, { fence, guard: Effect.void }))
      })
    )
  )

  it.effect("prepares a write before it requests a permit, and requests none where that fails", () =>
    fresh(
      Effect.gen(function* () {
        const steps: Array<string> = []
        const step = (name: string) => Effect.sync(() => void steps.push(name))
        const moved = limited(0)
        const permits = {
          acquire: () => Effect.as(step("permit"), { started: Effect.void, release: Effect.void }),
          pause: () => Effect.void
        }
        const write = (beforePermit: Effect.Effect<void, ForgeError>) =>
          pacedWrite(paces, "a", "POST /x", step("sent")).pipe(
            Effect.provideService(WriteOwner, { fence: step("fence"), guard: step("guard"), beforePermit }),
            Effect.provideService(WritePermits, permits),
            Effect.provideService(WriteGap, Duration.zero)
          )
        yield* write(step("prepared"))
        expect(steps.splice(0)).toEqual(["prepared", "permit", "guard", "fence", "sent"])
        expect(yield* Effect.flip(write(Effect.fail(moved)))).toBe(moved)
        expect(steps).toEqual([])
      })
    )
  )

  it.effect("lets reads pass between writes", () =>
    fresh(
      Effect.gen(function* () {
        yield* pacedWrite(paces, "a", "POST /x", Effect.void)
        yield* paced(paces, "a", "GET /x", Effect.void)
        expect(yield* Clock.currentTimeMillis).toBe(0)
      })
    )
  )

  it.effect("sends nothing while the host keeps the token closed, and reports for how long", () =>
    fresh(
      Effect.gen(function* () {
        let sent = 0
        const request = Effect.sync(() => ++sent)
        yield* Effect.flip(pacedWrite(paces, "a", "POST /x", Effect.fail(limited(120_000))))
        yield* TestClock.adjust("20 seconds")
        const error = yield* Effect.flip(paced(paces, "a", "GET /x", request))
        expect(error).toMatchObject({ reason: "rate_limited", retryAfterMillis: 100_000, operation: "GET /x" })
        expect((yield* Effect.flip(pacedWrite(paces, "a", "POST /x", request))).reason).toBe("rate_limited")
        expect(sent).toBe(0)
        yield* TestClock.adjust("100 seconds")
        yield* paced(paces, "a", "GET /x", request)
        expect(sent).toBe(1)
      })
    )
  )

  it.effect("waits out a short closure", () =>
    fresh(
      Effect.gen(function* () {
        yield* Effect.flip(paced(paces, "a", "GET /x", Effect.fail(limited(3000))))
        const later = yield* Effect.forkChild(paced(paces, "a", "GET /x", Clock.currentTimeMillis))
        yield* TestClock.adjust("3 seconds")
        expect(yield* Fiber.join(later)).toBe(3000)
      })
    )
  )

  it.effect("continues after a write that failed", () =>
    fresh(
      Effect.gen(function* () {
        const lost = new ForgeError({ reason: "unknown_outcome", operation: "POST /x", why: verbatimReason("lost") })
        yield* Effect.flip(pacedWrite(paces, "a", "POST /x", Effect.fail(lost)))
        const next = yield* Effect.forkChild(pacedWrite(paces, "a", "POST /x", Clock.currentTimeMillis))
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(next)).toBe(1000)
      })
    )
  )
})
