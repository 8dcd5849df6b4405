/** Tools with which a model reports problems and ends a review. */
import { Effect, Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import { cutText, readText } from "./Forms.ts"
import { readReports } from "./ReportForms.ts"
import type { ReadReport } from "./ReportForms.ts"
import { bounded, object, refusedText, text, tool } from "./Tool.ts"
import type { Decoded, Tool, ToolSession } from "./Tool.ts"

const requestedMessage = 800
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

const problemList = (fields: Readonly<Record<string, unknown>>) =>
  object({ problems: { type: "array", items: object(fields, required) } }, ["problems"])

const maxSummary = 60_000
const maxTitle = 300
const maxReason = 2_000

const withTitle = ({ markdown, title }: { readonly markdown: string; readonly title?: string | undefined }): string =>
  title === undefined ? markdown : `## ${title.replace(/\s+/g, " ")}\n\n${markdown}`

const recordReport = (read: ReadReport, session: ToolSession, prefix = ""): Effect.Effect<string> =>
  read.ok
    ? session.report(read.problem)
    : Effect.as(session.refuse(`${prefix}${read.error}`, read.sketch), refusedText(read.error))

/** Decodes the reports of a call. Each is accepted by itself, so that an invalid one does not cost the others. */
export const decodeReports = (input: unknown): Decoded => {
  const { isList, reports } = readReports(input)
  const [first] = reports
  if (!isList && first !== undefined && reports.length === 1)
    return first.ok
      ? { ok: true, run: (session) => recordReport(first, session) }
      : { ok: false, error: first.error, reports: [first.sketch] }
  return {
    ok: true,
    run: (session) =>
      Effect.map(
        Effect.forEach(reports, (read, at) => recordReport(read, session, `${at + 1}: `)),
        (outputs) => outputs.map((output, at) => `${at + 1}: ${output}`).join("\n")
      )
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads a summary: text alone is its Markdown, lists are joined, and a title alone is its text. */
const summaryForms = (input: unknown): unknown => {
  if (typeof input === "string" && !/^\s*[[{]/.test(input)) return summaryForms({ markdown: input })
  if (!isObject(input)) return input
  const given: Readonly<Record<string, unknown>> = { ...input }
  const title = readText(given["title"], " ")
  const markdown = readText(given["markdown"], "\n\n") ?? readText(given["summary"], "\n\n") ?? title
  return {
    ...(markdown === undefined ? {} : { markdown: cutText(markdown, maxSummary) }),
    ...(title === undefined || title === markdown ? {} : { title: cutText(title, maxTitle) })
  }
}

const notSkipped =
  "the change has lines to review: report problems with report_problems, and end with publish_summary, which is needed without problems too"

export const reportTools = {
  report_problems: {
    description:
      "Report all problems that the change introduces. `quote` is the faulty code exactly as in the diff, without line numbers and marks: the comment is placed where it is found.",
    parameters: problemList(properties),
    citingParameters: problemList({ ...properties, rule: text("Id of the broken rule.") }),
    decode: decodeReports
  },
  report_problem: {
    description: "Report one problem, as in report_problems.",
    /** Few fields, because report_problems describes them all. */
    parameters: object(
      {
        file: { type: "string" },
        severity,
        category: { type: "string" },
        message: { type: "string", maxLength: requestedMessage },
        quote: { type: "string" }
      },
      required
    ),
    decode: decodeReports
  },
  publish_summary: tool({
    description: "End the review, once, after all problems are reported.",
    input: Schema.Struct({ markdown: bounded(maxSummary), title: Schema.optional(bounded(maxTitle)) }),
    properties: { markdown: text("The summary."), title: { type: "string" } },
    required: ["markdown"],
    forms: summaryForms,
    run: (input, { end }) => Effect.as(end({ _tag: "Summary", markdown: withTitle(input) }), "recorded")
  }),
  skip: tool({
    description: "End the review of a change that only deletes or moves whole files.",
    input: Schema.Struct({ reason: bounded(maxReason) }),
    properties: { reason: { type: "string" } },
    required: ["reason"],
    run: ({ reason }, { end, maySkip, refuse }) =>
      maySkip
        ? Effect.as(end({ _tag: "Skip", reason }), "recorded")
        : Effect.as(refuse(notSkipped), refusedText(notSkipped))
  })
} satisfies Readonly<Record<string, Tool>>
