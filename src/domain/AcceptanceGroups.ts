/**
 * Estimates which share of findings the people of a repository accept, by group: category, severity and model. The share comes from the newest
 * findings and is shrunk towards that of all repositories, so that few findings decide nothing. A group is folded while its share is below the
 * floor and too few of its last findings were accepted: with a low floor one accepted probe shows it again. Pure.
 */
import type { AcceptanceGroup } from "./Acceptance.ts"
import { canonicalCategory } from "./CanonicalCategory.ts"
import type { JudgedCounts, JudgedFinding } from "./JudgedFinding.ts"

/** Newest findings of a group that count. */
const groupWindow = 40
/** Newest findings that show a folded group again: one accepted one is enough with a floor below 0.25, and the share of the floor above. */
const recentWindow = 8
/** Findings of one change that count in a group, so that no single change decides. */
const maxPerChange = 3
/** Findings of its own from which a group is folded. */
const minJudged = 10
/** Findings that the share of the organisation counts as. */
const priorStrength = 6
/** Share of an organisation without findings, and the findings that it counts as. */
const defaultShare = 0.5
const defaultStrength = 4

/** `judged`: the newest findings of a group, newest first. */
const estimate = (judged: ReadonlyArray<JudgedFinding>, prior: number, floor: number) => {
  const accepted = countAccepted(judged)
  const share = (accepted + priorStrength * prior) / (judged.length + priorStrength)
  const recent = judged.slice(0, recentWindow)
  const enough = Math.max(1, Math.floor(floor * recentWindow))
  const isBelow = judged.length >= minJudged && share < floor && countAccepted(recent) < enough
  return { judged: judged.length, accepted, share: Math.round(share * 1000) / 1000, isBelow }
}

/** Counts accepted findings. */
export const countAccepted = (judged: ReadonlyArray<JudgedFinding>): number =>
  judged.filter(({ judgement }) => judgement === "accepted").length

const keyOf = (category: string, severity: string): string => JSON.stringify([canonicalCategory(category), severity])

/** Returns the share that an organisation accepts of a category and severity. */
const organisationShares = (counts: ReadonlyArray<JudgedCounts>) => {
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
export const withinLimits = (judged: ReadonlyArray<JudgedFinding>): ReadonlyArray<JudgedFinding> => {
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
export const estimateGroups = (
  judged: ReadonlyArray<JudgedFinding>,
  everywhere: ReadonlyArray<JudgedCounts>,
  floor: number
): ReadonlyArray<AcceptanceGroup> => {
  const prior = organisationShares(everywhere)
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
