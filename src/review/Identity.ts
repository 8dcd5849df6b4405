/**
 * The identity of a finding: independent of its wording and of moves of its lines. Computed from the file's lineage
 * (its path before a rename), the definition around it, the anchored code apart from layout, the category, and, where
 * the same code occurs more than once in the same definition, the number of the occurrence. Pure.
 */
import { createHash } from "node:crypto"
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import type { ReportedProblem } from "../domain/Problem.ts"
import type { Anchored } from "./Anchor.ts"
import { isSqueezed, squeeze } from "./CodeText.ts"
import { enclosingDefinition } from "./Enclosing.ts"

/** A definition around a line, as the parser reports it. */
interface EnclosingSymbol {
  readonly name: string
  /** Text from its first word to its body. */
  readonly header: string
  /** 1-based. */
  readonly start: number
}

/**
 * Computes the identity. `lines` are those of the file at the anchor's side; without them the hunk's section replaces
 * the definition. `symbols` are the definitions around the anchor's first line, outermost first; undefined where no
 * parser has read the file, so that indentation decides.
 */
export const fingerprint = (
  problem: ReportedProblem,
  place: Anchored | undefined,
  lines: ReadonlyArray<string> | undefined,
  symbols?: ReadonlyArray<EnclosingSymbol>
): string => {
  const category = canonicalCategory(problem.category)
  if (place === undefined) {
    const said = problem.quote ?? problem.title ?? problem.message
    return digest(["summary", problem.file.replace(/^(\.?\/)+/, ""), squeeze(said).toLowerCase(), category])
  }
  const { anchor, code, file } = place
  const lineage = anchor.oldPath ?? anchor.path
  const { definition, occurrence } = surroundings(place, lines, symbols)
  return digest([
    "line",
    lineage,
    anchor.side,
    definition ?? sectionOf(file, anchor),
    squeeze(code),
    category,
    occurrence
  ])
}

const digest = (parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

const surroundings = (
  { anchor, code }: Anchored,
  lines: ReadonlyArray<string> | undefined,
  symbols: ReadonlyArray<EnclosingSymbol> | undefined
): { readonly definition: string | undefined; readonly occurrence: string } => {
  if (lines === undefined) return { definition: undefined, occurrence: "0" }
  const at = (anchor.start ?? anchor.line) - 1
  const enclosing = symbols === undefined ? enclosingDefinition(lines, at) : innermost(symbols)
  const wanted = code.split("\n").map(squeeze)
  let before = 0
  for (let i = (enclosing?.index ?? -1) + 1; i < at; i++) {
    if (wanted.every((text, offset) => isSqueezed(lines[i + offset] ?? "", 0, text))) before++
  }
  return { definition: enclosing?.text ?? "", occurrence: String(before) }
}

/** Joins the names of outer definitions and the declaration of the inner one, which distinguishes overloads. */
const innermost = (symbols: ReadonlyArray<EnclosingSymbol>) => {
  const inner = symbols.at(-1)
  if (inner === undefined) return undefined
  const outer = symbols.slice(0, -1).map(({ name }) => squeeze(name))
  return { text: [...outer, squeeze(inner.header)].join(" > "), index: inner.start - 1 }
}

const sectionOf = (file: Anchored["file"], anchor: Anchored["anchor"]): string => {
  const hunk = file.hunks.find(({ newStart, newLines, oldStart, oldLines }) =>
    anchor.side === "new"
      ? anchor.line >= newStart && anchor.line < newStart + newLines
      : anchor.line >= oldStart && anchor.line < oldStart + oldLines
  )
  return squeeze(hunk?.section ?? "")
}
