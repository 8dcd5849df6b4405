/**
 * Replies to a comment of a person, or to words from elsewhere (ReplySource.ts): reads them, decides whether they get a reply (ReplyDecision.ts),
 * lets a model write it, and stores it with its publications in one transaction. Of a comment the text counts that the host has now. A comment that gets no reply
 * has no run. A reply that is stored is never written again: after a crash it continues with the publisher.
 */
import { Clock, Deferred, Effect } from "effect"
import { discussedKey } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { runLifecycle } from "../../src/domain/Run.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { failureRows, reactionRows } from "../../src/outputs/ReplyRows.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { toAnalyzing } from "../review/AnalyseChange.ts"
import { completeRun, publish, skipRun } from "../review/EndRun.ts"
import { endCancelled, endWithoutWork, openRun } from "../review/OpenRun.ts"
import { isLastAttempt, loadWork } from "../review/ReviewWork.ts"
import type { ReviewWork } from "../review/ReviewWork.ts"
import { modelAccount } from "../review/RunAccount.ts"
import { analysisFailure, hostFailure, storeFailure } from "../review/RunFailure.ts"
import { failed, reviewed, skipped } from "../review/RunOutcome.ts"
import type { RunOutcome } from "../review/RunOutcome.ts"
import { findSpooled, removeSpooled } from "../review/SaveAnalysis.ts"
import { writeAnalysis } from "./ReplyAnalysis.ts"
import type { ReplyDecision } from "./ReplyDecision.ts"
import { countReply } from "./ReplyRights.ts"
import { readSource } from "./ReplySource.ts"

/** Replies to the comment of a claimed entry. Completing `cancelled` with a reason interrupts it. */
export const replyEntry = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  cancelled: Deferred.Deferred<Reason>
) {
  const work = yield* loadWork(entry, lease)
  const replying = "_tag" in work ? endWithoutWork(entry, lease, work) : attempt(work, cancelled)
  return yield* Effect.catchTag(replying, "StoreError", storeFailure)
})

/** Reactions have a publisher of their own; texts are sent by that of the change, issue or commit. */
const wakePublishers = ({ change, targetKey }: Pick<Entry, "change" | "targetKey">) =>
  Effect.andThen(publish(targetKey), publish(discussedKey(change)))

const attempt = Effect.fnUntraced(function* (work: ReviewWork, cancelled: Deferred.Deferred<Reason>) {
  const { entry, lease } = work
  const newest = Runs.use((runs) =>
    Effect.map(runs.list({ targetKey: entry.targetKey, limit: 1 }), ([run]): Run | undefined => run)
  )
  const earlier = yield* newest
  if (earlier?.status === "publishing" || earlier?.status === "succeeded") {
    yield* wakePublishers(entry)
    return reviewed(earlier.id)
  }
  const unfinished = earlier !== undefined && !runLifecycle.isTerminal(earlier.status) ? earlier : undefined
  const cancel = Effect.map(Deferred.await(cancelled), (reason): RunOutcome => ({ _tag: "Cancelled", reason }))
  const endRun = Effect.ignore(
    Effect.flatMap(newest, (run) => (run === undefined ? Effect.void : endCancelled(run, work, cancelled)))
  )
  return yield* Effect.raceFirst(
    Effect.onInterrupt(reply(work, unfinished), () => endRun),
    cancel
  ).pipe(
    Effect.catchTag("ForgeError", (error) =>
      Effect.flatMap(openRun(entry, lease), (run) =>
        run === undefined ? Effect.succeed(failed({ _tag: "TakenOver" }, false)) : hostFailure(run, work, error)
      )
    )
  )
})

/** Ends an entry whose comment gets no reply. */
const leave = Effect.fnUntraced(function* (work: ReviewWork, unfinished: Run | undefined, reason: Reason) {
  if (unfinished !== undefined) return yield* skipRun(unfinished, work, reason)
  yield* Effect.logInfo("comment gets no reply", { reason })
  return skipped(reason)
})

/** Decisions that write a text in the conversation, which counts towards limits. */
const writes: ReadonlySet<ReplyDecision["_tag"]> = new Set(["Reply", "CompareCode", "Unlisted"])

const reply = Effect.fnUntraced(function* (admitted: ReviewWork, unfinished: Run | undefined) {
  const source = yield* readSource(admitted)
  if (source === undefined) return yield* leave(admitted, unfinished, { _tag: "ReviewRecordRemoved" })
  if (source.decision._tag === "Ignore") return yield* leave(admitted, unfinished, source.decision.reason)
  const subject = yield* source.readSubject
  if ("_tag" in subject) return yield* leave(admitted, unfinished, subject)
  const { head, work } = subject
  const { entry, lease, snapshot, workspace } = work
  const off = source.isOff(workspace) ?? (workspace.outputs.shadow ? ({ _tag: "InShadow" } as const) : undefined)
  if (off !== undefined) return yield* leave(work, unfinished, off)
  const person = source.conversation.comment?.author ?? entry.change.author?.username
  if (person === undefined) return yield* leave(work, unfinished, { _tag: "WriterUnnamed" })
  const converser = yield* source.findConverser(workspace, person)
  if (converser === "refused") {
    yield* Effect.logWarning("audit: comment gets no reply, its author has no right to one", {
      username: person,
      target: entry.targetKey
    })
    return yield* leave(work, unfinished, { _tag: "MayNotConverse", person })
  }
  const change = { ...entry.change, workspace: workspace.id, head, title: subject.title, baseRef: subject.baseRef }
  const begun = {
    entryId: entry.id,
    workspace: workspace.id,
    team: workspace.instance.team,
    targetKey: entry.targetKey,
    change,
    head,
    base: undefined,
    configHash: snapshot.hash,
    verdict: undefined
  }
  const run = yield* (yield* Runs).begin(begun, lease.token, yield* Clock.currentTimeMillis)
  if (run === undefined) return failed({ _tag: "TakenOver" }, false)
  yield* Effect.annotateCurrentSpan({ run: run.id, head, event_id: entry.events.join(" ") })
  const over = writes.has(source.decision._tag)
    ? yield* countReply(entry.id, change, source.subjectKey, workspace, person, converser)
    : undefined
  const decision = over === undefined ? source.decision : ({ _tag: "Limited", ...over } as const)
  return yield* execute(run, work, { source, decision, person, subject }).pipe(Effect.annotateLogs({ run_id: run.id }))
})

const rowInput = (run: Run, { workspace }: ReviewWork) => ({
  runId: run.id,
  targetKey: run.targetKey,
  change: run.change,
  head: run.head,
  workspace
})

/** Adds publications outside a reply. One that cannot be stored now does not fail the reply. */
const addRows = Effect.fnUntraced(
  function* (run: Run, rows: ReturnType<typeof reactionRows>) {
    yield* (yield* Outbox).add(rows, yield* Clock.currentTimeMillis)
    yield* wakePublishers(run)
  },
  (effect) =>
    Effect.catch(effect, ({ message }) => Effect.logWarning("reaction to a comment not stored", { error: message }))
)

/** Writes the reply and stores it. Before that, a reaction shows that the question was read. */
const execute = Effect.fnUntraced(
  function* (run: Run, work: ReviewWork, replied: Parameters<typeof writeAnalysis>[2]) {
    const spooled = yield* findSpooled(run)
    if (spooled !== undefined) {
      const outcome = yield* completeRun(run, work, spooled)
      yield* publish(discussedKey(run.change))
      if (outcome._tag === "Reviewed") yield* removeSpooled(run)
      return outcome
    }
    if (replied.decision._tag === "Reply") yield* addRows(run, reactionRows(rowInput(run, work), "eyes"))
    yield* toAnalyzing(run, work.lease)
    const analysis = yield* writeAnalysis(run, work, replied).pipe(
      Effect.provideService(ModelRun, yield* modelAccount(run, work))
    )
    const outcome = yield* completeRun(run, work, analysis)
    yield* publish(discussedKey(run.change))
    return outcome
  },
  (effect, run, work) =>
    Effect.catchTag(
      effect,
      ["AgentError", "CheckoutError"],
      Effect.fnUntraced(function* (error) {
        const outcome = yield* analysisFailure(run, work, error)
        if (outcome._tag === "Failed" && (!outcome.retryable || isLastAttempt(work)))
          yield* addRows(run, failureRows(rowInput(run, work)))
        return outcome
      })
    ),
  Effect.scoped
)
