/** Work on files that git classifies as binary: those that are text are compared here. */
import type { SkippedFile } from "../../domain/Coverage.ts"
import type { FileDiff } from "../../review/FileDiff.ts"
import { detectLanguage } from "../../review/Languages.ts"
import { unreadIf } from "../../review/SelectFiles.ts"
import { diffTexts } from "../../review/TextDiff.ts"
import { setSelected } from "./ReadState.ts"
import type { ReadState } from "./ReadState.ts"

export interface FileTexts {
  readonly before: string
  readonly after: string
}

export const makeBinaryWork = (state: ReadState) => {
  const read = new Map<string, FileDiff>()
  return {
    /** Compares the texts of a binary file. Returns the bytes that it uses of `room`; 0 where it does not fit. */
    readBinary: (path: string, { before, after }: FileTexts, room: number): number => {
      const file = state.binaries.get(path)
      if (file === undefined) return 0
      const compared = diffTexts(file, before, after)
      if (compared.bytes > room) return 0
      read.set(path, compared)
      return compared.bytes
    },
    /** Adds the files that were compared to the reviewed ones; the other binary files remain skipped. */
    endBinaries: (): void => {
      if (state.binaries.size === 0) return
      const skipped = state.selected.skipped.flatMap((skip): ReadonlyArray<SkippedFile> => {
        const file = skip.reason === "binary" ? state.binaries.get(skip.path) : undefined
        if (file === undefined) return [skip]
        return read.has(skip.path) ? [] : [notRead(file)]
      })
      setSelected(state, { files: [...state.selected.files, ...read.values()], skipped })
      state.binaries.clear()
    }
  }
}

/** Returns the skip reason of a binary file: `unreadable` where its name is one of code. */
const notRead = ({ path, status }: FileDiff): SkippedFile => {
  const isCode = detectLanguage(path) !== undefined
  return { path, reason: isCode ? "unreadable" : "binary", ...unreadIf(isCode && status !== "deleted") }
}
