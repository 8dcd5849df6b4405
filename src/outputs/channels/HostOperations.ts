/**
 * Operations without a configured channel: commit statuses, labels, the results of issue triage, and replies to comments. They use the credentials of
 * the trigger of the change.
 */
import { Effect } from "effect"
import { statusText } from "../review/StatusText.ts"
import { isOnPull } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { OperationId } from "../../domain/Keys.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import { digestIssue } from "../../forge/IssueHead.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { ConversationTarget, ForgeClient } from "../../forge/Forge.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import { unwritten } from "./Channel.ts"
import type { Sent } from "./Channel.ts"
import { toSearchText, parseMarkers } from "../Marker.ts"
import { requireNumber } from "../review/ReviewSend.ts"
import type { Writing } from "../../forge/WriteOwner.ts"

const tags = ["Status", "Label", "IssueComment", "CloseIssue", "Reply", "Reaction"] as const
type HostOperation = Extract<Operation, { readonly _tag: (typeof tags)[number] }>

/** A reply on a review of Swarm is an operation of its channel. */
export const isHostOperation = (operation: Operation, { source }: Pick<Change, "source">): operation is HostOperation =>
  source?._tag !== "SwarmQuestion" && tags.some((tag) => tag === operation._tag)

export const sendAtHost = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  operation: HostOperation,
  { key, language }: { readonly key: OperationId; readonly language: string }
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const { repo } = change
  switch (operation._tag) {
    case "Status": {
      const { details, head, state, url } = operation
      const description = statusText(operation.description, language)
      return yield* client.setStatus(repo, head, {
        state,
        description,
        url,
        key,
        // Of a merge group none: the button that repeats a check requests the review of a pull request.
        number: isOnPull(change) ? change.target.number : undefined,
        details
      })
    }
    case "Label":
      return yield* client.addLabel(repo, yield* requireNumber(change), operation.name)
    case "IssueComment": {
      const number = yield* requireNumber(change)
      yield* checkUnchanged(client, change, number, operation.head)
      const op = parseMarkers(operation.body).at(-1)?.op
      // The comment may exist although the records do not contain it, for example after they were lost.
      const existing = op === undefined ? undefined : yield* client.findComment(repo, number, toSearchText({ op }))
      return existing ?? (yield* client.createComment(repo, number, operation.body))
    }
    case "Reply": {
      const { comment } = operation
      const { conversations } = client
      const op = parseMarkers(operation.body).at(-1)?.op
      const at = conversationTarget(change, operation.head)
      // The reply may exist although the records do not contain it, for example after they were lost.
      const existing =
        op === undefined ? undefined : yield* conversations.findReply(repo, at, comment, toSearchText({ op }))
      return existing ?? (yield* conversations.reply(repo, at, comment, operation.body))
    }
    case "Reaction": {
      const { comment, reaction } = operation
      const { react } = client.conversations
      if (react === undefined) return unwritten(comment.id, { _tag: "NoReactionsAtHost" })
      yield* react(repo, conversationTarget(change, change.head), comment, reaction)
      return { hostId: comment.id, url: undefined }
    }
    case "CloseIssue": {
      const number = yield* requireNumber(change)
      const state = yield* checkUnchanged(client, change, number, operation.head)
      if (state === "closed") return unwritten(String(number), { _tag: "GoneAtHost" })
      return yield* client.issues.edit(repo, number, { state: "closed" })
    }
  }
})

/** Returns the change, issue or commit below which the comment of a change is. */
const conversationTarget = ({ target }: Change, head: string | undefined): ConversationTarget => ({
  number: target.number,
  head: target.number === undefined ? head : undefined
})

/** Fails for an issue whose text has changed since it was triaged. */
const checkUnchanged = Effect.fnUntraced(function* (client: ForgeClient, change: Change, number: number, head: string) {
  const { title, body, state } = yield* client.issues.read(change.repo, number)
  if (digestIssue({ title, body }) === head) return state
  return yield* new ForgeError({
    reason: "conflict",
    operation: "triage",
    why: { _tag: "IssueChanged", number }
  })
})

/**
 * Searches for the result of an operation whose response is missing. All operations except comments are idempotent at the host
 * and can be repeated.
 */
export const findAtHost = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: HostOperation
): Effect.fn.Return<HostWrite | undefined, ForgeError> {
  if (operation._tag === "Reply") {
    const marker = toSearchText({ op: publication.operationId })
    return yield* client.conversations.findReply(
      change.repo,
      conversationTarget(change, operation.head),
      operation.comment,
      marker
    )
  }
  if (operation._tag !== "IssueComment") return undefined
  return yield* client.findComment(
    change.repo,
    yield* requireNumber(change),
    toSearchText({ op: publication.operationId })
  )
})
