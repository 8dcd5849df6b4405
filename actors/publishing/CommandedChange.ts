/**
 * The comment of a command, and what people see at it: reactions, and one sentence where words are needed. A host that refuses a reaction
 * changes nothing else.
 */
import { Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change, CommentPlace } from "../../src/domain/Change.ts"
import { replyId } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { CommentReaction, ForgeClient } from "../../src/forge/Forge.ts"
import { renderMarker } from "../../src/outputs/Marker.ts"

/** The comment of a command, and what it is about. */
export interface CommandedChange {
  readonly client: ForgeClient
  readonly change: Change
  readonly comment: CommentPlace | undefined
  readonly eventId: string
  readonly number: number
  readonly person: string
  readonly workspace: Workspace
}

/** The end of a command, with the reason for its receipt. */
interface CommandEnd {
  readonly outcome: "executed" | "skipped"
  readonly reason: Reason
}

export const executed = (reason: Reason): CommandEnd => ({ outcome: "executed", reason })
export const unexecuted = (reason: Reason): CommandEnd => ({ outcome: "skipped", reason })

/** Adds a reaction to the comment of a command, as far as the host has them. */
export const react = (
  { change, client, comment, number }: Pick<CommandedChange, "change" | "client" | "comment" | "number">,
  reaction: CommentReaction
) =>
  comment === undefined || client.conversations.react === undefined
    ? Effect.void
    : Effect.catch(
        client.conversations.react(change.repo, { number, head: undefined }, comment, reaction),
        ({ message }) => Effect.logDebug("no reaction to a comment", { reaction, error: message })
      )

/** Posts a comment below the change, once per command: an earlier attempt may have written it. */
export const postOnce = Effect.fnUntraced(function* (
  { change, client, eventId, number }: CommandedChange,
  text: string
) {
  const marker = renderMarker({ op: replyId(eventId), scope: targetKey(change) })
  if ((yield* client.findComment(change.repo, number, marker)) !== undefined) return
  yield* client.createComment(change.repo, number, `${text}\n\n${marker}`)
})
