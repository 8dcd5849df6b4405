/**
 * Reads the reports of a call: the one place that decides what is taken as meant. A report is an object, JSON text of one, or part of
 * a list under a usual name. The table of fields names the spellings and the forms of each; an optional field in
 * a form that is not understood is omitted, and a required one makes the report invalid.
 */
import { Schema } from "effect"
import { ReportedProblem } from "../../domain/Problem.ts"
import type { ReportSketch } from "../../domain/ReportSketch.ts"
import { truncate } from "../../domain/Text.ts"
import {
  cutLines,
  cutText,
  parseJson,
  readConfidence,
  readLines,
  readSeverity,
  readSide,
  readText,
  unfence
} from "./Forms.ts"
import { describeIssues } from "./SchemaErrors.ts"

/** Prompts request 60 words; a longer message is accepted up to this length, and cut beyond it. */
const maxMessage = 4_000
const maxCode = 20_000
const maxTitle = 300
const maxCategory = 100

/** Category of a report that names none. */
const noCategory = "general"

/** Names in lower case without separators, the usual one first. */
const names = {
  file: ["file", "path", "filepath", "filename"],
  line: ["line", "startline", "linenumber", "lines"],
  end_line: ["endline", "lineend"],
  side: ["side"],
  severity: ["severity", "level", "priority"],
  category: ["category", "type", "kind"],
  title: ["title", "summary"],
  message: ["message", "description", "explanation", "comment", "body", "text", "details", "problem", "issue"],
  suggestion: ["suggestion", "replacement"],
  quote: ["quote", "code", "snippet"],
  confidence: ["confidence"],
  rule: ["rule", "ruleid"]
} as const satisfies Record<keyof ReportedProblem, ReadonlyArray<string>>
const listNames = ["problems", "findings", "issues", "reports", "bugs", "comments"]

/** `ReportedProblem` as untrusted input: every text is bounded. */
const bounded = (max: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max))
const Problem = Schema.Struct({
  ...ReportedProblem.fields,
  file: bounded(1024),
  category: bounded(maxCategory),
  message: bounded(maxMessage)
})
const decodeProblem = Schema.decodeUnknownResult(Problem)

export type ReadReport =
  | { readonly ok: true; readonly problem: ReportedProblem }
  | { readonly ok: false; readonly error: string; readonly sketch: ReportSketch }

interface SentReports {
  readonly isList: boolean
  readonly reports: ReadonlyArray<ReadReport>
}

type Fields = ReadonlyMap<string, unknown>

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "")

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldsOf = (value: object): Fields =>
  new Map(
    Object.entries(value).flatMap(([name, field]) =>
      field === null || field === undefined ? [] : [[fold(name), field]]
    )
  )

const get = (fields: Fields, field: keyof typeof names): unknown => {
  const name = names[field].find((one) => fields.has(one))
  return name === undefined ? undefined : fields.get(name)
}

/** Reads the reports of a call in their order. An empty list has none. */
export const readReports = (input: unknown): SentReports => {
  const value = parseJson(input)
  const list = isObject(value) ? findList(value) : value
  if (list === null) return { isList: true, reports: [] }
  if (Array.isArray(list)) return { isList: true, reports: list.map(readReport) }
  return { isList: list !== value, reports: readItems(list) }
}

/** Returns the list that the value holds, or what takes its place: one report, or text that is not JSON. */
const findList = (value: object): unknown => {
  const isReport = get(fieldsOf(value), "severity") !== undefined
  for (const [name, field] of Object.entries(value)) {
    const list = parseJson(field)
    if (listNames.includes(fold(name)) && (list === null || typeof list === "object" || !isReport)) return list
    if (listNames.includes(`${fold(name)}s`) && isObject(list)) return list
  }
  return value
}

/** Reads one report; text that is not JSON may hold several. */
const readItems = (value: unknown): ReadonlyArray<ReadReport> =>
  typeof value === "string"
    ? value
        .slice(0, maxBroken)
        .split(/\}\s*,\s*\{/, maxReports)
        .map(readReport)
    : [readReport(value)]

const readReport = (input: unknown): ReadReport => {
  const value = parseJson(input)
  if (!isObject(value)) return { ok: false, error: "input: expected an object", sketch: sketchText(value) }
  const fields = fieldsOf(value)
  const decoded = decodeProblem(candidate(fields))
  return decoded._tag === "Success"
    ? { ok: true, problem: decoded.success }
    : { ok: false, error: describeIssues(decoded.failure.issue), sketch: sketchOf(fields) }
}

/** The report in its exact form. Required fields that are not understood are kept, so that the error shows them. */
const candidate = (fields: Fields): Readonly<Record<string, unknown>> => {
  const range = readLines(get(fields, "line"))
  const last = readLines(get(fields, "end_line"))?.last ?? range?.last
  const title = readText(get(fields, "title"), " ")
  const given = readText(get(fields, "message"), "\n\n") ?? title
  const [code, quote] = [readText(get(fields, "suggestion"), "\n"), readText(get(fields, "quote"), "\n")]
  const isTooLong = code !== undefined && code.length > maxCode
  const message = given !== undefined && isTooLong ? `${given}\n\n${describeOmitted(code.length)}` : given
  const candidates = {
    file: readText(get(fields, "file"), "")?.trim() ?? get(fields, "file"),
    line: range?.first,
    end_line: range !== undefined && last !== undefined && last > range.first ? last : undefined,
    side: readSide(get(fields, "side")),
    severity: readSeverity(get(fields, "severity")) ?? get(fields, "severity"),
    category: cutText((readText(get(fields, "category"), ", ") ?? noCategory).trim(), maxCategory),
    title: title === undefined ? undefined : cutText(title, maxTitle),
    message: message === undefined ? get(fields, "message") : cutText(message, maxMessage),
    // Half of a replacement would remove code.
    suggestion: code === undefined || isTooLong ? undefined : unfence(code),
    quote: quote === undefined ? undefined : cutLines(quote, maxCode),
    confidence: readConfidence(get(fields, "confidence")),
    rule: readRuleId(get(fields, "rule"))
  }
  return Object.fromEntries(Object.entries(candidates).filter(([, value]) => value !== undefined))
}

/** Ids of rules are names; other text is not an id. */
const readRuleId = (value: unknown): string | undefined => {
  const id = readText(value, " ")?.trim()
  return id !== undefined && /^[\w.-]{1,64}$/.test(id) ? id : undefined
}

const describeOmitted = (characters: number): string =>
  `[The suggested code is omitted: it has ${characters} characters.]`

const maxSketch = 400
/** Characters of input that is not JSON in which reports are searched. */
const maxBroken = 100_000
const maxReports = 100

const sketchOf = (fields: Fields): ReportSketch => {
  const file = readText(get(fields, "file"), "")
  const line = readLines(get(fields, "line"))?.first
  const quote = readText(get(fields, "quote"), "\n")
  const message = readText(get(fields, "message"), "\n\n") ?? readText(get(fields, "title"), " ")
  return {
    ...(file === undefined ? {} : { file: truncate(file.trim(), maxSketch) }),
    ...(line === undefined ? {} : { line }),
    ...(quote === undefined ? {} : { quote: truncate(quote, maxSketch) }),
    ...(message === undefined ? {} : { message: truncate(message, maxSketch) })
  }
}

/** Finds fields in text that is not JSON, such as JSON that was cut. Text without fields is a message. */
const sketchText = (value: unknown): ReportSketch => {
  if (typeof value !== "string") return {}
  const fields = new Map<string, unknown>()
  for (const [, name = "", text, number] of value.matchAll(/"(\w{1,20})"\s*:\s*(?:"((?:[^"\\]|\\.)*)|(\d{1,9}))/g))
    fields.set(fold(name), text ?? number)
  return fields.size > 0 || value.trim() === "" ? sketchOf(fields) : { message: truncate(value, maxSketch) }
}
