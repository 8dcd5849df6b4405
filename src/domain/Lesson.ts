/**
 * What people made of one finding, kept for later reviews of the same repository: `dismissed`, somebody settled it without changing
 * its code; `resolved`, the code was changed and the problem is gone. A lesson is a hint for a reader, never a rule.
 */
import { Schema } from "effect"
import { Severity } from "./Kinds.ts"

export const LessonVerdict = Schema.Literals(["dismissed", "resolved"])
export type LessonVerdict = typeof LessonVerdict.Type

export const Lesson = Schema.Struct({
  /** Of the finding: one lesson of each. */
  fingerprint: Schema.String,
  verdict: LessonVerdict,
  category: Schema.String,
  severity: Severity,
  path: Schema.String,
  title: Schema.String,
  /** The code that it was about. */
  quote: Schema.String,
  /** Milliseconds since the epoch. */
  learnedAt: Schema.Int
})
export type Lesson = typeof Lesson.Type
