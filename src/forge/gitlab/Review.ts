/**
 * A review on GitLab: comments are created as drafts, which only their account sees, and published together with all other drafts of
 * this account. An attempt that ended in between left drafts: those of this review are used, and those of other reviews of the service
 * are deleted. GitLab refuses lines one by one, so the refused ones are returned and the others are published.
 */
import { Effect, Schema } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import { ForgeError } from "../ForgeError.ts"
import type { NewReview, PendingReview } from "../Forge.ts"
import { isRefusedWith } from "../http/HostWords.ts"
import type { Rest } from "../http/Http.ts"
import { DraftNote, MergeRequest, Version } from "./Responses.ts"
import type { DiffRefs } from "./Responses.ts"
import type { Writing } from "../WriteOwner.ts"
import { pages } from "./Facts.ts"
import { createHash } from "node:crypto"
import type { DiffPlace } from "../../domain/Problem.ts"

/**
 * Position of a comment on a GitLab merge request. A comment on several lines names its first and its last line by line codes:
 * the SHA-1 of the path and the line counters of both sides. Some server versions refuse line numbers next to line codes, so a
 * range has several forms; with numbers GitLab also shows "lines 10 to 12" above the comment. Pure.
 *
 * Forms of a range, preferred ones first.
 */
const rangeForms = ["numbers", "codes", "none"] as const
type RangeForm = (typeof rangeForms)[number]

/** Sets `new_line` for added lines, `old_line` for removed ones and both for context, as GitLab requires. */
const toPosition = (comment: InlineComment, refs: DiffRefs, form: RangeForm) => ({
  ...refs,
  position_type: "text",
  new_path: comment.path,
  old_path: comment.oldPath ?? comment.path,
  ...toLines(comment),
  ...toRange(comment, form)
})

const toLines = (comment: InlineComment) => {
  const { line, oldLine, newLine, side } = comment
  if (oldLine !== undefined && newLine !== undefined) return { old_line: oldLine, new_line: newLine }
  return side === "new" ? { new_line: line } : { old_line: line }
}

const toRange = ({ path, range }: InlineComment, form: RangeForm) => {
  if (range === undefined || form === "none") return {}
  return { line_range: { start: toLineCode(path, range.first, form), end: toLineCode(path, range.last, form) } }
}

/** An unchanged line is on both sides and has no type, as in requests of GitLab's own page. */
const types = { added: { type: "new" }, removed: { type: "old" }, unchanged: {} } as const

const toLineCode = (path: string, location: DiffPlace, form: RangeForm) => {
  const code = { line_code: `${createHash("sha1").update(path).digest("hex")}_${location.old}_${location.new}` }
  const old = location.kind === "added" ? {} : { old_line: location.old }
  const now = location.kind === "removed" ? {} : { new_line: location.new }
  return { ...code, ...types[location.kind], ...(form === "numbers" ? { ...old, ...now } : {}) }
}

const mr = "/projects/{id}/merge_requests/{merge_request_iid}"
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
      why: { _tag: "NoVersionOfHead", number: mergeRequestParams.merge_request_iid, head }
    })
  }
  return { base_sha: version.base_commit_sha, start_sha: version.start_commit_sha, head_sha: version.head_commit_sha }
})

type Draft = typeof DraftNote.Type

const listDrafts = (rest: Rest, params: MergeRequestParams) =>
  rest.get({ path: `${mr}/draft_notes`, params: { ...params } }, Schema.Array(DraftNote))

const removeDraft = (rest: Rest, params: MergeRequestParams, id: number) =>
  Effect.asVoid(
    rest.write(
      {
        method: "DELETE",
        path: `${mr}/draft_notes/{draft_note_id}`,
        params: { ...params, draft_note_id: id },
        content: false
      },
      Schema.Unknown
    )
  )

const toPending = (rest: Rest, params: MergeRequestParams, { id, note }: Draft): PendingReview => ({
  texts: [note],
  discard: removeDraft(rest, params, id)
})

/** Creates a draft of each comment. Returns those that GitLab refuses. */
const draftComments = Effect.fnUntraced(function* (
  comments: ReadonlyArray<InlineComment>,
  refs: DiffRefs,
  draft: (note: string, position: ReturnType<typeof toPosition>) => Effect.Effect<void, ForgeError, Writing>
) {
  const refused: Array<InlineComment> = []
  let form = 0
  const postComment = (comment: InlineComment): Effect.Effect<void, ForgeError, Writing> =>
    Effect.catchIf(
      Effect.suspend(() => draft(comment.body, toPosition(comment, refs, rangeForms[form] ?? "none"))),
      (error) => error.reason === "invalid",
      (error) => {
        if (
          comment.range === undefined ||
          !isRefusedWith(error, "gitlabRefusesPosition") ||
          form === rangeForms.length - 1
        ) {
          return Effect.sync(() => refused.push(comment))
        }
        // The form depends on the server version, so the rest of the review uses it as well.
        form++
        return postComment(comment)
      }
    )
  for (const comment of comments) yield* postComment(comment)
  return refused
})

export const createReview = Effect.fnUntraced(function* (
  rest: Rest,
  mergeRequestParams: MergeRequestParams,
  review: NewReview,
  known: DiffRefs | undefined
) {
  const params = { ...mergeRequestParams }
  const refs = known ?? (yield* diffRefs(rest, mergeRequestParams, review.head))
  const { isResumed, settle } = review.pending
  const texts = new Set([review.body, ...review.comments.map((comment) => comment.body)])
  /** Ids of the drafts of this review by text: an earlier attempt may have left some. */
  const drafted = new Map<string, number>()
  if (isResumed) {
    const others: Array<Draft> = []
    for (const draft of yield* listDrafts(rest, mergeRequestParams)) {
      if (texts.has(draft.note) && !drafted.has(draft.note)) drafted.set(draft.note, draft.id)
      else others.push(draft)
    }
    yield* settle(others.map((draft) => toPending(rest, mergeRequestParams, draft)))
  }
  const draft = Effect.fnUntraced(function* (note: string, position: ReturnType<typeof toPosition> | undefined) {
    if (drafted.has(note)) return
    const body = position === undefined ? { note } : { note, position }
    const created = yield* rest.write(
      { method: "POST", path: `${mr}/draft_notes`, params, body, content: false },
      DraftNote
    )
    drafted.set(note, created.id)
  })
  const refused = yield* draftComments(review.comments, refs, draft)
  // A review has no body on GitLab; the body would become one more comment next to the summary.
  if (review.comments.length === 0) yield* draft(review.body, undefined)
  const draftIds = [...texts].flatMap((note) => drafted.get(note) ?? [])
  if (draftIds.length > 0) {
    const own = new Set(draftIds)
    // Publishing applies to all drafts of the account, also to those of a person who uses it.
    const others = (yield* listDrafts(rest, mergeRequestParams)).filter(({ id }) => !own.has(id))
    yield* settle(others.map((other) => toPending(rest, mergeRequestParams, other))).pipe(
      // A person who publishes the other drafts would publish these, too.
      Effect.tapError(() => Effect.forEach(own, (id) => removeDraft(rest, mergeRequestParams, id)))
    )
    yield* rest.write({ method: "POST", path: `${mr}/draft_notes/bulk_publish`, params, content: true }, Schema.Unknown)
  }
  return { hostId: String(draftIds[0] ?? review.head), url: undefined, refused }
})
