/** A thread that obeys its input: hang, allocate memory, end, replace objects. Any other text is its result. */
import { getHeapSpaceStatistics } from "node:v8"
import { parentPort, threadId } from "node:worker_threads"

/** @type {Record<string, (beats: Int32Array) => unknown>} */
const deeds = {
  hang: (beats) => {
    for (;;) Atomics.add(beats, 0, 1)
  },
  fill: () => {
    /** @type {Array<Array<number>>} */
    const kept = []
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => at + 0.5))
  },
  end: () => process.exit(7),
  churn: () => {
    const kept = []
    for (let at = 0; at < 10_000_000; at++) kept[at % 200_000] = { at }
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    return (young?.physical_space_size ?? 0) / 1_048_576
  },
  hold: () => (held = 1_000_000_000),
  slow: () => (isSlow = true)
}

/** Memory that it reports as held after its change is dropped. */
let held = 0
/** Whether it reports that its priority remains low. */
let isSlow = false

parentPort?.on("message", (/** @type {{ id: number, name: string, input: [string, Int32Array] }} */ request) => {
  if (request.name === "close") {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    return parentPort?.postMessage({ name: "closed", heldBytes: held, isSlow })
  }
  const [text, beats] = request.input
  const value = text === "which" ? `thread ${threadId}` : text in deeds ? deeds[text]?.(beats) : text
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ id: request.id, value })
})
