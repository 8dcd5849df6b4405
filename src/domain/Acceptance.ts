/**
 * Kinds of findings that the people of a repository accept, and those that are folded for it (review/Acceptance.ts). They are part of the input
 * of a review.
 */
import { Schema } from "effect"
import { Severity } from "./Kinds.ts"

/** Findings of a category, a severity and a model. */
export const AcceptanceGroup = Schema.Struct({
  category: Schema.String,
  severity: Severity,
  /** Model that reported them, as `provider/model`. */
  model: Schema.String,
  /** Number of the newest findings that people judged. */
  judged: Schema.Int,
  accepted: Schema.Int,
  /** Estimated share of accepted findings, from 0 to 1. */
  share: Schema.Number,
  /** Whether findings of this kind are folded. */
  isFolded: Schema.Boolean
})
export type AcceptanceGroup = typeof AcceptanceGroup.Type

/** Findings with the same wording in the same class of files, which maintainers dismissed again and again. */
export const DismissedWording = Schema.Struct({
  category: Schema.String,
  /** Class of the path: language, tests or prose. */
  files: Schema.String,
  /** Title of the newest one. */
  title: Schema.String,
  dismissed: Schema.Int
})
export type DismissedWording = typeof DismissedWording.Type

export const Acceptance = Schema.Struct({
  /** Share below which findings are folded. */
  floor: Schema.Number,
  groups: Schema.Array(AcceptanceGroup),
  wordings: Schema.Array(DismissedWording),
  /** Lines about accepted findings for the prompt. */
  examples: Schema.Array(Schema.String)
})
export type Acceptance = typeof Acceptance.Type
