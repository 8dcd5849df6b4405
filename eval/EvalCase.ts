/**
 * A labelled change: files before and after, and the problems that a good reviewer reports. Findings without a label
 * are wrong. Expected positions are written as code and searched here, so that no label has a wrong line number. Pure.
 */
import { Schema, SchemaIssue } from "effect"
import { Severity } from "../src/domain/Kinds.ts"
import { Side } from "../src/domain/Problem.ts"

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000))

/** One or more whole lines of a file, without their indentation; they occur exactly once in it. */
const code = { file: Text, code: Text, side: Schema.optional(Side) }
const Code = Schema.Struct(code)

const Label = Schema.Struct({
  ...code,
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
      /** Absent where the file is removed. */
      after: Schema.optional(Schema.String),
      /** Replaces `before` and `after` of a file that is only context. */
      same: Schema.optional(Schema.String)
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(50)),
  /** Code of unchanged files without which the change cannot be judged. */
  needs: Schema.optional(Schema.Array(Code)),
  /** Explanation, for people, of why a clean change looks wrong and is right. */
  looks_wrong: Schema.optional(Text),
  /** Problems that must be found. None: the change is clean, and every finding is wrong. */
  expected: Schema.Array(Label),
  /** Problems that may be named and need not be. */
  tolerated: Schema.optional(Schema.Array(Label))
})

export interface CodePlace {
  readonly file: string
  readonly side: Side
  readonly first: number
  readonly last: number
}

/** A problem of a public set may have no lines, or no file; it is then matched by its words. */
export interface ExpectedProblem extends Pick<CodePlace, "side"> {
  readonly file: string | undefined
  readonly first: number | undefined
  readonly last: number | undefined
  /** Any of these counts. None: every category does. */
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
  /** Places in unchanged files without which the change cannot be judged. */
  readonly needs: ReadonlyArray<CodePlace>
  readonly looksWrong: string | undefined
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
  const { title, description, language, kind, files, looks_wrong: looksWrong, needs = [] } = read.success
  const contents = (at: "before" | "after") =>
    new Map(
      files.flatMap((file) =>
        [file[at] ?? file.same].flatMap((text) => (text === undefined ? [] : [[file.path, text] as const]))
      )
    )
  const texts = { before: contents("before"), after: contents("after") }
  const problems: Array<string> = []
  if (files.every(({ before, after }) => before === after)) problems.push(`${name}: nothing is changed`)
  for (const { path, before, after, same } of files) {
    if (same !== undefined && (before ?? after) !== undefined)
      problems.push(`${name}: ${path}: write either same, or before and after`)
  }
  const placed = <A extends typeof Code.Type>(labels: ReadonlyArray<A>, list: string) =>
    labels.flatMap((label, index) => {
      const found = place(label, texts)
      if (typeof found !== "string") return [[label, found] as const]
      problems.push(`${name}: ${list}.${index}: ${found}`)
      return []
    })
  const labelled = (labels: ReadonlyArray<typeof Label.Type>, list: string) =>
    placed(labels, list).map(([{ category, severity, why }, found]): ExpectedProblem => ({
      ...found,
      categories: typeof category === "string" ? [category] : category,
      severity,
      why
    }))
  const expected = labelled(read.success.expected, "expected")
  const tolerated = labelled(read.success.tolerated ?? [], "tolerated")
  const known = placed(needs, "needs").map(([, found]) => found)
  for (const [index, { file }] of needs.entries()) {
    if (texts.before.get(file) !== texts.after.get(file)) problems.push(`${name}: needs.${index}: ${file} is changed`)
  }
  return problems.length > 0
    ? problems
    : { name, title, description, language, kind, ...texts, needs: known, looksWrong, expected, tolerated }
}

const place = (
  label: typeof Code.Type,
  texts: { readonly before: ReadonlyMap<string, string>; readonly after: ReadonlyMap<string, string> }
): CodePlace | string => {
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
    last: first + wanted.length
  }
}
