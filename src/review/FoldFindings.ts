/**
 * Folds findings of kinds that people rarely accept: the summary lists them, and they get no comment, issue or message and do not count. A
 * finding that an earlier review of the change published stays published, and one that it folded stays folded. Pure.
 */
import type { Acceptance, AcceptanceGroup, DismissedWording } from "../domain/Acceptance.ts"
import type { FoldedFinding } from "../domain/Analysis.ts"
import type { Finding } from "../domain/Problem.ts"
import type { Reason } from "../domain/Reason.ts"
import { findFoldedKinds } from "./Acceptance.ts"

interface FoldInput {
  readonly acceptance: Acceptance | undefined
  /** Model of the review, as `provider/model`. */
  readonly model: string | undefined
  /** Published findings of the last review of the change. */
  readonly published: ReadonlyArray<Finding>
}

interface Folding {
  readonly shown: ReadonlyArray<Finding>
  readonly folded: ReadonlyArray<FoldedFinding>
}

/** Returns the findings that stay folded because the last review folded them, and the others. */
export const splitFolded = (
  findings: ReadonlyArray<Finding>,
  earlier: ReadonlyArray<FoldedFinding> = []
): { readonly folded: ReadonlyArray<FoldedFinding>; readonly others: ReadonlyArray<Finding> } => {
  const before = new Map(earlier.map((one) => [one.finding.fingerprint, one]))
  const isFolded = ({ fingerprint, problem }: Finding) => before.has(fingerprint) && problem.severity !== "critical"
  return {
    folded: findings.filter(isFolded).flatMap((finding) => {
      const known = before.get(finding.fingerprint)
      if (known === undefined) return []
      const { finding: first, why } = known
      return [{ finding: first.round === undefined ? finding : { ...finding, round: first.round }, why }]
    }),
    others: findings.filter((finding) => !isFolded(finding))
  }
}

/** Folds the findings that no earlier review of the change published. Probes of folded kinds are shown, and marked. */
export const foldFindings = (
  findings: ReadonlyArray<Finding>,
  { acceptance, model, published }: FoldInput
): Folding => {
  if (acceptance === undefined) return { shown: findings, folded: [] }
  const foldedKind = findFoldedKinds(acceptance, model)
  const known = new Map(published.map((finding) => [finding.fingerprint, finding]))
  const shown: Array<Finding> = []
  const folded: Array<FoldedFinding> = []
  for (const finding of findings) {
    const before = known.get(finding.fingerprint)
    const isKnown = before !== undefined || finding.round?.kind === "carried"
    const found = isKnown ? undefined : foldedKind(finding)
    if (found === undefined) shown.push(before?.probe === true ? { ...finding, probe: true } : finding)
    else if (found.isProbe) shown.push({ ...finding, probe: true })
    else folded.push({ finding, why: whyFolded(found.kind, acceptance.floor) })
  }
  return { shown, folded }
}

const percent = (share: number): number => Math.round(share * 100)

const whyFolded = (kind: AcceptanceGroup | DismissedWording, floor: number): Reason =>
  "title" in kind
    ? { _tag: "WordingDismissed", category: kind.category, count: kind.dismissed, title: kind.title }
    : {
        _tag: "CategoryBelowFloor",
        category: kind.category,
        severity: kind.severity,
        accepted: kind.accepted,
        judged: kind.judged,
        share: percent(kind.share),
        floor: percent(floor)
      }

/** Returns notices of what is folded and why, and of probes. */
export const foldedNotices = (
  folded: ReadonlyArray<FoldedFinding>,
  published: ReadonlyArray<Finding>
): ReadonlyArray<Reason> => {
  const kinds = Map.groupBy(folded, ({ why }) => JSON.stringify(why))
  const probes = published.filter(({ probe }) => probe === true).length
  return [
    ...[...kinds.values()].flatMap((same): ReadonlyArray<Reason> => {
      const [first] = same
      return first === undefined ? [] : [{ _tag: "FindingsFolded", count: same.length, why: first.why }]
    }),
    ...(probes === 0 ? [] : [{ _tag: "FindingsProbed" as const, count: probes }])
  ]
}
