/**
 * Group commit: callers that come while as many commits are under way as may be, or in the same turn of the event loop, share the
 * next one, and so one transaction and one sync to disk. Each caller gets its own result once the commit is durable; a commit that
 * fails fails all its callers, never some of them silently.
 *
 * ```
 * idle ──submit──▶ scheduled ──setImmediate──▶ under way ──▶ idle | scheduled (more came meanwhile)
 * ```
 * setImmediate runs after the sockets that are ready have been read, so a busy ingress fills one batch per turn.
 */
import { Effect, Exit } from "effect"
import type { Scope } from "effect"

export interface GroupCommit<I, O, E> {
  /** Waits for the commit that holds the item. Uninterruptible: what was submitted may already be on disk. */
  readonly submit: (item: I) => Effect.Effect<O, E>
  /** The same for several items, which are never spread over two commits; one result per item, in order. */
  readonly submitAll: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E>
}

export interface Options<I, O, E, R> {
  /** Commits all or nothing; one result per item, in order. */
  readonly commit: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E, R>
  /** The answer when too much waits (`full`) or the service stops (`closed`). */
  readonly refuse: (why: "full" | "closed") => E
  /** Items of one commit. Only what one caller submits at once may be more. */
  readonly maxBatch: number
  readonly maxWaiting: number
  /** Commits begun, in order, before the one before them has ended; 1 when left out. */
  readonly maxUnderWay?: number
}

interface Waiter<I, O, E> {
  readonly items: ReadonlyArray<I>
  readonly resume: (result: Exit.Exit<ReadonlyArray<O>, E>) => void
}

/** Lives until the scope closes: then it commits what waits, and refuses what comes. */
export const make = Effect.fnUntraced(function* <I, O, E, R>(
  options: Options<I, O, E, R>
): Effect.fn.Return<GroupCommit<I, O, E>, never, R | Scope.Scope> {
  const context = yield* Effect.context<R>()
  const run = Effect.runCallbackWith(context)
  let waiting: Array<Waiter<I, O, E>> = []
  let waitingItems = 0
  let scheduled = false
  let underWay = 0
  const { maxUnderWay = 1 } = options
  let closed = false
  let onIdle: (() => void) | undefined

  const schedule = () => {
    if (scheduled || underWay === maxUnderWay) return
    scheduled = true
    setImmediate(flush)
  }

  const flush = () => {
    scheduled = false
    // An even part for each commit that may be under way.
    const part = Math.ceil(waiting.length / (maxUnderWay - underWay))
    const taken = countWithin(waiting.slice(0, part), options.maxBatch)
    const batch = waiting.slice(0, taken)
    waiting = waiting.slice(taken)
    const items = batch.flatMap((waiter) => waiter.items)
    waitingItems -= items.length
    underWay += 1
    run(
      Effect.suspend(() => options.commit(items)),
      {
        onExit: (exit) => {
          underWay -= 1
          if (waiting.length > 0) schedule()
          let first = 0
          for (const waiter of batch) {
            waiter.resume(resultsOf(exit, first, waiter.items.length))
            first += waiter.items.length
          }
          if (underWay === 0 && waiting.length === 0) onIdle?.()
        }
      }
    )
    if (waiting.length > 0) schedule()
  }

  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      closed = true
      if (!scheduled && underWay === 0) return resume(Effect.void)
      onIdle = () => resume(Effect.void)
    })
  )

  const submitAll = (items: ReadonlyArray<I>) =>
    Effect.uninterruptible(
      Effect.callback<ReadonlyArray<O>, E>((resume) => {
        if (closed) return resume(Effect.fail(options.refuse("closed")))
        if (waitingItems + items.length > options.maxWaiting) return resume(Effect.fail(options.refuse("full")))
        waiting.push({ items, resume })
        waitingItems += items.length
        schedule()
      })
    )
  return { submit: (item) => Effect.map(submitAll([item]), firstOf), submitAll }
})

const firstOf = <O>(results: ReadonlyArray<O>): O => {
  for (const result of results) return result
  throw new Error("the commit returned no result")
}

/** How many of the waiters, from the first, have at most `max` items together; at least one. */
const countWithin = <I, O, E>(waiting: ReadonlyArray<Waiter<I, O, E>>, max: number): number => {
  let items = 0
  for (const [index, waiter] of waiting.entries()) {
    items += waiter.items.length
    if (items > max && index > 0) return index
  }
  return waiting.length
}

const resultsOf = <O, E>(
  exit: Exit.Exit<ReadonlyArray<O>, E>,
  first: number,
  count: number
): Exit.Exit<ReadonlyArray<O>, E> => {
  if (Exit.isFailure(exit)) return exit
  const results = exit.value.slice(first, first + count)
  return results.length < count
    ? Exit.die(new Error("the commit returned fewer results than items"))
    : Exit.succeed(results)
}
