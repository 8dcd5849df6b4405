/** Work on the definitions around hunks: the targets of the search, and the rendering of hunks with them. */
import type { FileDiff, Hunk } from "../../review/FileDiff.ts"
import { leading, withContext } from "../../review/HunkContext.ts"
import { linesOfText } from "../../review/HunkText.ts"
import { hunkTokens } from "../../review/RenderDiff.ts"
import { scrubFiles } from "../../review/Scrub.ts"
import type { Definition } from "../syntax/Definition.ts"
import type { FitState } from "./FitState.ts"

/** Definitions around each hunk of a file, outermost first; undefined where no parser has read the file. */
export type Chains = ReadonlyArray<ReadonlyArray<Definition> | undefined>

/** A file whose hunks are to be shown with the definitions around them. */
export interface DefinitionTarget {
  readonly path: string
  /** First changed line of each hunk, at the head. */
  readonly lines: ReadonlyArray<number>
}

interface FoundDefinitions {
  /** The file at the head. */
  readonly text: string
  readonly chains: Chains
}

/** Longer definitions are named, not shown. */
const maxDefinitionLines = 80
const maxSection = 200

export const makeDefinitionWork = (state: FitState) => ({
  beginDefinitions: (tokens: number): void => {
    state.shown = []
    state.room = tokens
  },
  /** Returns the targets of `count` files from position `from`; undefined for files without definitions to find. */
  definitionTargets: (from: number, count: number): ReadonlyArray<DefinitionTarget | undefined> =>
    state.files.slice(from, from + count).map((file) => (hasDefinitions(file) ? toTarget(file) : undefined)),
  /** Applies the texts at the head and the definitions around the hunks to the same files. */
  showDefinitions: (from: number, found: ReadonlyArray<FoundDefinitions | undefined>): void => {
    for (const [index, one] of found.entries()) {
      const file = state.files[from + index]
      if (file === undefined) continue
      const { shown, tokens } = one === undefined ? { shown: file, tokens: 0 } : withDefinitions(file, one, state.room)
      state.shown.push(shown)
      state.room -= tokens
    }
  },
  /** Moves all files to the shown ones; files without definitions are unchanged. */
  showAll: (from: number): void => {
    for (const file of state.files.slice(from)) state.shown.push(file)
    state.readable = scrubFiles(state.shown)
  }
})

/** Adds the names of the definitions, and their lines where they fit into the tokens. */
const withDefinitions = (
  file: FileDiff,
  { chains, text }: FoundDefinitions,
  room: number
): { readonly shown: FileDiff; readonly tokens: number } => {
  const named = withNames(file, chains)
  if (room <= 0) return { shown: named, tokens: 0 }
  const wide = widened(named, chains, linesOfText(text))
  const tokens = tokensOf(wide) - tokensOf(named)
  return tokens <= room ? { shown: wide, tokens } : { shown: named, tokens: 0 }
}

/** Patches of commits have other context lines than the head; added files are already shown completely. */
export const hasDefinitions = (file: FileDiff): boolean =>
  file.commit === undefined && file.status !== "added" && file.status !== "deleted"

export const toTarget = ({ path, hunks }: FileDiff): DefinitionTarget => ({
  path,
  lines: hunks.map((hunk) => hunk.newStart + leading(hunk))
})

/** Hunks with their definitions as sections; `reword` is applied to them. */
export const withNames = (file: FileDiff, chains: Chains, reword = (text: string) => text): FileDiff => ({
  ...file,
  hunks: file.hunks.map((hunk, at) => withSection(hunk, chains[at], reword))
})

const withSection = (
  hunk: Hunk,
  chain: ReadonlyArray<Definition> | undefined,
  reword: (text: string) => string
): Hunk => {
  if (chain === undefined || chain.length === 0) return hunk
  const names = chain.map(({ name, header }, at) => (at === chain.length - 1 ? header : name))
  return { ...hunk, section: reword(names.join(" > ").replace(/\s+/g, " ").trim()).slice(0, maxSection) }
}

const widened = (file: FileDiff, chains: Chains, lines: ReadonlyArray<string>): FileDiff => {
  const innermost = new Map(file.hunks.map((hunk, at) => [hunk, chains[at]?.at(-1)]))
  return withContext(file, file, lines, (hunk) => {
    const inner = innermost.get(hunk)
    const asIs = { from: hunk.newStart, to: hunk.newStart + hunk.newLines - 1 }
    if (inner === undefined || inner.end - inner.start >= maxDefinitionLines) return asIs
    return { from: Math.min(asIs.from, inner.start), to: Math.max(asIs.to, inner.end) }
  })
}

const tokensOf = ({ hunks }: FileDiff): number =>
  hunks.reduce((sum, hunk) => sum + hunkTokens(hunk).reduce((all, tokens) => all + tokens, 0), 0)
