/** Findings and reviews as programs get them: of `aicr review --format json`, and of the tools for coding agents. Pure. */
import { Schema } from "effect"
import { FindingState } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"
import { Side } from "./Problem.ts"
import type { Finding } from "./Problem.ts"

const text = (description: string) => Schema.String.annotate({ description })
const maybe = (description: string) => Schema.optionalKey(text(description))
const maybeInt = (description: string) => Schema.optionalKey(Schema.Int.annotate({ description }))

export const FindingJson = Schema.Struct({
  fingerprint: text("Identity, stable under shifted lines and changed wording"),
  number: maybeInt("Number on the change, stable over its reviews"),
  state: Schema.optionalKey(
    Schema.Literals(FindingState.literals).annotate({
      description: "State on the change; open and partly count as problems"
    })
  ),
  url: maybe("Address of its thread, or of the line"),
  file: text("Path of the file"),
  side: Schema.optionalKey(Schema.Literals(Side.literals).annotate({ description: "Side of the diff" })),
  line: maybeInt("First line; absent if the quoted code is not part of the diff"),
  end_line: maybeInt("Last line"),
  severity: Schema.Literals(Severity.literals).annotate({ description: "Severity" }),
  category: text("Category"),
  title: maybe("Title"),
  message: text("Explanation"),
  suggestion: maybe("Replacement of the lines"),
  quote: maybe("Quoted code"),
  confidence: Schema.optionalKey(Schema.Finite.annotate({ description: "Confidence, 0 to 1" })),
  rule: maybe("Id of the rule of the repository that it breaks"),
  verified: maybe("Reason for which a second reading of the code confirmed it")
})
export type FindingJson = typeof FindingJson.Type

export const ReviewJson = Schema.Struct({
  head: text("Reviewed commit or revision"),
  partial: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "A part of the change was not read, or reports could not be used" })
  ),
  skipped: maybe("Reason for which there was nothing to review"),
  findings: Schema.Array(FindingJson),
  summary: text("Summary in Markdown")
})
export type ReviewJson = typeof ReviewJson.Type

/** State of a finding on a change. */
type Followed = Pick<FindingJson, "number" | "state" | "url">

/** Returns the field, or nothing for a value that is undefined. */
const field = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [Name in K]?: V }

export const toFindingJson = (
  { anchor, fingerprint, problem, verified }: Finding,
  { number, state, url }: Followed = {}
): FindingJson => ({
  fingerprint,
  ...field("number", number),
  ...field("state", state),
  ...field("url", url),
  file: anchor?.path ?? problem.file,
  // Lines are only included if the quoted code was found: a guess is worse than none.
  ...(anchor === undefined ? {} : { side: anchor.side, line: anchor.start ?? anchor.line, end_line: anchor.line }),
  severity: problem.severity,
  category: problem.category,
  ...field("title", problem.title),
  message: problem.message,
  ...field("suggestion", problem.suggestion),
  ...field("quote", problem.quote),
  ...field("confidence", problem.confidence),
  ...field("rule", problem.rule),
  ...field("verified", verified)
})
