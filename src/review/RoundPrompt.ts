/**
 * The memory of a round for its prompt: what earlier rounds reported, and what became of it. It follows the change, so that what providers have
 * cached of a prompt stays the same, and takes a small share of it. Pure.
 */
import type { FindingState } from "../domain/FindingState.ts"
import type { EarlierRounds, RememberedFinding } from "../domain/Round.ts"
import { injectionIn } from "./Injection.ts"

/** Share of a prompt that the memory takes at most, within limits: no prompt is shorter than ten times the minimum. */
const share = 1 / 12
const minTokens = 75
const maxTokens = 1_500
/** Lower bound for the characters of a token. */
const tokenLength = 3

/** Order of states: what was refused comes first. An open finding that is not reported again counts as fixed. */
const order: Readonly<Record<FindingState, number>> = {
  dismissed: 0,
  withdrawn: 0,
  open: 1,
  partly: 1,
  open_at_merge: 1,
  fixed: 2,
  moved_away: 2
}

const lineOf = ({ file, state, title }: RememberedFinding): string =>
  `${state} ${file}: ${title}`.replace(/[\p{Cc}\s\u2028\u2029]+/gu, " ").trim()

/**
 * Returns the memory of a round that reads these files, of at most a small share of `promptTokens`; undefined if there is nothing to
 * remember.
 */
export const roundPrompt = (
  round: EarlierRounds | undefined,
  paths: ReadonlyArray<string>,
  promptTokens: number,
  fence: string
): string | undefined => {
  if (round === undefined || round.reported.length === 0) return undefined
  const here = new Set(paths)
  const begin = `Reported in earlier rounds. Repeat what is open and still exists, nothing else of it:\n<reported ${fence}>`
  const end = `</reported ${fence}>`
  let room =
    Math.floor(Math.min(maxTokens, Math.max(minTokens, promptTokens * share)) * tokenLength) - begin.length - end.length
  const lines: Array<string> = []
  const nearest = round.reported.toSorted(
    (a, b) =>
      Number(here.has(b.file)) - Number(here.has(a.file)) || order[a.state] - order[b.state] || b.since - a.since
  )
  for (const line of nearest.map(lineOf)) {
    // Text that addresses the reviewer is not a description of a finding.
    if (injectionIn(line)) continue
    room -= line.length + 1
    if (room < 0) break
    lines.push(line)
  }
  return lines.length === 0 ? undefined : [begin, ...lines, end].join("\n")
}
