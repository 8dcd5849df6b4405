/**
 * Estimates which kinds of findings the people of a repository accept, and decides which kinds are folded. A group is a category, a severity
 * and a model. Its share of accepted findings comes from the newest ones and is shrunk towards that of the organisation, so that few findings
 * decide nothing. A group is folded while its share and that of its last findings are below the floor: one accepted probe shows it again.
 * Findings with the same wording are folded after three dismissals of maintainers, until one of them is accepted. Pure.
 */
import type { Acceptance, AcceptanceGroup, DismissedWording } from "../domain/Acceptance.ts"
import type { JudgedFinding } from "../domain/JudgedFinding.ts"
import type { Finding } from "../domain/Problem.ts"
import { canonicalCategory } from "./Identity.ts"
import { injectionIn, isInjectionReport } from "./Injection.ts"
import { detectLanguage } from "./Languages.ts"
import { describeFinding } from "./Reflection.ts"
import { riskTier } from "./Risk.ts"
import { gramsOfTitle, haveSameWording } from "./TitleGrams.ts"
import type { TitleGrams } from "./TitleGrams.ts"

/** Judged findings of a category and severity in all repositories. */
interface OrganisationCounts extends Pick<AcceptanceGroup, "accepted" | "category" | "judged"> {
  readonly severity: string
}

/** Newest findings of a group that count. */
const groupWindow = 40
/** Newest findings, one of which shows a folded group again if people accepted it. */
const recentWindow = 4
/** Findings of one change that count in a group, so that no single change decides. */
const maxPerChange = 3
/** Findings of its own from which a group is folded. */
const minJudged = 10
/** Findings that the share of the organisation counts as. */
const priorStrength = 6
/** Share of an organisation without findings, and the findings that it counts as. */
const defaultShare = 0.5
const defaultStrength = 4

/** Newest titles whose wording is compared. */
const maxTitles = 250
/** Dismissed findings that make a wording. */
const minDismissed = 3

/** Share of the findings of folded kinds that are shown all the same. */
const probeShare = 0.05

/** `judged`: the newest findings of a group, newest first. */
const estimate = (judged: ReadonlyArray<JudgedFinding>, prior: number, floor: number) => {
  const accepted = countAccepted(judged)
  const share = (accepted + priorStrength * prior) / (judged.length + priorStrength)
  const recent = judged.slice(0, recentWindow)
  const isBelow = judged.length >= minJudged && share < floor && countAccepted(recent) < floor * recent.length
  return { judged: judged.length, accepted, share: Math.round(share * 1000) / 1000, isBelow }
}

const countAccepted = (judged: ReadonlyArray<JudgedFinding>): number =>
  judged.filter(({ judgement }) => judgement === "accepted").length

const keyOf = (category: string, severity: string): string => JSON.stringify([canonicalCategory(category), severity])

/** Returns the share that an organisation accepts of a category and severity. */
const organisationShares = (counts: ReadonlyArray<OrganisationCounts>) => {
  const sums = new Map<string, { judged: number; accepted: number }>()
  for (const { accepted, category, judged, severity } of counts) {
    const key = keyOf(category, severity)
    const sum = sums.get(key) ?? { judged: 0, accepted: 0 }
    sums.set(key, { judged: sum.judged + judged, accepted: sum.accepted + accepted })
  }
  return (category: string, severity: string): number => {
    const { accepted, judged } = sums.get(keyOf(category, severity)) ?? { judged: 0, accepted: 0 }
    return (accepted + defaultStrength * defaultShare) / (judged + defaultStrength)
  }
}

/** Returns the findings that count: at most some of each change, and the newest of the group. */
const withinLimits = (judged: ReadonlyArray<JudgedFinding>): ReadonlyArray<JudgedFinding> => {
  const perChange = new Map<string, number>()
  return judged
    .filter(({ targetKey }) => {
      const count = (perChange.get(targetKey) ?? 0) + 1
      perChange.set(targetKey, count)
      return count <= maxPerChange
    })
    .slice(0, groupWindow)
}

/** Estimates the groups of a repository. `judged`: its findings, the newest first. */
const estimateGroups = (
  judged: ReadonlyArray<JudgedFinding>,
  organisation: ReadonlyArray<OrganisationCounts>,
  floor: number
): ReadonlyArray<AcceptanceGroup> => {
  const prior = organisationShares(organisation)
  const groups = Map.groupBy(judged, ({ category, model, severity }) =>
    JSON.stringify([canonicalCategory(category), severity, model])
  )
  return [...groups.values()].flatMap((all) => {
    const [newest] = all
    if (newest === undefined) return []
    const { model, severity } = newest
    const category = canonicalCategory(newest.category)
    const { isBelow, ...counts } = estimate(withinLimits(all), prior(category, severity), floor)
    return [{ category, severity, model, ...counts, isFolded: isBelow && severity !== "critical" }]
  })
}

/** Returns the class of the files that a wording is about. */
const filesOf = (path: string): string => {
  const tier = riskTier({ path })
  return `${tier >= 2 ? tier : 1} ${detectLanguage(path) ?? ""}`
}

/** Returns the wordings that maintainers dismissed again and again. `judged`: the findings of a repository, the newest first. */
const findDismissedWordings = (judged: ReadonlyArray<JudgedFinding>): ReadonlyArray<DismissedWording> => {
  const kinds: Array<{ readonly grams: TitleGrams; readonly key: string; readonly findings: Array<JudgedFinding> }> = []
  for (const finding of judged.slice(0, maxTitles)) {
    const grams = finding.judgement === "ignored" ? undefined : gramsOfTitle(finding.title)
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
export interface FoldedKind {
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
          group.isFolded &&
          group.category === category &&
          group.severity === problem.severity &&
          group.model === model
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
    if (!byCategory.has(canonicalCategory(category)) && !injectionIn(line)) byCategory.set(canonicalCategory(category), line)
    if (byCategory.size === maxExamples) break
  }
  return [...byCategory.values()]
}

/** Estimates what the people of a repository accept. `judged`: its findings, the newest first. */
export const estimateAcceptance = (
  judged: ReadonlyArray<JudgedFinding>,
  organisation: ReadonlyArray<OrganisationCounts>,
  floor: number,
  now: number
): Acceptance => ({
  floor,
  groups: estimateGroups(judged, organisation, floor),
  wordings: findDismissedWordings(judged),
  examples: findExamples(judged, now)
})
