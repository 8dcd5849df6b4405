/** Runs the functions of `ChangeWork` for consecutive changes. */
import { parentPort, workerData } from "node:worker_threads"
import { getHeapStatistics } from "node:v8"
import { makeChangeWork } from "../work/ChangeWork.ts"
import type { ChangeWork } from "../work/ChangeWork.ts"
import { loadedVocabulary, useVocabulary } from "../../review/Tokens.ts"
import { makeThreadPriority } from "./ThreadPriority.ts"
import type { ThreadData, ThreadRequest, ThreadResponse } from "./Protocol.ts"

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
