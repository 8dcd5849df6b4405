/** A thread that analyses changes, and responds whether it has received the vocabulary instead of rendering a pass. */
import { parentPort, workerData } from "node:worker_threads"

parentPort?.on("message", (/** @type {{ id: number, name: string }} */ { id, name }) => {
  if (name !== "renderPass") return
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ id, value: workerData.vocabulary !== undefined })
})
await import("../../../src/engine/threads/ThreadMain.ts")
