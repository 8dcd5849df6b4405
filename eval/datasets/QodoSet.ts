/**
 * Qodo's PR-Review-Bench: JSON lines with the problems of a pull request. The published records have no diff; it is
 * `diff` of the record, or the file `diffs/<repo>_<number>.diff` next to the set.
 */
import { Result, Schema } from "effect"
import { textsOfDiff } from "./ChangedTexts.ts"
import { decodeRecord, DiffText, Line, LongText, maxLabels, ShortText, toCase } from "./LabelledSet.ts"
import type { ReadRecord } from "./LabelledSet.ts"

const Record = Schema.Struct({
  repo: ShortText.check(Schema.isPattern(/^[\w.-]+$/)),
  pr_url_to_review: ShortText.check(Schema.isPattern(/\/\d+\/?$/)),
  pr_title: Schema.optional(Schema.NullOr(Schema.String)),
  diff: Schema.optional(DiffText),
  issues: Schema.Array(
    Schema.Struct({
      title: ShortText,
      description: LongText,
      file_path: Schema.NullOr(ShortText),
      start_line: Schema.NullOr(Line),
      end_line: Schema.NullOr(Line)
    })
  ).check(Schema.isMaxLength(maxLabels))
})

export const readQodo: ReadRecord = async (record, readAdjacent) => {
  const read = decodeRecord(Record, record)
  if (Result.isFailure(read)) return read.failure
  const { repo, pr_url_to_review: url, pr_title: title, issues } = read.success
  const number = url.split("/").findLast((part) => part !== "") ?? ""
  const adjacent = `diffs/${repo}_${number}.diff`
  const diff = read.success.diff ?? (await readAdjacent(adjacent))
  if (diff === undefined) return [`diff: missing, and ${adjacent} does not exist next to the set`]
  const texts = textsOfDiff(diff)
  if (typeof texts === "string") return [`diff: ${texts}`]
  return toCase(
    { set: "qodo", id: `${repo}-${number}`, title },
    texts,
    issues.map((issue) => ({
      text: `${issue.title}. ${issue.description}`,
      file: issue.file_path,
      first: issue.start_line,
      last: issue.end_line
    }))
  )
}
