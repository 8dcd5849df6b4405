/**
 * Group commit: callers that come while a commit is under way, or in the same turn of the event loop, share the next one,
 * and so one transaction and one sync to disk. Each caller gets its own result once the commit is durable; a commit that
 * fails fails all its callers, never some of them silently.
 *
 * ```
 * idle ──submit──▶ scheduled ──setImmediate──▶ committing ──▶ idle | scheduled (more came meanwhile)
 * ```
 * setImmediate runs after the sockets that are ready have been read, so a busy ingress fills one batch per turn.
 */
import { Effect, Exit } from "effect"
import type { Scope } from "effect"

export interface GroupCommit<I, O, E> {
  /** Waits for the commit that holds the item. Uninterruptible: what was submitted may already be on disk. */
  readonly submit: (item: I) => Effect.Effect<O, E>
}

export interface Options<I, O, E, R> {
  /** Commits all or nothing; one result per item, in order. */
  readonly commit: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E, R>
  /** The answer when too much waits (`full`) or the service stops (`closed`). */
  readonly refuse: (why: "full" | "closed") => E
  readonly maxBatch: number
  readonly maxWaiting: number
}

interface Waiter<I, O, E> {
  readonly item: I
  readonly resume: (result: Exit.Exit<O, E>) => void
}

/** Lives until the scope closes: then it commits what waits, and refuses what comes. */
export const make = Effect.fnUntraced(function* <I, O, E, R>(
  options: Options<I, O, E, R>
): Effect.fn.Return<GroupCommit<I, O, E>, never, R | Scope.Scope> {
  const context = yield* Effect.context<R>()
  const run = Effect.runCallbackWith(context)
  let waiting: Array<Waiter<I, O, E>> = []
  let scheduled = false
  let committing = false
  let closed = false
  let onIdle: (() => void) | undefined

  const schedule = () => {
    if (scheduled || committing) return
    scheduled = true
    setImmediate(flush)
  }

  const flush = () => {
    scheduled = false
    const batch = waiting.slice(0, options.maxBatch)
    waiting = waiting.slice(options.maxBatch)
    committing = true
    run(
      Effect.suspend(() => options.commit(batch.map((waiter) => waiter.item))),
      {
        onExit: (exit) => {
          committing = false
          if (waiting.length > 0) schedule()
          batch.forEach((waiter, index) => waiter.resume(resultOf(exit, index)))
          if (waiting.length === 0 && !scheduled) onIdle?.()
        }
      }
    )
  }

  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      closed = true
      if (!scheduled && !committing) return resume(Effect.void)
      onIdle = () => resume(Effect.void)
    })
  )

  return {
    submit: (item) =>
      Effect.uninterruptible(
        Effect.callback<O, E>((resume) => {
          if (closed) return resume(Effect.fail(options.refuse("closed")))
          if (waiting.length >= options.maxWaiting) return resume(Effect.fail(options.refuse("full")))
          waiting.push({ item, resume })
          schedule()
        })
      )
  }
})

const resultOf = <O, E>(exit: Exit.Exit<ReadonlyArray<O>, E>, index: number): Exit.Exit<O, E> => {
  if (Exit.isFailure(exit)) return Exit.failCause(exit.cause)
  const result = exit.value[index]
  return result === undefined ? Exit.die(new Error("A commit answered fewer results than items")) : Exit.succeed(result)
}
