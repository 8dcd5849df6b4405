/** Decides about commands in comments of a pull request that no delivery reported. */
import { Effect } from "effect"
import { commandKey, isReplyId } from "../../src/domain/Keys.ts"
import { findCommand, isOwnComment } from "../../src/forge/CommentCommand.ts"
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
  const own = replies.filter(({ author }) => author?.username.toLowerCase() === username.toLowerCase())
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
  for (const { author, body, createdAt, id } of comments) {
    const command = findCommand(body)
    const key = commandKey(search.kind, target, id)
    const isOnRecord = records.some(({ deliveryKey }) => deliveryKey === key)
    if (command === undefined || author === undefined || isOwnComment(body) || createdAt < from || isOnRecord) continue
    // A restored backup has no record of the review that followed.
    if (command === "review" && ((yield* reviewedAt) ?? 0) >= createdAt) continue
    if (command === "help" && createdAt <= repliedAt) continue
    const event = {
      ...facts,
      _tag: "Commanded",
      sender: author,
      command,
      number,
      commentId: id,
      baseRef,
      title,
      url
    } as const
    const admitted = yield* admitFound(search, event)
    if (admitted.accepted) yield* decideFound(search, event, key, admitted.workspace.id)
  }
})
