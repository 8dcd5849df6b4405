/**
 * Code of the problems that managed issues list as open, and what a review found out about it in the files at the head. An issue is
 * resolved by this alone: the difference of a push does not contain the code of an earlier one.
 */
import { Schema } from "effect"

const fields = {
  /** Path when the issue was written. */
  file: Schema.String,
  /** Key of the quoted code (review/CodeKey.ts); absent for a problem without a line. */
  code: Schema.optional(Schema.String)
}

export const IssueCode = Schema.Struct(fields)
export type IssueCode = typeof IssueCode.Type

/** `gone`: the code is no longer in the file, or the file was deleted. `moved`: the file is now at `to`, with the code. */
export const CheckedCode = Schema.Union([
  Schema.Struct({ ...fields, state: Schema.Literal("gone") }),
  Schema.Struct({ ...fields, state: Schema.Literal("moved"), to: Schema.String })
])
export type CheckedCode = typeof CheckedCode.Type

/** Identifies code within a branch or pull request. */
export const issueCodeKey = ({ file, code = "" }: IssueCode): string => JSON.stringify([file, code])
