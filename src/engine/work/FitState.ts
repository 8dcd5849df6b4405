/** State of the thread of a change for the parts that are shown verbatim. */
import type { FileBatch } from "../../review/Batches.ts"
import type { RankedHunk } from "../../review/Compress.ts"
import type { FileDiff } from "../../review/FileDiff.ts"

export interface FitState {
  /** Candidates: all files that could be shown. */
  files: ReadonlyArray<FileDiff>
  /** Their hunks by risk, where they were ranked in advance. */
  ranked: ReadonlyArray<RankedHunk> | undefined
  /** Files that are shown, and the same without the secrets in them. */
  shown: Array<FileDiff>
  readable: ReadonlyArray<FileDiff>
  /** Tokens that lines of definitions may still take. */
  room: number
  /** Files of each pass. */
  batches: ReadonlyArray<PassBatch>
  /** Files without what they say to readers, by path. */
  readonly blind: Map<string, BlindFile>
  /** Present where the change is over its limit of tokens. */
  compressed: CompressedState | undefined
}

/** Files of a pass, and its fence. `blind` ones say nothing to readers. */
export interface PassBatch extends FileBatch {
  readonly isBlind: boolean
  readonly fence: string
}

interface BlindFile {
  /** Its hunks as git prints them, and as a pass shows them. */
  readonly diff: FileDiff
  readonly shown: FileDiff
  /** The file at the head, where it is shown in addition. */
  readonly whole: string | undefined
}

interface CompressedState {
  /** Files with the hunks that are kept, and with those that are cut. */
  readonly kept: ReadonlyArray<FileDiff>
  readonly cut: ReadonlyArray<FileDiff>
  /** Files with all of their hunks, by `fileKey`. */
  readonly wholes: ReadonlyMap<string, FileDiff>
  /** The kept files as they are shown, without secrets. */
  readonly scrubbed: Array<FileDiff>
}

export const makeFitState = (): FitState => ({
  files: [],
  ranked: undefined,
  shown: [],
  readable: [],
  room: 0,
  batches: [],
  blind: new Map(),
  compressed: undefined
})

/** A file may occur in the patches of several commits. */
export const fileKey = ({ path, commit }: FileDiff): string => `${commit?.index ?? 0}:${path}`
