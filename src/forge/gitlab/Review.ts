/**
 * A review on GitLab: comments are created as drafts, which are invisible, and published together. A process that dies in between
 * leaves drafts behind; the next attempt reuses those that are still needed and removes the others, so that publishing never
 * duplicates a comment and never shows one of an older head. GitLab refuses lines one by one, so the refused ones are returned
 * and the others are published.
 */
import { Effect, Schema } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import { ForgeError } from "../ForgeError.ts"
import type { NewReview } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { DraftNote, MergeRequest, Version } from "./Responses.ts"
import { toPosition, rangeForms } from "./Position.ts"
import type { Writing } from "../WriteOwner.ts"

const mr = "/projects/{id}/merge_requests/{merge_request_iid}"
const pages = { name: "per_page", value: 100 } as const
/**
 * Start of the marker in the service's own texts (outputs/Marker.ts); drafts without it belong to a person and are not touched.
 */
const ours = "<!-- aicr:"

interface MergeRequestParams {
  readonly id: string | number
  readonly merge_request_iid: number
}

/** Returns the commits to which positions on `head` are relative: those of the version with this head. */
const diffRefs = Effect.fnUntraced(function* (rest: Rest, mergeRequestParams: MergeRequestParams, head: string) {
  const mergeRequest = yield* rest.get({ path: mr, params: { ...mergeRequestParams } }, MergeRequest)
  if (mergeRequest.diff_refs && mergeRequest.diff_refs.head_sha === head) return mergeRequest.diff_refs
  const versions = yield* rest.pages({ path: `${mr}/versions`, params: { ...mergeRequestParams } }, Version, pages)
  const version = versions.find(({ head_commit_sha }) => head_commit_sha === head)
  if (version === undefined) {
    return yield* new ForgeError({
      reason: "conflict",
      operation: `GET ${mr}/versions`,
      message: `merge request !${mergeRequestParams.merge_request_iid} has no version with head ${head}; it was replaced before GitLab recorded it`
    })
  }
  return { base_sha: version.base_commit_sha, start_sha: version.start_commit_sha, head_sha: version.head_commit_sha }
})

/**
 * Returns true for GitLab's message about a position that its version cannot parse; it reports a line outside of the diff
 * differently.
 */
const refusesForm = ({ message }: ForgeError): boolean => message.includes("valid json schema")

export const createReview = Effect.fnUntraced(function* (
  rest: Rest,
  mergeRequestParams: MergeRequestParams,
  review: NewReview
) {
  const params = { ...mergeRequestParams }
  const refs = yield* diffRefs(rest, mergeRequestParams, review.head)
  const existingDrafts = yield* rest.get({ path: `${mr}/draft_notes`, params }, Schema.Array(DraftNote))
  const wanted = new Set([review.body, ...review.comments.map((comment) => comment.body)])
  for (const draft of existingDrafts) {
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
  const drafted = new Map(existingDrafts.map((draft) => [draft.note, draft.id]))
  const draft = Effect.fnUntraced(function* (note: string, position: ReturnType<typeof toPosition> | undefined) {
    if (drafted.has(note)) return
    const body = position === undefined ? { note } : { note, position }
    const created = yield* rest.write(
      { method: "POST", path: `${mr}/draft_notes`, params, body, content: false },
      DraftNote
    )
    drafted.set(note, created.id)
  })
  const refused: Array<InlineComment> = []
  let form = 0
  const postComment = (comment: InlineComment): Effect.Effect<void, ForgeError, Writing> =>
    Effect.catchIf(
      Effect.suspend(() => draft(comment.body, toPosition(comment, refs, rangeForms[form] ?? "none"))),
      (error) => error.reason === "invalid",
      (error) => {
        if (comment.range === undefined || !refusesForm(error) || form === rangeForms.length - 1) {
          return Effect.sync(() => refused.push(comment))
        }
        // The form depends on the server version, so the rest of the review uses it as well.
        form++
        return postComment(comment)
      }
    )
  for (const comment of review.comments) yield* postComment(comment)
  // A review has no body on GitLab; the body would become one more comment next to the summary.
  if (review.comments.length === 0) yield* draft(review.body, undefined)
  const draftIds = [...wanted].flatMap((note) => drafted.get(note) ?? [])
  if (draftIds.length > 0) {
    yield* rest.write({ method: "POST", path: `${mr}/draft_notes/bulk_publish`, params, content: true }, Schema.Unknown)
  }
  return { hostId: String(draftIds[0] ?? review.head), url: undefined, refused }
})
