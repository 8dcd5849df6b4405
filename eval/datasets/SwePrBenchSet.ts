/**
 * SWE-PRBench: `prs.jsonl` with the diff of each pull request, and the comments of its reviewers in the record or in
 * `annotations/<task_id>_human.json` next to it. As in its own harness, comments that are listed as substantive count,
 * else those that begin a thread.
 */
import { Result, Schema } from "effect"
import { textsOfDiff } from "./ChangedTexts.ts"
import { decodeRecord, DiffText, Line, LongText, maxLabels, ShortText, toCase } from "./LabelledSet.ts"
import type { ReadRecord } from "./LabelledSet.ts"

const Comments = Schema.Array(
  Schema.Struct({
    comment_id: Schema.optional(ShortText),
    body: LongText,
    file: Schema.optional(Schema.NullOr(ShortText)),
    line: Schema.optional(Schema.NullOr(Line)),
    severity: Schema.optional(Schema.NullOr(Schema.String)),
    is_initiating_comment: Schema.optional(Schema.Boolean)
  })
).check(Schema.isMaxLength(maxLabels))

const Record = Schema.Struct({
  task_id: ShortText.check(Schema.isPattern(/^[\w.-]+$/)),
  title: Schema.optional(Schema.NullOr(Schema.String)),
  description: Schema.optional(Schema.NullOr(Schema.String)),
  language: Schema.optional(Schema.NullOr(Schema.String)),
  diff_patch: DiffText,
  human_review_comments: Schema.optional(Comments)
})

const Annotation = Schema.fromJsonString(
  Schema.Struct({ comments: Comments, substantive_comment_ids: Schema.optional(Schema.Array(ShortText)) })
)

export const readSwePrBench: ReadRecord = async (record, readAdjacent) => {
  const read = decodeRecord(Record, record)
  if (Result.isFailure(read)) return read.failure
  const { task_id: id, title, description, language, diff_patch, human_review_comments } = read.success
  const adjacent = `annotations/${id}_human.json`
  const text = human_review_comments === undefined ? await readAdjacent(adjacent) : undefined
  if (human_review_comments === undefined && text === undefined)
    return [`human_review_comments: missing, and ${adjacent} does not exist next to the set`]
  const annotation = text === undefined ? undefined : decodeRecord(Annotation, text)
  if (annotation !== undefined && Result.isFailure(annotation))
    return annotation.failure.map((error) => `${adjacent}: ${error}`)
  const comments = annotation?.success.comments ?? human_review_comments ?? []
  const ids = annotation?.success.substantive_comment_ids ?? []
  const isCounted = (comment: (typeof comments)[number]): boolean =>
    ids.length > 0
      ? comment.comment_id !== undefined && ids.includes(comment.comment_id)
      : comment.is_initiating_comment !== false
  const texts = textsOfDiff(diff_patch)
  if (typeof texts === "string") return [`diff_patch: ${texts}`]
  return toCase(
    { set: "swe-prbench", id, title, description, language },
    texts,
    comments.filter(isCounted).map(({ body, file, line, severity }) => ({ text: body, file, first: line, severity }))
  )
}
