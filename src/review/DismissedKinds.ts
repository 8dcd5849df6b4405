/**
 * Kinds of problems that maintainers dismissed again and again in a repository: such a finding is not published. A kind is the
 * category, the words of the title without names of code, and the class of the path: language, tests or prose. Pure.
 */
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { Lesson } from "../domain/Lesson.ts"
import type { Finding } from "../domain/Problem.ts"
import { canonicalCategory } from "./Identity.ts"
import { isInjectionReport } from "./Injection.ts"
import { detectLanguage } from "./Languages.ts"
import { reflectionMode } from "./Reflection.ts"
import { riskTier } from "./Risk.ts"
import type { Reason } from "../domain/Reason.ts"

/** Dismissed findings that make a kind. */
const enough = 3
/** Characters of a title without names; a shorter rest describes no kind. */
const minTitle = 4
const maxTitle = 300

/**
 * Returns whether a finding is of a kind that was dismissed three times, and of which no finding was repaired. Never critical ones,
 * and none where every account may dismiss, because the author of a change could teach it then.
 */
export const dismissedKinds = (
  lessons: ReadonlyArray<Lesson>,
  { dismissal, reflection }: Pick<ReviewConfig, "dismissal" | "reflection">
): ((finding: Finding) => boolean) => {
  if (reflectionMode(reflection) === "off" || dismissal !== "maintainers") return () => false
  const counts = new Map<string, number>()
  for (const { category, path, title, verdict } of lessons) {
    if (verdict === "remembered") continue
    const kind = kindOf(category, title, path)
    if (kind === undefined) continue
    counts.set(kind, (counts.get(kind) ?? 0) + (verdict === "dismissed" ? 1 : Number.NEGATIVE_INFINITY))
  }
  return ({ anchor, problem }) => {
    if (problem.severity === "critical" || isInjectionReport(problem)) return false
    const kind = kindOf(problem.category, problem.title ?? problem.message, anchor?.path ?? problem.file)
    return kind !== undefined && (counts.get(kind) ?? 0) >= enough
  }
}

/** Returns the findings of other kinds, and a notice about the number of omitted ones. */
export const withoutDismissed = (
  findings: ReadonlyArray<Finding>,
  lessons: ReadonlyArray<Lesson>,
  review: Pick<ReviewConfig, "dismissal" | "reflection">
): { readonly findings: ReadonlyArray<Finding>; readonly notices: ReadonlyArray<Reason> } => {
  const isDismissed = dismissedKinds(lessons, review)
  const kept = findings.filter((finding) => !isDismissed(finding))
  return { findings: kept, notices: dismissedNotice(findings.length - kept.length) }
}

const dismissedNotice = (count: number): ReadonlyArray<Reason> =>
  count === 0 ? [] : [{ _tag: "ProblemsDismissed", count }]

const kindOf = (category: string, title: string, path: string): string | undefined => {
  const words = wordsOf(title)
  const tier = riskTier({ path })
  return words.length < minTitle
    ? undefined
    : JSON.stringify([canonicalCategory(category), words, tier >= 2 ? tier : 1, detectLanguage(path) ?? ""])
}

/** Returns the different words in order of the alphabet, without code in backticks, names of code, digits and small words. */
const wordsOf = (title: string): string => {
  const text = title
    .slice(0, maxTitle)
    .split("`")
    .filter((_, at) => at % 2 === 0)
    .join(" ")
  const words = text.split(/[\s,;:!?"'“”‘’]+/u).flatMap((token) => {
    const end = token.length - (/[.)]$/.test(token) ? 1 : 0)
    const word = token.slice(token.startsWith("(") ? 1 : 0, end)
    return /^\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+(?:-[\p{Ll}\p{Lo}]+)*$/u.test(word) ? [word.toLowerCase()] : []
  })
  return [...new Set(words)]
    .filter((word) => !small.has(word))
    .toSorted()
    .join(" ")
}

const small = new Set(
  "a an the is are be can may of in on at to for and or by with from it this that not no".split(" ")
)
