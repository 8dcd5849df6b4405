/**
 * Group commit: callers that arrive during the maximum number of concurrent commits, or in the same iteration of the event loop, share the
 * next one, and so one transaction and one sync to disk. Each caller gets its result when the commit is durable; a commit that fails fails
 * all its callers.
 *
 * ```
 * idle ──submit──▶ scheduled ──setImmediate──▶ in progress ──▶ idle | scheduled (more arrived since)
 * ```
 * setImmediate runs after the ready sockets have been read, so a busy ingress fills one batch per iteration.
 */
import { Effect, Exit } from "effect"
import type { Scope } from "effect"

export interface GroupCommit<I, O, E> {
  /** Waits for the commit that holds the item. Uninterruptible: the item may already be on disk. */
  readonly submit: (item: I) => Effect.Effect<O, E>
  /** Submits several items, which are never spread over two commits; returns one result per item, in order. */
  readonly submitAll: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E>
}

export interface Options<I, O, E, R> {
  /** Commits all or nothing; returns one result per item, in order. */
  readonly commit: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E, R>
  /** Builds the error when too many items wait (`full`) or the service stops (`closed`). */
  readonly refuse: (why: "full" | "closed") => E
  /** Maximum number of items per commit. Only items that one caller submits together may exceed it. */
  readonly maxBatch: number
  readonly maxWaiting: number
  /** Number of commits started, in order, before the previous one has ended; 1 by default. */
  readonly maxUnderWay?: number
}

interface Waiter<I, O, E> {
  readonly items: ReadonlyArray<I>
  readonly resume: (result: Exit.Exit<ReadonlyArray<O>, E>) => void
}

/** Runs until the scope closes: then it commits waiting items and refuses new ones. */
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
    // An even share for each commit that may be in progress.
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

/** Returns how many of the first waiters have at most `max` items together; at least one. */
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
