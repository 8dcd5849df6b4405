/**
 * Decides what became of the findings of changes that ended, on each node that executes reviews, because it has the mirrors of their repositories.
 * A node claims ends in the records (src/store/Settlements.ts) and renews its claims while it works; other nodes claim those of a process that
 * has ended. Failures are repeated with growing pauses, and given up after three days. Every ten minutes it reads the code of findings that
 * were merged a month ago (LaterLook.ts).
 */
import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { backoffMillis, doubling } from "../../src/domain/Backoff.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { maxEndAgeMillis, Settlements } from "../../src/store/Settlements.ts"
import type { ClaimedEnd } from "../../src/store/Settlements.ts"
import { missingToken } from "../review/MissingToken.ts"
import { lookLater } from "./LaterLook.ts"
import { step } from "../upkeep/SweepStep.ts"
import { settleEnd } from "./SettleEnd.ts"

/** Interval between reads of the records without work: the longest wait of an end. */
const pollEvery = Duration.seconds(20)
/** A claim is renewed three times while it holds. */
const claimMillis = 30_000
const renewEvery = Duration.seconds(10)
/** Ends that are claimed, and decided about, at the same time. */
const batch = 8
const concurrency = 2
/** Pause while a review of the change has not ended, and between failed attempts. */
const reviewMillis = 10_000
const lookEvery = Duration.minutes(10)
const retry = doubling(15_000, 3_600_000)

const postpone = Effect.fnUntraced(function* (end: ClaimedEnd, owner: string, millis: number, isAttempt: boolean) {
  const now = yield* Clock.currentTimeMillis
  yield* (yield* Settlements).postpone(end, owner, now + millis, isAttempt)
})

/** Decides about one end. Its failure delays only itself. */
const settleOne = Effect.fnUntraced(
  function* (end: ClaimedEnd, owner: string) {
    const snapshot = (yield* ConfigStore).current()
    if ((yield* missingToken(snapshot, end.trigger)) !== undefined)
      return yield* postpone(end, owner, reviewMillis, false)
    if (yield* (yield* Settlements).isReviewed(end.targetKey)) return yield* postpone(end, owner, reviewMillis, false)
    if ((yield* settleEnd(end)) === "unconfigured") yield* postpone(end, owner, backoffOf(end), true)
  },
  (effect, end, owner) =>
    Effect.catch(effect, (error) =>
      logFailure(
        "findings of an ended change not decided, it is repeated",
        { target: end.targetKey, event_id: end.eventId, attempt: end.attempts + 1 },
        { about: end.targetKey }
      )(error).pipe(Effect.andThen(postpone(end, owner, backoffOf(end), true)))
    )
)

const backoffOf = ({ attempts }: ClaimedEnd): number => backoffMillis(retry, attempts + 1, 0)

/** Claims and decides until nothing is left. */
const settleAll = Effect.fnUntraced(function* (owner: string, lost: ReadonlySet<string>) {
  const settlements = yield* Settlements
  const live = yield* LiveNodes
  while (true) {
    const now = yield* Clock.currentTimeMillis
    const ends = yield* settlements.claim({
      owner,
      gone: new Set([...lost, ...(yield* live.gone)]),
      now,
      until: now + claimMillis,
      since: now - maxEndAgeMillis,
      limit: batch
    })
    const renewing = Clock.currentTimeMillis.pipe(
      Effect.flatMap((at) => settlements.renew(owner, at + claimMillis)),
      Effect.ignore,
      Effect.schedule(Schedule.spaced(renewEvery))
    )
    if (ends.length > 0)
      yield* Effect.raceFirst(
        Effect.forEach(ends, (end) => settleOne(end, owner), { concurrency, discard: true }),
        renewing
      )
    if (ends.length < batch) return
  }
})

/** Returns the owners of claims whose processes no longer exist. */
const findLost = Effect.fnUntraced(function* () {
  const isLost = yield* (yield* LiveNodes).lost
  return new Set((yield* (yield* Settlements).owners).filter(isLost))
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { owner } = yield* NodeIdentity
    const lost = yield* Effect.catch(findLost(), () => Effect.succeed(new Set<string>()))
    yield* step("settle", settleAll(owner, lost)).pipe(Effect.repeat(Schedule.spaced(pollEvery)), Effect.forkScoped)
    yield* step("later look", lookLater).pipe(Effect.schedule(Schedule.spaced(lookEvery)), Effect.forkScoped)
  })
)
