/** Reads the reply of a program as it streams, until its reader has seen enough, the text is unreadable, or the program ends. */
import type { ProgramChild, ProgramEnd } from "../process/Program.ts"

interface ReplyReader {
  /** Both throw for text that is not well formed. */
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => void
}

/** State of a reply. A reader may still find parts in the bytes that it got last; it ignores them after `stop`. */
export interface Reply {
  readonly isStopped: () => boolean
  readonly stop: () => void
}

type ReplyEnd = "stopped" | { readonly end: ProgramEnd; readonly malformed: string | undefined }

/** Bytes that are ignored after unreadable ones, until the program is ended: it may report a better reason before. */
const maxIgnoredBytes = 16_777_216

export const readReply = (child: ProgramChild, makeReader: (reply: Reply) => ReplyReader): Promise<ReplyEnd> =>
  new Promise((resolve) => {
    let malformed: string | undefined
    let stopped = false
    let ignoredBytes = 0
    const reader = makeReader({
      isStopped: () => stopped,
      stop: () => {
        stopped = true
        resolve("stopped")
      }
    })
    const attempt = (read: () => void): void => {
      if (stopped || malformed !== undefined) return
      try {
        read()
      } catch (cause) {
        malformed = cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
      }
    }
    child.stdout.on("data", (chunk: Buffer) => {
      attempt(() => reader.push(chunk))
      if (malformed === undefined) return
      ignoredBytes += chunk.length
      if (ignoredBytes > maxIgnoredBytes) resolve({ end: { code: 0, stderr: "", limit: undefined }, malformed })
    })
    void child.ended.then((end) => {
      attempt(() => reader.end())
      resolve({ end, malformed })
    })
  })
