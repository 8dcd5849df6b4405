/**
 * Reads what earlier reviews of a change read and found, which a review carries on from. That of a merge group carries on from the reviews of
 * all its pull requests.
 */
import { Effect } from "effect"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { MemberVerdict } from "../../src/domain/Analysis.ts"
import { joinAnalyses, namedReaders } from "../../src/domain/CarriedReview.ts"
import { haveSameBase, targetKey } from "../../src/domain/Change.ts"
import { isMergeable } from "../../src/domain/Kinds.ts"
import { digestText } from "../../src/domain/RuleDigests.ts"
import { signsVerdicts } from "../../src/outputs/SigningKeys.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"

/**
 * The previous review applies only if both compare with the same base. A person who requests a review of the same head, or of everything,
 * wants a full review; of a pull request it still uses what was read (EarlierRounds.ts).
 */
const isComparable = (previous: Run, run: Run): boolean =>
  isMergeable(run.change.target.kind)
    ? haveSameBase(previous.change, run.change)
    : previous.base === run.base &&
      run.change.full !== true &&
      (run.change.requestedBy === undefined || previous.head !== run.head)

/**
 * Returns the analysis of an earlier review as another one carries on from it: with the digest of its newest statement where verdicts have
 * statements. A review that reads nothing again keeps the summary, which describes its own commit.
 */
const toPrevious = Effect.fnUntraced(function* (
  { analysis, configHash: configuration, head, id: run }: Run,
  snapshot: Snapshot
) {
  if (analysis === undefined) return []
  const rows = signsVerdicts(snapshot) ? yield* (yield* Outbox).ofRun(run) : []
  const [newest] = rows.flatMap(({ operation }) => (operation._tag === "Statement" ? [operation] : [])).toSorted(byTime)
  const statement = newest && digestText(newest.statement)
  const summaryHead = analysis.summaryHead ?? head
  return [namedReaders({ run, head, configuration, statement, analysis: { ...analysis, summaryHead } })]
})

const byTime = (one: { readonly time: number }, other: { readonly time: number }): number => other.time - one.time

/** Returns the pull requests of a merge group with their last reviews; `latest` is that of the last one. */
const readMembers = Effect.fnUntraced(function* ({ change }: Run, latest: Run | undefined) {
  const runs = yield* Runs
  return yield* Effect.forEach(change.members ?? [], ({ head, number }) => {
    const key = targetKey({ ...change, target: { kind: "pull_request", number } })
    const reading = number === change.target.number ? Effect.succeed(latest) : runs.latestAnalysis(key)
    return Effect.map(reading, (found) => ({ number, head, found }))
  })
})

/** `latest`: the last review of the change, of a merge group that of its last pull request. */
export const readPrevious = Effect.fnUntraced(function* (run: Run, latest: Run | undefined, snapshot: Snapshot) {
  const comparable = (found: Run | undefined) => (found !== undefined && isComparable(found, run) ? [found] : [])
  const members = yield* readMembers(run, latest)
  const earlier =
    run.change.members === undefined ? comparable(latest) : members.flatMap((one) => comparable(one.found))
  const analyses = yield* Effect.forEach(earlier, (found) => toPrevious(found, snapshot))
  const verdicts = members.map(({ found, head, number }): MemberVerdict => {
    const isReviewed = found !== undefined && isComparable(found, run) && (head === undefined || head === found.head)
    return { number, ...(head === undefined ? {} : { head }), ...(isReviewed ? { run: found.id } : {}) }
  })
  return {
    analysis: joinAnalyses(analyses.flat()),
    members: run.change.members === undefined ? {} : { members: verdicts }
  }
})
