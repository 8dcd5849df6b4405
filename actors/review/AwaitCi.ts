/**
 * Reads the evidence of CI for a review (`review.evidence.ci`), or defers the review until the CI runs of its head have ended. A deferred
 * review holds no slot: its entry waits in the queue, and the run records since when, so that a restart neither loses nor prolongs the wait.
 * What was read is stored with the run, and a later attempt reads that instead of CI.
 */
import { Clock, Effect, Random } from "effect"
import { compileMatcher } from "../../src/config/Matcher.ts"
import { loadCiEvidence, noCiResults, parseCiFiles, storeCiEvidence } from "../../src/engine/CiEvidence.ts"
import type { CiEvidence } from "../../src/engine/CiEvidence.ts"
import type { CiRun, HostCi, Listed } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { explain, maxRuns, readArtifacts } from "../../src/forge/ReadArtifacts.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import type { RunOutcome } from "./RunOutcome.ts"
import type { Reason } from "../../src/domain/Reason.ts"

/** Decides whether a review waits for the CI runs of its head. Pure. */

/** State of the CI runs of a commit. */
export type CiProgress =
  | { readonly _tag: "Known"; readonly runs: number; readonly ended: number }
  /** The host did not respond, and may later. */
  | { readonly _tag: "Unknown" }
  /** The host refuses, and will again. */
  | { readonly _tag: "Unreadable" }

/** Time in which a host makes the runs of a commit that was just pushed. */
const startMillis = 60_000
const shortestDelay = 5_000
const longestDelay = 60_000

/**
 * Returns the time of the next attempt in milliseconds since the epoch, or undefined where the review does not wait (any longer). `since` is
 * the first attempt. `random` is in [0, 1): a delay is a quarter of the time so far, plus or minus a quarter.
 */
export const decideCiWait = (wait: {
  readonly since: number
  readonly now: number
  readonly waitMinutes: number
  readonly progress: CiProgress
  readonly random: number
}): number | undefined => {
  const { now, progress, random, since, waitMinutes } = wait
  const end = since + waitMinutes * 60_000
  if (now >= end || isCiOver(progress, now - since)) return undefined
  const delay = Math.min(Math.max(shortestDelay, (now - since) / 4), longestDelay) * (0.75 + random / 2)
  return Math.min(Math.round(now + delay), end)
}

const isCiOver = (progress: CiProgress, lasted: number): boolean => {
  if (progress._tag !== "Known") return progress._tag === "Unreadable"
  return progress.runs === 0 ? lasted >= startMillis : progress.ended === progress.runs
}

/** Returns the notice about runs that are not read, or not completely; undefined where all have ended. */
export const describeCiRuns = (progress: CiProgress, waitMinutes: number): Reason | undefined => {
  if (progress._tag !== "Known") return undefined
  const { ended, runs } = progress
  if (runs === 0) return { _tag: "CiWithoutRun" }
  if (ended === runs) return undefined
  const waited = waitMinutes === 0 ? {} : { minutes: waitMinutes }
  return { _tag: "CiRunning", count: runs - ended, total: runs, ...waited }
}

type AwaitedCi =
  | Extract<RunOutcome, { readonly _tag: "Waiting" }>
  /** Has no evidence where none is configured. */
  | { readonly _tag: "Read"; readonly evidence: CiEvidence | undefined }

/** Returns whether a review reads evidence of CI, for which it may wait. */
export const awaitsCi = ({ workspace }: Pick<ReviewWork, "workspace">): boolean =>
  (workspace.review.evidence.ci.artifacts ?? []).length > 0

export const awaitCi = Effect.fn("awaitCi")(function* (run: Run, work: ReviewWork) {
  const { artifacts = [], wait_minutes: waitMinutes } = work.workspace.review.evidence.ci
  if (!awaitsCi(work)) return read(undefined)
  const stored = yield* orUndefined(run, loadCiEvidence(run.id))
  if (stored !== undefined) return read(stored)
  const ci = isForgeKind(work.profile.kind) ? (yield* Forges).client(work.profile).ci : undefined
  if (ci === undefined) return read(noCiResults([{ _tag: "CiWithoutApi", host: work.profile.kind }]))
  const { repo } = run.change
  const listed = yield* Effect.result(ci.runs(repo, run.head))
  const progress = progressOf(listed)
  const now = yield* Clock.currentTimeMillis
  const since = run.waitingSince ?? now
  const until = decideCiWait({ since, now, waitMinutes, progress, random: yield* Random.next })
  if (until !== undefined) return yield* defer(run, work, progress, { since, until })
  const evidence =
    listed._tag === "Success"
      ? yield* readEvidence(ci, run, listed.success, describeCiRuns(progress, waitMinutes), artifacts)
      : noCiResults([{ _tag: "CiUnread", reason: yield* explain(listed.failure) }])
  yield* orUndefined(run, storeCiEvidence(run.id, evidence))
  return read(evidence)
})

const read = (evidence: CiEvidence | undefined): AwaitedCi => ({ _tag: "Read", evidence })

const progressOf = (
  listed:
    | { readonly _tag: "Success"; readonly success: Listed<CiRun> }
    | { readonly _tag: "Failure"; readonly failure: ForgeError }
): CiProgress => {
  if (listed._tag === "Failure") {
    const { reason } = listed.failure
    return reason === "unavailable" || reason === "rate_limited" ? { _tag: "Unknown" } : { _tag: "Unreadable" }
  }
  const { items } = listed.success
  return { _tag: "Known", runs: items.length, ended: items.filter(({ hasEnded }) => hasEnded).length }
}

const defer = Effect.fnUntraced(function* (
  run: Run,
  { lease }: ReviewWork,
  progress: CiProgress,
  wait: { readonly since: number; readonly until: number }
) {
  const counts = progress._tag === "Known" ? { ended: progress.ended, count: progress.runs } : {}
  const reason = { _tag: "AwaitsCi", ...counts } as const
  yield* (yield* Runs).wait(run.id, lease.token, { ...wait, reason })
  yield* Effect.logInfo("review waits for CI", { ...wait, progress })
  return { _tag: "Waiting", reason, until: wait.until } as const satisfies AwaitedCi
})

const readEvidence = Effect.fnUntraced(function* (
  ci: HostCi,
  run: Run,
  { hasMore, items: runs }: Listed<CiRun>,
  missing: Reason | undefined,
  globs: ReadonlyArray<string>
) {
  const tests = globs.map((glob) => compileMatcher({ glob }))
  let matching = 0
  const isWanted = (name: string): boolean => {
    const isOne = tests.some((test) => test(name))
    if (isOne) matching++
    return isOne
  }
  const { files, notices } = yield* readArtifacts(ci, { repo: run.change.repo, head: run.head, runs }, isWanted)
  return yield* parseCiFiles(files, [
    ...(missing === undefined ? [] : [missing]),
    ...(hasMore || runs.length > maxRuns
      ? [{ _tag: "CiRunsOverLimit", limit: Math.min(runs.length, maxRuns) } as const]
      : []),
    ...(runs.length > 0 && matching === 0 ? [{ _tag: "CiWithoutArtifact" } as const] : []),
    ...notices
  ])
})

/** The evidence is worth no failure of the review: without the object store it is read again by the next attempt. */
const orUndefined = <A, R>(run: Run, effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.catch(effect, ({ message }) =>
    Effect.as(Effect.logWarning("stored evidence of CI not available", { run_id: run.id, error: message }), undefined)
  )
