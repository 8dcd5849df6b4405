/**
 * Seals the credentials of all revisions, drafts and pinned configurations with the current key, in the background. The job is stored, so that
 * another process continues it after the death of its owner: starting it takes it over, and so does a node that sees no progress. Two owners
 * at a time do no harm, because each record is compared and replaced by itself; the earlier one stops at its next save.
 */
import { Clock, Effect, Result, Schedule } from "effect"
import { joinReasons } from "../../domain/Reason.ts"
import { newId } from "../../domain/Ids.ts"
import type { SealingKeys, SealingProblem } from "../credentials/Sealing.ts"
import { sealingKeys } from "../credentials/Sealing.ts"
import type { EditorContext } from "./EditorContext.ts"
import { record, requireLayered } from "./EditorContext.ts"
import { problem } from "./PublishEdit.ts"
import { plainHash } from "./RequestHash.ts"
import type { ResealOutcome } from "./ConfigEditor.ts"
import { notSealed, resealDrafts, resealRevision } from "./ResealSource.ts"
import type { ResealJob } from "./ResealStore.ts"
import type { ConfigOperationRecord, ResealResult } from "./Revision.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"
import type { Reason } from "../../domain/Reason.ts"

const pageSize = 100
const maxFailed = 100
/** Records between two saves. */
const saveEvery = 20

/** Part of a job that its owner changes. */
type Progress = Pick<ResealJob, "below" | "checked" | "covered" | "failed" | "newest" | "resealed">

/** Returns the reasons, each once. */
const distinct = (reasons: ReadonlyArray<Reason>): ReadonlyArray<Reason> =>
  [...new Map(reasons.map((one) => [JSON.stringify(one), one])).values()].slice(0, maxFailed)

/** Adds the result of a record: whether it was replaced, or why it could not be. */
const count = <A extends Pick<Progress, "checked" | "failed" | "resealed">>(
  job: A,
  name: string,
  result: boolean | ReadonlyArray<Reason>
): A => ({
  ...job,
  checked: job.checked + 1,
  resealed: job.resealed + (result === true ? 1 : 0),
  failed:
    typeof result === "boolean" ? job.failed : distinct([...job.failed, ...result.map((why) => notSealed(name, why))])
})

/** Saves the next version; undefined if another process has taken the job over. */
const save = Effect.fnUntraced(function* ({ reseals }: EditorContext, job: ResealJob) {
  const next = { ...job, version: job.version + 1, updatedAt: yield* Clock.currentTimeMillis }
  return (yield* reseals.save(next)) ? next : undefined
})

/** Checks the revisions between `covered` and `below`, newest first. Undefined: the job was taken over. */
const resealPass = Effect.fnUntraced(function* (
  context: EditorContext,
  begun: ResealJob,
  namespace: string,
  keys: SealingKeys
): Effect.fn.Return<ResealJob | undefined, SourceUnavailable> {
  const replacements = new Map<string, string>()
  let job = begun
  let unsaved = 0
  while (true) {
    const { items } = yield* context.revisions.list({ before: job.below, limit: pageSize })
    for (const { number } of items) {
      if (number <= job.covered) return job
      const result = yield* resealRevision(context.revisions, number, namespace, keys, replacements)
      job = { ...count(job, `revision ${number}`, result), below: number }
      if (++unsaved < saveEvery) continue
      const saved = yield* save(context, job)
      if (saved === undefined) return undefined
      job = saved
      unsaved = 0
    }
    if (items.length < pageSize) return job
  }
})

/** Works on a job until it ends, or until another process has taken it over. */
const work = Effect.fnUntraced(function* (
  context: EditorContext,
  owned: ResealJob,
  keys: SealingKeys
): Effect.fn.Return<void, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  let job = owned
  // Revisions that others publish in the meantime may be sealed with the earlier key: another pass covers them.
  for (let head = yield* context.revisions.head; job.covered < head.number; head = yield* context.revisions.head) {
    const isContinued = job.newest > job.covered
    const newest = isContinued ? job.newest : head.number
    const checked = yield* resealPass(
      context,
      { ...job, newest, below: isContinued ? job.below : newest + 1 },
      baseline.namespace,
      keys
    )
    const saved = checked === undefined ? undefined : yield* save(context, { ...checked, covered: newest })
    if (saved === undefined) return
    job = saved
  }
  const drafts = yield* resealDrafts(context.drafts, baseline.namespace, keys)
  const pinned = yield* context.config.resealPinned(keys)
  const failed = distinct([...job.failed, ...drafts.failed, ...pinned.failed])
  const resealed = job.resealed + drafts.resealed + pinned.resealed
  yield* record(context, {
    action: "reseal",
    actor: job.actor,
    outcome: failed.length === 0 ? "done" : "secret_sealing_invalid",
    operationId: job.id,
    detail: joinReasons([{ _tag: "RecordsResealed", count: resealed }, ...failed])
  })
  const finishedAt = yield* Clock.currentTimeMillis
  const ended: ResealJob = { ...job, failed, resealed, state: failed.length === 0 ? "done" : "failed", finishedAt }
  // The next job replaces this one, and its id keeps the result.
  const { text: requestHash } = plainHash(["reseal", job.kid])
  yield* context.revisions.conclude({ operationId: job.id, requestHash, result: toResult(ended) })
  yield* save(context, ended)
})

const toResult = ({ checked, failed, resealed, state }: ResealJob): ResealResult => ({
  _tag: "Resealed",
  state,
  checked,
  resealed,
  failed
})

/** Returns the result of an operation id; that of the latest job also while it runs. */
export const readOperation = Effect.fnUntraced(function* ({ reseals, revisions }: EditorContext, id: string) {
  const ended = yield* revisions.operation(id)
  if (ended !== undefined) return ended
  const job = yield* reseals.get
  if (job?.id !== id) return undefined
  const { text: requestHash } = plainHash(["reseal", job.kid])
  return {
    operationId: id,
    requestHash,
    createdAt: job.updatedAt,
    result: toResult(job)
  } satisfies ConfigOperationRecord
})

/** Continues the job after failures of the store, unless another process has taken it over. */
const workUntilDone = Effect.fnUntraced(function* (context: EditorContext, owned: ResealJob, keys: SealingKeys) {
  const attempt = Effect.gen(function* () {
    const job = yield* context.reseals.get
    if (job?.id === owned.id && job.owner === owned.owner && job.state === "running") yield* work(context, job, keys)
  })
  yield* attempt.pipe(
    Effect.tapError(({ message }) =>
      Effect.logWarning("credentials not sealed with the current key yet, retry scheduled", { error: message })
    ),
    Effect.retry(Schedule.spaced("2 seconds")),
    Effect.ignore
  )
})

/** Makes a job this process's own and works on it in the background. */
const own = Effect.fnUntraced(function* (
  context: EditorContext,
  current: ResealJob | undefined,
  next: ResealJob,
  keys: SealingKeys
) {
  const job: ResealJob = { ...next, owner: newId(), version: (current?.version ?? 0) + 1 }
  if (!(yield* context.reseals.save(job))) return undefined
  yield* Effect.forkIn(workUntilDone(context, job, keys), context.scope)
  return job
})

/** Attempts to write the job while other processes do the same. */
const maxAttempts = 20

/** Starts a job, or takes over the one that another process works on with the same key. */
export const startReseal = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string
): Effect.fn.Return<ResealOutcome, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const keys = sealingKeys(baseline.env)
  const kid = Result.isSuccess(keys) ? keys.success.current?.kid : undefined
  if (Result.isFailure(keys) || kid === undefined) {
    const { code, reason }: SealingProblem = Result.isFailure(keys)
      ? keys.failure
      : { code: "secrets_key_missing", reason: { _tag: "SealingKeyMissing" } }
    yield* record(context, { action: "reseal", actor, outcome: code })
    return { _tag: "Refused", problems: [problem(code, reason)] }
  }
  const startedAt = yield* Clock.currentTimeMillis
  const fresh = newJob(kid, actor, startedAt)
  let isRecorded = false
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const current = yield* context.reseals.get
    const continued = current?.state === "running" && current.kid === kid ? current : undefined
    if (continued === undefined && !isRecorded) {
      yield* record(context, { action: "reseal", actor, outcome: "started", operationId: fresh.id })
      isRecorded = true
    }
    const job = yield* own(context, current, continued ?? fresh, keys.success)
    if (job !== undefined) return { _tag: "Started", job }
  }
  yield* record(context, { action: "reseal", actor, outcome: "source_contended", operationId: fresh.id })
  return {
    _tag: "Refused",
    problems: [problem("source_contended", { _tag: "StartContended" })]
  }
})

const newJob = (kid: string, actor: string, startedAt: number): ResealJob => ({
  id: newId(),
  kid,
  actor,
  owner: "",
  state: "running",
  checked: 0,
  resealed: 0,
  failed: [],
  newest: 0,
  below: 1,
  covered: 0,
  startedAt,
  updatedAt: startedAt,
  finishedAt: undefined,
  version: 1
})

const watchInterval = "5 seconds"
/** Reads without a change after which a job counts as abandoned. Clocks of nodes are not compared. */
const abandonedAfter = 4

/** Continues jobs whose owner died. Runs on every node that uses the database; enabling it needs a restart. */
export const watchReseals = Effect.fnUntraced(function* (context: EditorContext) {
  if (context.config.layered() === undefined) return
  let seen = { version: 0, reads: 0 }
  const poll = Effect.gen(function* () {
    const job = yield* context.reseals.get
    if (job?.state !== "running") return
    seen = job.version === seen.version ? { ...seen, reads: seen.reads + 1 } : { version: job.version, reads: 1 }
    if (seen.reads < abandonedAfter) return
    const { baseline } = yield* requireLayered(context)
    const keys = sealingKeys(baseline.env)
    if (Result.isFailure(keys) || keys.success.current?.kid !== job.kid) return
    yield* Effect.logInfo("sealing of credentials continued for a process that ended", { operation_id: job.id })
    yield* own(context, job, job, keys.success)
  })
  yield* Effect.ignore(poll).pipe(Effect.schedule(Schedule.spaced(watchInterval)), Effect.forkIn(context.scope))
})
