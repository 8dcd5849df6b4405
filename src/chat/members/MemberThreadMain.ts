/** The thread that reads a member file: sends a part for each message. */
import { parentPort, workerData } from "node:worker_threads"
import { readMemberFile } from "./MemberFile.ts"
import type { MemberThreadData } from "./MemberParts.ts"
import { toParts } from "./MemberParts.ts"

const { text } = workerData as MemberThreadData
const parts = toParts(readMemberFile(text))
parentPort?.on("message", () => {
  const { done, value } = parts.next()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  if (done !== true) parentPort?.postMessage(value)
})
