/**
 * Reads the verdicts about the head of a run, for the status of its commit and for an approval of its change, and records that a change
 * waits for its first review.
 */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { hostTrigger } from "../../src/domain/Change.ts"
import { isTerminal } from "../../src/domain/Entry.ts"
import {
  awaitsReview,
  describeHeld,
  findObjection,
  headStatus,
  isClosed,
  isGreen,
  isUnreviewed,
  pendingVerdict,
  worstVerdict
} from "../../src/domain/HeadVerdict.ts"
import type { HeadVerdict } from "../../src/domain/HeadVerdict.ts"
import type { Operation } from "../../src/domain/Publication.ts"
import { runUrl } from "../../src/domain/RunLink.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { setsStatus } from "../../src/outputs/StatusEnd.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"

type StatusOperation = Extract<Operation, { readonly _tag: "Status" }>

const ownRun = ({ change, id, reason, startedAt, targetKey }: Run) => ({
  runId: id,
  targetKey,
  baseRef: change.baseRef,
  hasReview: startedAt !== undefined && !isClosed(reason)
})

const numberSign = ({ change }: Pick<Run, "change">): "#" | "!" => (change.provider === "gitlab" ? "!" : "#")

/** Reads the verdicts about a head at the host of a run. Those of a trigger that is no longer configured count: its host is unknown. */
export const readVerdicts = Effect.fnUntraced(function* (run: Pick<Run, "change" | "head">, snapshot: Snapshot) {
  const current = (yield* ConfigStore).current()
  const host = snapshot.triggers.get(hostTrigger(run.change))?.baseUrl
  const verdicts = yield* (yield* Runs).headVerdicts(run.head, run.change.repo.fullName)
  const isOtherHost = ({ trigger }: HeadVerdict): boolean => {
    const profile = snapshot.triggers.get(trigger) ?? current.triggers.get(trigger)
    return profile !== undefined && profile.baseUrl !== host
  }
  return verdicts.filter((verdict) => !isOtherHost(verdict))
})

const readStatus = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot, planned: StatusOperation) {
  const verdicts = yield* readVerdicts(run, snapshot)
  return { verdicts, ...headStatus(ownRun(run), planned, verdicts, numberSign(run)) }
})

/**
 * Returns the status to write in place of the planned one, and whether it is the verdict of another pull request or base branch. Before a
 * green one, the pull requests with this head that wait for their first review get a pending verdict.
 */
export const currentStatus = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot, planned: StatusOperation) {
  let current = yield* readStatus(run, snapshot, planned)
  if (isGreen(current.status.state) && (yield* recordWaiting(run.head, current.verdicts)))
    current = yield* readStatus(run, snapshot, planned)
  const { heldBy, status } = current
  if (heldBy === undefined) return { status, isHeld: false }
  const { url: _url, ...held } = status
  const url = runUrl(snapshot.document.server, heldBy.runId)
  return { status: url === undefined ? held : { ...held, url }, isHeld: true }
})

/** Records a pending verdict for each entry of a head without one. Returns whether there was any. */
const recordWaiting = Effect.fnUntraced(function* (head: string, verdicts: ReadonlyArray<HeadVerdict>) {
  let isRecorded = false
  const queue = yield* Queue
  // While the queue is unavailable nothing is queued: what arrives then is recorded when it is queued.
  const entries = yield* Effect.catch(queue.withHead(head), (error) =>
    Effect.as(Effect.logWarning("waiting changes of a head unknown", { head, error: error.message }), [])
  )
  for (const entry of entries) {
    if (!isUnreviewed(entry, verdicts)) continue
    isRecorded = (yield* recordUnreviewed(entry.id)) || isRecorded
  }
  return isRecorded
})

/**
 * Records that the change of an entry waits for its first review into its base branch, if its head was reviewed before, or if it waits for
 * longer than `review.verdict_timeout`: with a pending verdict and a pending status, which ends with the run. Returns false if nothing changed. May be repeated.
 */
export const recordUnreviewed = Effect.fnUntraced(function* (entryId: string) {
  const entry = yield* (yield* Queue).get(entryId)
  if (entry === undefined || isTerminal(entry.status)) return false
  const { change, configHash, targetKey, workspace: id } = entry
  const { base, baseRef, head } = change
  const snapshot = yield* (yield* ConfigStore).pinned(configHash)
  const workspace = snapshot.workspaces.get(id)
  if (workspace === undefined || head === undefined || baseRef === undefined || !setsStatus(workspace, change))
    return false
  const verdicts = yield* readVerdicts({ change, head }, snapshot)
  const minutes = workspace.review.verdict_timeout
  const isLate = minutes > 0 && (yield* Clock.currentTimeMillis) - entry.admittedAt >= minutes * 60_000
  if (!isLate && worstVerdict(verdicts) === undefined) return false
  if (!isUnreviewed({ targetKey, baseRef }, verdicts, isLate)) return false
  const outputs = yield* Outputs
  const plan = (runId: string) =>
    outputs
      .status(
        { runId, targetKey, change, head, workspace, runUrl: runUrl(snapshot.document.server, runId) },
        "pending",
        awaitsReview
      )
      .filter(({ operation }) => operation._tag === "Status")
  const verdict = pendingVerdict(awaitsReview)
  const { team } = workspace.instance
  const waiting = { entryId, workspace: id, team, targetKey, change, head, base, configHash: snapshot.hash, verdict }
  const run = yield* (yield* Runs).openUnreviewed(waiting, plan, yield* Clock.currentTimeMillis)
  return run !== undefined
})

/** Returns the reason for which the request for changes stays: the head is not clean in another pull request or base branch. */
export const readObjection = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot) {
  const other = findObjection(ownRun(run), yield* readVerdicts(run, snapshot))
  return other === undefined
    ? undefined
    : ({ _tag: "ChangeRequestStays", status: describeHeld(other, numberSign(run)) } as const)
})
