/** Decides about commands in comments of a pull request that no delivery reported. */
import { Effect } from "effect"
import { commandKey } from "../../src/domain/Keys.ts"
import { findCommand, isOwnComment } from "../../src/forge/CommentCommand.ts"
import type { HostPull } from "../../src/forge/Forge.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { admitFound, decideFound, keyOfTarget, pullFacts } from "./HostSearch.ts"
import type { HostSearch, ReviewedAt, SeenUntil } from "./HostSearch.ts"

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
  for (const { author, body, createdAt, id } of yield* search.client.changes.comments(repo, number, from)) {
    const command = findCommand(body)
    const key = commandKey(search.kind, target, id)
    const isOnRecord = records.some(({ deliveryKey }) => deliveryKey === key)
    if (command === undefined || author === undefined || isOwnComment(body) || createdAt < from || isOnRecord) continue
    // A restored backup has no record of the review that followed.
    if (command === "review" && ((yield* reviewedAt) ?? 0) >= createdAt) continue
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
