/**
 * Spaces the content writes of one account at a host (identified by a hash of both), for all nodes. Hosts punish bursts of comments with
 * limits that affect everything an account does, so content writes start at least `triggers[].write_interval_ms` apart. Its state is small and may
 * be lost: a node that takes over starts with a full gap.
 *
 * Messages: `Acquire` (replies when the permit is granted), `Started` (the write begins), `Release` (the permit is not needed), `Pause` (the
 * host requests a pause). A permit whose holder sends no further message expires.
 */
import { Clock, Duration, Effect, Layer, Schema, Semaphore } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { newId } from "../../src/domain/Ids.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { countStart } from "../ActorStarts.ts"
import { everyOne } from "../Placement.ts"

const Acquire = Rpc.make("Acquire", {
  payload: { permit: Schema.String, gapMillis: Schema.Number },
  success: Schema.Union([Schema.TaggedStruct("Granted", {}), Schema.TaggedStruct("Paused", { millis: Schema.Number })])
})
const Started = Rpc.make("Started", { payload: { permit: Schema.String } })
const Release = Rpc.make("Release", { payload: { permit: Schema.String } })
const Pause = Rpc.make("Pause", { payload: { millis: Schema.Number } })

export const WritePacer = Entity.make("WritePacer", [Acquire, Started, Release, Pause]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("publisher")
)

/** Longest pause that a caller waits for. For a longer one the caller defers its work. */
const maxPauseMillis = 5000
/** Time from the permit to the write: one request that reads the host. */
const maxPermitMillis = 10_000
/** Poll interval of a permit that is in use, unless a message ends it. */
const checkMillis = 20

/** The one permit of an account: its holder, and when the next one may be granted. */
class WritePermit {
  #current: { readonly id: string; readonly until: number; readonly gapMillis: number } | undefined
  #pausedUntil = 0
  #nextAt: number | undefined
  readonly #activatedAt: number

  constructor(now: number) {
    this.#activatedAt = now
  }

  grant(id: string, gapMillis: number, now: number): void {
    this.#current = { id, gapMillis, until: now + maxPermitMillis }
  }

  end(id: string, wrote: boolean, now: number): void {
    if (this.#current?.id !== id) return
    if (wrote) this.#nextAt = now + this.#current.gapMillis
    this.#current = undefined
  }

  pause(millis: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + millis)
  }

  /** Returns whether the permit is free now, after a wait, or after a pause that is too long to wait for. */
  state(
    now: number,
    gapMillis: number
  ): { readonly _tag: "Free" } | { readonly _tag: "Wait" | "Paused"; readonly millis: number } {
    // A holder that sent no message may have written as late as now.
    if (this.#current !== undefined && this.#current.until <= now) this.end(this.#current.id, true, now)
    if (this.#pausedUntil - now > maxPauseMillis) return { _tag: "Paused", millis: this.#pausedUntil - now }
    // Permits of the previous activation are spaced as well.
    const openAt = Math.max(this.#pausedUntil, this.#nextAt ?? this.#activatedAt + gapMillis)
    if (this.#current !== undefined) return { _tag: "Wait", millis: checkMillis }
    return openAt <= now ? { _tag: "Free" } : { _tag: "Wait", millis: openAt - now }
  }
}

export const layer = WritePacer.toLayer(
  Effect.gen(function* () {
    yield* countStart("WritePacer")
    const inLine = yield* Semaphore.make(1)
    const writePermit = new WritePermit(yield* Clock.currentTimeMillis)
    const end = (permit: string, wrote: boolean) =>
      Effect.map(Clock.currentTimeMillis, (now) => writePermit.end(permit, wrote, now))

    return WritePacer.of({
      Acquire: ({ payload: { permit, gapMillis } }) =>
        inLine.withPermits(1)(
          Effect.gen(function* () {
            for (;;) {
              const now = yield* Clock.currentTimeMillis
              const state = writePermit.state(now, gapMillis)
              if (state._tag === "Paused") return { _tag: "Paused", millis: state.millis } as const
              if (state._tag === "Free") {
                writePermit.grant(permit, gapMillis, now)
                return { _tag: "Granted" } as const
              }
              yield* Effect.sleep(state.millis)
            }
          })
        ),
      Started: ({ payload: { permit } }) => end(permit, true),
      Release: ({ payload: { permit } }) => end(permit, false),
      Pause: ({ payload: { millis } }) => Effect.map(Clock.currentTimeMillis, (now) => writePermit.pause(millis, now))
    })
  }),
  // The actor is small, and its first caller after activation waits for the first gap, so it stays active for long.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "1 day" }
)

/** Timeout of a message: the permits of a few nodes, and takeover by another node. */
const timeout = Duration.seconds(60)

const noPermit = (error?: string): ForgeError =>
  new ForgeError({ reason: "unavailable", operation: "take a permit", why: { _tag: "PermitsUnavailable", error } })

/** Implements the forge's write permits with these actors. */
export const permitsLayer = Layer.effect(
  WritePermits,
  Effect.gen(function* () {
    const pacerOf = yield* WritePacer.client
    /** Sends the message in the background, also while the node stops. A permit without a message expires. */
    const send = <E>(message: Effect.Effect<void, E>) =>
      Effect.asVoid(Effect.forkDetach(Effect.ignore(Effect.timeout(message, timeout))))
    const unpaced = { started: Effect.void, release: Effect.void }
    return {
      acquire: Effect.fnUntraced(function* (key, gapMillis) {
        if (gapMillis === 0) return unpaced
        const permit = newId()
        const pacer = pacerOf(key)
        const release = send(pacer.Release({ permit }))
        const reply = yield* pacer.Acquire({ permit, gapMillis }).pipe(
          Effect.mapError(({ message }) => noPermit(message)),
          Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(noPermit()) }),
          Effect.onError(() => release)
        )
        if (reply._tag === "Paused") {
          return yield* new ForgeError({
            reason: "rate_limited",
            retryAfterMillis: Math.ceil(reply.millis),
            operation: "take a permit",
            why: { _tag: "AccountLimited", seconds: Math.ceil(reply.millis / 1000) }
          })
        }
        return { started: send(pacer.Started({ permit })), release }
      }),
      pause: (key, millis) => send(pacerOf(key).Pause({ millis }))
    }
  })
)
