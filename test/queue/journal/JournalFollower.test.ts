import { Deferred, Effect, Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { Replica } from "../../../src/queue/core/Replica.ts"
import { emptyText } from "../../../src/queue/core/RowText.ts"
import type { Journal } from "../../../src/queue/journal/Journal.ts"
import { JournalFollower } from "../../../src/queue/journal/JournalFollower.ts"

/** A journal with one message, each of whose calls in `held` waits until `go` is complete. */
const makeJournal = (
  held: "follow" | "load",
  go: Deferred.Deferred<void>,
  called: Deferred.Deferred<void>
): Journal => {
  const wait = (call: "follow" | "load") =>
    call === held ? Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(go)) : Effect.void
  const message = { sequence: 2, id: "2", after: "1", rows: emptyText }
  return {
    last: Effect.succeed({ sequence: 2, id: "2" }),
    follow: (sequence) => Effect.as(wait("follow"), sequence < 2 ? [message] : []),
    load: () => Effect.as(wait("load"), { sequence: 1, id: "1" }),
    append: () => Effect.die("not called"),
    trim: () => Effect.die("not called"),
    details: () => Effect.die("not called")
  }
}

describe("a call that is interrupted while it reads the journal", () => {
  it.each(["follow", "load"] as const)("does not end other calls, nor keep the table (%s)", (held) =>
    Effect.gen(function* () {
      const [go, called] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const follower = new JournalFollower(makeJournal(held, go, called), new Replica(), Effect.runFork)
      // The table is not empty, so that messages are read instead of a snapshot.
      if (held === "follow") follower.replica.applied = { sequence: 1, id: "1" }
      const first = yield* Effect.forkChild(follower.catchUp)
      yield* Deferred.await(called)
      const second = yield* Effect.forkChild(follower.catchUp)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(go, undefined)
      expect(yield* Fiber.await(second)).toEqual(Exit.void)
      expect(yield* follower.whenIdle(() => follower.replica.applied)).toEqual({ sequence: 2, id: "2" })
    }).pipe(Effect.runPromise)
  )
})
