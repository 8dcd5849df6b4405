/** The ledger on real databases: caps hold for concurrent reservations, repeating changes nothing, and a killed process loses no money. */
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { ReservationId } from "../../src/domain/Keys.ts"
import { Usd } from "../../src/domain/Money.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import type { LedgerReservation } from "../../src/store/Ledger.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { databases } from "./Databases.ts"
import { folder } from "./Folder.ts"
import { killAfter } from "./KilledChild.ts"

const day = "2026-01-31"
const asked = (id: string, usd: number, more: Partial<LedgerReservation> = {}): LedgerReservation => ({
  id: ReservationId.make(id),
  runId: "run-1",
  repository: "t:team/app",
  day,
  usd: Usd.make(usd),
  runCapUsd: Usd.make(1),
  dayCapUsd: Usd.make(10),
  owner: "node/1",
  ...more
})
const ofRun = (runId = "run-1") => Ledger.use((ledger) => ledger.committed({ runId }))
const ofDay = Ledger.use((ledger) => ledger.committed({ repository: "t:team/app", day }))

describe.each(databases)("ledger in $name", ({ name, layer }) => {
  const run = <A, E>(effect: Effect.Effect<A, E, Ledger>) => effect.pipe(Effect.provide(layer()))

  it.effect("reserves, settles with the real amount, refunds; each step once", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      for (const _ of [1, 2]) assert.strictEqual((yield* ledger.reserve(asked("a", 0.4), 1))._tag, "Reserved")
      assert.closeTo(yield* ofRun(), 0.4, 1e-9)
      for (const usd of [0.25, 0.9]) yield* ledger.settle(ReservationId.make("a"), Usd.make(usd), 2)
      assert.closeTo(yield* ofRun(), 0.25, 1e-9)
      yield* ledger.refund(ReservationId.make("a"), 3)
      assert.closeTo(yield* ofRun(), 0.25, 1e-9)

      yield* ledger.reserve(asked("b", 0.5), 4)
      for (const _ of [1, 2]) yield* ledger.refund(ReservationId.make("b"), 5)
      assert.strictEqual((yield* ledger.reserve(asked("b", 0.5), 6))._tag, "Reserved")
      assert.closeTo(yield* ofRun(), 0.25, 1e-9)
      assert.closeTo(yield* ofDay, 0.25, 1e-9)
      yield* ledger.settle(ReservationId.make("unknown"), Usd.make(5), 7)
      assert.closeTo(yield* ofDay, 0.25, 1e-9)
    }).pipe(run)
  )

  it.effect("lists the accounts of a day with settled and reserved amounts, the largest first", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const now = Date.parse(`${day}T10:00:00Z`)
      const author = "t:ada"
      yield* ledger.reserve(asked("a", 0.4, { author }), now)
      yield* ledger.settle(ReservationId.make("a"), Usd.make(0.25), now)
      yield* ledger.reserve(asked("b", 0.5, { author, team: "search", runId: "run-2" }), now)
      yield* ledger.reserve(asked("c", 0.1, { repository: "t:team/other", runId: "run-3" }), now)
      yield* ledger.reserve(asked("d", 0.1, { day: "2026-01-30", runId: "run-4" }), now)
      const rounded = (yield* ledger.listDay(day, 10)).map((one) => [one.kind, one.name, one.spentUsd, one.reservedUsd])
      assert.deepStrictEqual(rounded, [
        ["author", author, 0.25, 0.5],
        ["repository", "t:team/app", 0.25, 0.5],
        ["team", "search", 0, 0.5],
        ["repository", "t:team/other", 0, 0.1]
      ])
      assert.lengthOf(yield* ledger.listDay(day, 1), 1)
    }).pipe(run)
  )

  it.effect("a reservation that was refunded before it came is never made", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* ledger.refund(ReservationId.make("late"), 1)
      yield* ledger.reserve(asked("late", 0.4), 2)
      assert.strictEqual(yield* ofRun(), 0)
      assert.strictEqual(yield* ledger.closeLost(() => true, 0, 3), 0)
    }).pipe(run)
  )

  it.effect("each cap refuses by itself and leaves both accounts as they were", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* ledger.reserve(asked("a", 0.9), 1)
      const overRun = yield* ledger.reserve(asked("b", 0.2), 1)
      assert.deepStrictEqual(overRun, {
        _tag: "Refused",
        account: "run",
        committedUsd: Usd.make(0.9),
        openUsd: Usd.make(0.9)
      })
      const overDay = yield* ledger.reserve(asked("c", 0.2, { runId: "run-2", dayCapUsd: Usd.make(1) }), 1)
      assert.deepStrictEqual(overDay, {
        _tag: "Refused",
        account: "day",
        committedUsd: Usd.make(0.9),
        openUsd: Usd.make(0.9)
      })
      yield* ledger.settle(ReservationId.make("a"), Usd.make(0.9), 1)
      assert.deepInclude(yield* ledger.reserve(asked("b", 0.2), 1), {
        committedUsd: Usd.make(0.9),
        openUsd: Usd.make(0)
      })
      assert.strictEqual(yield* ofRun("run-2"), 0)
      assert.closeTo(yield* ofDay, 0.9, 1e-9)
      const free = { runId: "run-3", runCapUsd: undefined, dayCapUsd: undefined }
      assert.strictEqual((yield* ledger.reserve(asked("d", 1000, free), 1))._tag, "Reserved")
      assert.strictEqual((yield* ledger.reserve(asked("e", 0.1, { day: "2026-02-01" }), 1))._tag, "Reserved")
    }).pipe(run)
  )

  it.effect.each([
    ["author", { author: "t:ada", authorCapUsd: Usd.make(1) }, { author: "t:ada", day }, { author: "t:grace" }],
    ["team", { team: "Pay ments", teamCapUsd: Usd.make(1) }, { team: "Pay ments", day }, { team: "search" }]
  ] as const)("the cap of one %s holds over repositories and leaves the other accounts as they were", (given) =>
    Effect.gen(function* () {
      const [account, own, key, other] = given
      const ledger = yield* Ledger
      const ada = { ...own, runCapUsd: undefined, dayCapUsd: undefined }
      const spent = Ledger.use((known) => known.committed(key))
      assert.strictEqual((yield* ledger.reserve(asked("a", 0.6, ada), 1))._tag, "Reserved")
      const elsewhere = { ...ada, repository: "t:team/other", runId: "run-2" }
      assert.deepStrictEqual(yield* ledger.reserve(asked("b", 0.6, elsewhere), 1), {
        _tag: "Refused",
        account,
        committedUsd: Usd.make(0.6),
        openUsd: Usd.make(0.6)
      })
      assert.strictEqual(yield* ofRun("run-2"), 0)
      assert.strictEqual(yield* ledger.committed({ repository: "t:team/other", day }), 0)
      const grace = { ...elsewhere, ...other }
      assert.strictEqual((yield* ledger.reserve(asked("c", 0.6, grace), 1))._tag, "Reserved")
      assert.strictEqual((yield* ledger.reserve(asked("d", 0.6, { ...ada, day: "2026-02-01" }), 1))._tag, "Reserved")
      yield* ledger.settle(ReservationId.make("a"), Usd.make(0.1), 2)
      assert.closeTo(yield* spent, 0.1, 1e-9)
      assert.strictEqual((yield* ledger.reserve(asked("e", 0.6, elsewhere), 3))._tag, "Reserved")
      yield* ledger.refund(ReservationId.make("e"), 4)
      assert.closeTo(yield* spent, 0.1, 1e-9)
    }).pipe(run)
  )

  it.effect("items of a subject and period are counted, each once", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const count = (id: string, subject = "reviews:t:ada", period = "2026-01-31T12") =>
        ledger.count({ id: ReservationId.make(id), subject, period, max: 2 }, 1)
      assert.deepStrictEqual([yield* count("a"), yield* count("a"), yield* count("b")], [true, true, true])
      assert.deepStrictEqual([yield* count("c"), yield* count("c"), yield* count("a")], [false, false, true])
      assert.isTrue(yield* count("c", "t:grace"))
      assert.isTrue(yield* count("d", "t:ada", "2026-01-31T13"))
      const many = Array.from({ length: 20 }, (_, at) => count(`m${at}`, "t:eve"))
      const counted = yield* Effect.all(many, { concurrency: "unbounded" })
      assert.lengthOf(
        counted.filter((one) => one),
        2
      )
    }).pipe(run)
  )

  it.live("concurrent reservations never exceed the cap together", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const answers = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, at) => at),
        (at) => ledger.reserve(asked(`r${at}`, 0.07, { runId: `run-${at}` }), at),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ _tag }) => _tag === "Reserved").length, Math.floor(10 / 0.07))
      assert.isAtMost(yield* ofDay, 10)
      // Each in a repository of its own, as on several nodes.
      const ofTeam = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, at) => at),
        (at) => {
          const own = { runId: `team-${at}`, repository: `t:team/${at}`, team: "payments", teamCapUsd: Usd.make(1) }
          return ledger.reserve(asked(`t${at}`, 0.07, own), at)
        },
        { concurrency: 10 }
      )
      assert.strictEqual(ofTeam.filter(({ _tag }) => _tag === "Reserved").length, Math.floor(1 / 0.07))
      assert.isAtMost(yield* ledger.committed({ team: "payments", day }), 1)
    }).pipe(run)
  )

  it("whatever is done in whatever order, what is committed is what is open and what was settled", async () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "c", "d"),
      what: fc.constantFrom("reserve", "settle", "refund"),
      usd: fc.double({ min: 0, max: 0.6, noNaN: true })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const open = new Map<string, number>()
        const closed = new Map<string, number>()
        const expected = () => [...open.values(), ...closed.values()].reduce((sum, usd) => sum + usd, 0)
        const found = await Effect.gen(function* () {
          const ledger = yield* Ledger
          for (const { id, what, usd } of steps) {
            if (what === "reserve") {
              const answer = yield* ledger.reserve(asked(id, usd), 1)
              if (answer._tag === "Reserved" && !open.has(id) && !closed.has(id)) open.set(id, usd)
            } else {
              yield* what === "settle"
                ? ledger.settle(ReservationId.make(id), Usd.make(usd), 1)
                : ledger.refund(ReservationId.make(id), 1)
              if (open.delete(id)) closed.set(id, what === "settle" ? usd : 0)
              else if (what === "refund" && !closed.has(id)) closed.set(id, 0)
            }
          }
          return [yield* ofRun(), yield* ofDay]
        }).pipe(run, Effect.runPromise)
        for (const usd of found) assert.closeTo(usd, expected(), 1e-6)
      }),
      { numRuns: name === "sqlite" ? 40 : 5 }
    )
  })

  it.effect("what lost processes had open counts as spent; others are left alone; old rows go", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* ledger.reserve(asked("lost", 0.1, { owner: "node/0" }), 1000)
      yield* ledger.reserve(asked("mine", 0.2), 1000)
      yield* ledger.reserve(asked("old", 0.3, { owner: "other/9" }), 10)
      assert.strictEqual(yield* ledger.closeLost((owner) => owner === "node/0", 500, 2000), 2)
      yield* ledger.refund(ReservationId.make("lost"), 3000)
      yield* ledger.refund(ReservationId.make("old"), 3000)
      yield* ledger.refund(ReservationId.make("mine"), 3000)
      assert.closeTo(yield* ofRun(), 0.4, 1e-9)
      yield* ledger.prune(2000)
      assert.closeTo(yield* ofRun(), 0.4, 1e-9)
      yield* ledger.prune(4000)
      assert.strictEqual(yield* ofRun(), 0)
    }).pipe(run)
  )
})

describe("ledger", () => {
  it("a killed process: acknowledged amounts are recorded, and open ones are closed", async () => {
    const child = fileURLToPath(new URL("LedgerChild.ts", import.meta.url))
    await Effect.gen(function* () {
      const path = join(yield* folder, "svc.db")
      const reported: Array<string> = []
      for (const lines of [1, 50, 400]) reported.push(...(yield* Effect.promise(() => killAfter(child, [path], lines))))
      const settled = reported.filter((line) => line === "settled").length
      const reserved = reported.filter((line) => line === "reserved").length
      yield* Effect.gen(function* () {
        const ledger = yield* Ledger
        const dayUsd = ledger.committed({ repository: "t:team/app", day })
        // Settled calls cost 1 cent, open ones hold 2. One of each may have happened before its line was written.
        const before = yield* dayUsd
        assert.isAtLeast(before, settled * 0.01 + (reserved - settled) * 0.01 - 1e-9)
        const closed = yield* ledger.closeLost((owner) => owner === "child", 0, 1)
        assert.isAtMost(closed, 3 * 16)
        assert.isAtLeast(closed, 1)
        assert.closeTo(yield* dayUsd, before, 1e-9)
        assert.strictEqual(yield* ledger.closeLost(() => true, 0, 1), 0)
        assert.closeTo(yield* ledger.committed({ runId: "run-1" }), before, 1e-9)
        assert.closeTo(yield* ledger.committed({ team: "payments", day }), before, 1e-9)
      }).pipe(Effect.provide(Store.layerSqlite({ path, migrate: "verify" })))
    }).pipe(Effect.scoped, Effect.runPromise)
  }, 60_000)
})
