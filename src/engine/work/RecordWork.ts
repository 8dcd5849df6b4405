/** Work on the record of a review: what it read, every line without the secrets in it. */
import { scrubLines } from "../../review/ScrubText.ts"
import type { MountedEntry } from "../../vcs/ContextRepositories.ts"
import type { ReviewRecord } from "../ReviewRecord.ts"

export const makeRecordWork = () => {
  const files: Array<{ readonly key: string; readonly text?: string }> = []
  const reads = new Map<number, Array<{ readonly key: string; readonly entry: MountedEntry }>>()

  return {
    /** The text of a diff, out of the bytes that git printed. */
    scrubDiff: (chunks: ReadonlyArray<Uint8Array>): string => scrubDiff(chunks),
    /** A file that was read; undefined: there was none. */
    recordFile: (key: string, text: string | undefined): void => {
      files.push(text === undefined ? { key } : { key, text: scrubLines(text) })
    },
    /** What was read of the mount at a position. */
    recordRead: (mount: number, key: string, entry: MountedEntry): void => {
      const known = reads.get(mount)
      if (known === undefined) reads.set(mount, [{ key, entry }])
      else known.push({ key, entry })
    },
    /** The record as JSON, with the files and reads that were recorded before. */
    recordJson: (record: typeof ReviewRecord.Encoded): string => {
      const mounted = record.context.mounted.map((one, at) => ({ ...one, reads: reads.get(at) ?? [] }))
      return JSON.stringify({ ...record, files, context: { ...record.context, mounted } })
    }
  }
}

/** A character, and a line, may go over several chunks. */
export const scrubDiff = (chunks: ReadonlyArray<Uint8Array>): string => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const kept: Array<string> = []
  let begun: Array<string> = []
  for (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf("\n") + 1
    if (end === 0) begun.push(text)
    else {
      kept.push(scrubLines(begun.join("") + text.slice(0, end)))
      begun = [text.slice(end)]
    }
  }
  kept.push(scrubLines(begun.join("") + decoder.decode()))
  return kept.join("")
}
