/**
 * The function or class that a hunk changes, shown with it: its name as the hunk's section, and its lines while there is room. In
 * languages that have a grammar here; elsewhere hunks stay as git prints them.
 */
import { Effect } from "effect"
import type { FileDiff, Hunk } from "../review/FileDiff.ts"
import { leading, withContext } from "../review/HunkContext.ts"
import { lineTokens } from "../review/RenderDiff.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { definitionsAt } from "./syntax/Definitions.ts"
import type { Definition } from "./syntax/Definitions.ts"

/** Files that are parsed for one change; the first ones. */
const maxFiles = 200
const maxFileBytes = 1_048_576
/** Longer definitions are named, not shown. */
const maxLines = 80
const maxSection = 200

/** Lines of definitions take at most `room` tokens; without room hunks only get their names. */
export const showDefinitions = Effect.fn("showDefinitions")(function* (
  checkout: Checkout,
  files: ReadonlyArray<FileDiff>,
  room: number
): Effect.fn.Return<ReadonlyArray<FileDiff>, CheckoutError> {
  const shown: Array<FileDiff> = []
  let left = room
  for (const [index, file] of files.entries()) {
    // Patches of commits have other lines around them than the head; added files are shown whole already.
    const asks = index < maxFiles && file.commit === undefined && file.status !== "added" && file.status !== "deleted"
    const text = asks ? yield* checkout.file(file.path, "head", maxFileBytes) : undefined
    if (text === undefined) {
      shown.push(file)
      continue
    }
    const lines = file.hunks.map((hunk) => hunk.newStart + leading(hunk))
    const chains = yield* definitionsAt(file.path, text, lines)
    const around = new Map(file.hunks.map((hunk, at) => [hunk, chains[at]]))
    const named = { ...file, hunks: file.hunks.map((hunk) => withSection(hunk, around.get(hunk))) }
    if (left <= 0) {
      shown.push(named)
      continue
    }
    const byNamed = new Map(named.hunks.map((hunk, at) => [hunk, chains[at]?.at(-1)]))
    const wide = withContext(named, named, text.split("\n"), (hunk) => {
      const inner = byNamed.get(hunk)
      const asIs = { from: hunk.newStart, to: hunk.newStart + hunk.newLines - 1 }
      if (inner === undefined || inner.end - inner.start >= maxLines) return asIs
      return { from: Math.min(asIs.from, inner.start), to: Math.max(asIs.to, inner.end) }
    })
    const cost = tokensOf(wide) - tokensOf(named)
    const fits = cost <= left
    if (fits) left -= cost
    shown.push(fits ? wide : named)
  }
  return shown
})

const tokensOf = ({ hunks }: FileDiff): number =>
  hunks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + lineTokens(line), 0), 0)

const withSection = (hunk: Hunk, chain: ReadonlyArray<Definition> | undefined): Hunk => {
  if (chain === undefined || chain.length === 0) return hunk
  const names = chain.map(({ name, header }, at) => (at === chain.length - 1 ? header : name))
  return { ...hunk, section: names.join(" > ").replace(/\s+/g, " ").trim().slice(0, maxSection) }
}
