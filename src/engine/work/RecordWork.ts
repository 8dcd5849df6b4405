/**
 * Work on the record of a review: its reads, every line without secrets. Text leaves as UTF-8 bytes, which move between
 * threads.
 */
import { scrubText } from "../../review/ScrubText.ts"
import type { MountedEntry } from "../../vcs/ContextRepositories.ts"
import type { ReviewRecord } from "../record/ReviewRecord.ts"

interface RecordState {
  readonly files: Array<{ readonly key: string; readonly text?: string }>
  /** Diffs of the commits, in their order. */
  readonly commits: Array<string>
  /** Reads of the mount at a position. */
  readonly reads: Map<number, Array<{ readonly key: string; readonly entry: MountedEntry }>>
}

export const makeRecordWork = () => {
  const state: RecordState = { files: [], commits: [], reads: new Map() }
  return {
    /** The text of a diff, out of the bytes that git printed. */
    scrubDiff: (chunks: ReadonlyArray<Uint8Array>): Uint8Array => encode(scrubDiff(chunks)),
    /** Adds reads of files; undefined where a file does not exist. */
    recordFiles: (files: ReadonlyArray<readonly [key: string, text: string | undefined]>): void => {
      for (const [key, text] of files) state.files.push(text === undefined ? { key } : { key, text: scrubText(text) })
    },
    /** The diff of the next commit. */
    recordCommit: (diff: Uint8Array): void => {
      state.commits.push(Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString("utf8"))
    },
    /** Adds a read of the mount at a position. */
    recordRead: (mount: number, key: string, entry: MountedEntry): void => {
      const known = state.reads.get(mount)
      if (known === undefined) state.reads.set(mount, [{ key, entry }])
      else known.push({ key, entry })
    },
    /** The record as JSON, with the texts that were recorded before. */
    recordJson: (record: typeof ReviewRecord.Encoded): Uint8Array => {
      const mounted = record.context.mounted.map((one, at) => ({ ...one, reads: state.reads.get(at) ?? [] }))
      const commits = record.commits?.map((one, at) => ({ ...one, diff: state.commits[at] ?? "" }))
      return encode(JSON.stringify({ ...record, files: state.files, commits, context: { ...record.context, mounted } }))
    }
  }
}

/** Bytes with a buffer of their own, so that they move to another thread. */
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
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
      kept.push(scrubText(begun.join("") + text.slice(0, end)))
      begun = [text.slice(end)]
    }
  }
  kept.push(scrubText(begun.join("") + decoder.decode()))
  return kept.join("")
}
