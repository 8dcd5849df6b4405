/** Work on a change that is larger than all of its passes: its riskiest hunks, and texts for summaries of the cut ones. */
import { compress } from "../../review/Compress.ts"
import type { FileDiff, Hunk } from "../../review/FileDiff.ts"
import { linesAround, withContext } from "../../review/HunkContext.ts"
import { linesOfText } from "../../review/HunkText.ts"
import { hunkTokens, renderFile } from "../../review/RenderDiff.ts"
import { scrubFile } from "../../review/Scrub.ts"
import { scrubText } from "../../review/ScrubText.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { estimateTokens } from "../../review/Tokens.ts"
import { hasDefinitions, toTarget, withNames } from "./DefinitionWork.ts"
import type { Chains, DefinitionTarget } from "./DefinitionWork.ts"
import { fileKey } from "./FitState.ts"
import type { FitState } from "./FitState.ts"

export interface KeptFile {
  readonly path: string
  /** Whether lines of the file at the head are shown around its hunks. */
  readonly hasContext: boolean
}

interface CompressedChange {
  readonly kept: ReadonlyArray<KeptFile>
  /** Paths of files of which hunks were cut. */
  readonly cut: ReadonlyArray<string>
  readonly cutHunks: number
}

export interface Portion {
  readonly text: string
  readonly paths: ReadonlyArray<string>
}

interface Portions {
  readonly portions: ReadonlyArray<Portion>
  /** Paths of files that no portion holds. */
  readonly left: ReadonlyArray<string>
}

const maxPortions = 6
const portionTokens = 24_000

export const makeCompressWork = (state: FitState) => ({
  /** Keeps the `keepHunks` riskiest hunks and whole files within `room` tokens. */
  compress: (keepHunks: number, room: number): CompressedChange => {
    const { cut, kept } = compress(state.files, keepHunks, room, state.ranked)
    // The first lines of a hunk that is cut have no place among whole hunks.
    const wholeHunks = new Set(state.files.flatMap(({ hunks }) => hunks))
    const parts = new Set(
      kept.flatMap((file) => (file.hunks.every((hunk) => wholeHunks.has(hunk)) ? [] : [fileKey(file)]))
    )
    const wholes = new Map(
      state.files.flatMap((file) => (parts.has(fileKey(file)) ? [] : [[fileKey(file), file] as const]))
    )
    state.compressed = { kept, cut, wholes, scrubbed: [] }
    state.shown = []
    return {
      kept: kept.map((file) => ({ path: file.path, hasContext: hasDefinitions(file) })),
      cut: cut.map(({ path }) => path),
      cutHunks: cut.reduce((sum, { hunks }) => sum + hunks.length, 0)
    }
  },
  /**
   * Shows a kept file with context from its text at the head, and removes its secrets. Returns the target of the search
   * for definitions.
   */
  showKept: (index: number, text: string | undefined, contextLines: number): DefinitionTarget | undefined => {
    const { kept = [], scrubbed = [], wholes } = state.compressed ?? {}
    const file = kept[index]
    if (file === undefined) return undefined
    const lines = text === undefined ? undefined : linesOfText(text)
    const wide = withContext(file, wholes?.get(fileKey(file)) ?? file, lines, linesAround(contextLines))
    state.shown[index] = wide
    // Tokens are counted here, where the parser works at the same time.
    const clean = scrubFile(wide)
    for (const hunk of clean.hunks) hunkTokens(hunk)
    scrubbed[index] = clean
    return text === undefined ? undefined : toTarget(wide)
  },
  nameKept: (index: number, chains: Chains): void => {
    const { shown } = state
    const { scrubbed = [] } = state.compressed ?? {}
    const [file, clean] = [shown[index], scrubbed[index]]
    if (file !== undefined) shown[index] = withNames(file, chains)
    if (clean !== undefined) scrubbed[index] = withNames(clean, chains, scrubSecrets)
  },
  showCompressed: (): void => {
    state.readable = state.compressed?.scrubbed ?? []
  },
  /** Returns the input of each call, without secrets: whole files while they fit, the beginning of one that does not. */
  portions: (): Portions => portionsOf(state.compressed?.cut ?? [])
})

const portionsOf = (cut: ReadonlyArray<FileDiff>): Portions => {
  const found: Array<{ text: string; tokens: number; readonly paths: Set<string> }> = []
  for (const [at, file] of cut.entries()) {
    const text = scrubText(renderFile(beginning(file)).slice(0, portionTokens * 3))
    const tokens = estimateTokens(text)
    const open = found.at(-1)
    if (open !== undefined && open.tokens + tokens <= portionTokens) {
      open.text += text
      open.tokens += tokens
      open.paths.add(file.path)
    } else if (found.length < maxPortions) {
      found.push({ text, tokens, paths: new Set([file.path]) })
    } else return { portions: found.map(toPortion), left: cut.slice(at).map(({ path }) => path) }
  }
  return { portions: found.map(toPortion), left: [] }
}

const toPortion = ({ text, paths }: { readonly text: string; readonly paths: ReadonlySet<string> }): Portion => ({
  text,
  paths: [...paths]
})

/** Returns as many hunks as one call can hold; the first one is cut where it is too long by itself. */
const beginning = (file: FileDiff): FileDiff => {
  let characters = 0
  const hunks: Array<Hunk> = []
  for (const hunk of file.hunks) {
    const lines = hunk.lines
    const end = lines.findIndex((line) => (characters += Math.min(line.length, 4000) + 16) > portionTokens * 3)
    hunks.push(end < 0 ? hunk : { ...hunk, lines: lines.slice(0, end + 1) })
    if (end >= 0) break
  }
  return { ...file, hunks }
}
