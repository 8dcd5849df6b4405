/**
 * Decides what happens to reviews and drafts that only the account of the service sees. Hosts publish them with the next review, even those
 * for an older head. The service discards them if it wrote every text in them, and writes what is still needed again. It recognises its
 * texts by their markers and by the records of the operations that these name: a person may use the same account, and a draft of a person
 * may quote a comment with its marker.
 */
import { Effect } from "effect"
import { commentsIn } from "../../domain/Publication.ts"
import type { Operation } from "../../domain/Publication.ts"
import type { PendingPolicy } from "../../forge/Forge.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { parseMarkers } from "../Marker.ts"
import { Records } from "../Records.ts"

/** Removes what hosts may change in a text. */
const normalise = (text: string): string => text.replace(/\r\n?/g, "\n").trim()

const textsOf = (operation: Operation | undefined): ReadonlyArray<string> =>
  operation?._tag === "Review" || operation?._tag === "Summary"
    ? [operation, ...commentsIn(operation)].map(({ body }) => normalise(body))
    : []

const occupied = (texts: number): ForgeError =>
  new ForgeError({
    reason: "pending_review",
    operation: "publish",
    why: { _tag: "PersonHasDraft", count: texts }
  })

/** Returns the policy for a review with these texts. */
export const makePendingPolicy = (texts: ReadonlyArray<string>, isResumed: boolean): PendingPolicy => ({
  isResumed,
  settle: Effect.fnUntraced(function* (pending) {
    if (pending.length === 0) return
    const records = yield* Records
    const own = new Set(texts.map(normalise))
    const ids = new Set(
      pending.flatMap((review) => review.texts.flatMap((text) => parseMarkers(text).map(({ op }) => op)))
    )
    for (const id of ids) for (const text of textsOf(yield* records.operation(id))) own.add(text)
    const unknown = pending.flatMap((review) => review.texts).filter((text) => !own.has(normalise(text)))
    if (unknown.length > 0) return yield* occupied(unknown.length)
    for (const review of pending) yield* review.discard
  })
})
