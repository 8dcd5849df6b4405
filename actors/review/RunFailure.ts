/** Decides what follows a failed attempt at a run: an end, another attempt, or waiting for a server, which costs no attempt. */
import { Clock, Effect, Random } from "effect"
import { waitsForProvider } from "../../src/agent/Agent.ts"
import type { AgentError } from "../../src/agent/Agent.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { outageLimit, retryDuringOutage } from "../../src/queue/HostOutage.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { AnalysisError } from "../../src/engine/AnalysisError.ts"
import type { CheckoutError } from "../../src/vcs/Checkout.ts"
import { noteLostCredential } from "../publishing/CredentialNotice.ts"
import { failRun } from "./EndRun.ts"
import { waitsForCredential } from "./HostCredential.ts"
import { isLastAttempt } from "./ReviewWork.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { failed } from "./RunOutcome.ts"
import type { RunOutcome } from "./RunOutcome.ts"

export const analysisFailure = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  error: AgentError | AnalysisError | CheckoutError | { readonly _tag: "PatchTooLarge"; readonly why: Reason }
) {
  const now = yield* Clock.currentTimeMillis
  const runs = yield* Runs
  const stored = Effect.map(runs.get(run.id), (found) => found ?? run)
  if (error._tag === "AgentError" && waitsForProvider(error)) {
    const notBefore = error.retryAfterMillis && now + error.retryAfterMillis
    const tag = error.reason === "throttled" ? "ProviderRefuses" : "ProviderUnreachable"
    return yield* waitForServer(yield* stored, work, { _tag: tag, reason: error.why }, notBefore)
  }
  const reason = error.why
  const retryable = error._tag !== "PatchTooLarge" && passing.has(error.reason)
  const timedOut = error._tag === "AgentError" && error.reason === "timeout"
  if (error._tag === "CheckoutError") {
    const current = yield* stored
    const outage = outageOf(error, current, now)
    if (outage !== undefined) return yield* waitForServer(current, work, { _tag: outage, reason }, undefined)
  }
  const wait = error._tag === "AgentError" ? error.retryAfterMillis : undefined
  const last = !retryable || isLastAttempt(work)
  if (last) yield* failRun(run, work, timedOut ? "timeout" : "failed", reason)
  return failed(reason, retryable, wait === undefined ? undefined : now + wait, run.id)
})

/** Failures that may not occur in another attempt. */
const passing: ReadonlySet<string> = new Set(["retryable", "crashed"])

/** Time for which a pull request waits for a commit that its host names and git does not have: hosts copy those of forks later. */
const lateCommitMillis = 120_000

/** Returns what a checkout waits for, if its failure lasts for a while and ends, or does not occur on another node. */
const outageOf = ({ reason }: CheckoutError, { change, waitingSince }: Run, now: number) => {
  if (reason === "disk") return "DiskUnwritable"
  const isLate =
    reason === "absent" && change.target.kind === "pull_request" && now - (waitingSince ?? now) < lateCommitMillis
  return isLate || reason === "unreachable" ? "RepositoryUnavailable" : undefined
}

export const hostFailure = Effect.fnUntraced(function* (opened: Run, work: ReviewWork, error: ForgeError) {
  const passes = error.reason === "rate_limited" || error.reason === "unavailable" || error.reason === "unknown_outcome"
  const now = yield* Clock.currentTimeMillis
  const run = (yield* (yield* Runs).get(opened.id)) ?? opened
  const reason = { _tag: "HostRequestFailed", reason: error.why } as const
  if (passes) return yield* waitForServer(run, work, reason, error.retryAfterMillis && now + error.retryAfterMillis)
  if (yield* waitsForCredential(work, error)) {
    const trigger = work.profile.name
    yield* noteLostCredential(trigger, error.why)
    return yield* waitForServer(run, work, { _tag: "AwaitsCredential", trigger, why: error.why }, undefined)
  }
  yield* failRun(run, work, "failed", reason)
  return failed(reason, false, undefined, run.id)
})

/**
 * Defers the review during an outage of the host, its credential, the model provider or the disk. This costs no attempt, and the record
 * shows the reason and the time.
 */
const waitForServer = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  reason: Reason,
  notBefore: number | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const since = run.waitingSince ?? now
  const limit = outageLimit(work.entry.expires, queuedTimeoutHours(work.snapshot, work.entry.workspace))
  const until = retryDuringOutage({ since, now, limit, notBefore, random: yield* Random.next })
  if (until === undefined) {
    const hours = Math.round(limit / 3_600_000)
    const ended: Reason =
      reason._tag === "AwaitsCredential"
        ? { ...reason, _tag: "CredentialNotRestored", hours }
        : { _tag: "GivenUp", reason, hours }
    yield* failRun(run, work, "failed", ended)
    return failed(ended, false, undefined, run.id)
  }
  yield* (yield* Runs).wait(run.id, work.lease.token, { since, until, reason })
  yield* Effect.logWarning("review waits for a server", {
    since: new Date(since).toISOString(),
    retry_at: new Date(until).toISOString(),
    reason,
    entry_id: work.entry.id
  })
  return { _tag: "Waiting", reason, until } as const satisfies RunOutcome
})

/** Milliseconds between attempts while the records are unavailable. */
const recordsPause = 10_000

export const storeFailure = Effect.fnUntraced(function* ({ reason, why }: StoreError) {
  if (reason !== "unavailable") return failed(why, false)
  const until = (yield* Clock.currentTimeMillis) + Math.round(recordsPause * (0.5 + (yield* Random.next)))
  const outage = { _tag: "RecordsUnavailable", reason: why } as const
  return { _tag: "Waiting", reason: outage, until } as const satisfies RunOutcome
})
