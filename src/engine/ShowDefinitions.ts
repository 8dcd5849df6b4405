/**
 * The function or class that a hunk changes, shown with it: its name as the hunk's section, and its lines while there is room. In
 * languages that have a grammar here; elsewhere hunks stay as git prints them.
 */
import { Effect } from "effect"
import type { FileDiff, Hunk } from "../review/FileDiff.ts"
import { leading, withContext } from "../review/HunkContext.ts"
import { linesOfText, readHunks } from "../review/HunkText.ts"
import { hunkTokens } from "../review/RenderDiff.ts"
import type { Steps } from "../review/Steps.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { definitionsAt } from "./syntax/Definitions.ts"
import type { Definition } from "./syntax/Definition.ts"
import { runInTurns } from "./Turns.ts"

/** Files that are parsed for one change; the first ones. */
const maxFiles = 200
const maxFileBytes = 1_048_576
/** Longer definitions are named, not shown. */
const maxLines = 80
const maxSection = 200

/** Read and parsed at the same time. */
const atOnce = 4

/** Lines of definitions take at most `room` tokens; without room hunks only get their names. */
export const showDefinitions = Effect.fn("showDefinitions")(function* (
  checkout: Checkout,
  files: ReadonlyArray<FileDiff>,
  room: number
): Effect.fn.Return<ReadonlyArray<FileDiff>, CheckoutError> {
  const shown: Array<FileDiff> = []
  let left = room
  for (let at = 0; at < files.length; at += atOnce) {
    const some = files.slice(at, at + atOnce)
    const read = yield* Effect.forEach(
      some,
      (file, index) =>
        Effect.gen(function* () {
          yield* runInTurns(readHunks(file))
          const asks = at + index < maxFiles && hasDefinitions(file)
          const text = asks ? yield* checkout.file(file.path, "head", maxFileBytes) : undefined
          return text === undefined ? undefined : { text, chains: yield* chainsOf(file, text) }
        }),
      { concurrency: atOnce }
    )
    for (const [index, file] of some.entries()) {
      const found = read[index]
      if (found === undefined) {
        shown.push(file)
        continue
      }
      const named = withNames(file, found.chains)
      const wide = left > 0 ? widened(named, found.chains, yield* runInTurns(linesOfText(found.text))) : named
      const cost = wide === named ? 0 : yield* runInTurns(addedTokens(wide, named))
      const fits = cost <= left
      if (fits) left -= cost
      shown.push(fits ? wide : named)
    }
  }
  return shown
})

type Chains = ReadonlyArray<ReadonlyArray<Definition> | undefined>

/** Patches of commits have other lines around them than the head; added files are shown whole already. */
export const hasDefinitions = (file: FileDiff): boolean =>
  file.commit === undefined && file.status !== "added" && file.status !== "deleted"

/** The definitions around each hunk, outermost first. `text` is the file at the head. */
export const chainsOf = (file: FileDiff, text: string): Effect.Effect<Chains> =>
  definitionsAt(
    file.path,
    text,
    file.hunks.map((hunk) => hunk.newStart + leading(hunk))
  )

/** Hunks with their definitions as sections; `reword` is applied to them. */
export const withNames = (file: FileDiff, chains: Chains, reword = (text: string) => text): FileDiff => ({
  ...file,
  hunks: file.hunks.map((hunk, at) => withSection(hunk, chains[at], reword))
})

const widened = (file: FileDiff, chains: Chains, lines: ReadonlyArray<string>): FileDiff => {
  const innermost = new Map(file.hunks.map((hunk, at) => [hunk, chains[at]?.at(-1)]))
  return withContext(file, file, lines, (hunk) => {
    const inner = innermost.get(hunk)
    const asIs = { from: hunk.newStart, to: hunk.newStart + hunk.newLines - 1 }
    if (inner === undefined || inner.end - inner.start >= maxLines) return asIs
    return { from: Math.min(asIs.from, inner.start), to: Math.max(asIs.to, inner.end) }
  })
}

function* addedTokens(wide: FileDiff, named: FileDiff): Steps<number> {
  return (yield* tokensOf(wide)) - (yield* tokensOf(named))
}

function* tokensOf({ hunks }: FileDiff): Steps<number> {
  let sum = 0
  for (const hunk of hunks) {
    for (const tokens of yield* hunkTokens(hunk)) sum += tokens
    yield
  }
  return sum
}

const withSection = (
  hunk: Hunk,
  chain: ReadonlyArray<Definition> | undefined,
  reword: (text: string) => string
): Hunk => {
  if (chain === undefined || chain.length === 0) return hunk
  const names = chain.map(({ name, header }, at) => (at === chain.length - 1 ? header : name))
  return { ...hunk, section: reword(names.join(" > ").replace(/\s+/g, " ").trim()).slice(0, maxSection) }
}
