/**
 * Decides which kinds of findings are folded for a repository: groups that its people rarely accept (domain/AcceptanceGroups.ts), and findings
 * of the same wording after three dismissals of maintainers, until one of them is accepted. Accepted findings are examples for prompts. Pure.
 */
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import type { Acceptance, AcceptanceGroup, DismissedWording } from "../domain/Acceptance.ts"
import { countAccepted, estimateGroups, withinLimits } from "../domain/AcceptanceGroups.ts"
import type { JudgedCounts, JudgedFinding } from "../domain/JudgedFinding.ts"
import type { Finding } from "../domain/Problem.ts"
import { injectionIn, isInjectionReport } from "./Injection.ts"
import { detectLanguage } from "./Languages.ts"
import { describeFinding } from "./Reflection.ts"
import { riskTier } from "./Risk.ts"

/** Characters of a title that are read. */
const maxTitle = 300
/** Characters of words without which a title describes no kind of problem. */
const minWords = 4
/** Dice coefficient from which titles have the same wording. */
const minSimilarity = 0.72

/**
 * Compares titles of findings by n-grams of their words: the order of words, endings and names of code make no difference. Pure, linear in the
 * length of a title.
 */
type TitleGrams = ReadonlySet<string>

/** Returns the n-grams of the words of a title; undefined if nothing but names of code is left of it. */
export const gramsOfTitle = (title: string): TitleGrams | undefined => {
  const words = listWords(title)
  if (words.reduce((sum, word) => sum + word.length, 0) < minWords) return undefined
  return new Set(words.flatMap(listGrams))
}

/** Returns whether two titles have the same wording. */
export const haveSameWording = (a: TitleGrams, b: TitleGrams): boolean => {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let spare = few.size - (minSimilarity * (a.size + b.size)) / 2
  for (const gram of few) {
    if (spare < 0) return false
    if (!many.has(gram)) spare--
  }
  return spare >= 0
}

/** Returns the different words in lower case, without code in backticks, names of code, digits and small words. */
const listWords = (title: string): ReadonlyArray<string> => {
  const text = title
    .slice(0, maxTitle)
    .split("`")
    .filter((_, at) => at % 2 === 0)
    .join(" ")
  const words = text.split(/[\s,;:!?"'“”‘’，。；：！？、（）]+/u).flatMap((token) => {
    const end = token.length - (/[.)]$/.test(token) ? 1 : 0)
    const word = token.slice(token.startsWith("(") ? 1 : 0, end)
    return /^\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+(?:-[\p{Ll}\p{Lo}]+)*$/u.test(word) ? [word.toLowerCase()] : []
  })
  return [...new Set(words)].filter((word) => !small.has(word))
}

const isIdeographic = (char: string): boolean => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(char)

/** Returns trigrams of an alphabetic word with its ends, and characters and bigrams of a script that does not separate words. */
const listGrams = (word: string): ReadonlyArray<string> => {
  const chars = [...word]
  if (chars.some(isIdeographic)) return chars.flatMap((char, at) => [char, `${char}${chars[at + 1] ?? ""}`])
  const padded = [" ", ...chars, " "]
  return chars.map((_, at) => padded.slice(at, at + 3).join(""))
}

const small = new Set(
  "a an the is are be can may of in on at to for and or by with from it this that not no".split(" ")
)

/** Newest titles whose wording is compared. */
const maxTitles = 100
/** Dismissed findings that make a wording. */
const minDismissed = 3

/** Share of the findings of folded kinds that are shown all the same. */
const probeShare = 0.05

/** Returns the class of the files that a wording is about. */
const filesOf = (path: string): string => {
  const tier = riskTier({ path })
  return `${tier >= 2 ? tier : 1} ${detectLanguage(path) ?? ""}`
}

const hasWording = ({ judgement, restricted }: JudgedFinding): boolean => judgement !== "ignored" && !restricted

/**
 * Returns the wordings that maintainers dismissed again and again. `judged`: the findings of a repository, the newest first. Reviews name them, so
 * none is from a review that could read what not every reader of the repository may read.
 */
const findDismissedWordings = (judged: ReadonlyArray<JudgedFinding>): ReadonlyArray<DismissedWording> => {
  const kinds: Array<{ readonly grams: TitleGrams; readonly key: string; readonly findings: Array<JudgedFinding> }> = []
  for (const finding of judged.filter(hasWording).slice(0, maxTitles)) {
    const grams = gramsOfTitle(finding.title)
    if (grams === undefined) continue
    const key = JSON.stringify([canonicalCategory(finding.category), filesOf(finding.path)])
    const kind = kinds.find((one) => one.key === key && haveSameWording(one.grams, grams))
    if (kind === undefined) kinds.push({ grams, key, findings: [finding] })
    else kind.findings.push(finding)
  }
  return kinds.flatMap(({ findings }) => {
    const [newest] = findings
    const dismissed = withinLimits(findings).length
    if (newest === undefined || dismissed < minDismissed || countAccepted(findings) > 0) return []
    const { category, path, title } = newest
    return [{ category: canonicalCategory(category), files: filesOf(path), title, dismissed }]
  })
}

/** The folded kind of a finding, and whether the finding is a probe of it. */
interface FoldedKind {
  readonly kind: AcceptanceGroup | DismissedWording
  readonly isProbe: boolean
}

/** Returns a function that finds the folded kind of a finding; undefined if it has none. */
export const findFoldedKinds = (
  { groups, wordings }: Pick<Acceptance, "groups" | "wordings">,
  model: string | undefined
): ((finding: Finding) => FoldedKind | undefined) => {
  const dismissed = wordings.map((wording) => ({ wording, grams: gramsOfTitle(wording.title) }))
  return ({ anchor, fact, fingerprint, problem }) => {
    if (problem.severity === "critical" || fact !== undefined || isInjectionReport(problem)) return undefined
    const category = canonicalCategory(problem.category)
    const files = filesOf(anchor?.path ?? problem.file)
    const grams = gramsOfTitle(problem.title ?? problem.message)
    const same = dismissed.find(
      ({ grams: known, wording }) =>
        wording.category === category &&
        wording.files === files &&
        known !== undefined &&
        grams !== undefined &&
        haveSameWording(known, grams)
    )
    const kind =
      same?.wording ??
      groups.find(
        (group) =>
          group.isFolded && group.category === category && group.severity === problem.severity && group.model === model
      )
    return kind === undefined ? undefined : { kind, isProbe: isProbe(fingerprint) }
  }
}

/** Probes depend on the identity of a finding, so that each review of a change shows the same ones. */
const isProbe = (fingerprint: string): boolean => Number.parseInt(fingerprint.slice(0, 8), 16) < probeShare * 2 ** 32

/** Accepted findings that later prompts have. */
const maxExamples = 5
const dayMillis = 86_400_000

/**
 * Returns lines about accepted findings, one of each category. They change once a day at most, so that providers keep the text in their caches.
 * None is from a review that could read what not every reader of the repository may read.
 */
const findExamples = (judged: ReadonlyArray<JudgedFinding>, now: number): ReadonlyArray<string> => {
  const today = now - (now % dayMillis)
  const byCategory = new Map<string, string>()
  for (const { category, decidedAt, judgement, path, restricted, severity, title } of judged) {
    if (judgement !== "accepted" || restricted || decidedAt >= today) continue
    const line = `- taken up by the maintainers: ${describeFinding({ category, path, severity, title })}`
    // Text that addresses the reviewer is not a description of a finding.
    if (!byCategory.has(canonicalCategory(category)) && !injectionIn(line))
      byCategory.set(canonicalCategory(category), line)
    if (byCategory.size === maxExamples) break
  }
  return [...byCategory.values()]
}

/** Estimates what the people of a repository accept. `judged`: its findings, the newest first. */
export const estimateAcceptance = (
  judged: ReadonlyArray<JudgedFinding>,
  everywhere: ReadonlyArray<JudgedCounts>,
  floor: number,
  now: number
): Acceptance => ({
  floor,
  groups: estimateGroups(judged, everywhere, floor),
  wordings: findDismissedWordings(judged),
  examples: findExamples(judged, now)
})
