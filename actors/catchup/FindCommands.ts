/** Decides about commands in comments of a pull request that no delivery reported. */
import { Effect } from "effect"
import { admit } from "../../src/admission/Admit.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { commandKey } from "../../src/domain/Keys.ts"
import { findCommand, isOwnComment } from "../../src/forge/CommentCommand.ts"
import type { HostPull } from "../../src/forge/Forge.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { decideFound, foundFacts } from "./HostSearch.ts"
import type { HostSearch, SeenUntil } from "./HostSearch.ts"

/** Returns whether the service has reviewed the head after a comment, of which a restored backup has no record. */
const isReviewedSince = Effect.fnUntraced(function* (
  { client }: HostSearch,
  { head, repo }: HostPull,
  createdAt: number
) {
  const status = yield* client.changes.ownStatus(repo, head)
  return status !== undefined && status.state !== "pending" && status.at >= createdAt
})

export const decideCommands = Effect.fnUntraced(function* (
  search: HostSearch,
  pull: HostPull,
  records: ReadonlyArray<StoredEvent>,
  { first, since }: SeenUntil
) {
  const { client, kind, now, snapshot, trigger } = search
  const { baseRef, number, repo, title, url } = pull
  if (pull.comments === 0) return
  const from = Math.max(first, since)
  const target = { kind: "pull_request", number } as const
  const targetOf = targetKey({ trigger: trigger.name, workspace: "", repo, target })
  const ownAccount = (yield* OwnAccounts).of
  for (const { author, body, createdAt, id } of yield* client.changes.comments(repo, number, from)) {
    const command = findCommand(body)
    const key = commandKey(kind, targetOf, id)
    const isOnRecord = records.some(({ deliveryKey }) => deliveryKey === key)
    if (command === undefined || author === undefined || isOwnComment(body) || createdAt < from || isOnRecord) continue
    if (command === "review" && (yield* isReviewedSince(search, pull, createdAt))) continue
    const facts = foundFacts(
      search,
      { head: undefined, repo, target },
      { branch: baseRef, author: pull.author?.username }
    )
    const event = {
      _tag: "Commanded",
      ...facts,
      sender: author,
      command,
      number,
      commentId: id,
      baseRef,
      title,
      url
    } as const
    const admitted = admit({ snapshot, verified: [trigger], event, ownAccount, now })
    if (admitted.accepted) yield* decideFound(search, event, key, admitted.workspace.id)
  }
})
