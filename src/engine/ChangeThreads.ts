/**
 * Threads that analyse changes, one change per thread: the thread that parsed a change holds it, and only the text for
 * a model leaves it. A change that exceeds its limits, or ends its thread, fails only its own review. The number of
 * threads that compute concurrently is the number of processors plus one, from three to five, so that a large change,
 * whose record is scrubbed in a second thread, does not delay a small one; the others hold their change during model
 * calls.
 */
import { availableParallelism } from "node:os"
import { Context, Effect, Layer, Semaphore } from "effect"
import type { Scope } from "effect"
import { AnalysisError } from "./AnalysisError.ts"
import type { WorkInput, WorkName, WorkResult } from "./threads/Protocol.ts"
import { Thread } from "./threads/Thread.ts"
import type { SharedMemory, ThreadLimits } from "./threads/Thread.ts"

/** The handle of one change: runs functions of `ChangeWork` where its data is. */
export interface ChangeThread {
  readonly run: <N extends WorkName>(name: N, ...input: WorkInput<N>) => Effect.Effect<WorkResult<N>, AnalysisError>
}

export interface ChangeThreadsService {
  /** A thread for one change, until the scope ends. It starts with the first function that it runs. */
  readonly open: (memoryMb: number) => Effect.Effect<ChangeThread, never, Scope.Scope>
  /** Ends the threads that no change holds. */
  readonly end: () => void
}

interface ThreadOptions {
  /** JavaScript module that the threads run. */
  readonly entry: URL
  /** Threads that compute at the same time. */
  readonly computing: number
  /** Longest time of one function. */
  readonly millis: number
}

export const defaultThreads: ThreadOptions = {
  entry: new URL("./threads/ChangeThread.js", import.meta.url),
  computing: Math.min(4, Math.max(2, availableParallelism())) + 1,
  millis: 60_000
}

/** Number of changes after which a thread is replaced. */
const maxChanges = 200

export const makeChangeThreads = (options: ThreadOptions): ChangeThreadsService => {
  const processors = Semaphore.makeUnsafe(options.computing)
  const maxIdle = options.computing + 1
  const idle: Array<Thread> = []
  const shared: SharedMemory = {
    vocabulary: undefined,
    isKept: (thread) => thread === idle.find(({ isFree }) => isFree)
  }
  let isOpen = true

  /** Number of threads that drop their change, and callers that wait for one. */
  let closing = 0
  const waiting: Array<() => void> = []
  const nextClosed = Effect.callback<void>((resume) => void waiting.push(() => resume(Effect.void)))

  /**
   * Takes an idle thread or starts one: each start costs as much as a small change. Returns undefined while one drops its change, because the
   * record of a change begins when its thread is released.
   */
  const take = (limits: ThreadLimits): Thread | undefined => {
    const at = idle.findIndex((thread) => thread.isFree && thread.limits.memoryMb >= limits.memoryMb)
    const [thread] = idle.splice(at, at < 0 ? 0 : 1)
    return thread ?? (closing > 0 ? undefined : new Thread(options.entry, limits, shared))
  }
  const keep = (thread: Thread): void => {
    if (!isOpen) return thread.end()
    // The one that worked last is taken first, so that the others end when they are not needed.
    idle.unshift(thread)
    if (idle.length > maxIdle) idle.pop()?.end()
  }
  /** A thread that still computes for a review that ended is of no use to another one. */
  const release = (thread: Thread): void => {
    for (const ended of idle.filter(({ isFree }) => !isFree)) idle.splice(idle.indexOf(ended), 1)
    if (!thread.isFree || thread.changes >= maxChanges) return thread.end()
    closing++
    thread.close((isFree) => {
      closing--
      if (isFree) keep(thread)
      for (const resume of waiting.splice(0)) resume()
    })
  }

  return {
    open: (memoryMb) =>
      Effect.gen(function* () {
        const one = yield* Semaphore.make(1)
        let thread: Thread | undefined
        yield* Effect.addFinalizer(() => Effect.sync(() => thread !== undefined && release(thread)))
        const taken: Effect.Effect<Thread> = Effect.suspend(() => {
          thread ??= take({ memoryMb, millis: options.millis })
          return thread === undefined ? Effect.flatMap(nextClosed, () => taken) : Effect.succeed(thread)
        })
        return {
          run: <N extends WorkName>(name: N, ...input: WorkInput<N>) =>
            Effect.flatMap(taken, (own) => own.run(name, input)).pipe(
              processors.withPermits(1),
              one.withPermits(1)
            ) as Effect.Effect<WorkResult<N>, AnalysisError>
        }
      }),
    end: () => {
      isOpen = false
      for (const thread of idle.splice(0)) thread.end()
    }
  }
}

export class ChangeThreads extends Context.Service<ChangeThreads, ChangeThreadsService>()(
  "aicr/engine/ChangeThreads"
) {}

export const layer: Layer.Layer<ChangeThreads> = Layer.effect(
  ChangeThreads,
  Effect.acquireRelease(
    Effect.sync(() => makeChangeThreads(defaultThreads)),
    (threads) => Effect.sync(threads.end)
  )
)
