/** The round of a review: which of its findings are new, late or carried, and what is stored of it for later rounds. */
import { Effect } from "effect"
import type { Analysis } from "../../domain/Analysis.ts"
import type { Coverage } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { EarlierRounds, ReviewRound } from "../../domain/Round.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { rememberRound, settleRound } from "../../review/Rounds.ts"
import type { SettledRound } from "../../review/Rounds.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import { deriveFence } from "../plan/Fence.ts"
import type { RoundReads } from "../work/RoundWork.ts"

export interface RoundContext {
  readonly change: ChangeThread
  readonly head: string
  readonly earlier: EarlierRounds
  readonly previous: Analysis | undefined
}

/** Returns the findings with their rounds: those to publish, and late ones. Without rounds it publishes all. */
export const settleFindings = Effect.fnUntraced(function* (
  context: RoundContext | undefined,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<SettledRound, AnalysisError> {
  if (context === undefined) return { published: findings, late: [] }
  const { change, earlier, previous } = context
  const places = findings.map(({ anchor, problem }) => ({ path: anchor?.path ?? problem.file, anchor }))
  const read = previous?.round
  const reads =
    read === undefined || places.length === 0
      ? places.map(() => 0)
      : yield* change.run("roundsRead", { key: read.key, read: read.read }, places)
  return settleRound(findings, reads, {
    number: earlier.number + 1,
    earlier: previous?.findings ?? [],
    late: previous?.late ?? [],
    reported: earlier.reported,
    isLifted: earlier.isLifted
  })
})

/** Returns what is stored of the round. A review that read nothing starts none. */
export const recordRound = Effect.fnUntraced(function* (
  context: RoundContext | undefined,
  coverage: Coverage,
  findings: ReadonlyArray<Finding>,
  parts: Omit<RoundReads, "incomplete" | "number">
): Effect.fn.Return<Pick<Analysis, "round">, AnalysisError, ModelRun> {
  if (context === undefined) return {}
  const { change, earlier, head, previous } = context
  const isResumed = earlier.number > 0 && coverage.lines === 0
  const number = isResumed ? earlier.number : earlier.number + 1
  const key = previous?.round?.key ?? (yield* deriveFence(["lines", head]))
  const read = previous?.round?.read ?? []
  const skipped = new Set(coverage.skipped.map(({ path }) => path))
  const incomplete = coverage.skipped.flatMap(({ changed, path }) => (changed === undefined ? [] : [path]))
  const round: ReviewRound = {
    number,
    ...(isResumed ? { isResumed } : {}),
    key,
    read: yield* change.run("readLines", { key, read }, { ...parts, number, incomplete }),
    reported: rememberRound(earlier.reported, findings, number, (file) => !skipped.has(file))
  }
  return { round }
})
