/**
 * Reserves money for model calls before it is spent, one per repository and UTC day. The store holds the ledger and enforces the caps in
 * its statements; the actor serialises the reservations of a repository on one node.
 *
 * Messages: `Reserve`, `Settle`, `Refund`. Each names its reservation and may be repeated. The sweeper calls `closeLostReservations`: what
 * a dead process had reserved counts as spent, because its requests may have reached the provider.
 */
import { Clock, Duration, Effect, Layer, Schedule, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ReservationId } from "../src/domain/Keys.ts"
import { LiveNodes } from "../src/domain/LiveNodes.ts"
import { noMoney, Usd } from "../src/domain/Money.ts"
import { NodeIdentity } from "../src/domain/NodeIdentity.ts"
import { Budget, BudgetError } from "../src/llm/Budget.ts"
import type { Caps, Reservation } from "../src/llm/Budget.ts"
import { Ledger } from "../src/store/Ledger.ts"
import { StoreError } from "../src/database/StoreError.ts"
import { everyOne } from "./Placement.ts"

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
    owner: Schema.String,
    /** Milliseconds since the epoch. A caller that has given up by then would never settle the reservation. */
    until: Schema.Number
  },
  success: Schema.Union([
    Schema.TaggedStruct("Reserved", {}),
    Schema.TaggedStruct("Refused", { account: Schema.Literals(["run", "day", "author"]), committedUsd: Usd })
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
    const ledger = yield* Ledger
    const at = <A, E>(use: (now: number) => Effect.Effect<A, E>) => Effect.flatMap(Clock.currentTimeMillis, use)
    return BudgetLedger.of({
      Reserve: ({ payload }) =>
        at((now) => (now > payload.until ? Effect.fail(tooLate) : ledger.reserve(payload, now))),
      Settle: ({ payload: { id, usd } }) => at((now) => ledger.settle(id, usd, now)),
      Refund: ({ payload: { id } }) => at((now) => ledger.refund(id, now))
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "10 minutes" }
)

const tooLate = new StoreError({
  reason: "unavailable",
  operation: "ledger.reserve",
  message: "the reservation request is too old"
})

const capOf = (account: "run" | "day" | "author", caps: Caps) => {
  switch (account) {
    case "run":
      return ["per_run_usd", caps.perRunUsd] as const
    case "day":
      return ["per_repo_daily_usd", caps.perRepoDailyUsd] as const
    case "author":
      return ["per_author_daily_usd", caps.perAuthorDailyUsd] as const
  }
}

/** Timeout of a message. After it the call is retried later instead of being made without a reservation. */
const messageTimeout = Duration.seconds(20)

/** Implements the gateway's budget with these actors. */
export const budgetLayer = Layer.effect(
  Budget,
  Effect.gen(function* () {
    const clientOf = yield* BudgetLedger.client
    const { owner } = yield* NodeIdentity
    const scope = yield* Effect.scope
    const takeBack = <E extends { readonly message: string }>(refund: Effect.Effect<void, E>) =>
      withTimeout(refund).pipe(
        Effect.retry({ times: 5, schedule: Schedule.spaced("5 seconds") }),
        Effect.ignore({ log: "Warn" })
      )
    /** A reservation is settled on the day it was made on, even after midnight. */
    const days = new Map<ReservationId, string>()
    const ledgerOf = ({ id, run }: Reservation, now: number) => {
      const day = days.get(id) ?? new Date(now).toISOString().slice(0, 10)
      return { day, client: clientOf(`${day}:${run.repository}`) }
    }
    const withTimeout = <A, E extends { readonly message: string }>(reply: Effect.Effect<A, E>) =>
      reply.pipe(
        Effect.mapError(({ message }) => new BudgetError({ message })),
        Effect.timeoutOrElse({
          duration: messageTimeout,
          orElse: () => Effect.fail(new BudgetError({ message: "the budget ledger does not respond" }))
        })
      )
    return Budget.of({
      reserve: Effect.fnUntraced(function* (reservation) {
        const { id, run, usd, caps } = reservation
        const now = yield* Clock.currentTimeMillis
        const { day, client } = ledgerOf(reservation, now)
        days.set(id, day)
        const reply = yield* client
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
            owner,
            until: now + Duration.toMillis(messageTimeout)
          })
          .pipe(
            withTimeout,
            // The reservation may exist all the same. Its refund runs in the background.
            Effect.onError(() => {
              days.delete(id)
              return Effect.forkIn(takeBack(client.Refund({ id })), scope)
            })
          )
        if (reply._tag === "Reserved") return { _tag: "Reserved" } as const
        days.delete(id)
        const [cap, capUsd] = capOf(reply.account, caps)
        return { _tag: "Refused", cap, capUsd: capUsd ?? noMoney, committedUsd: reply.committedUsd } as const
      }),
      settle: Effect.fnUntraced(function* (reservation, usd) {
        const { client } = ledgerOf(reservation, yield* Clock.currentTimeMillis)
        yield* withTimeout(client.Settle({ id: reservation.id, usd }))
        days.delete(reservation.id)
      }),
      refund: Effect.fnUntraced(function* (reservation) {
        const { client } = ledgerOf(reservation, yield* Clock.currentTimeMillis)
        yield* withTimeout(client.Refund({ id: reservation.id }))
        days.delete(reservation.id)
      })
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
