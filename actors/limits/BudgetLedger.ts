/**
 * Reserves money for model calls before it is spent. The statements of the ledger enforce the caps on every node at the same time, and each
 * names its reservation, so that it may be repeated. What SQL cannot do is here: waiting near a cap while amounts that are reserved for calls
 * in flight may make room, and repeating statements while the ledger is unavailable. Settlements are repeated in the background until they
 * succeed, so that a review does not wait for them. The sweeper calls `closeLostReservations`: what a dead process had reserved counts as
 * spent, because its requests may have reached the provider.
 */
import { Clock, Deferred, Duration, Effect, Layer, Schedule } from "effect"
import type { Scope } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { growingPauses } from "../../src/domain/Backoff.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import { addUsd, exceeds, noMoney, subtractUsd } from "../../src/domain/Money.ts"
import type { Usd } from "../../src/domain/Money.ts"
import type { NoticeFacts } from "../../src/domain/Notice.ts"
import { truncate } from "../../src/domain/Text.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { Budget, BudgetError } from "../../src/llm/Budget.ts"
import type { Caps, Reservation } from "../../src/llm/Budget.ts"
import { logFailure, onFirst } from "../../src/observability/LimitedWarnings.ts"
import { planNotices } from "../../src/outputs/PlanNotices.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import type { LedgerAccount, LedgerReservation, LedgerResult } from "../../src/store/Ledger.ts"
import { Notices } from "../../src/store/Notices.ts"
import { StoreError } from "../../src/database/StoreError.ts"

const capOf = (account: LedgerAccount, caps: Caps) => {
  switch (account) {
    case "run":
      return ["per_run_usd", caps.perRunUsd] as const
    case "day":
      return ["per_repo_daily_usd", caps.perRepoDailyUsd] as const
    case "author":
      return ["per_author_daily_usd", caps.perAuthorDailyUsd] as const
    case "team":
      return ["per_team_daily_usd", caps.perTeamDailyUsd] as const
  }
}

/** Timeout of a statement. After it the statement is repeated later instead of the call being made without a reservation. */
const statementTimeout = Duration.seconds(20)

/** Time for which a call waits for its settlement, so that the next reservation of its review sees it. */
const settlementWait = Duration.seconds(1)
const settleAgain = growingPauses("500 millis", "10 seconds")

/** Longest name in a notice. */
const maxName = 200

/** Interval and maximum number of attempts of a reservation that waits for calls in flight. */
const roomInterval = Duration.seconds(1)
const roomAttempts = 600

/** Returns whether an amount fits under a cap once all calls in flight have turned out to cost nothing. */
export const mayFitLater = (
  usd: Usd,
  capUsd: Usd | undefined,
  { committedUsd, openUsd }: { readonly committedUsd: Usd; readonly openUsd: Usd }
): boolean =>
  capUsd === undefined || (openUsd !== noMoney && !exceeds(addUsd(subtractUsd(committedUsd, openUsd), usd), capUsd))

/** Owner and cap of the budget of a day, by account. */
const dayBudgets = {
  day: { scope: "repository", read: (request: LedgerReservation) => [request.repository, request.dayCapUsd] as const },
  author: { scope: "author", read: (request: LedgerReservation) => [request.author, request.authorCapUsd] as const },
  team: { scope: "team", read: (request: LedgerReservation) => [request.team, request.teamCapUsd] as const }
} as const satisfies Record<Exclude<LedgerAccount, "run">, unknown>

/** Returns the facts of a day whose budget has no room for a call, and will have none. */
const refusalFacts = (request: LedgerReservation, result: LedgerResult): NoticeFacts | undefined => {
  if (result._tag === "Reserved" || result.account === "run") return undefined
  const { read, scope } = dayBudgets[result.account]
  const [name = "", capUsd] = read(request)
  if (capUsd === undefined || capUsd <= 0 || mayFitLater(request.usd, capUsd, result)) return undefined
  return {
    _tag: "budget_threshold",
    scope,
    name: truncate(name, maxName),
    day: request.day,
    percent: 100,
    spentUsd: result.committedUsd,
    capUsd
  }
}

const noResponse = new StoreError({
  reason: "unavailable",
  operation: "ledger",
  why: { _tag: "BudgetLedgerSilent" }
})

/** Runs a statement of the ledger with the time of each attempt. */
const attempt = <A>(statement: (now: number) => Effect.Effect<A, StoreError>) =>
  Effect.timeoutOrElse(Effect.flatMap(Clock.currentTimeMillis, statement), {
    duration: statementTimeout,
    orElse: () => Effect.fail(noResponse)
  })

/** Reservations are repeated while the ledger is unavailable, so that an outage costs a review no attempt. */
const reserveAgain = Schedule.spaced(roomInterval).pipe(Schedule.upTo({ duration: "10 minutes" }))
/**
 * Closes a reservation. Returns when it is closed, but after `settlementWait` at the latest: then it is closed in the background. Waits
 * without being interruptible, because it runs when a call ends.
 */
const closeIn = Effect.fnUntraced(function* (
  scope: Scope.Scope,
  runId: string,
  closing: Effect.Effect<void, StoreError>
) {
  const returned = yield* Deferred.make<void>()
  const finish = Deferred.succeed(returned, undefined)
  const report = onFirst(logFailure("reservation not settled yet, retry scheduled", { run_id: runId }))
  const fork = Effect.forkIn(scope, { startImmediately: true })
  yield* closing.pipe(Effect.tapError(report), Effect.retry(settleAgain), Effect.ignore, Effect.ensuring(finish), fork)
  if (!(yield* Deferred.isDone(returned))) yield* Effect.sleep(settlementWait).pipe(Effect.andThen(finish), fork)
  yield* Deferred.await(returned)
})

/** Returns the reservation of the ledger, on the UTC day of its attempt. */
const toLedger = ({ caps, id, run, usd }: Reservation, owner: string, now: number): LedgerReservation => ({
  id,
  runId: run.id,
  repository: run.repository,
  day: new Date(now).toISOString().slice(0, 10),
  usd,
  runCapUsd: caps.perRunUsd,
  dayCapUsd: caps.perRepoDailyUsd,
  author: run.author,
  authorCapUsd: caps.perAuthorDailyUsd,
  team: run.team,
  teamCapUsd: caps.perTeamDailyUsd,
  owner
})

/** Implements the gateway's budget over the ledger. */
export const layer = Layer.effect(
  Budget,
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const config = yield* ConfigStore
    const notices = yield* Notices
    const { owner } = yield* NodeIdentity
    const scope = yield* Effect.scope
    const close = ({ id, run }: Reservation, usd: Usd | undefined) =>
      closeIn(
        scope,
        run.id,
        attempt((now) => (usd === undefined ? ledger.refund(id, now) : ledger.settle(id, usd, now)))
      )
    /** Repeated by the next refused reservation if it fails. */
    const announceRefusal = (facts: NoticeFacts, now: number) =>
      Effect.catch(
        notices.add(planNotices(config.current(), facts), now),
        logFailure("notice of an exhausted budget not stored", {}, { level: "Error" })
      )
    const reserveOnce = (reservation: Reservation) =>
      attempt((now) => {
        const request = toLedger(reservation, owner, now)
        return Effect.tap(ledger.reserve(request, now), (result) => {
          const facts = refusalFacts(request, result)
          return facts === undefined ? Effect.void : announceRefusal(facts, now)
        })
      }).pipe(Effect.tapError(logFailure("model call waits for the budget ledger", { run_id: reservation.run.id })))
    const reserveOrWait = (reservation: Reservation) =>
      reserveOnce(reservation).pipe(
        Effect.retry({ schedule: reserveAgain, while: ({ reason }) => reason === "unavailable" }),
        Effect.mapError(({ why }) => new BudgetError({ why })),
        // The reservation may exist all the same. Its refund runs in the background.
        Effect.onError(() => Effect.forkIn(close(reservation, undefined), scope))
      )
    return Budget.of({
      reserve: Effect.fnUntraced(function* (reservation) {
        for (let attempts = 1; ; attempts++) {
          const reply = yield* reserveOrWait(reservation)
          if (reply._tag === "Reserved") return { _tag: "Reserved" } as const
          const { caps, run, usd } = reservation
          const [cap, capUsd] = capOf(reply.account, caps)
          if (attempts === roomAttempts || !mayFitLater(usd, capUsd, reply)) {
            return { _tag: "Refused", cap, capUsd: capUsd ?? noMoney, committedUsd: reply.committedUsd } as const
          }
          if (attempts === 1) {
            yield* Effect.logInfo("model call waits for the cost of calls in flight", { run_id: run.id, cap })
          }
          yield* Effect.sleep(roomInterval)
        }
      }),
      settle: close,
      refund: (reservation) => close(reservation, undefined)
    })
  })
)

/** Upper bound for the duration of a model call: passes of a review end before. */
const longestCall = Duration.toMillis("2 hours")

/** Called by the sweeper. */
export const closeLostReservations = Effect.fnUntraced(function* (now: number) {
  const ledger = yield* Ledger
  const lost = yield* (yield* LiveNodes).lost
  const closed = yield* ledger.closeLost(lost, now - longestCall, now)
  if (closed > 0)
    yield* Effect.logWarning("reservations of lost processes closed at their estimate", { reservations: closed })
})

/** Retention of ledger rows. Runs and days that ended this long ago spend nothing more. */
const retentionMillis = Duration.toMillis("40 days")

/** Called by the sweeper. */
export const pruneLedger = Effect.fnUntraced(function* (now: number) {
  yield* (yield* Ledger).prune(now - retentionMillis)
})
