/**
 * Reads which findings of a review people dismissed, right before the review is published, and the states of the pull requests of a merge group
 * under these decisions. A dismissed finding counts nowhere: not in the verdict, not in the numbers, and not in the list of problems.
 */
import { Effect } from "effect"
import { allFindings, withDismissed } from "../../src/domain/Analysis.ts"
import type { Analysis, MemberVerdict } from "../../src/domain/Analysis.ts"
import { isShelf, listDecided, targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { decideVerdict } from "../../src/domain/Verdict.ts"
import { DuringOutage } from "../../src/forge/HostHealth.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Records } from "../../src/outputs/Records.ts"
import { hasStatus } from "../../src/outputs/StatusEnd.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { publishedRecords } from "../publishing/PublishedRecords.ts"
import type { ReviewWork } from "./ReviewWork.ts"

/**
 * Returns the dismissed ones of these findings of a change. The host is queried only if an earlier review published one of them. A host that
 * cannot be read now leaves the decisions of the last review in effect.
 */
const readDismissed = Effect.fnUntraced(function* (
  run: Run,
  { workspace }: ReviewWork,
  change: Change,
  present: ReadonlySet<string>
) {
  const key = targetKey(change)
  const onRecord = yield* Effect.catch((yield* Outcomes).rulings(key), (error) =>
    Effect.as(Effect.logWarning("dismissals on record not read", { run_id: run.id, error: error.message }), [])
  )
  const published = onRecord.filter(({ fingerprint }) => present.has(fingerprint))
  if (published.length === 0) return []
  const before = published.flatMap(({ fingerprint, outcome }) =>
    outcome === "dismissed" || outcome === "withdrawn" ? [fingerprint] : []
  )
  // The host has no comment of a finding that only maintainers get.
  const posted = new Set(present)
  for (const one of published) if (one.private !== undefined) posted.delete(one.fingerprint)
  if (published.every((one) => one.private !== undefined)) return before
  const atHost = yield* (yield* Outputs)
    .reactions(workspace, change, { runId: run.id, targetKey: key, present: [...posted] })
    .pipe(
      Effect.provideService(DuringOutage, "fail"),
      Effect.provideService(Records, yield* publishedRecords),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("dismissals at the host not read", { run_id: run.id, error: error.message }), [])
      )
    )
  const read = new Set(atHost.map(({ fp }) => fp))
  const now = atHost.flatMap(({ dismissed, fp }) => (dismissed && posted.has(fp) ? [fp] : []))
  return [...now, ...before.filter((fp) => !read.has(fp))]
})

/** Reads the reviews of the pull requests of a merge group. */
const readReviews = ({ members = [] }: Analysis) =>
  Effect.map(
    Effect.forEach(members, ({ run }) => (run === undefined ? Effect.undefined : Runs.use((runs) => runs.get(run)))),
    (found) => new Map(found.flatMap((one) => (one?.analysis === undefined ? [] : [[one.id, one.analysis] as const])))
  )

/** Returns the analysis with the decisions of people. */
export const withDecisions = Effect.fnUntraced(function* (run: Run, work: ReviewWork, analysis: Analysis) {
  if (!(hasStatus(run.change) || isShelf(run.change))) return analysis
  const reviews = yield* readReviews(analysis)
  const present = new Set(
    [analysis, ...reviews.values()].flatMap((one) => allFindings(one).map(({ fingerprint }) => fingerprint))
  )
  const decided = present.size === 0 ? [] : listDecided(run.change)
  const read = yield* Effect.forEach(decided, (change) => readDismissed(run, work, change, present))
  const all = new Set(read.flat())
  const own = allFindings(analysis)
    .map(({ fingerprint }) => fingerprint)
    .filter((fp) => all.has(fp))
  const settings = work.workspace.review
  const members = analysis.members?.map((member): MemberVerdict => {
    const found = member.run === undefined ? undefined : reviews.get(member.run)
    const dismissed = [...(found?.dismissed ?? []), ...all]
    return found === undefined ? member : { ...member, state: decideVerdict({ ...found, dismissed }, settings) }
  })
  return {
    ...(own.length === 0 ? analysis : withDismissed(analysis, own)),
    ...(members === undefined ? {} : { members })
  }
})
