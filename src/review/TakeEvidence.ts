/** Takes the evidence of a finding from its file, with which its outcome is decided later. Pure. */
import type { Anchor } from "../domain/Problem.ts"
import type { FindingEvidence } from "../domain/FindingEvidence.ts"
import { definitionAround, findDigests } from "./EvidenceLines.ts"
import type { EvidenceFile } from "./EvidenceLines.ts"

/** Lines around the finding. */
const around = 3
/** Lines of a finding that count. */
const maxLines = 40

/** Returns undefined for lines of the old side, and for lines without letters and digits. */
export const takeEvidence = (
  { line, side, start = line }: Pick<Anchor, "line" | "side" | "start">,
  file: EvidenceFile
): FindingEvidence | undefined => {
  if (side === "old") return undefined
  const { weighty } = file
  const first = weighty.findIndex(({ at }) => at >= start - 1)
  const own = weighty.filter(({ at }) => at >= start - 1 && at < line).slice(0, maxLines)
  if (first < 0 || own.length === 0) return undefined
  const lines = own.map(({ digest }) => digest)
  const copies = findDigests(file, lines)
  const definition = definitionAround(file, own[0]?.at ?? 0)
  const isInDefinition = (at: number) => definitionAround(file, weighty[at]?.at ?? 0) === definition
  return {
    lines,
    before: weighty.slice(Math.max(0, first - around), first).map(({ digest }) => digest),
    after: weighty.slice(first + own.length, first + own.length + around).map(({ digest }) => digest),
    definition,
    copies: copies.length,
    copiesInDefinition: copies.length === 1 ? 1 : copies.filter(isInDefinition).length,
    weight: own.reduce((sum, { weight }) => sum + weight, 0)
  }
}
