/** Decides about commands and questions in comments of a pull request that no delivery reported. */
import { Effect } from "effect"
import { hasUsername } from "../../src/domain/Change.ts"
import { findCommand, isOwnComment } from "../../src/domain/CommentCommand.ts"
import type { HostEvent } from "../../src/domain/HostEvent.ts"
import { commandKey, isReplyId } from "../../src/domain/Keys.ts"
import type { FoundComment, HostPull } from "../../src/forge/Forge.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { admitFound, decideFound, keyOfTarget, pullFacts } from "./HostSearch.ts"
import type { HostSearch, ReviewedAt, SeenUntil } from "./HostSearch.ts"

/** Returns the time of the last reply of the service to a request for help. A marker in a comment of others shows nothing. */
const readReplies = Effect.fnUntraced(function* ({ client }: HostSearch, comments: ReadonlyArray<FoundComment>) {
  const replies = comments.filter(({ body }) => parseMarkers(body).some(({ op }) => isReplyId(op)))
  if (replies.length === 0) return Number.NEGATIVE_INFINITY
  const { username } = yield* client.self
  const own = replies.filter(({ author }) => hasUsername(author, username))
  return Math.max(...own.map(({ createdAt }) => createdAt))
})

export const decideCommands = Effect.fnUntraced(function* (
  search: HostSearch,
  pull: HostPull,
  records: ReadonlyArray<StoredEvent>,
  reviewedAt: ReviewedAt,
  { first, since }: SeenUntil
) {
  const { baseRef, number, repo, title, url } = pull
  if (pull.comments === 0) return
  const from = Math.max(first, since)
  const target = keyOfTarget(search, { repo, target: { kind: "pull_request", number } })
  const facts = pullFacts(search, { ...pull, head: undefined })
  const comments = yield* search.client.changes.comments(repo, number, from)
  const repliedAt = yield* readReplies(search, comments)
  for (const { author, body, createdAt, isReply, place } of comments) {
    const key = commandKey(search.kind, target, place.id)
    const isOnRecord = records.some(({ deliveryKey }) => deliveryKey === key)
    if (author === undefined || isOwnComment(body) || createdAt < from || isOnRecord) continue
    const command = findCommand(body)
    // A restored backup has no record of the review that followed.
    if (command?.name === "review" && ((yield* reviewedAt) ?? 0) >= createdAt) continue
    if (command?.name === "help" && createdAt <= repliedAt) continue
    const about = { ...facts, sender: author, number, comment: place, baseRef, title, url }
    const event: HostEvent =
      command === undefined ? { _tag: "Discussed", ...about, body, isReply } : { _tag: "Commanded", ...about, command }
    const admitted = yield* admitFound(search, event)
    if (admitted.accepted) yield* decideFound(search, event, key, admitted.workspace.id)
  }
})
