/** One tool: its description and input for models, and what it does. Pure but for `run`. */
import { Schema, SchemaIssue } from "effect"
import type { Effect } from "effect"
import type { ReportedProblem } from "../domain/Problem.ts"
import type { RepositoryReader } from "./RepositoryReader.ts"

/** The end of the review as requested by the model. */
export type Chosen =
  | { readonly _tag: "Summary"; readonly markdown: string }
  | { readonly _tag: "Skip"; readonly reason: string }

/** The objects that the tools of one conversation act on. */
export interface ToolSession {
  /** Records a problem, durably where the session keeps records, and returns the text of the reply. */
  readonly report: (problem: ReportedProblem) => Effect.Effect<string>
  /** Takes the error of a part of a call whose other parts are accepted. */
  readonly refuse: (error: string) => void
  /** Records the end, durably where the session keeps records. */
  readonly end: (chosen: Chosen) => Effect.Effect<void>
  readonly reader: RepositoryReader
}

/** Returns the text of the reply. */
export type ToolRun = (session: ToolSession) => Effect.Effect<string>

export type Decoded = { readonly ok: true; readonly run: ToolRun } | { readonly ok: false; readonly error: string }

export interface Tool {
  readonly description: string
  /** JSON Schema of the input, as models get it. */
  readonly parameters: Readonly<Record<string, unknown>>
  /**
   * Null for an absent value and input as JSON text are accepted; everything else must be exact, and the error describes the
   * correction for the model.
   */
  readonly decode: (input: unknown) => Decoded
}

const issues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Returns the schema of an object, as models get it. */
export const object = (properties: Readonly<Record<string, unknown>>, required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

/** Returns the row of a tool. `properties` describes to models the fields that `input` accepts. */
export const tool = <S extends Schema.Struct<Readonly<Record<string, Schema.Decoder<unknown>>>>>(row: {
  readonly description: string
  readonly input: S
  readonly properties: Readonly<Partial<Record<keyof S["fields"], unknown>>>
  readonly required: ReadonlyArray<keyof S["fields"] & string>
  readonly run: (input: S["Type"], session: ToolSession) => Effect.Effect<string>
}): Tool => {
  const decodeInput = Schema.decodeUnknownResult(row.input)
  return {
    description: row.description,
    parameters: object(row.properties, row.required),
    decode: (input) => {
      const result = decodeInput(plain(input))
      if (result._tag === "Success") return { ok: true, run: (session) => row.run(result.success, session) }
      return { ok: false, error: errorOf(issues(result.failure.issue).issues) }
    }
  }
}

type Issue = ReturnType<typeof issues>["issues"][number]

const errorOf = (found: ReadonlyArray<Issue>): string =>
  found
    .slice(0, 5)
    .map(({ path = [], message }) => {
      const at = path.map((part) => String(typeof part === "object" ? part.key : part))
      return `${at.length === 0 ? "input" : at.join(".")}: ${message.slice(0, 200)}`
    })
    .join("; ")

const plain = (input: unknown): unknown => {
  const value = typeof input === "string" ? parsed(input) : input
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

const parsed = (given: string): unknown => {
  try {
    return JSON.parse(given)
  } catch {
    // The input is not JSON; the schema error then describes the expected form.
    return given
  }
}

/** Returns the reply to a call, or to a part of it, that is not accepted. */
export const refusedText = (error: string): string => `error: not accepted. ${error}`

export const bounded = (max: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max))
export const text = (description: string) => ({ type: "string", description })
