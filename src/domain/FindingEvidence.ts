/**
 * Digests of the code of a finding and of the lines around it, by which its outcome is decided at the end of the change, and later, without the
 * text of the code. Lines without letters and digits are omitted. Made by review/TakeEvidence.ts.
 */
import { Schema } from "effect"

const Digests = Schema.Array(Schema.String)

export const FindingEvidence = Schema.Struct({
  /** Lines of the finding, in order. */
  lines: Digests,
  /** The nearest lines above, the nearest one last, and below, the nearest one first. */
  before: Digests,
  after: Digests,
  /** Digest of the definition around it. */
  definition: Schema.String,
  /** Number of occurrences of these lines in the file, and of those in the definition. */
  copies: Schema.Int,
  copiesInDefinition: Schema.Int,
  /** Letters and digits of the lines. */
  weight: Schema.Int
})
export type FindingEvidence = typeof FindingEvidence.Type
