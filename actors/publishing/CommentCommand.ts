/**
 * Executes comment commands other than `review`: `help` posts a comment, `cancel` cancels the entries of the pull request, `dismiss` and `reopen`
 * decide about a finding (CommandedFinding.ts), `pause` and `resume` about automatic reviews of the change (PausedReviews.ts), `describe` writes
 * what the change does (DescribeChange.ts), `remember` and `forget` are about notes for later reviews (RememberedNotes.ts). A reaction shows
 * that a command was read, another one how it ended. Of `review` only the first is added here: the review adds the other.
 *
 * Only people with the right may use them; for others only an audit entry is written, and their comments get no reaction. Commands are
 * idempotent, and the receipt is settled last. A command that the host refuses permanently, or for too long, is settled as failed, and its author
 * reads that in one sentence.
 */
import { Clock, Effect, Metric, Random } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { Command, CommandRequest, ExecutedCommand } from "../../src/domain/CommentCommand.ts"
import type { EventOutcome } from "../../src/domain/Decision.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { HostPull } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { executed, postOnce, react } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"
import { readOwnFinding, ruleByCommand } from "./CommandedFinding.ts"
import { describeChange } from "./DescribeChange.ts"
import { pauseReviews, resumeReviews } from "./PausedReviews.ts"
import { forgetNote, rememberNote } from "./RememberedNotes.ts"
import { afterCommandFailure } from "./PublishDecision.ts"
import type { TargetHold } from "./TargetHold.ts"
import { isBoundByBranch, noCommands, workspaceOfBase } from "../review/ReviewSubject.ts"
import { missingToken } from "../review/MissingToken.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

/** Failed commands of a target that will be retried, by event. */
export type FailedCommands = Map<string, { readonly attempts: number; readonly notBefore: number }>

/** Executes the command of an event unless it waits for its next attempt. */
export const executeCommand = Effect.fnUntraced(function* (hold: TargetHold, eventId: string, failed: FailedCommands) {
  if ((failed.get(eventId)?.notBefore ?? 0) > (yield* Clock.currentTimeMillis)) return
  yield* Effect.catchTag(execute(hold, eventId, failed), "ForgeError", (error) =>
    afterFailure(error, eventId, failed, undefined)
  )
})

/** Decides what follows a failed command. `subject`: its comment, once the right of its author is known; there its final failure is shown. */
const afterFailure = Effect.fnUntraced(function* (
  error: ForgeError,
  eventId: string,
  failed: FailedCommands,
  subject: CommandedChange | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const attempts = failed.get(eventId)?.attempts ?? 0
  const { receivedAt, work } = (yield* (yield* Receipts).get(eventId)) ?? { receivedAt: now, work: undefined }
  const next = afterCommandFailure(error, { attempts, ageMillis: now - receivedAt }, now, yield* Random.next)
  yield* Effect.logWarning("comment command failed", {
    event_id: eventId,
    attempts: attempts + 1,
    retried: next._tag !== "GiveUp",
    error: error.message
  })
  if (next._tag === "Retry") {
    failed.set(eventId, { attempts: attempts + (next.isAttempt ? 1 : 0), notBefore: next.notBefore })
    return
  }
  failed.delete(eventId)
  if (subject !== undefined) yield* showFailure(subject, work?.command)
  // The receipt of a review is that of its entry.
  if (work?.command !== undefined) yield* settle(eventId, work.command, "failed", next.reason)
})

const showFailure = Effect.fnUntraced(function* (
  subject: CommandedChange,
  command: ExecutedCommand["name"] | undefined
) {
  yield* react(subject, "confused")
  // The host refused a comment.
  if (command === "help") return
  const text = labelsFor(subject.workspace.review.output_language).commandFailed
  yield* Effect.catch(postOnce(subject, text), ({ message }) =>
    Effect.logWarning("failure of a comment command not shown", { event_id: subject.eventId, error: message })
  )
})

/** Records how a command ended. */
const settle = Effect.fnUntraced(function* (
  eventId: string,
  command: ExecutedCommand["name"],
  outcome: EventOutcome,
  reason: Reason,
  end: string = outcome
) {
  yield* (yield* Receipts).settle([eventId], { outcome, reason }, yield* Clock.currentTimeMillis)
  yield* Effect.logInfo("comment command ended", { event_id: eventId, command, outcome: end, reason })
  yield* Metric.update(Metric.withAttributes(Metrics.commentCommands, { command, outcome: end }), 1)
})

/** Right that a command needs: to write to the repository, or to dismiss findings of the change (`review.dismissal`). */
const rights = {
  review: "write",
  help: "write",
  cancel: "write",
  resume: "write",
  describe: "write",
  pause: "dismiss",
  remember: "dismiss",
  forget: "dismiss",
  dismiss: "dismiss",
  reopen: "dismiss"
} as const satisfies Record<Command["name"], "dismiss" | "write">

const execute = Effect.fnUntraced(function* (hold: TargetHold, eventId: string, failed: FailedCommands) {
  const event = yield* (yield* Receipts).get(eventId)
  const work = event?.work
  if (work === undefined || event?.outcome !== undefined) return
  const { command, comment, inThread } = work.request ?? withoutRequest(work.command)
  if (command === undefined) return
  const { change } = work
  const snapshot = yield* (yield* ConfigStore).pinned(work.configHash)
  const profile = snapshot.triggers.get(change.trigger)
  const { number } = change.target
  const isMissing = profile === undefined || !snapshot.workspaces.has(change.workspace)
  // A node that has the configuration of the command executes it: Housekeeping.ts sends it again.
  if (isMissing && snapshot.hash !== work.configHash) return
  if ((yield* missingToken(snapshot, change.trigger)) !== undefined) return
  const { name } = command
  if (name === "review") return yield* acknowledge(snapshot, profile, change, comment)
  if (profile === undefined || number === undefined)
    return yield* settle(eventId, name, "skipped", { _tag: "TriggerUnconfigured", trigger: change.trigger })
  const client = (yield* Forges).client(profile)
  const person = change.requestedBy
  const refuse = Effect.fnUntraced(function* (reason: Reason) {
    yield* Effect.logWarning("audit: comment command refused, its author lacks the permission", {
      event_id: eventId,
      username: person,
      command: name,
      target: targetKey(change)
    })
    yield* settle(eventId, name, "skipped", reason, "refused")
  })
  if (person === undefined) return yield* refuse({ _tag: "WriterUnnamed" })
  if (rights[name] === "write" && !(yield* client.canWrite(change.repo, person)))
    return yield* refuse({ _tag: "NoWritePermission", person })
  const workspace = yield* commandedWorkspace(snapshot, profile, change, client.pull(change.repo, number))
  if ("_tag" in workspace) return yield* settle(eventId, name, "skipped", workspace)
  if (workspace.outputs.shadow) return yield* settle(eventId, name, "skipped", { _tag: "InShadow" })
  const subject = { client, change, comment, eventId, number, person, workspace }
  const pull = rights[name] === "dismiss" ? yield* client.pull(change.repo, number) : undefined
  if (pull !== undefined && !(yield* mayDismiss(subject, pull, command)))
    return yield* refuse({ _tag: "MayNotDismiss", person })
  // The first words of a reply to a person are no command.
  if (inThread === true && (yield* readOwnFinding(subject)) === undefined)
    return yield* settle(eventId, name, "skipped", { _tag: "NotInOwnThread" })
  yield* react(subject, "eyes")
  const ended = yield* Effect.catchTag(
    run(hold, subject, work.configHash, pull?.head ?? "", command),
    "ForgeError",
    (error) => afterFailure(error, eventId, failed, subject)
  )
  if (ended === undefined) return
  const { outcome, reason } = ended
  yield* react(subject, outcome === "executed" ? "thumbs_up" : "confused")
  yield* settle(eventId, name, outcome, reason)
})

/** Receipts of a command without arguments may name it alone. */
const withoutRequest = (name: ExecutedCommand["name"] | undefined): Partial<CommandRequest> =>
  name === "help" || name === "cancel" ? { command: { name } } : {}

/** Returns whether a person may decide about findings: about those that only maintainers get only maintainers, whatever `review.dismissal` is. */
const mayDismiss = Effect.fnUntraced(function* (
  { change, person, workspace }: CommandedChange,
  { author }: Pick<HostPull, "author">,
  command: ExecutedCommand
) {
  const { review } = workspace
  const isPrivate = "digest" in command && command.digest !== undefined
  const ruling = isPrivate ? { ...workspace, review: { ...review, dismissal: "maintainers" as const } } : workspace
  const may = (yield* Outputs).mayDismiss(ruling, { ...change, author }, person)
  return yield* Effect.catchTag(may, "ChannelMissing", () => Effect.succeed(false))
})

const run = Effect.fnUntraced(function* (
  hold: TargetHold,
  subject: CommandedChange,
  configHash: string,
  head: string,
  command: ExecutedCommand
) {
  switch (command.name) {
    case "help":
      yield* postOnce(subject, labelsFor(subject.workspace.review.output_language).commands)
      return executed({ _tag: "HelpPosted" })
    case "cancel": {
      const schedulerOf = yield* WorkspaceScheduler.client
      yield* schedulerOf(subject.workspace.id).Cancel({
        targetKey: targetKey(subject.change),
        reason: { _tag: "CancelledBy", name: subject.person }
      })
      return executed({ _tag: "CommandCancelled" })
    }
    case "remember":
      return yield* rememberNote(subject, command.text)
    case "forget":
      return yield* forgetNote(subject, command.id)
    case "describe":
      return yield* describeChange(subject)
    case "pause":
      return yield* pauseReviews(subject)
    case "resume":
      return yield* resumeReviews(subject, configHash)
    case "dismiss":
    case "reopen":
      return yield* ruleByCommand(hold, subject, head, command)
  }
})

/** Shows at the comment that a requested review was read, if the person may request one. The review decides about the request itself. */
const acknowledge = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  profile: TriggerProfile | undefined,
  change: Change,
  comment: CommandRequest["comment"]
) {
  const { requestedBy: person, target } = change
  if (profile === undefined || person === undefined || target.number === undefined || comment === undefined) return
  const client = (yield* Forges).client(profile)
  const workspace = yield* commandedWorkspace(snapshot, profile, change, client.pull(change.repo, target.number))
  if ("_tag" in workspace || workspace.outputs.shadow) return
  if (yield* client.canWrite(change.repo, person))
    yield* react({ change, client, comment, number: target.number }, "eyes")
})

/** Returns the workspace of the pull request, or the reason why there is none. Queries the host only if rules depend on a branch that no delivery named. */
const commandedWorkspace = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  profile: TriggerProfile,
  change: Change,
  pull: Effect.Effect<HostPull, ForgeError>
) {
  const workspace = snapshot.workspaces.get(change.workspace)
  if (workspace === undefined) return { _tag: "WorkspaceUnconfigured", workspace: change.workspace } as const
  if (change.baseRef !== undefined || !isBoundByBranch(workspace)) return workspace
  const { baseRef } = yield* pull
  const routed = workspaceOfBase({ snapshot, workspace }, profile, change.repo, baseRef)
  return "_tag" in routed || routed.review.comment_commands ? routed : noCommands(routed)
})
