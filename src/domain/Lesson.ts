/**
 * Reaction of people to one finding, stored for later reviews of the same repository: `dismissed`, the thread was resolved without a change
 * of its code; `resolved`, the code was changed and the problem no longer exists; `remembered`, a person wrote it as a note, which is its title,
 * and about no finding. One lesson is a hint for a reader, never a rule.
 */
import { Schema } from "effect"
import { Severity } from "./Kinds.ts"

const LessonVerdict = Schema.Literals(["dismissed", "resolved", "remembered"])
type LessonVerdict = typeof LessonVerdict.Type

export const Lesson = Schema.Struct({
  /** Fingerprint of the finding; each finding has one lesson. */
  fingerprint: Schema.String,
  verdict: LessonVerdict,
  category: Schema.String,
  severity: Severity,
  path: Schema.String,
  title: Schema.String,
  /** Code that the finding was about. */
  quote: Schema.String,
  /** Milliseconds since the epoch. */
  learnedAt: Schema.Int
})
export type Lesson = typeof Lesson.Type
