/** Runs the functions of `ChangeWork` for consecutive changes. */
import { parentPort, workerData } from "node:worker_threads"
import { getHeapStatistics } from "node:v8"
import { makeChangeWork } from "../work/ChangeWork.ts"
import type { ChangeWork } from "../work/ChangeWork.ts"
import { loadedVocabulary, useVocabulary } from "../../review/Tokens.ts"
import type { ThreadData, ThreadRequest, ThreadResponse } from "./Protocol.ts"
import { getPriority, setPriority } from "node:os"

const lowest = 19

/** Processor time for one change from which a priority applies, and how far it is below that of the process. */
const steps = [
  { millis: 1_000, below: 19 },
  { millis: 250, below: 12 },
  { millis: 0, below: 5 }
] as const

const threadNiceness = (usedMillis: number, own: number): number =>
  Math.min(lowest, own + (steps.find(({ millis }) => usedMillis >= millis)?.below ?? 0))

const usedMillis = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Priority of a thread that analyses changes: below the service's own thread (`LowerPriority.js`), and lower the longer it computes for
 * one change, so that the analysis of a small change overtakes that of a large one. The thread sets it itself, between two functions.
 * On Linux a priority belongs to one thread; no effect elsewhere.
 */
interface ThreadPriority {
  /** Lowers the priority of the calling thread when it has computed for long. */
  readonly update: () => void
  /** Begins another change. Returns false where the thread keeps a low priority, because raising it is not permitted. */
  readonly restart: () => boolean
}

const makeThreadPriority = (): ThreadPriority => {
  const own = getPriority(process.pid)
  let startedAt = usedMillis()
  let current = threadNiceness(0, own)
  const set = (niceness: number): boolean => {
    if (process.platform !== "linux" || niceness === current) return true
    try {
      // 0: the calling thread.
      setPriority(0, niceness)
      current = niceness
      return true
    } catch {
      return false
    }
  }
  return {
    update: () => void set(threadNiceness(usedMillis() - startedAt, own)),
    restart: () => {
      startedAt = usedMillis()
      return set(threadNiceness(0, own))
    }
  }
}

const priority = makeThreadPriority()
let work: ChangeWork = makeChangeWork()
const { vocabulary: received } = workerData as ThreadData
if (received !== undefined) useVocabulary(received)
let isShared = received !== undefined

/** Sends the vocabulary once, for the threads that start later. */
const shareVocabulary = (): void => {
  const vocabulary = loadedVocabulary()
  if (isShared || vocabulary === undefined) return
  isShared = true
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ name: "vocabulary", vocabulary } satisfies ThreadResponse)
}

const respond = (id: number, run: () => unknown): ThreadResponse => {
  try {
    return { id, value: run() }
  } catch (cause) {
    return { id, error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}

const heldBytes = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}

parentPort?.on("message", (request: ThreadRequest) => {
  if (request.name === "close") {
    work = makeChangeWork()
    const closed: ThreadResponse = { name: "closed", heldBytes: heldBytes(), isSlow: !priority.restart() }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(closed)
    return
  }
  const { id, name, input } = request
  const response = respond(id, () => (work[name] as (...given: ReadonlyArray<unknown>) => unknown)(...input))
  priority.update()
  shareVocabulary()
  const moved = "value" in response && response.value instanceof Uint8Array ? [response.value.buffer] : []
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(response, moved as Array<ArrayBuffer>)
})
