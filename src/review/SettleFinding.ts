/**
 * Decides the outcome of a finding from the files at the end of its change: without a model, by its code.
 *
 * | its code                                                        | state      |
 * |-----------------------------------------------------------------|------------|
 * | is in its file, which may have another path or layout           | open       |
 * | is in its file in part                                          | partly     |
 * | is in another file that was changed, and no longer in its own   | moved_away |
 * | is in none of them                                              | fixed      |
 * | was removed by the change, and is not in its file               | open       |
 * | was removed by the change, and is in its file again             | fixed      |
 * | is unknown                                                      | open       |
 *
 * What a later review found to be fixed stays so although its code is still there, because code around it may repair it; not if the newest
 * review had read the file without the code, which has returned since. What was dismissed or withdrawn stays so. Pure.
 */
import type { FindingEvidence } from "../domain/FindingEvidence.ts"
import type { FindingState } from "../domain/FindingState.ts"
import type { Side } from "../domain/Problem.ts"
import { endedKeys, heldKeys } from "./CodeKey.ts"
import { definitionAround, findDigests } from "./EvidenceLines.ts"
import type { EvidenceFile } from "./EvidenceLines.ts"

/** A finding on record. */
export interface UnsettledFinding {
  readonly outcome: FindingState
  readonly side: Side
  readonly code: string | undefined
  readonly evidence: FindingEvidence | undefined
}

/** Files that decide about a finding. */
interface SettledFiles {
  /** Its file at the end of the change, also under a new path; null if there is none, undefined if it cannot be read. */
  readonly own: EvidenceFile | null | undefined
  /** Its file as the newest review read it; null and undefined likewise. */
  readonly reviewed: EvidenceFile | null | undefined
  /** Other files that were changed since the finding was present. */
  readonly others: ReadonlyArray<EvidenceFile>
}

/** Letters and digits of code that identifies it outside of its place. */
const distinctWeight = 16

type Presence = "whole" | "part" | "none"

/** Returns what the finding is at the end of its change. `open` does not say whether the change was merged. */
export const settleFinding = (finding: UnsettledFinding, files: SettledFiles): FindingState => {
  const { outcome } = finding
  if (outcome === "dismissed" || outcome === "withdrawn") return outcome
  const { own } = files
  if (own === undefined) return outcome
  const isFixed = outcome === "fixed"
  if (finding.side === "old") {
    if (finding.code === undefined || isFixed) return outcome
    return endedKeys(own?.text ?? "", [finding.code])[0] === true ? "fixed" : "open"
  }
  if (finding.evidence === undefined && finding.code === undefined) return own === null ? "fixed" : outcome
  const presence = own === null ? "none" : presenceIn(own, finding)
  if (presence === "none") return files.others.some((other) => isMovedInto(other, finding)) ? "moved_away" : "fixed"
  if (isFixed && !hasReturned(finding, files)) return "fixed"
  return presence === "part" ? "partly" : "open"
}

/** Returns whether the newest review read the file without the code. */
const hasReturned = (finding: UnsettledFinding, { reviewed }: SettledFiles): boolean =>
  reviewed !== undefined && (reviewed === null || presenceIn(reviewed, finding) !== "whole")

const presenceIn = (file: EvidenceFile, { code, evidence }: UnsettledFinding): Presence => {
  if (evidence === undefined) return code !== undefined && heldKeys(file.text, [code])[0] === true ? "whole" : "none"
  const places = findDigests(file, evidence.lines)
  if (places.length > 0) return isSamePlace(file, places, evidence) ? "whole" : "none"
  const isDistinct = evidence.weight >= distinctWeight && evidence.copies === 1
  if (code !== undefined && isDistinct && heldKeys(file.text, [code])[0] === true) return "whole"
  return isHeldInPart(file, evidence) ? "part" : "none"
}

/** Returns whether one of the places is that of the finding, where the file had the same lines more than once, or has them elsewhere. */
const isSamePlace = (file: EvidenceFile, places: ReadonlyArray<number>, evidence: FindingEvidence): boolean => {
  const { after, before, copies, copiesInDefinition, definition, lines, weight } = evidence
  if (places.length >= copies && weight >= distinctWeight) return true
  const inDefinition = places.filter((at) => definitionAround(file, file.weighty[at]?.at ?? 0) === definition)
  if (inDefinition.length >= copiesInDefinition) return true
  return places.some((at) => {
    const above = before.length === 0 || file.weighty[at - 1]?.digest === before.at(-1)
    const below = after.length === 0 || file.weighty[at + lines.length]?.digest === after[0]
    return copies === 1 ? above || below : above && below
  })
}

/** Returns whether some of the lines are still at their place, by the lines around them. */
const isHeldInPart = ({ weighty }: EvidenceFile, { after, before, lines }: FindingEvidence): boolean => {
  if (lines.length < 2) return false
  const code = new Set(lines)
  const context = new Set([...before, ...after].filter((digest) => !code.has(digest)))
  const reach = lines.length + before.length + after.length
  for (const [at, { digest }] of weighty.entries()) {
    if (!code.has(digest)) continue
    const near = weighty.slice(Math.max(0, at - reach), at + reach + 1).map((line) => line.digest)
    const kept = new Set(near.filter((one) => code.has(one))).size
    const known = new Set(near.filter((one) => context.has(one))).size
    if (kept > 1 || known > 0) return true
  }
  return false
}

/** Returns whether another file has the code in its definition, or next to a line that was next to it. */
const isMovedInto = (file: EvidenceFile, { evidence }: UnsettledFinding): boolean => {
  if (evidence === undefined || evidence.weight < distinctWeight) return false
  const { after, before, definition, lines } = evidence
  return findDigests(file, lines).some((at) => {
    const { weighty } = file
    const [above, below] = [before.at(-1), after[0]]
    const isNear =
      (above !== undefined && weighty[at - 1]?.digest === above) ||
      (below !== undefined && weighty[at + lines.length]?.digest === below)
    return isNear || definitionAround(file, weighty[at]?.at ?? 0) === definition
  })
}

/** Share of the lines of a file that its copy under another path has. */
const minSimilarity = 0.5

/** Returns the position of the file with the most lines of the deleted one, at least half of them; -1 if there is none. */
export const findRenamed = (deleted: EvidenceFile, added: ReadonlyArray<EvidenceFile>): number => {
  const counts = countDigests(deleted)
  let [best, bestShare] = [-1, 0]
  for (const [at, file] of added.entries()) {
    let common = 0
    for (const [digest, count] of countDigests(file)) common += Math.min(count, counts.get(digest) ?? 0)
    const share = common / Math.max(1, deleted.weighty.length, file.weighty.length)
    if (share >= minSimilarity && share > bestShare) [best, bestShare] = [at, share]
  }
  return best
}

const countDigests = ({ weighty }: EvidenceFile): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { digest } of weighty) counts.set(digest, (counts.get(digest) ?? 0) + 1)
  return counts
}
