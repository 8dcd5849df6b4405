/**
 * Position of a comment on a GitLab merge request. A comment on several lines names its first and its last line by line codes:
 * the SHA-1 of the path and the line counters of both sides. Some server versions refuse line numbers next to line codes, so a
 * range has several forms; with numbers GitLab also shows "lines 10 to 12" above the comment. Pure.
 */
import { createHash } from "node:crypto"
import type { DiffPlace } from "../../domain/Problem.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import type { DiffRefs } from "./Responses.ts"

/** Forms of a range, preferred ones first. */
export const rangeForms = ["numbers", "codes", "none"] as const
type RangeForm = (typeof rangeForms)[number]

/** Sets `new_line` for added lines, `old_line` for removed ones and both for context, as GitLab requires. */
export const toPosition = (comment: InlineComment, refs: DiffRefs, form: RangeForm) => ({
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
