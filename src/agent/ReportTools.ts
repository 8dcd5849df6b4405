/** Tools with which a model reports problems and ends a review. */
import { Effect, Schema } from "effect"
import { Severity } from "../domain/Kinds.ts"
import { ReportedProblem } from "../domain/Problem.ts"
import { bounded, object, refusedText, text, tool } from "./Tool.ts"

const Line = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 }))

/** Prompts request 60 words; a longer message is accepted up to this length instead of being repaired. */
const maxMessage = 4_000
const requestedMessage = 800

/** `ReportedProblem` as untrusted input: every text is bounded. */
const Problem = Schema.Struct({
  ...ReportedProblem.fields,
  file: bounded(1024),
  line: Schema.optional(Line),
  end_line: Schema.optional(Line),
  category: bounded(100),
  title: Schema.optional(bounded(300)),
  message: bounded(maxMessage),
  suggestion: Schema.optional(Schema.String.check(Schema.isMaxLength(20_000))),
  quote: Schema.optional(Schema.String.check(Schema.isMaxLength(20_000))),
  confidence: Schema.optional(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})

const required = ["file", "severity", "category", "message", "quote"] as const
const side = { type: "string", enum: ["new", "old"] }
const severity = { type: "string", enum: Severity.literals }
const properties = {
  file: text("Path as in the diff."),
  line: { type: "integer", description: "First line of the quote." },
  end_line: { type: "integer", description: "Last line." },
  side: { ...side, description: "old: removed lines." },
  severity,
  category: text("One word."),
  title: text("One short line."),
  message: {
    ...text("What goes wrong, when, and how to repair it, in at most 60 words. Markdown."),
    maxLength: requestedMessage
  },
  suggestion: text("Optional replacement of the quoted lines, without a fence."),
  quote: text("The faulty lines, copied from the diff."),
  confidence: { type: "number", description: "0 to 1." }
}

const withTitle = ({ markdown, title }: { readonly markdown: string; readonly title?: string | undefined }): string =>
  title === undefined ? markdown : `## ${title.replace(/\s+/g, " ")}\n\n${markdown}`

const reportProblem = tool({
  description: "Report one problem, as in report_problems.",
  input: Problem,
  /** Few fields, because report_problems describes them all. */
  properties: {
    file: { type: "string" },
    severity,
    category: { type: "string" },
    message: { type: "string", maxLength: requestedMessage },
    quote: { type: "string" }
  },
  required,
  run: (problem, { report }) => report(problem)
})

export const reportTools = {
  report_problems: tool({
    description:
      "Report all problems that the change introduces. `quote` is the faulty code exactly as in the diff, without line numbers and marks: the comment is placed where it is found.",
    /** Each item is decoded as a report of its own, so that an invalid one does not cost the others. */
    input: Schema.Struct({ problems: Schema.Array(Schema.Unknown) }),
    properties: { problems: { type: "array", items: object(properties, required) } },
    required: ["problems"],
    run: ({ problems }, session) =>
      Effect.map(
        Effect.forEach(problems, (problem, at) => {
          const decoded = reportProblem.decode(problem)
          if (decoded.ok) return decoded.run(session)
          session.refuse(`${at + 1}: ${decoded.error}`)
          return Effect.succeed(refusedText(decoded.error))
        }),
        (outputs) => outputs.map((output, at) => `${at + 1}: ${output}`).join("\n")
      )
  }),
  report_problem: reportProblem,
  publish_summary: tool({
    description: "End the review, once, after all problems are reported.",
    input: Schema.Struct({ markdown: bounded(60_000), title: Schema.optional(bounded(300)) }),
    properties: { markdown: text("The summary."), title: { type: "string" } },
    required: ["markdown"],
    run: (input, { end }) => Effect.as(end({ _tag: "Summary", markdown: withTitle(input) }), "recorded")
  }),
  skip: tool({
    description: "End because nothing in the change can be reviewed.",
    input: Schema.Struct({ reason: bounded(2_000) }),
    properties: { reason: { type: "string" } },
    required: ["reason"],
    run: ({ reason }, { end }) => Effect.as(end({ _tag: "Skip", reason }), "recorded")
  })
}
