/**
 * Reserves money for model calls before it is spent, one per repository and UTC day. The store holds the ledger and enforces the caps in
 * its statements; the actor serialises the reservations of a repository on one node.
 *
 * Messages: `Reserve`, `Settle`, `Refund`. Each names its reservation and may be repeated. Settlements are repeated in the background until
 * they succeed, so that a review does not wait for a ledger that is unavailable. A reservation waits for the ledger. Near a cap a reservation waits while amounts that are
 * reserved for calls in flight may make room for it. The sweeper calls `closeLostReservations`: what a dead process had reserved counts as
 * spent, because its requests may have reached the provider.
 */
import { Clock, Deferred, Duration, Effect, Layer, Schedule, Schema } from "effect"
import type { Scope } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { ReservationId } from "../../src/domain/Keys.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import { addUsd, exceeds, noMoney, subtractUsd, Usd } from "../../src/domain/Money.ts"
import type { NewNotice, NoticeFacts } from "../../src/domain/Notice.ts"
import { errorReason } from "../../src/domain/Reason.ts"
import { truncate } from "../../src/domain/Text.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { Budget, BudgetError } from "../../src/llm/Budget.ts"
import type { Caps, Reservation } from "../../src/llm/Budget.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { planNotices } from "../../src/outputs/PlanNotices.ts"
import { Ledger, ledgerAccounts } from "../../src/store/Ledger.ts"
import type { LedgerAccount, LedgerReservation, LedgerResult } from "../../src/store/Ledger.ts"
import { Notices } from "../../src/store/Notices.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { countStart } from "../ActorStarts.ts"
import { everyOne } from "../Placement.ts"

const Reserve = Rpc.make("Reserve", {
  payload: {
    id: ReservationId,
    runId: Schema.String,
    repository: Schema.String,
    day: Schema.String,
    usd: Usd,
    runCapUsd: Schema.UndefinedOr(Usd),
    dayCapUsd: Schema.UndefinedOr(Usd),
    author: Schema.optional(Schema.String),
    authorCapUsd: Schema.optional(Usd),
    team: Schema.optional(Schema.String),
    teamCapUsd: Schema.optional(Usd),
    owner: Schema.String,
    /** Milliseconds since the epoch. A caller that has given up by then would never settle the reservation. */
    until: Schema.Number
  },
  success: Schema.Union([
    Schema.TaggedStruct("Reserved", {}),
    Schema.TaggedStruct("Refused", {
      account: Schema.Literals(ledgerAccounts),
      committedUsd: Usd,
      openUsd: Usd
    })
  ]),
  error: StoreError
})
const Settle = Rpc.make("Settle", { payload: { id: ReservationId, usd: Usd }, error: StoreError })
const Refund = Rpc.make("Refund", { payload: { id: ReservationId }, error: StoreError })

export const BudgetLedger = Entity.make("BudgetLedger", [Reserve, Settle, Refund]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("actors")
)

export const layer = BudgetLedger.toLayer(
  Effect.gen(function* () {
    yield* countStart("BudgetLedger")
    const ledger = yield* Ledger
    const config = yield* ConfigStore
    const notices = yield* Notices
    const at = <A, E>(use: (now: number) => Effect.Effect<A, E>) => Effect.flatMap(Clock.currentTimeMillis, use)
    /** Repeated by the next refused reservation if it fails. */
    const announceRefusal = (planned: ReadonlyArray<NewNotice>, now: number) =>
      Effect.catch(notices.add(planned, now), ({ message }) =>
        limitWarning("notice of a refused reservation", (suppressed) =>
          Effect.logError("notice of an exhausted budget not stored", { error: message, suppressed })
        )
      )
    return BudgetLedger.of({
      Reserve: ({ payload }) =>
        at((now) =>
          now > payload.until
            ? Effect.fail(tooLate)
            : Effect.tap(ledger.reserve(payload, now), (result) => {
                const facts = refusalFacts(payload, result)
                return facts === undefined ? Effect.void : announceRefusal(planNotices(config.current(), facts), now)
              })
        ),
      Settle: ({ payload: { id, usd } }) => at((now) => ledger.settle(id, usd, now)),
      Refund: ({ payload: { id } }) => at((now) => ledger.refund(id, now))
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "10 minutes" }
)

const tooLate = new StoreError({
  reason: "unavailable",
  operation: "ledger.reserve",
  why: { _tag: "ReservationTooOld" }
})

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

/** Timeout of a message. After it the call is retried later instead of being made without a reservation. */
const messageTimeout = Duration.seconds(20)

/** Time for which a call waits for its settlement, so that the next reservation of its review sees it. */
const settlementWait = Duration.seconds(1)
const settleAgain = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("10 seconds")])

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

type DayRequest = Pick<
  LedgerReservation,
  "author" | "authorCapUsd" | "day" | "dayCapUsd" | "repository" | "team" | "teamCapUsd" | "usd"
>

/** Owner and cap of the budget of a day, by account. */
const dayBudgets = {
  day: { scope: "repository", read: (request: DayRequest) => [request.repository, request.dayCapUsd] as const },
  author: { scope: "author", read: (request: DayRequest) => [request.author, request.authorCapUsd] as const },
  team: { scope: "team", read: (request: DayRequest) => [request.team, request.teamCapUsd] as const }
} as const satisfies Record<Exclude<LedgerAccount, "run">, unknown>

/** Returns the facts of a day whose budget has no room for a call, and will have none. */
const refusalFacts = (request: DayRequest, result: LedgerResult): NoticeFacts | undefined => {
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

const withTimeout = <A, E>(reply: Effect.Effect<A, E>) =>
  Effect.timeoutOrElse(reply, { duration: messageTimeout, orElse: () => Effect.fail(noResponse) })

const toBudgetError = (error: Parameters<typeof errorReason>[0]) => new BudgetError({ why: errorReason(error) })

/** Reservations are repeated while the ledger is unavailable, so that an outage costs a review no attempt. */
const reserveAgain = Schedule.spaced(roomInterval).pipe(Schedule.upTo({ duration: "10 minutes" }))
const isUnavailable = (error: unknown): boolean => !(error instanceof StoreError) || error.reason === "unavailable"

/**
 * Closes a reservation. Returns when it is closed, but after `settlementWait` at the latest: then it is closed in the background. Waits
 * without being interruptible, because it runs when a call ends.
 */
const closeIn = Effect.fnUntraced(function* (
  scope: Scope.Scope,
  runId: string,
  closing: Effect.Effect<void, BudgetError>
) {
  const returned = yield* Deferred.make<void>()
  const finish = Deferred.succeed(returned, undefined)
  let isReported = false
  const report = (error: BudgetError) => {
    if (isReported) return Effect.void
    isReported = true
    return limitWarning("reservation retry", (suppressed) =>
      Effect.logWarning("reservation not settled yet, retry scheduled", {
        run_id: runId,
        error: error.message,
        suppressed
      })
    )
  }
  const fork = Effect.forkIn(scope, { startImmediately: true })
  yield* closing.pipe(Effect.tapError(report), Effect.retry(settleAgain), Effect.ignore, Effect.ensuring(finish), fork)
  if (!(yield* Deferred.isDone(returned))) yield* Effect.sleep(settlementWait).pipe(Effect.andThen(finish), fork)
  yield* Deferred.await(returned)
})

const reportWait = (runId: string) => (error: { readonly message: string }) =>
  limitWarning("reservation wait", (suppressed) =>
    Effect.logWarning("model call waits for the budget ledger", { run_id: runId, error: error.message, suppressed })
  )

/** Implements the gateway's budget with these actors. */
export const budgetLayer = Layer.effect(
  Budget,
  Effect.gen(function* () {
    const clientOf = yield* BudgetLedger.client
    const { owner } = yield* NodeIdentity
    const scope = yield* Effect.scope
    // The ledger settles a reservation on the day it was made on, whichever actor closes it after midnight.
    const ledgerOf = ({ run }: Reservation, now: number) => {
      const day = new Date(now).toISOString().slice(0, 10)
      return { day, client: clientOf(`${day}:${run.repository}`) }
    }
    const close = Effect.fnUntraced(function* (reservation: Reservation, usd: Usd | undefined) {
      const { client } = ledgerOf(reservation, yield* Clock.currentTimeMillis)
      const { id, run } = reservation
      const message = Effect.suspend(() =>
        Effect.mapError(
          withTimeout(usd === undefined ? client.Refund({ id }) : client.Settle({ id, usd })),
          toBudgetError
        )
      )
      yield* closeIn(scope, run.id, message)
    })
    const reserveOnce = Effect.fnUntraced(function* (reservation: Reservation) {
      const { id, run, usd, caps } = reservation
      const now = yield* Clock.currentTimeMillis
      const { day, client } = ledgerOf(reservation, now)
      return yield* client
        .Reserve({
          id,
          runId: run.id,
          repository: run.repository,
          day,
          usd,
          runCapUsd: caps.perRunUsd,
          dayCapUsd: caps.perRepoDailyUsd,
          ...(run.author === undefined ? {} : { author: run.author }),
          ...(caps.perAuthorDailyUsd === undefined ? {} : { authorCapUsd: caps.perAuthorDailyUsd }),
          ...(run.team === undefined ? {} : { team: run.team }),
          ...(caps.perTeamDailyUsd === undefined ? {} : { teamCapUsd: caps.perTeamDailyUsd }),
          owner,
          until: now + Duration.toMillis(messageTimeout)
        })
        .pipe(withTimeout, Effect.tapError(reportWait(run.id)))
    })
    const reserveOrWait = (reservation: Reservation) =>
      reserveOnce(reservation).pipe(
        Effect.retry({ schedule: reserveAgain, while: isUnavailable }),
        Effect.mapError(toBudgetError),
        // The reservation may exist all the same. Its refund runs in the background.
        Effect.onError(() => Effect.forkIn(close(reservation, undefined), scope))
      )
    return Budget.of({
      reserve: Effect.fnUntraced(function* (reservation) {
        for (let attempt = 1; ; attempt++) {
          const reply = yield* reserveOrWait(reservation)
          if (reply._tag === "Reserved") return { _tag: "Reserved" } as const
          const { caps, run, usd } = reservation
          const [cap, capUsd] = capOf(reply.account, caps)
          if (attempt === roomAttempts || !mayFitLater(usd, capUsd, reply)) {
            return { _tag: "Refused", cap, capUsd: capUsd ?? noMoney, committedUsd: reply.committedUsd } as const
          }
          if (attempt === 1) {
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
