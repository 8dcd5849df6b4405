/**
 * A published finding that people of its repository judged, as the records of outcomes have it (store/Outcomes.ts). Outcomes that count, and
 * those that only the author of a change or a model decides:
 *
 * | outcome        | when it counts                     | judgement |
 * |----------------|------------------------------------|-----------|
 * | dismissed      | a maintainer dismissed it          | dismissed |
 * | fixed, partly  | a maintainer merged the change     | accepted  |
 * | open at merge  | a maintainer merged the change     | ignored   |
 * | other          | never                              |           |
 *
 * A finding that was open at the merge was not worth a repair to the person who merged it, so it counts as not accepted.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { Severity } from "./Kinds.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

const Judgement = Schema.Literals(["accepted", "dismissed", "ignored"])

export const JudgedFinding = record({
  targetKey: Field.text,
  category: Field.text,
  severity: Field.stored(Severity),
  /** Model that reported it, as `provider/model`. */
  model: Field.text,
  path: Field.text,
  title: Field.text,
  judgement: Field.stored(Judgement),
  decidedAt: Field.time,
  /** True if its review could read repositories that only members may read. */
  restricted: Field.flag
})
export type JudgedFinding = RecordValues<typeof JudgedFinding>

/** Accepted and judged findings of a category and severity, of all repositories. */
export interface JudgedCounts {
  /** The spelling of the model. */
  readonly category: string
  readonly severity: string
  readonly judged: number
  readonly accepted: number
}
