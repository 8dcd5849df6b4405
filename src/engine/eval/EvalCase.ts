/**
 * A labelled change: files before and after, and the problems that a good reviewer reports. Findings without a label
 * are wrong. Expected positions are written as code and searched here, so that no label has a wrong line number. Pure.
 */
import { Schema, SchemaIssue } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import { Side } from "../../domain/Problem.ts"

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000))

const Label = Schema.Struct({
  file: Text,
  /** One or more whole lines, without their indentation; they occur exactly once in the file. */
  code: Text,
  side: Schema.optional(Side),
  /** Any of these counts. */
  category: Schema.Union([Text, Schema.Array(Text).check(Schema.isMinLength(1))]),
  severity: Schema.optional(Severity),
  /** Explanation of the problem, for people. */
  why: Text
})

const Given = Schema.Struct({
  title: Text,
  language: Text,
  description: Schema.optional(Text),
  /** Kind of fault, or of change where it is clean. */
  kind: Text,
  files: Schema.Array(
    Schema.Struct({
      path: Text,
      /** Absent where the file is new. */
      before: Schema.optional(Schema.String),
      /** Absent where the file is removed. Equal to `before` where the file is only context. */
      after: Schema.optional(Schema.String)
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(50)),
  /** Problems that must be found. None: the change is clean, and every finding is wrong. */
  expected: Schema.Array(Label),
  /** Problems that may be named and need not be. */
  tolerated: Schema.optional(Schema.Array(Label))
})

export interface ExpectedProblem {
  readonly file: string
  readonly side: Side
  readonly first: number
  readonly last: number
  readonly categories: ReadonlyArray<string>
  readonly severity: Severity | undefined
  readonly why: string
}

export interface EvalCase {
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  readonly language: string
  readonly kind: string
  readonly before: ReadonlyMap<string, string>
  readonly after: ReadonlyMap<string, string>
  readonly expected: ReadonlyArray<ExpectedProblem>
  readonly tolerated: ReadonlyArray<ExpectedProblem>
}

const decode = Schema.decodeUnknownResult(Given, { onExcessProperty: "error", errors: "all" })
const issues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Decodes a case, or returns the errors as messages. */
export const readCase = (name: string, value: unknown): EvalCase | ReadonlyArray<string> => {
  const read = decode(value)
  if (read._tag === "Failure") {
    return issues(read.failure.issue).issues.map(({ path, message }) => {
      const at = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
      return `${name}: ${at === "" ? "" : `${at}: `}${message.slice(0, 300)}`
    })
  }
  const { title, description, language, kind, files } = read.success
  const contents = (at: "before" | "after") =>
    new Map(files.flatMap((file) => (file[at] === undefined ? [] : [[file.path, file[at]] as const])))
  const texts = { before: contents("before"), after: contents("after") }
  const problems: Array<string> = []
  if (files.every(({ before, after }) => before === after)) problems.push(`${name}: nothing is changed`)
  const placed = (labels: ReadonlyArray<typeof Label.Type>, list: string) =>
    labels.flatMap((label, index) => {
      const found = place(label, texts)
      if (typeof found !== "string") return [found]
      problems.push(`${name}: ${list}.${index}: ${found}`)
      return []
    })
  const expected = placed(read.success.expected, "expected")
  const tolerated = placed(read.success.tolerated ?? [], "tolerated")
  return problems.length > 0 ? problems : { name, title, description, language, kind, ...texts, expected, tolerated }
}

const place = (
  label: typeof Label.Type,
  texts: { readonly before: ReadonlyMap<string, string>; readonly after: ReadonlyMap<string, string> }
): ExpectedProblem | string => {
  const side = label.side ?? "new"
  const text = texts[side === "new" ? "after" : "before"].get(label.file)
  if (text === undefined) return `file ${label.file} not found on this side`
  const lines = text.split("\n").map((line) => line.trim())
  const wanted = label.code
    .trim()
    .split("\n")
    .map((line) => line.trim())
  const at = lines.flatMap((_, index) =>
    wanted.every((line, offset) => lines[index + offset] === line) ? [index] : []
  )
  const [first] = at
  if (first === undefined) return `${label.file} has no lines ${JSON.stringify(label.code)}`
  if (at.length > 1) return `${label.file} has ${JSON.stringify(label.code)} ${at.length} times; take more lines`
  return {
    file: label.file,
    side,
    first: first + 1,
    last: first + wanted.length,
    categories: typeof label.category === "string" ? [label.category] : label.category,
    severity: label.severity,
    why: label.why
  }
}
