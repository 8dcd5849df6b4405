/** Health of a rule of a repository since its file has its content: how often it was used, and what became of the findings that cite it. */
import { Severity } from "./Kinds.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"
import type { RuleUse } from "./RuleUse.ts"

/** The stored part of the health of a rule. */
export const StoredRule = record({
  /** `<trigger>:<repository>`, case-folded. */
  repository: Field.text,
  id: Field.text,
  digest: Field.text,
  severity: Field.stored(Severity),
  owner: Field.optional(Field.outsideText),
  floor: Field.optional(Field.number),
  /** Number of reviews with the rule in their prompt. */
  used: Field.sum,
  /** Time of the first and of the last review to which it applied. */
  firstUsedAt: Field.time,
  lastUsedAt: Field.time,
  /** Time of the first review that omitted it; absent if the last review had it in its prompt. */
  mutedAt: Field.optional(Field.time)
})

export const RuleHealth = record({
  ...StoredRule.fields,
  /** Published findings that cite it. */
  findings: Field.sum,
  /** Number of findings that were repaired, at least in part. */
  accepted: Field.sum,
  dismissed: Field.sum,
  /** Number of findings that were open when their change was merged. */
  ignored: Field.sum,
  /** Findings that maintainers decided about: dismissed by one, or in a change that one merged; and those of them that were repaired. */
  judged: Field.sum,
  judgedAccepted: Field.sum
})
export type RuleHealth = RecordValues<typeof RuleHealth>

/** Decided findings below which nothing is known about a rule. */
const minJudged = 10

/** Returns the share of accepted findings, 0 to 1; undefined with too few of them. */
export const acceptedShare = ({
  judged,
  judgedAccepted
}: Pick<RuleHealth, "judged" | "judgedAccepted">): number | undefined =>
  judged < minJudged ? undefined : judgedAccepted / judged

/**
 * Returns whether prompts omit a rule: it is not critical, and the share of its accepted findings is below its floor. Another
 * content of its file is counted from the beginning.
 */
export const isMuted = (
  { digest, floor, severity }: Pick<RuleUse, "digest" | "floor" | "severity">,
  health: Pick<RuleHealth, "digest" | "judged" | "judgedAccepted"> | undefined
): boolean => {
  if (severity === "critical" || floor === undefined || health?.digest !== digest) return false
  const share = acceptedShare(health)
  return share !== undefined && share < floor
}

/** `muted`: omitted from prompts. `silent`: used, and no finding cites it. */
export const ruleStates = ["active", "silent", "muted"] as const

export const ruleState = ({
  findings,
  mutedAt
}: Pick<RuleHealth, "findings" | "mutedAt">): (typeof ruleStates)[number] =>
  mutedAt !== undefined ? "muted" : findings === 0 ? "silent" : "active"
