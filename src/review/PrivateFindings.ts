/**
 * Findings that only maintainers get (`review.private`). A review separates them when it ends, and joins those of the last review when it
 * begins: whatever reads the findings of an analysis has the others only. Pure.
 */
import { createHmac } from "node:crypto"
import type { ReviewConfig } from "../config/schema/Review.ts"
import { allFindings, deliveredNotices } from "../domain/Analysis.ts"
import type { Analysis, PrivateFinding } from "../domain/Analysis.ts"
import { privateDigest, toDigests } from "../domain/PrivateDigest.ts"
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"

type IsPrivate = (finding: Finding) => boolean

/** Returns whether a finding is for maintainers only. Without a channel none is. */
export const privateFindings = ({ private: rule }: Pick<ReviewConfig, "private">): IsPrivate => {
  if (rule.channel === undefined) return () => false
  const categories = new Set(rule.categories.map(canonicalCategory))
  const minimum = severityRank(rule.severity)
  return ({ problem }) =>
    severityRank(problem.severity) >= minimum && categories.has(canonicalCategory(problem.category))
}

/** Returns the last review as the next one compares with it: findings that are private now are neither late nor folded. */
export const joinPrivate = (previous: Analysis, isPrivate: IsPrivate): Analysis => {
  const { folded = [], late = [], private: _delivered, ...others } = previous
  const hidden = [...late, ...folded.map(({ finding }) => finding)].filter(isPrivate)
  return {
    ...others,
    findings: [...allFindings(previous), ...hidden],
    ...(previous.late === undefined ? {} : { late: late.filter((finding) => !isPrivate(finding)) }),
    ...(previous.folded === undefined ? {} : { folded: folded.filter(({ finding }) => !isPrivate(finding)) })
  }
}

/**
 * Moves private findings out of all lists of a review. What a model writes about the change as a whole may describe them, so such a review
 * has no text of a model. `key`: secret of the salts. `before`: those of the last review, which keep their salts, so that the digest in their
 * message names them in later reviews too.
 */
export const separatePrivate = (
  analysis: Analysis,
  isPrivate: IsPrivate,
  key: string,
  before: ReadonlyArray<PrivateFinding> = []
): Analysis => {
  const { findings, late = [], notices, refuted = [], round } = analysis
  const found = [...findings, ...late].filter(isPrivate)
  const salts = new Map(before.map(({ finding, salt }) => [finding.fingerprint, salt]))
  const salted = (finding: Finding): PrivateFinding => ({
    finding,
    salt:
      salts.get(finding.fingerprint) ?? createHmac("sha256", key).update(finding.fingerprint).digest("hex").slice(0, 32)
  })
  const hiddenRefuted = refuted.flatMap(({ finding }) => (isPrivate(finding) ? [privateDigest(salted(finding))] : []))
  const others: Analysis =
    hiddenRefuted.length === 0
      ? analysis
      : {
          ...analysis,
          refuted: refuted.filter(({ finding }) => !isPrivate(finding)),
          privateRefuted: toDigests(hiddenRefuted)
        }
  if (found.length === 0) return others
  const hidden = new Set(found.map(({ fingerprint }) => fingerprint))
  const { late: _late, skipped: _skipped, summaryHead: _summaryHead, ...kept } = others
  const restLate = late.filter((finding) => !isPrivate(finding))
  const delivered = found.map(salted)
  return {
    ...kept,
    findings: findings.filter((finding) => !isPrivate(finding)),
    private: delivered,
    ...(restLate.length === 0 ? {} : { late: restLate }),
    ...(round === undefined
      ? {}
      : { round: { ...round, reported: round.reported.filter(({ fingerprint }) => !hidden.has(fingerprint)) } }),
    summary: "",
    notices: [...notices, ...deliveredNotices({ private: delivered })]
  }
}
