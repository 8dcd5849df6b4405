/**
 * Executes commands in the thread of a finding. The thread is read at the host: the comment of the service that began it names the finding.
 * Reactions to comments show progress; a host that refuses one changes nothing else.
 */
import { Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import type { Change, CommentPlace } from "../../src/domain/Change.ts"
import type { ExecutedCommand } from "../../src/domain/CommentCommand.ts"
import type { CommentReaction, ForgeClient } from "../../src/forge/Forge.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"

/** The comment of a command, and what it is about. */
export interface CommandedChange {
  readonly client: ForgeClient
  readonly change: Change
  readonly comment: CommentPlace | undefined
  readonly number: number
  readonly person: string
  readonly workspace: Workspace
}

/** Adds a reaction to the comment of a command, as far as the host has them. */
export const react = ({ change, client, comment, number }: CommandedChange, reaction: CommentReaction) =>
  comment === undefined || client.conversations.react === undefined
    ? Effect.void
    : Effect.catch(
        client.conversations.react(change.repo, { number, head: undefined }, comment, reaction),
        ({ message }) => Effect.logDebug("no reaction to a comment", { reaction, error: message })
      )

/** Returns the fingerprint of the finding whose thread has the comment. */
export const readOwnFinding = Effect.fnUntraced(function* ({ change, client, comment, number }: CommandedChange) {
  if (comment === undefined) return undefined
  const conversation = yield* client.conversations.read(change.repo, { number, head: undefined }, comment)
  if (conversation?.path === undefined) return undefined
  for (const { body, isOwn } of conversation.comments) {
    const fp = isOwn ? parseMarkers(body).find((marker) => marker.fp !== undefined)?.fp : undefined
    if (fp !== undefined) return fp
  }
  return undefined
})

/**
 * Dismisses the finding of the thread for a person who may dismiss by `review.dismissal` and is not the author of the change. Returns the
 * reason for the receipt.
 */
export const dismissInThread = Effect.fnUntraced(function* (
  subject: CommandedChange,
  { reason, text }: Extract<ExecutedCommand, { readonly name: "dismiss" }>
) {
  const { change, client, number, person, workspace } = subject
  const outputs = yield* Outputs
  const { author, head } = yield* client.pull(change.repo, number)
  const mayDismiss = outputs.mayDismiss(workspace, { ...change, author }, person)
  if (!(yield* Effect.catchTag(mayDismiss, "ChannelMissing", () => Effect.succeed(false))))
    return { _tag: "MayNotDismiss", person } as const
  const fp = yield* readOwnFinding(subject)
  if (fp === undefined) {
    yield* react(subject, "confused")
    return { _tag: "NoFindingNamed" } as const
  }
  yield* react(subject, "eyes")
  const outcome = yield* Effect.catchTag(
    outputs.dismiss(workspace, change, { fp, head, by: person }),
    "ChannelMissing",
    () => Effect.succeed("not_published" as const)
  )
  if (outcome !== "dismissed") {
    yield* react(subject, "confused")
    return { _tag: "NoFindingNamed" } as const
  }
  yield* react(subject, "thumbs_up")
  const words = [reason, text].filter((part) => part !== undefined).join(", ")
  return { _tag: "FindingDismissed", name: person, ...(words === "" ? {} : { reason: words }) } as const
})
