/**
 * A review on GitLab: comments are written as drafts, which nobody sees, and published together. A process that dies before that
 * leaves drafts behind; the next attempt takes over those that are still wanted and removes the others, so publishing never
 * shows a comment twice nor one of an older head. GitLab refuses lines one by one, so the refused are named and the rest stands.
 */
import { Effect, Schema } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import { ForgeError } from "../Forge.ts"
import type { NewReview } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { DraftNote, MergeRequest, Version } from "./answers.ts"
import { positionOf, rangeForms } from "./position.ts"
import type { Writing } from "../WriteOwner.ts"

const mr = "/projects/{id}/merge_requests/{merge_request_iid}"
const pages = { name: "per_page", value: 100 } as const
/** What our texts carry (outputs/Marker.ts); drafts without it are a person's own and are left alone. */
const ours = "<!-- aicr:"

interface Where {
  readonly id: string | number
  readonly merge_request_iid: number
}

/** The commits that positions on `head` are relative to: of the newest version, or of the one that had this head. */
const diffRefs = Effect.fnUntraced(function* (rest: Rest, where: Where, head: string) {
  const now = yield* rest.get({ path: mr, params: { ...where } }, MergeRequest)
  if (now.diff_refs && now.diff_refs.head_sha === head) return now.diff_refs
  const versions = yield* rest.pages({ path: `${mr}/versions`, params: { ...where } }, Version, pages)
  const found = versions.find((version) => version.head_commit_sha === head)
  if (found === undefined) {
    return yield* new ForgeError({
      reason: "conflict",
      operation: `GET ${mr}/versions`,
      message: `merge request !${where.merge_request_iid} has no version with head ${head}; it was replaced before GitLab recorded it`
    })
  }
  return { base_sha: found.base_commit_sha, start_sha: found.start_commit_sha, head_sha: found.head_commit_sha }
})

/** GitLab's words for a position that its version cannot read; a line that is not in the diff is told otherwise. */
const refusesForm = ({ message }: ForgeError): boolean => message.includes("valid json schema")

export const createReview = Effect.fnUntraced(function* (rest: Rest, where: Where, review: NewReview) {
  const params = { ...where }
  const refs = yield* diffRefs(rest, where, review.head)
  const left = yield* rest.get({ path: `${mr}/draft_notes`, params }, Schema.Array(DraftNote))
  const wanted = new Set([review.body, ...review.comments.map((comment) => comment.body)])
  for (const draft of left) {
    if (!draft.note.includes(ours) || wanted.has(draft.note)) continue
    yield* rest.write(
      {
        method: "DELETE",
        path: `${mr}/draft_notes/{draft_note_id}`,
        params: { ...params, draft_note_id: draft.id },
        content: false
      },
      Schema.Unknown
    )
  }
  const drafted = new Map(left.map((draft) => [draft.note, draft.id]))
  const draft = Effect.fnUntraced(function* (note: string, position: ReturnType<typeof positionOf> | undefined) {
    if (drafted.has(note)) return
    const body = position === undefined ? { note } : { note, position }
    const made = yield* rest.write(
      { method: "POST", path: `${mr}/draft_notes`, params, body, content: false },
      DraftNote
    )
    drafted.set(note, made.id)
  })
  const refused: Array<InlineComment> = []
  let form = 0
  const place = (comment: InlineComment): Effect.Effect<void, ForgeError, Writing> =>
    Effect.catchIf(
      Effect.suspend(() => draft(comment.body, positionOf(comment, refs, rangeForms[form] ?? "none"))),
      (error) => error.reason === "invalid",
      (error) => {
        if (comment.range === undefined || !refusesForm(error) || form === rangeForms.length - 1) {
          return Effect.sync(() => refused.push(comment))
        }
        // The server's version decides: the rest of the review is written the same way.
        form++
        return place(comment)
      }
    )
  for (const comment of review.comments) yield* place(comment)
  // A review has no text of its own on GitLab; it would stand as one more comment beside the summary.
  if (review.comments.length === 0) yield* draft(review.body, undefined)
  const made = [...wanted].flatMap((note) => drafted.get(note) ?? [])
  if (made.length > 0) {
    yield* rest.write({ method: "POST", path: `${mr}/draft_notes/bulk_publish`, params, content: true }, Schema.Unknown)
  }
  return { hostId: String(made[0] ?? review.head), url: undefined, refused }
})
