/**
 * One per account at a host (a hash names both), for all nodes that write with it: whose turn it is. Hosts punish bursts of notes
 * with limits that hit everything an account does, so content writes start a second apart, wherever they come from. Its state is
 * small and may be lost: a node that takes over begins with a full gap.
 *
 * Messages: `Take` (answered when the turn comes), `Started` (the write goes out), `GiveBack` (the turn was not or is no longer
 * needed), `Pause` (the host wants to hear nothing). A turn whose taker is not heard of again ends by itself.
 */
import { Clock, Duration, Effect, Layer, Schema, Semaphore } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { newId } from "../src/domain/Ids.ts"
import { ForgeError } from "../src/forge/Forge.ts"
import { WriteTurns } from "../src/forge/WriteTurns.ts"
import type { WriteTurn } from "../src/forge/WriteTurns.ts"
import { everyOne } from "./Placement.ts"

const Take = Rpc.make("Take", {
  payload: { turn: Schema.String, gapMillis: Schema.Number },
  success: Schema.Union([Schema.TaggedStruct("Go", {}), Schema.TaggedStruct("Paused", { millis: Schema.Number })])
})
const Started = Rpc.make("Started", { payload: { turn: Schema.String } })
const GiveBack = Rpc.make("GiveBack", { payload: { turn: Schema.String } })
const Pause = Rpc.make("Pause", { payload: { millis: Schema.Number } })

export const WritePacer = Entity.make("WritePacer", [Take, Started, GiveBack, Pause]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("publisher")
)

/** A pause that is waited out; for a longer one the taker puts its work aside. */
const patience = 5000
/** From the turn to the write: one look at what stands at the host. */
const longestTurn = 10_000
/** Turns that were given out before this activation keep their distance too. */
const firstGap = 1000
/** While somebody has the turn, which ends with a message. */
const lookEvery = 20

export const layer = WritePacer.toLayer(
  Effect.gen(function* () {
    const inLine = yield* Semaphore.make(1)
    let current: { readonly turn: string; readonly until: number; readonly gapMillis: number } | undefined
    let pausedUntil = 0
    let nextAt = (yield* Clock.currentTimeMillis) + firstGap

    const end = Effect.fnUntraced(function* (turn: string, wrote: boolean) {
      if (current?.turn !== turn) return
      if (wrote) nextAt = (yield* Clock.currentTimeMillis) + current.gapMillis
      current = undefined
    })

    /** Waits until nobody has the turn and the gap is over. Answers the rest of a pause that is too long to wait for. */
    const free = Effect.gen(function* () {
      while (true) {
        const now = yield* Clock.currentTimeMillis
        // A taker that was not heard of may have written as late as now.
        if (current !== undefined && current.until <= now) yield* end(current.turn, true)
        if (pausedUntil - now > patience) return pausedUntil - now
        const openAt = Math.max(pausedUntil, nextAt)
        if (current === undefined && openAt <= now) return undefined
        yield* Effect.sleep(current === undefined ? openAt - now : lookEvery)
      }
    })

    return WritePacer.of({
      Take: ({ payload: { turn, gapMillis } }) =>
        inLine.withPermits(1)(
          Effect.gen(function* () {
            const paused = yield* free
            if (paused !== undefined) return { _tag: "Paused", millis: paused } as const
            current = { turn, gapMillis, until: (yield* Clock.currentTimeMillis) + longestTurn }
            return { _tag: "Go" } as const
          })
        ),
      Started: ({ payload: { turn } }) => end(turn, true),
      GiveBack: ({ payload: { turn } }) => end(turn, false),
      Pause: ({ payload: { millis } }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          pausedUntil = Math.max(pausedUntil, now + millis)
        })
    })
  }),
  // Small, and whoever wakes it waits for the first gap: it sleeps late.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "1 day" }
)

/** The turns of a few nodes, and a node that takes over. */
const answersWithin = Duration.seconds(60)

const noTurns = (why: string): ForgeError =>
  new ForgeError({
    reason: "unavailable",
    operation: "take a turn",
    message: `turns to write with this account are not given out now${why}`
  })

/** The hosts' turns over these actors. */
export const turnsLayer = Layer.effect(
  WriteTurns,
  Effect.gen(function* () {
    const pacerOf = yield* WritePacer.client
    /** Sent beside what goes on, also while the node stops: nothing waits for it, and a turn that is not heard of ends by itself. */
    const tell = <E>(message: Effect.Effect<void, E>) =>
      Effect.asVoid(Effect.forkDetach(Effect.ignore(Effect.timeout(message, answersWithin))))
    const ungiven: WriteTurn = { started: Effect.void, giveBack: Effect.void }
    return {
      take: Effect.fnUntraced(function* (key, gapMillis) {
        if (gapMillis === 0) return ungiven
        const turn = newId()
        const pacer = pacerOf(key)
        const giveBack = tell(pacer.GiveBack({ turn }))
        const answer = yield* pacer.Take({ turn, gapMillis }).pipe(
          Effect.mapError(({ message }) => noTurns(`: ${message}`)),
          Effect.timeoutOrElse({ duration: answersWithin, orElse: () => Effect.fail(noTurns("")) }),
          Effect.onError(() => giveBack)
        )
        if (answer._tag === "Paused") {
          return yield* new ForgeError({
            reason: "rate_limited",
            retryAfterMillis: Math.ceil(answer.millis),
            operation: "take a turn",
            message: `the host asked this account to wait another ${Math.ceil(answer.millis / 1000)} s`
          })
        }
        return { started: tell(pacer.Started({ turn })), giveBack }
      }),
      pause: (key, millis) => tell(pacerOf(key).Pause({ millis }))
    }
  })
)
