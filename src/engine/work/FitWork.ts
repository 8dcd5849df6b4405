/** Work on what of a change is shown word for word: definitions around hunks, the riskiest hunks, texts to summarise. */
import { compress, tokensWithin } from "../../review/Compress.ts"
import type { FileDiff, Hunk } from "../../review/FileDiff.ts"
import { leading, linesAround, withContext } from "../../review/HunkContext.ts"
import { linesOfText } from "../../review/HunkText.ts"
import { countLinesOf, hunkTokens, renderFile } from "../../review/RenderDiff.ts"
import { scrubFile, scrubFiles } from "../../review/Scrub.ts"
import { scrubLines } from "../../review/ScrubText.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { estimateTokens } from "../../review/Tokens.ts"
import type { Definition } from "../syntax/Definition.ts"
import type { ReadState } from "./ReadWork.ts"

/** For each hunk of a file the definitions around it, outermost first; undefined where no parser has read the file. */
export type Chains = ReadonlyArray<ReadonlyArray<Definition> | undefined>

/** A file whose hunks are to be shown with the definitions around them. */
export interface DefinitionTarget {
  readonly path: string
  /** First changed line of each hunk, at the head. */
  readonly lines: ReadonlyArray<number>
}

export interface KeptFile {
  readonly path: string
  /** False for the patch of one commit: it has other lines around it than the head. */
  readonly isAtHead: boolean
}

export interface CompressedChange {
  readonly kept: ReadonlyArray<KeptFile>
  /** Paths of files of which hunks were cut. */
  readonly cut: ReadonlyArray<string>
  readonly cutHunks: number
}

export interface Portion {
  readonly text: string
  readonly paths: ReadonlyArray<string>
}

/** Longer definitions are named, not shown. */
const maxDefinitionLines = 80
const maxSection = 200
const maxPortions = 6
const portionTokens = 24_000

export const makeFitWork = (read: ReadState) => {
  let files: ReadonlyArray<FileDiff> = []
  let shown: Array<FileDiff> = []
  let readable: ReadonlyArray<FileDiff> = []
  let kept: ReadonlyArray<FileDiff> = []
  let cut: ReadonlyArray<FileDiff> = []
  let scrubbed: Array<FileDiff> = []
  let wholes: ReadonlyMap<string, FileDiff> = new Map()
  /** Tokens that lines of definitions may still take. */
  let room = 0

  return {
    state: {
      /** To be shown, and the same without the secrets in them. */
      shown: () => shown,
      readable: () => readable
    },
    work: {
      /** Tokens of what is to be shown; undefined where they are more than `most`. */
      tokensWithin: (most: number): number | undefined => {
        files = read.shown()
        return tokensWithin(files, most)
      },
      beginDefinitions: (tokens: number): void => {
        shown = []
        room = tokens
      },
      /** Of `count` files from `from` on; undefined where none are looked for. */
      definitionTargets: (from: number, count: number): ReadonlyArray<DefinitionTarget | undefined> =>
        files.slice(from, from + count).map((file) => (hasDefinitions(file) ? targetOf(file) : undefined)),
      /** Of the same files: their texts at the head and the definitions around their hunks. */
      showDefinitions: (
        from: number,
        found: ReadonlyArray<{ readonly text: string; readonly chains: Chains } | undefined>
      ): void => {
        for (const [index, one] of found.entries()) {
          const file = files[from + index]
          if (file === undefined) continue
          if (one === undefined) {
            shown.push(file)
            continue
          }
          const named = withNames(file, one.chains)
          const wide = room > 0 ? widened(named, one.chains, linesOfText(one.text)) : named
          const cost = wide === named ? 0 : tokensOf(wide) - tokensOf(named)
          const fits = cost <= room
          if (fits) room -= cost
          shown.push(fits ? wide : named)
        }
      },
      /** All files are shown, those without definitions as they are. */
      showAll: (from: number): void => {
        for (const file of files.slice(from)) shown.push(file)
        readable = scrubFiles(shown)
      },
      compress: (keepHunks: number): CompressedChange => {
        const compressed = compress(files, keepHunks)
        kept = compressed.kept
        cut = compressed.cut
        wholes = new Map(files.map((file) => [keyOf(file), file]))
        shown = []
        scrubbed = []
        return {
          kept: kept.map(({ path, commit }) => ({ path, isAtHead: commit === undefined })),
          cut: cut.map(({ path }) => path),
          cutHunks: cut.reduce((sum, { hunks }) => sum + hunks.length, 0)
        }
      },
      /** Shows a kept file with lines around its hunks, out of its text at the head, and removes its secrets. Returns where to look for definitions. */
      showKept: (index: number, text: string | undefined, contextLines: number): DefinitionTarget | undefined => {
        const file = kept[index]
        if (file === undefined) return undefined
        const whole = wholes.get(keyOf(file)) ?? file
        const lines = text === undefined ? undefined : linesOfText(text)
        const wide = withContext(file, whole, lines, linesAround(contextLines))
        shown[index] = wide
        // Tokens are counted here, where the parser works at the same time.
        const clean = scrubFile(wide)
        for (const hunk of clean.hunks) hunkTokens(hunk)
        scrubbed[index] = clean
        return text === undefined || !hasDefinitions(file) ? undefined : targetOf(wide)
      },
      nameKept: (index: number, chains: Chains): void => {
        const [file, clean] = [shown[index], scrubbed[index]]
        if (file !== undefined) shown[index] = withNames(file, chains)
        if (clean !== undefined) scrubbed[index] = withNames(clean, chains, scrubSecrets)
      },
      showCompressed: (): void => {
        readable = scrubbed
        scrubbed = []
      },
      /** What goes into one call each, without secrets: whole files while they fit, the beginning of one that does not. */
      portions: (): ReadonlyArray<Portion> => portionsOf(cut),
      /** Changed lines of the hunks that are shown. */
      changedLines: (): number => countLinesOf(shown, (line) => line[0] !== " ")
    }
  }
}

export type FitState = ReturnType<typeof makeFitWork>["state"]

const keyOf = ({ path, commit }: FileDiff): string => `${commit?.index ?? 0}:${path}`

/** Patches of commits have other lines around them than the head; added files are shown whole already. */
const hasDefinitions = (file: FileDiff): boolean =>
  file.commit === undefined && file.status !== "added" && file.status !== "deleted"

const targetOf = ({ path, hunks }: FileDiff): DefinitionTarget => ({
  path,
  lines: hunks.map((hunk) => hunk.newStart + leading(hunk))
})

/** Hunks with their definitions as sections; `reword` is applied to them. */
const withNames = (file: FileDiff, chains: Chains, reword = (text: string) => text): FileDiff => ({
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

const portionsOf = (cut: ReadonlyArray<FileDiff>): ReadonlyArray<Portion> => {
  const found: Array<{ text: string; tokens: number; readonly paths: Set<string> }> = []
  for (const file of cut) {
    const text = scrubLines(renderFile(beginning(file)).slice(0, portionTokens * 3))
    const tokens = estimateTokens(text)
    const open = found.at(-1)
    if (open !== undefined && open.tokens + tokens <= portionTokens) {
      open.text += text
      open.tokens += tokens
      open.paths.add(file.path)
    } else if (found.length < maxPortions) {
      found.push({ text, tokens, paths: new Set([file.path]) })
    } else break
  }
  return found.map(({ text, paths }) => ({ text, paths: [...paths] }))
}

/** As many hunks as one call can hold, the first one cut where it is too long by itself. */
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
