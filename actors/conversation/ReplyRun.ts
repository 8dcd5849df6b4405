/**
 * Replies to a comment of a person: reads its conversation at the host, decides whether it gets a reply (ReplyDecision.ts), lets a model write it,
 * and stores it with its publications in one transaction. The text that counts is the one that the host has now. A comment that gets no reply
 * has no run. A reply that is stored is never written again: after a crash it continues with the publisher.
 */
import { Clock, Deferred, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { discussedKey } from "../../src/domain/Change.ts"
import type { Change, CommentPlace } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { runLifecycle } from "../../src/domain/Run.ts"
import { toChange } from "../../src/forge/Forge.ts"
import type { ForgeClient, HostConversations } from "../../src/forge/Forge.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { failureRows, reactionRows } from "../../src/outputs/ReplyRows.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { toAnalyzing } from "../review/AnalyseChange.ts"
import { completeRun, publish, skipRun } from "../review/EndRun.ts"
import { readWithCurrent } from "../review/HostCredential.ts"
import { endCancelled, endWithoutWork, openRun } from "../review/OpenRun.ts"
import { routedWork } from "../review/ReviewSubject.ts"
import { isLastAttempt, loadWork } from "../review/ReviewWork.ts"
import type { ReviewWork } from "../review/ReviewWork.ts"
import { modelAccount } from "../review/RunAccount.ts"
import { analysisFailure, hostFailure, storeFailure } from "../review/RunFailure.ts"
import { failed, reviewed, skipped } from "../review/RunOutcome.ts"
import type { RunOutcome } from "../review/RunOutcome.ts"
import { findSpooled, removeSpooled } from "../review/SaveAnalysis.ts"
import { readConversation } from "./ReadConversation.ts"
import type { ReadConversation } from "./ReadConversation.ts"
import { decideReply } from "./ReplyDecision.ts"
import type { ReplyDecision } from "./ReplyDecision.ts"
import { countReply, findConverser } from "./ReplyRights.ts"
import { writeAnalysis } from "./ReplyAnalysis.ts"

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

/** The comment at the host, and the decision about it. */
interface Found {
  readonly client: ForgeClient
  readonly conversations: HostConversations
  readonly conversation: ReadConversation
  readonly place: CommentPlace
  readonly decision: ReplyDecision
}

/** Reads the conversation with a credential that the host accepts. */
const find = Effect.fnUntraced(function* ({ entry, profile, workspace }: ReviewWork) {
  const { change } = entry
  const { comment: place } = change.target
  if (place === undefined) return yield* Effect.die("a reply without a comment")
  const forges = yield* Forges
  return yield* readWithCurrent(
    profile,
    Effect.fnUntraced(function* (readable) {
      const client = forges.client(readable)
      const { conversations } = client
      const conversation = yield* readConversation(client, conversations, change, place)
      const account = yield* Effect.orElseSucceed(client.self, () => undefined)
      const { thread: maxInThread } = workspace.review.conversation.limits
      const decision: ReplyDecision =
        change.dispute === undefined
          ? decideReply({ ...conversation, account: account?.username, maxInThread })
          : { _tag: "Reply" }
      return { client, conversations, conversation, place, decision } satisfies Found
    })
  )
})

/** Ends an entry whose comment gets no reply. */
const leave = Effect.fnUntraced(function* (work: ReviewWork, unfinished: Run | undefined, reason: Reason) {
  if (unfinished !== undefined) return yield* skipRun(unfinished, work, reason)
  yield* Effect.logInfo("comment gets no reply", { reason })
  return skipped(reason)
})

/** Returns the head that the reply is about, and the work with the workspace of the target branch. */
const readHead = Effect.fnUntraced(function* (work: ReviewWork, { client, place }: Found) {
  const { change } = work.entry
  const { number } = change.target
  if (place.on !== "pull_request" || number === undefined) {
    const head = change.head ?? (yield* client.newestCommit(change.repo, {})) ?? ""
    return { work, head, title: change.title, pull: undefined, baseRef: change.baseRef }
  }
  const pull = yield* client.pull(change.repo, number)
  const { base, head } = pull
  const { author: _commenter, dispute: _dispute, ...rest } = change
  const reviewedChange: Change = { ...rest, ...toChange(pull), target: { kind: "pull_request", number } }
  const routed = routedWork(work, { _tag: "Review", change: reviewedChange, head, base })
  return "_tag" in routed
    ? routed
    : { work: routed, head, title: pull.title, pull: reviewedChange, baseRef: pull.baseRef }
})

const isOff = ({ review }: Workspace): Reason | undefined =>
  !review.comment_commands
    ? { _tag: "CommentCommandsOff" }
    : review.conversation.enabled
      ? undefined
      : { _tag: "ConversationOff" }

const reply = Effect.fnUntraced(function* (admitted: ReviewWork, unfinished: Run | undefined) {
  const found = yield* find(admitted)
  if (found.decision._tag === "Ignore") return yield* leave(admitted, unfinished, found.decision.reason)
  const read = yield* readHead(admitted, found)
  if ("_tag" in read) return yield* leave(admitted, unfinished, read)
  const { head, work } = read
  const { entry, lease, snapshot, workspace } = work
  const off = isOff(workspace)
  if (off !== undefined) return yield* leave(work, unfinished, off)
  const person = found.conversation.comment?.author ?? entry.change.author?.username
  if (person === undefined) return yield* leave(work, unfinished, { _tag: "WriterUnnamed" })
  const converser = yield* findConverser(found.client, found.conversations, entry.change, workspace, person)
  if (converser === "refused") {
    yield* Effect.logWarning("audit: comment gets no reply, its author has no right to one", {
      username: person,
      target: entry.targetKey
    })
    return yield* leave(work, unfinished, { _tag: "MayNotConverse", person })
  }
  const change = { ...entry.change, workspace: workspace.id, head, title: read.title, baseRef: read.baseRef }
  const begun = {
    entryId: entry.id,
    workspace: workspace.id,
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
  const over =
    found.decision._tag === "Reply" || found.decision._tag === "CompareCode"
      ? yield* countReply(entry.id, change, workspace, person, converser)
      : undefined
  const decision = over === undefined ? found.decision : ({ _tag: "Limited", ...over } as const)
  return yield* execute(run, work, { ...found, decision, person, pull: read.pull }).pipe(
    Effect.annotateLogs({ run_id: run.id })
  )
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
  function* (run: Run, work: ReviewWork, found: Found & Pick<Parameters<typeof writeAnalysis>[2], "person" | "pull">) {
    const spooled = yield* findSpooled(run)
    if (spooled !== undefined) {
      const outcome = yield* completeRun(run, work, spooled)
      yield* publish(discussedKey(run.change))
      if (outcome._tag === "Reviewed") yield* removeSpooled(run)
      return outcome
    }
    if (found.decision._tag === "Reply") yield* addRows(run, reactionRows(rowInput(run, work), "eyes"))
    yield* toAnalyzing(run, work.lease)
    const analysis = yield* writeAnalysis(run, work, found).pipe(
      Effect.provideService(ModelRun, yield* modelAccount(run, work))
    )
    const outcome = yield* completeRun(run, work, analysis)
    yield* publish(discussedKey(run.change))
    return outcome
  },
  (effect, run, work) =>
    Effect.catchTag(
      effect,
      "AgentError",
      Effect.fnUntraced(function* (error) {
        const outcome = yield* analysisFailure(run, work, error)
        if (outcome._tag === "Failed" && (!outcome.retryable || isLastAttempt(work)))
          yield* addRows(run, failureRows(rowInput(run, work)))
        return outcome
      })
    ),
  Effect.scoped
)
