/** Budgets over the real path: gateway, budget, ledger in SQLite, and a model server that counts its requests. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { ReservationId } from "../../../src/domain/Keys.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { Price } from "../../../src/llm/catalog/ModelRecord.ts"
import * as BudgetLedger from "../../../actors/limits/BudgetLedger.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { Budget } from "../../../src/llm/Budget.ts"
import type { Caps } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { estimateUsd } from "../../../src/llm/calls/Spending.ts"
import { WarningLimits } from "../../../src/observability/LimitedWarnings.ts"
import { Ledger } from "../../../src/store/Ledger.ts"
import { Notices } from "../../../src/store/Notices.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { StoreError } from "../../../src/database/StoreError.ts"
import { faults, startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { shiftedClock } from "../../harness/ShiftedClock.ts"

const configuration = layerStatic(
  testSnapshot({ outputs: { notifications: { routes: [{ kinds: ["budget_threshold"], channels: ["ops"] }] } } })
)
const stored = Layer.effect(Notices, Notices).pipe(Layer.provide(Store.layerMemory))

/** A budget over a ledger that fails. */
const withLedger = <E>(ledger: Layer.Layer<Ledger, E>) =>
  BudgetLedger.layer.pipe(Layer.provideMerge(Layer.mergeAll(ledger, configuration, stored, NodeIdentity.layer("node"))))

const world = Layer.mergeAll(
  Store.layerMemory,
  configuration,
  LiveNodes.layerAlone.pipe(Layer.provideMerge(NodeIdentity.layer("node")))
)
const layers = GatewayLayer.layer.pipe(
  Layer.provide([
    BudgetLedger.layer,
    Evidence.layerNone,
    Limiter.layerMemory,
    Catalog.layer.pipe(Layer.provide(layerMemory))
  ]),
  Layer.provideMerge(world)
)

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

const repository = "t:team/app"
const prompt = "x".repeat(3000)
const price = Schema.decodeSync(Price)({ input: 100, output: 100 })
/** Estimate of 1000 tokens of prompt and at most 1000 of response at 100 dollars a million: 20 cents. */
const estimate = estimateUsd(
  {
    price,
    maxOutputTokens: 1000,
    contextWindow: undefined,
    supportedEfforts: undefined,
    defaultEffort: undefined,
    toolCall: undefined
  },
  prompt.length + "system".length
)

const snapshot = (url: string, budget: Record<string, unknown>, priced = true) =>
  testSnapshot({
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1`, max_output_tokens: 1000 }],
      model_chain: { default: [{ provider: "p", model: "m" }] },
      retry: { max_attempts: 1 },
      budget,
      model_catalog: { overrides: priced ? { "p/m": { cost: price } } : {} }
    }
  })

const call = (from: ReturnType<typeof snapshot>, run: string, by: Partial<ModelAccount> = {}) =>
  Gateway.use((gateway) =>
    gateway.call({
      snapshot: from,
      group: "default",
      role: "any",
      system: "system",
      messages: [{ role: "user", text: prompt }],
      tools: [],
      deadlineMillis: 20_000
    })
  ).pipe(Effect.provideService(ModelRun, { id: run, repository, ...by }))

const spentToday = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Ledger.use((ledger) => ledger.committed({ repository, day: new Date(now).toISOString().slice(0, 10) }))
)

/** A clock that starts at noon, so that no day ends during a test. */
const fromNoon = (clock: Clock.Clock): Clock.Clock => {
  const day = 86_400_000
  return shiftedClock(clock, day / 2 - (clock.currentTimeMillisUnsafe() % day))
}

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layers>>) =>
  Effect.flatMap(Clock.Clock, (clock) =>
    effect.pipe(Effect.provide([layers, Logger.layer([])]), Effect.provideService(Clock.Clock, fromNoon(clock)))
  )

describe("budget", () => {
  it.live("100 concurrent runs against a cap of 10 runs' worth: the cap holds, and every response is recorded", () =>
    Effect.gen(function* () {
      // Each response costs 19 cents, a run has two calls: a cap of 3.80 is 10 runs' worth.
      const usage = { input: 1000, output: 900, cached: 0 }
      const fake = yield* fakeModel({ text: "hello", usage, delayMillis: 5 })
      const cap = 10 * 2 * 0.19
      const from = snapshot(fake.url, { per_repo_daily_usd: cap })
      const results = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, at) => `run-${at}`),
        (id) => Effect.result(Effect.andThen(call(from, id), call(from, id))),
        { concurrency: "unbounded" }
      )
      const spent = yield* spentToday
      assert.isAtMost(spent, cap + 1e-6)
      assert.closeTo(spent, fake.requests.length * 0.19, 1e-6)
      // The remainder is less than one more estimate.
      assert.isBelow(cap - spent, estimate ?? 0)
      for (const result of results) {
        if (result._tag === "Success") continue
        assert.strictEqual(result.failure.reason, "budget")
        assert.match(result.failure.message, /the budget is used up: .* US dollars of llm.budget.per_repo_daily_usd/)
      }
      assert.isAbove(results.filter(({ _tag }) => _tag === "Failure").length, 80)
    }).pipe(Effect.scoped, run)
  )

  it.live("an author's day is over in every repository; others go on", () =>
    Effect.gen(function* () {
      // Each response costs 19 cents and is estimated at 20.
      const fake = yield* fakeModel({ text: "hello", usage: { input: 1000, output: 900, cached: 0 } })
      const from = snapshot(fake.url, { per_author_daily_usd: 0.3 })
      const ada = { author: "t:ada" }
      assert.strictEqual((yield* Effect.result(call(from, "run-1", ada)))._tag, "Success")
      const second = yield* Effect.result(call(from, "run-2", { ...ada, repository: "t:team/other" }))
      assert.match(
        second._tag === "Failure" ? second.failure.message : "",
        /the budget is used up: 0\.19 of 0\.30 US dollars of llm\.budget\.per_author_daily_usd/
      )
      assert.strictEqual((yield* Effect.result(call(from, "run-3", { author: "t:grace" })))._tag, "Success")
      assert.strictEqual((yield* Effect.result(call(from, "run-4")))._tag, "Success")
    }).pipe(Effect.scoped, run)
  )

  it.live("a team's day is over in every repository; other teams go on", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello", usage: { input: 1000, output: 900, cached: 0 } })
      const from = snapshot(fake.url, { per_team_daily_usd: 0.3, team_daily_usd: { search: 0.29, data: 0.6 } })
      const team = { team: "payments" }
      assert.strictEqual((yield* Effect.result(call(from, "run-1", team)))._tag, "Success")
      const second = yield* Effect.result(call(from, "run-2", { ...team, repository: "t:team/other" }))
      assert.match(
        second._tag === "Failure" ? second.failure.message : "",
        /the budget is used up: 0\.19 of 0\.30 US dollars of llm\.budget\.per_team_daily_usd/
      )
      assert.strictEqual((yield* Effect.result(call(from, "run-3", { team: "search" })))._tag, "Success")
      assert.strictEqual((yield* Effect.result(call(from, "run-4")))._tag, "Success")
      // Teams with a limit of their own.
      const third = yield* Effect.result(call(from, "run-5", { team: "search" }))
      assert.match(
        third._tag === "Failure" ? third.failure.message : "",
        /the budget is used up: 0\.19 of 0\.29 US dollars of llm\.budget\.team_daily_usd/
      )
      for (const id of ["run-6", "run-7"])
        assert.strictEqual((yield* Effect.result(call(from, id, { team: "data" })))._tag, "Success")
    }).pipe(Effect.scoped, run)
  )

  it.live("responses dearer than estimated exceed the cap by no more than the last responses' error", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello", usage: { input: 2000, output: 1000, cached: 0 } })
      const from = snapshot(fake.url, { per_run_usd: 1 })
      let calls = 0
      while ((yield* Effect.result(call(from, "dear")))._tag === "Success") calls++
      const spent = yield* Ledger.use((ledger) => ledger.committed({ runId: "dear" }))
      assert.closeTo(spent, calls * 0.3, 1e-6)
      assert.isAtMost(spent, 1 + (0.3 - (estimate ?? 0)) + 1e-6)
    }).pipe(Effect.scoped, run)
  )

  it.live.each([
    ["an error of the provider costs nothing", faults.serverError, 0],
    ["a refused key costs nothing", faults.unauthorized(), 0],
    ["an answer that never came counts as estimated", faults.silent, 1],
    ["a refusal of the model was an answer", faults.refusal, 1]
  ] as const)("%s", ([, reply, estimates]) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(reply)
      const base = snapshot(fake.url, { per_run_usd: 1 })
      const [provider] = base.document.llm.providers
      if (provider === undefined) return assert.fail("no provider")
      // Short only where the timeout is expected.
      const providers = [{ ...provider, timeout_ms: reply === faults.silent ? 200 : 10_000 }]
      const from = { ...base, document: { ...base.document, llm: { ...base.document.llm, providers } } }
      yield* Effect.flip(call(from, "failing"))
      const spent = yield* Ledger.use((ledger) => ledger.committed({ runId: "failing" }))
      assert.closeTo(spent, estimates * (estimate ?? 0), 1e-6)
    }).pipe(Effect.scoped, run)
  )

  it.live("an unknown price with a budget is refused before anything is sent; without one the model is called", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const error = yield* Effect.flip(call(snapshot(fake.url, { per_run_usd: 1 }, false), "unpriced"))
      assert.strictEqual(error.reason, "unpriced")
      assert.match(error.message, /price is unknown.*llm.model_catalog.overrides/)
      assert.strictEqual(fake.requests.length, 0)
      const answer = yield* call(snapshot(fake.url, {}, false), "unpriced")
      assert.isUndefined(answer.usage.costUsd)
    }).pipe(Effect.scoped, run)
  )

  it.live("a chain of a model over its cap and one without a price is refused by the budget", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const one = snapshot(fake.url, { per_run_usd: 0.01 })
      const chain = ["m", "unpriced"].map((model) => ({ provider: "p", model, role: "any" as const }))
      const llm = { ...one.document.llm, model_chain: { default: chain } }
      const error = yield* Effect.flip(call({ ...one, document: { ...one.document, llm } }, "both"))
      assert.strictEqual(error.reason, "budget")
      assert.match(error.message, /per_run_usd.*price is unknown/)
    }).pipe(Effect.scoped, run)
  )

  it.live("an earlier incarnation's open reservations are closed, this one's are not", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const now = Date.now()
      const reservation = {
        runId: "r",
        repository,
        day: "2026-01-31",
        usd: Usd.make(0.5),
        runCapUsd: undefined,
        dayCapUsd: undefined
      }
      yield* ledger.reserve({ ...reservation, id: ReservationId.make("before"), owner: "node/earlier" }, now)
      yield* ledger.reserve({ ...reservation, id: ReservationId.make("elsewhere"), owner: "other/1" }, now)
      yield* BudgetLedger.closeLostReservations(now)
      assert.strictEqual(yield* ledger.closeLost(() => true, 0, now), 1)
    }).pipe(run)
  )
})

describe("a reservation whose reply is lost", () => {
  const lost = new StoreError({
    reason: "corrupt",
    operation: "ledger.reserve",
    why: verbatimReason("the reply is lost")
  })
  const reservation = {
    id: ReservationId.make("r1"),
    run: { id: "unanswered", repository },
    usd: Usd.make(0.5),
    caps: { perRunUsd: undefined, perRepoDailyUsd: undefined }
  }
  const committedIs = (ledger: Ledger["Service"], usd: number) =>
    Effect.promise(() =>
      waitUntil(async () => (await Effect.runPromise(ledger.committed({ runId: "unanswered" }))) === usd, {
        describe: () => `${usd} US dollars are committed`
      })
    )

  /** The ledger makes the reservation, and then this reply is returned. */
  const withReply = (reply: Effect.Effect<never, StoreError>) => {
    const ledger = Layer.effect(
      Ledger,
      Effect.map(Ledger, (real) => ({
        ...real,
        reserve: (made, now) => Effect.andThen(real.reserve(made, now), reply)
      }))
    ).pipe(Layer.provide(Store.layerMemory))
    return withLedger(ledger)
  }

  it.live("is refunded when the ledger failed", () =>
    Effect.gen(function* () {
      const [budget, ledger] = [yield* Budget, yield* Ledger]
      assert.strictEqual((yield* Effect.flip(budget.reserve(reservation)))._tag, "BudgetError")
      yield* committedIs(ledger, 0)
    }).pipe(Effect.provide([withReply(Effect.fail(lost)), Logger.layer([])]))
  )

  it.live("is refunded when its caller does not wait for it", () =>
    Effect.gen(function* () {
      const [budget, ledger] = [yield* Budget, yield* Ledger]
      const caller = yield* Effect.forkChild(budget.reserve(reservation))
      yield* committedIs(ledger, 0.5)
      yield* Fiber.interrupt(caller)
      yield* committedIs(ledger, 0)
    }).pipe(Effect.provide([withReply(Effect.never), Logger.layer([])]))
  )
})

describe("near a cap", () => {
  it.each<[what: string, committed: number, open: number, expected: boolean]>([
    ["all of it is spent", 0.9, 0, false],
    ["what is spent leaves no room", 0.9, 0.1, false],
    ["what is in flight may leave room", 0.9, 0.5, true]
  ])("a reservation waits only if %s", (_, committed, open, expected) => {
    const reply = { committedUsd: Usd.make(committed), openUsd: Usd.make(open) }
    assert.strictEqual(BudgetLedger.mayFitLater(Usd.make(0.3), Usd.make(1), reply), expected)
  })

  it.live("a reservation waits for the cost of a call in flight, and is refused once that is spent", () =>
    Effect.gen(function* () {
      const budget = yield* Budget
      const caps = { perRunUsd: Usd.make(1), perRepoDailyUsd: undefined }
      const reservation = (id: string) => ({
        id: ReservationId.make(id),
        run: { id: "near", repository },
        usd: Usd.make(0.6),
        caps
      })
      assert.strictEqual((yield* budget.reserve(reservation("a")))._tag, "Reserved")
      const waiting = yield* Effect.forkChild(budget.reserve(reservation("b")), { startImmediately: true })
      yield* budget.settle(reservation("a"), Usd.make(0.1))
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Reserved")
      yield* budget.settle(reservation("b"), Usd.make(0.6))
      assert.strictEqual((yield* budget.reserve(reservation("c")))._tag, "Refused")
    }).pipe(Effect.provide(BudgetLedger.layer.pipe(Layer.provideMerge(world))))
  )
})

it.live(
  "a reservation waits for a ledger that is unavailable, whose reply to an earlier attempt was lost, and one warning is logged",
  () => {
    let attempts = 0
    const warnings: Array<string> = []
    const failing = new StoreError({
      reason: "unavailable",
      operation: "ledger.reserve",
      why: verbatimReason("unavailable")
    })
    const ledger = Layer.effect(
      Ledger,
      Effect.map(Ledger, (real) => ({
        ...real,
        reserve: (made, now) => {
          const reply = real.reserve(made, now)
          return ++attempts < 4 ? Effect.andThen(reply, Effect.fail(failing)) : reply
        }
      }))
    ).pipe(Layer.provide(Store.layerMemory))
    const reservation = {
      id: ReservationId.make("waits"),
      run: { id: "waits", repository },
      usd: Usd.make(0.5),
      caps: { perRunUsd: Usd.make(0.6), perRepoDailyUsd: undefined }
    }
    return Effect.gen(function* () {
      const [budget, records] = [yield* Budget, yield* Ledger]
      assert.strictEqual((yield* budget.reserve(reservation))._tag, "Reserved")
      assert.strictEqual(attempts, 4)
      assert.strictEqual(yield* records.committed({ runId: "waits" }), 0.5)
      const waits = warnings.filter((message) => message.includes("model call waits for the budget ledger"))
      assert.strictEqual(waits.length, 1)
    }).pipe(
      Effect.provide([
        withLedger(ledger),
        Logger.layer([Logger.make(({ message }) => warnings.push(JSON.stringify(message)))])
      ]),
      Effect.provideService(WarningLimits, new Map())
    )
  }
)

it.live(
  "settlements that fail are repeated until they succeed, their calls do not wait, and one warning is logged",
  () => {
    const attempts = new Map<string, number>()
    const warnings: Array<unknown> = []
    const failing = new StoreError({
      reason: "unavailable",
      operation: "ledger.settle",
      why: verbatimReason("unavailable")
    })
    const ledger = Layer.effect(
      Ledger,
      Effect.map(Ledger, (real) => ({
        ...real,
        settle: (id, usd, now) => {
          const attempt = (attempts.get(id) ?? 0) + 1
          attempts.set(id, attempt)
          return attempt < 4 ? Effect.fail(failing) : real.settle(id, usd, now)
        }
      }))
    ).pipe(Layer.provide(Store.layerMemory))
    const caps = { perRunUsd: undefined, perRepoDailyUsd: undefined }
    const reservations = ["s1", "s2", "s3"].map((id) => ({
      id: ReservationId.make(id),
      run: { id: "settled", repository },
      usd: Usd.make(0.5),
      caps
    }))
    return Effect.gen(function* () {
      const [budget, records] = [yield* Budget, yield* Ledger]
      yield* Effect.forEach(reservations, budget.reserve)
      yield* Effect.forEach(reservations, (reservation) => budget.settle(reservation, Usd.make(0.1)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(yield* records.committed({ runId: "settled" }), 1.5)
      while ((yield* records.committed({ runId: "settled" })) > 0.31) yield* Effect.sleep("20 millis")
      assert.deepStrictEqual([...attempts.values()], [4, 4, 4])
      assert.deepStrictEqual(
        warnings.filter((message) => JSON.stringify(message).includes("reservation not settled yet")).length,
        1
      )
    }).pipe(
      Effect.provide([withLedger(ledger), Logger.layer([Logger.make(({ message }) => warnings.push(message))])]),
      Effect.provideService(WarningLimits, new Map())
    )
  }
)

/** A budget whose clock the test moves, and the number of its log lines with a text. */
const onTestClock = (ledger: Layer.Layer<Ledger, StoreError>) => {
  const lines: Array<string> = []
  const parts = withLedger(ledger).pipe(
    Layer.provideMerge(Logger.layer([Logger.make(({ message }) => lines.push(JSON.stringify(message)))]))
  )
  const count = (text: string): number => lines.filter((line) => line.includes(text)).length
  return { parts, count }
}
const inMemory = Layer.effect(Ledger, Ledger).pipe(Layer.provide(Store.layerMemory))
const passMinutes = (minutes: number) => Effect.repeat(TestClock.adjust("1 second"), { times: minutes * 60 })

it.effect("a reservation waits ten minutes for the cost of calls in flight at most, and logs that once", () => {
  const { count, parts } = onTestClock(inMemory)
  return Effect.gen(function* () {
    const budget = yield* Budget
    const caps = { perRunUsd: Usd.make(1), perRepoDailyUsd: undefined }
    const reserve = (id: string) =>
      budget.reserve({ id: ReservationId.make(id), run: { id: "endless", repository }, usd: Usd.make(0.6), caps })
    yield* reserve("a")
    const waiting = yield* Effect.forkChild(reserve("b"), { startImmediately: true })
    yield* passMinutes(9)
    assert.isUndefined(waiting.pollUnsafe())
    yield* passMinutes(2)
    assert.strictEqual((yield* Fiber.join(waiting))._tag, "Refused")
    assert.strictEqual(count("model call waits for the cost of calls in flight"), 1)
  }).pipe(Effect.provide(parts))
})

describe("at midnight (UTC)", () => {
  const midnight = Date.UTC(1970, 0, 2)
  const caps = { perRunUsd: undefined, perRepoDailyUsd: Usd.make(1), perAuthorDailyUsd: Usd.make(1) }
  const reservation = (id: string, usd: number) => ({
    id: ReservationId.make(id),
    run: { id: `run-${id}`, repository, author: "t:ada" },
    usd: Usd.make(usd),
    caps
  })
  /** Amounts of the repository and of the author on both days. */
  const committed = Effect.gen(function* () {
    const ledger = yield* Ledger
    return yield* Effect.forEach(["1970-01-01", "1970-01-02"], (day) =>
      Effect.all([ledger.committed({ repository, day }), ledger.committed({ author: "t:ada", day })])
    )
  })
  const atMidnight = <A, E>(use: Effect.Effect<A, E, Budget | Ledger>) =>
    use.pipe(Effect.provide(onTestClock(inMemory).parts))

  it.effect("a call that began before is paid from the day before, and the new day has all of its budget", () =>
    Effect.gen(function* () {
      const budget = yield* Budget
      yield* TestClock.setTime(midnight - 1)
      yield* budget.reserve(reservation("before", 0.9))
      yield* budget.reserve(reservation("refunded", 0.1))
      yield* TestClock.setTime(midnight)
      assert.strictEqual((yield* budget.reserve(reservation("after", 0.8)))._tag, "Reserved")
      yield* budget.settle(reservation("before", 0.9), Usd.make(0.4))
      yield* budget.refund(reservation("refunded", 0.1))
      assert.deepStrictEqual(yield* committed, [
        [0.4, 0.4],
        [0.8, 0.8]
      ])
    }).pipe(atMidnight)
  )

  it.effect("a reservation that waits for calls in flight gets the budget of the new day", () =>
    Effect.gen(function* () {
      const budget = yield* Budget
      yield* TestClock.setTime(midnight - 3000)
      yield* budget.reserve(reservation("in flight", 0.9))
      const waiting = yield* Effect.forkChild(budget.reserve(reservation("waits", 0.5)), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Reserved")
      assert.deepStrictEqual(yield* committed, [
        [0.9, 0.9],
        [0.5, 0.5]
      ])
    }).pipe(atMidnight)
  )

  it.effect("a clock that is set back counts towards the earlier day again, and settles where it was reserved", () =>
    Effect.gen(function* () {
      const budget = yield* Budget
      yield* TestClock.setTime(midnight + 1000)
      yield* budget.reserve(reservation("new day", 0.7))
      yield* TestClock.setTime(midnight - 60_000)
      yield* budget.reserve(reservation("earlier day", 0.6))
      yield* budget.settle(reservation("new day", 0.7), Usd.make(0.2))
      // Repeated, as after a lost reply: it keeps the day of its first attempt.
      yield* TestClock.setTime(midnight + 1000)
      yield* budget.reserve(reservation("earlier day", 0.6))
      assert.deepStrictEqual(yield* committed, [
        [0.6, 0.6],
        [0.2, 0.2]
      ])
    }).pipe(atMidnight)
  )
})

it.effect("a settlement that fails for minutes logs one warning", () => {
  let attempts = 0
  const failing = new StoreError({
    reason: "unavailable",
    operation: "ledger.settle",
    why: verbatimReason("unavailable")
  })
  const refusing = Layer.effect(
    Ledger,
    Effect.map(Ledger, (real) => ({
      ...real,
      settle: () =>
        Effect.andThen(
          Effect.sync(() => attempts++),
          failing
        )
    }))
  ).pipe(Layer.provide(Store.layerMemory))
  const { count, parts } = onTestClock(refusing)
  const reservation = {
    id: ReservationId.make("late"),
    run: { id: "late", repository },
    usd: Usd.make(0.5),
    caps: { perRunUsd: undefined, perRepoDailyUsd: undefined }
  }
  return Effect.gen(function* () {
    const budget = yield* Budget
    yield* budget.reserve(reservation)
    const settling = yield* Effect.forkChild(budget.settle(reservation, Usd.make(0.1)), { startImmediately: true })
    yield* passMinutes(5)
    yield* Fiber.join(settling)
    assert.isAbove(attempts, 20)
    assert.strictEqual(count("reservation not settled yet, retry scheduled"), 1)
  }).pipe(Effect.provide(parts), Effect.provideService(WarningLimits, new Map()))
})

it.live("a reservation that is older than any call is closed, also one of this process", () =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const made = Date.now()
    const reservation = {
      runId: "forgotten",
      repository,
      day: "2026-01-31",
      usd: Usd.make(0.5),
      runCapUsd: undefined,
      dayCapUsd: undefined,
      owner: (yield* NodeIdentity).owner
    }
    /** Returns the number of reservations that are still open, and closes them. */
    const closeOpen = ledger.closeLost(() => true, 0, made)
    yield* ledger.reserve({ ...reservation, id: ReservationId.make("in use") }, made)
    yield* BudgetLedger.closeLostReservations(made + 7_199_000)
    assert.strictEqual(yield* closeOpen, 1)
    yield* ledger.reserve({ ...reservation, id: ReservationId.make("forgotten") }, made)
    yield* BudgetLedger.closeLostReservations(made + 7_201_000)
    assert.strictEqual(yield* closeOpen, 0)
  }).pipe(run)
)

it.live("in memory, for one process: the run's cap holds there too", () =>
  Effect.gen(function* () {
    const budget = yield* Budget
    const caps = { perRunUsd: Usd.make(1), perRepoDailyUsd: undefined }
    const reservation = (id: string, usd: number) => ({
      id: ReservationId.make(id),
      run: { id: "r", repository },
      usd: Usd.make(usd),
      caps
    })
    const reserve = (id: string, usd: number) => budget.reserve(reservation(id, usd))
    assert.strictEqual((yield* reserve("a", 0.6))._tag, "Reserved")
    assert.strictEqual((yield* reserve("b", 0.6))._tag, "Refused")
    yield* budget.settle(reservation("a", 0.6), Usd.make(0.1))
    assert.strictEqual((yield* reserve("b", 0.6))._tag, "Reserved")
    yield* budget.refund(reservation("b", 0.6))
    assert.strictEqual((yield* reserve("c", 0.9))._tag, "Reserved")
  }).pipe(Effect.provide(Budget.layerMemory))
)

it.live("a refused reservation announces the exhausted day once, and that of a run announces nothing", () =>
  Effect.gen(function* () {
    const [budget, notices] = [yield* Budget, yield* Notices]
    const reservation = (id: string, usd: number, caps: Caps) => ({
      id: ReservationId.make(id),
      run: { id: `run-${id}`, repository },
      usd: Usd.make(usd),
      caps
    })
    const day: Caps = { perRunUsd: undefined, perRepoDailyUsd: Usd.make(1) }
    const ofRun: Caps = { perRunUsd: Usd.make(1), perRepoDailyUsd: undefined }
    assert.strictEqual((yield* budget.reserve(reservation("run", 2, ofRun)))._tag, "Refused")
    assert.deepStrictEqual(yield* notices.list({ limit: 10 }), [])
    for (const id of ["a", "b"]) assert.strictEqual((yield* budget.reserve(reservation(id, 2, day)))._tag, "Refused")
    const [notice, ...others] = yield* notices.list({ limit: 10 })
    assert.deepStrictEqual(others, [])
    assert.deepInclude(notice, { channel: "ops", status: "pending" })
    assert.deepInclude(notice?.facts, { _tag: "budget_threshold", scope: "repository", name: repository, percent: 100 })
  }).pipe(Effect.provide(BudgetLedger.layer.pipe(Layer.provideMerge(world))))
)
