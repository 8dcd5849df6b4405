/** Reads the comment that requested a review, and the topic that it gives priority to. Only reviews that were requested read it. */
import { Effect } from "effect"
import { isTrustedRequester } from "../../src/domain/Change.ts"
import type { CommentPlace } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { Receipts } from "../../src/store/Receipts.ts"

export interface ReviewRequest {
  readonly comment: CommentPlace | undefined
  /** Text of at most 500 characters that a person wrote: data, and not an instruction. */
  readonly focus: string | undefined
}

/** Returns the newest request of the person; undefined for a review that no comment requested. */
export const findRequest = Effect.fnUntraced(function* ({ events }: Entry, person: string | undefined) {
  if (person === undefined || isTrustedRequester(person)) return undefined
  const receipts = yield* Receipts
  for (const id of events.toReversed()) {
    const work = (yield* receipts.get(id))?.work
    const command = work?.request?.command
    if (command?.name !== "review" || work?.change.requestedBy !== person) continue
    return { comment: work.request?.comment, focus: command.focus } satisfies ReviewRequest
  }
  return undefined
})
