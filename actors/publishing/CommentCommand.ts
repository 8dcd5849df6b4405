/**
 * Executes comment commands other than `review`: `help` posts a comment, `cancel` cancels the entries of the pull request, `dismiss` dismisses
 * a finding (CommandedFinding.ts). Only people with the permission may use them; for others only an audit entry is written, and their comments
 * get no reaction. Commands are idempotent: the reply is looked up by its marker before it is posted, and the receipt is settled last. A command
 * that the host refuses permanently, or for too long, is settled as failed.
 */
import { Clock, Effect, Random } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { CommandRequest } from "../../src/domain/CommentCommand.ts"
import { replyId } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { HostPull } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { renderMarker } from "../../src/outputs/Marker.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { dismissInThread, react, readOwnFinding } from "./CommandedFinding.ts"
import type { CommandedChange } from "./CommandedFinding.ts"
import { afterCommandFailure } from "./PublishDecision.ts"
import { isBoundByBranch, noCommands, workspaceOfBase } from "../review/ReviewSubject.ts"
import { missingToken } from "../review/MissingToken.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

/** Failed commands of a target that will be retried, by event. */
export type FailedCommands = Map<string, { readonly attempts: number; readonly notBefore: number }>

/** Executes the command of an event unless it waits for its next attempt. */
export const executeCommand = Effect.fnUntraced(function* (eventId: string, failed: FailedCommands) {
  const now = yield* Clock.currentTimeMillis
  const { attempts, notBefore } = failed.get(eventId) ?? { attempts: 0, notBefore: now }
  if (notBefore > now) return
  yield* Effect.catchTag(execute(eventId), "ForgeError", (error) =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const { receivedAt } = (yield* receipts.get(eventId)) ?? { receivedAt: now }
      const failedAt = yield* Clock.currentTimeMillis
      const facts = { attempts, ageMillis: failedAt - receivedAt }
      const next = afterCommandFailure(error, facts, failedAt, yield* Random.next)
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
      yield* receipts.settle([eventId], { outcome: "failed", reason: next.reason }, failedAt)
    })
  )
})

const execute = Effect.fnUntraced(function* (eventId: string) {
  const receipts = yield* Receipts
  const event = yield* receipts.get(eventId)
  const work = event?.work
  if (work?.command === undefined || event?.outcome !== undefined) return
  const { change } = work
  const settle = (outcome: "executed" | "skipped", reason: Reason) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => receipts.settle([eventId], { outcome, reason }, now))

  const snapshot = yield* (yield* ConfigStore).pinned(work.configHash)
  const profile = snapshot.triggers.get(change.trigger)
  const { number } = change.target
  const isMissing = profile === undefined || !snapshot.workspaces.has(change.workspace)
  // A node that has the configuration of the command executes it: Housekeeping.ts sends it again.
  if (isMissing && snapshot.hash !== work.configHash) return
  if ((yield* missingToken(snapshot, change.trigger)) !== undefined) return
  if (profile === undefined || number === undefined)
    return yield* settle("skipped", { _tag: "TriggerUnconfigured", trigger: change.trigger })
  const client = (yield* Forges).client(profile)
  const person = change.requestedBy
  const { command, comment, inThread }: CommandRequest = work.request ?? { command: { name: "help" } }
  const refuse = Effect.fnUntraced(function* (reason: Reason) {
    yield* Effect.logWarning("audit: comment command refused, its author lacks the permission", {
      event_id: eventId,
      username: person,
      command: command.name,
      target: targetKey(change)
    })
    yield* settle("skipped", reason)
  })
  if (person === undefined) return yield* refuse({ _tag: "WriterUnnamed" })
  if (command.name !== "dismiss" && !(yield* client.canWrite(change.repo, person)))
    return yield* refuse({ _tag: "NoWritePermission", person })
  const workspace = yield* commandedWorkspace(snapshot, profile, change, client.pull(change.repo, number))
  if ("_tag" in workspace) return yield* settle("skipped", workspace)
  const subject = { client, change, comment, number, person, workspace }
  if (command.name === "dismiss") {
    const outcome = yield* dismissInThread(subject, command)
    return outcome._tag === "MayNotDismiss"
      ? yield* refuse(outcome)
      : yield* settle(outcome._tag === "FindingDismissed" ? "executed" : "skipped", outcome)
  }
  // The first words of a reply to a person are no command.
  if (inThread === true && (yield* readOwnFinding(subject)) === undefined)
    return yield* settle("skipped", { _tag: "NotInOwnThread" })
  yield* react(subject, "eyes")
  if (command.name === "cancel") {
    const schedulerOf = yield* WorkspaceScheduler.client
    yield* schedulerOf(workspace.id).Cancel({
      targetKey: targetKey(change),
      reason: { _tag: "CancelledBy", name: person }
    })
    yield* react(subject, "thumbs_up")
    return yield* settle("executed", { _tag: "CommandCancelled" })
  }
  yield* postHelp(eventId, subject)
  yield* react(subject, "thumbs_up")
  yield* settle("executed", { _tag: "HelpPosted" })
})

const postHelp = Effect.fnUntraced(function* (eventId: string, { change, client, number, workspace }: CommandedChange) {
  const marker = renderMarker({ op: replyId(eventId), scope: targetKey(change) })
  if ((yield* client.findComment(change.repo, number, marker)) !== undefined) return
  const { commands } = labelsFor(workspace.review.output_language)
  yield* client.createComment(change.repo, number, `${commands}\n\n${marker}`)
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
