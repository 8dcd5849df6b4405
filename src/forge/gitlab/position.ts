/**
 * Where a comment stands on a GitLab merge request. A comment on several lines names its first and its last one by line codes:
 * the path's SHA-1 and the counters of both sides. Servers of some versions refuse line numbers beside them, so a range has
 * several forms; with numbers GitLab also says "lines 10 to 12" above the comment. Pure.
 */
import { createHash } from "node:crypto"
import type { DiffPlace } from "../../domain/Problem.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import type { DiffRefs } from "./answers.ts"

/** How a range is written, best first. */
export const rangeForms = ["numbers", "codes", "none"] as const
type RangeForm = (typeof rangeForms)[number]

/** `new_line` for added lines, `old_line` for removed ones, both for context, as GitLab requires. */
export const positionOf = (comment: InlineComment, refs: DiffRefs, form: RangeForm) => ({
  ...refs,
  position_type: "text",
  new_path: comment.path,
  old_path: comment.oldPath ?? comment.path,
  ...linesOf(comment),
  ...rangeOf(comment, form)
})

const linesOf = (comment: InlineComment) => {
  const { line, oldLine, newLine, side } = comment
  if (oldLine !== undefined && newLine !== undefined) return { old_line: oldLine, new_line: newLine }
  return side === "new" ? { new_line: line } : { old_line: line }
}

const rangeOf = ({ path, range }: InlineComment, form: RangeForm) => {
  if (range === undefined || form === "none") return {}
  return { line_range: { start: endOf(path, range.first, form), end: endOf(path, range.last, form) } }
}

/** An unchanged line is on both sides and has no type, as GitLab's own page sends it. */
const types = { added: { type: "new" }, removed: { type: "old" }, unchanged: {} } as const

const endOf = (path: string, place: DiffPlace, form: RangeForm) => {
  const code = { line_code: `${createHash("sha1").update(path).digest("hex")}_${place.old}_${place.new}` }
  const old = place.kind === "added" ? {} : { old_line: place.old }
  const now = place.kind === "removed" ? {} : { new_line: place.new }
  return { ...code, ...types[place.kind], ...(form === "numbers" ? { ...old, ...now } : {}) }
}
