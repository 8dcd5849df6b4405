/** Public sets of labelled changes, one row and file each: how a record of a set becomes a labelled change. */
import { Result, Schema, SchemaIssue } from "effect"
import { Severity } from "../../src/domain/Kinds.ts"
import type { EvalCase, ExpectedProblem } from "../EvalCase.ts"
import type { ChangedTexts } from "./ChangedTexts.ts"

/** Reads a file in the folder of the set; undefined where there is none. */
export type ReadAdjacent = (path: string) => Promise<string | undefined>

/** Returns the change, or the errors, each beginning with its field. */
export type ReadRecord = (record: unknown, readAdjacent: ReadAdjacent) => Promise<EvalCase | ReadonlyArray<string>>

export const maxLabels = 500
export const ShortText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1000))
export const LongText = Schema.String.check(Schema.isMaxLength(100_000))
export const DiffText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(8_388_608))
export const Line = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 }))

/** A value that some records of a set hold as JSON in a text. */
export const orJson = <A, I>(schema: Schema.Codec<A, I>) => Schema.Union([schema, Schema.fromJsonString(schema)])

const issues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Decodes a record; each error begins with its field. */
export const decodeRecord = <A, I>(
  schema: Schema.Codec<A, I>,
  value: unknown
): Result.Result<A, ReadonlyArray<string>> =>
  Result.mapError(Schema.decodeUnknownResult(schema, { errors: "all" })(value), ({ issue }) =>
    issues(issue)
      .issues.slice(0, 20)
      .map(({ path, message }) => {
        const at = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
        return `${at || "record"}: ${message.slice(0, 300)}`
      })
  )

const languages: Readonly<Record<string, string>> = {
  c: "C",
  cc: "C++",
  cpp: "C++",
  cs: "C#",
  go: "Go",
  h: "C",
  hpp: "C++",
  java: "Java",
  js: "JavaScript",
  jsx: "JavaScript",
  kt: "Kotlin",
  php: "PHP",
  py: "Python",
  rb: "Ruby",
  rs: "Rust",
  swift: "Swift",
  ts: "TypeScript",
  tsx: "TypeScript"
}

/** Returns the language of the most changed files. */
const languageOf = (paths: ReadonlyArray<string>): string => {
  const names = paths.map((path) => {
    const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase()
    return Object.hasOwn(languages, extension) ? (languages[extension] ?? "other") : "other"
  })
  const [most] = [...Map.groupBy(names, (name) => name)].toSorted(([, a], [, b]) => b.length - a.length)
  return most?.[0] ?? "other"
}

export interface SetLabel {
  readonly text: string
  readonly file?: string | null | undefined
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
  readonly severity?: string | null | undefined
}

const toExpected = ({ text, file, first, last, severity }: SetLabel): ExpectedProblem => {
  const known = severity?.toLowerCase()
  const line = first ?? last ?? undefined
  return {
    file: file ?? undefined,
    side: "new",
    first: line,
    last: line === undefined ? undefined : Math.max(line, last ?? line),
    categories: [],
    severity: Schema.is(Severity)(known) ? known : undefined,
    why: text
  }
}

/** Builds the change of a record. Labels of public sets have no category, so that any counts. */
export const toCase = (
  given: {
    readonly set: string
    readonly id: string
    readonly title: string | null | undefined
    readonly description?: string | null | undefined
    readonly language?: string | null | undefined
  },
  { before, after, changed }: ChangedTexts & { readonly changed: ReadonlyArray<string> },
  labels: ReadonlyArray<SetLabel>
): EvalCase => ({
  name: given.id.replace(/[^\w.#-]/gu, "-").slice(0, 120),
  title: given.title?.trim().slice(0, 1000) || given.id,
  description: given.description?.slice(0, 10_000) || undefined,
  language: given.language?.slice(0, 50) || languageOf(changed),
  kind: given.set,
  before,
  after,
  needs: [],
  looksWrong: undefined,
  expected: labels.map(toExpected),
  tolerated: []
})
