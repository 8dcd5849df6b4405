/**
 * Operations that need no channel of the configuration: commit statuses, labels, and what follows from triage of an issue. They use
 * the credentials of the trigger that the change came by.
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import { digestIssue } from "../forge/IssueHead.ts"
import { ForgeError } from "../forge/Forge.ts"
import type { ForgeClient, HostWrite } from "../forge/Forge.ts"
import { needle, parseMarkers } from "./Marker.ts"
import { numberOf } from "./ReviewSend.ts"
import type { Writing } from "../forge/WriteOwner.ts"

const tags = ["Status", "Label", "IssueComment", "CloseIssue"] as const
export type HostOperation = Extract<Operation, { readonly _tag: (typeof tags)[number] }>

export const isHostOperation = (operation: Operation): operation is HostOperation =>
  tags.some((tag) => tag === operation._tag)

export const sendAtHost = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  operation: HostOperation
): Effect.fn.Return<HostWrite, ForgeError, Writing> {
  const { repo } = change
  switch (operation._tag) {
    case "Status": {
      const { head, state, description, url } = operation
      return yield* client.setStatus(repo, head, { state, description, url })
    }
    case "Label":
      return yield* client.addLabel(repo, yield* numberOf(change), operation.name)
    case "IssueComment": {
      const number = yield* numberOf(change)
      yield* stillJudged(client, change, number, operation.head)
      const op = parseMarkers(operation.body).at(-1)?.op
      // The records may be younger than the comment.
      const known = op === undefined ? undefined : yield* client.findComment(repo, number, needle({ op }))
      return known ?? (yield* client.createComment(repo, number, operation.body))
    }
    case "CloseIssue": {
      const number = yield* numberOf(change)
      const state = yield* stillJudged(client, change, number, operation.head)
      if (state === "closed") return { hostId: String(number), url: undefined }
      return yield* client.issues.edit(repo, number, { state: "closed" })
    }
  }
})

/** An issue whose text was changed since is another one than that which was judged. */
const stillJudged = Effect.fnUntraced(function* (client: ForgeClient, change: Change, number: number, head: string) {
  const { title, body, state } = yield* client.issues.read(change.repo, number)
  if (digestIssue({ title, body }) === head) return state
  return yield* new ForgeError({
    reason: "conflict",
    operation: "triage",
    message: `issue #${number} was changed after it was judged; nothing is done to it`
  })
})

/** Whether one whose answer was lost is there. All but the comment can be done again: the host has each of them once. */
export const findAtHost = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: HostOperation
): Effect.fn.Return<HostWrite | undefined, ForgeError> {
  if (operation._tag !== "IssueComment") return undefined
  return yield* client.findComment(change.repo, yield* numberOf(change), needle({ op: publication.operationId }))
})
