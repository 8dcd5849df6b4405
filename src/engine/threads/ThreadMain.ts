/** Runs the functions of `ChangeWork` for one change after the other. */
import { readlinkSync } from "node:fs"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { getHeapStatistics } from "node:v8"
import { makeChangeWork } from "../work/ChangeWork.ts"
import type { ChangeWork } from "../work/ChangeWork.ts"
import type { ThreadRequest, ThreadResponse } from "./Protocol.ts"

/** Behind the event loop of the service. */
const niceness = 5

/** On Linux a priority belongs to one thread, which the system knows by the id at the end of this link. Elsewhere it stays as it is. */
const lowerPriority = (): void => {
  try {
    const [, thread] = /^\d+\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self")) ?? []
    if (thread !== undefined) setPriority(Number(thread), niceness)
  } catch {
    // Not Linux, or not allowed.
  }
}

lowerPriority()

let work: ChangeWork = makeChangeWork()

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
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage({ name: "closed", heldBytes: heldBytes() } satisfies ThreadResponse)
    return
  }
  const { id, name, input } = request
  const response = respond(id, () => (work[name] as (...given: ReadonlyArray<unknown>) => unknown)(...input))
  const moved = "value" in response && response.value instanceof Uint8Array ? [response.value.buffer] : []
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(response, moved as Array<ArrayBuffer>)
})
