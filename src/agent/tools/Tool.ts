/** One tool: its description and input for models, and what it does. Pure but for `run`. */
import { Schema } from "effect"
import type { Effect } from "effect"
import type { ReportedProblem } from "../../domain/Problem.ts"
import type { ReportSketch } from "../../domain/ReportSketch.ts"
import { parseJson } from "./Forms.ts"
import type { RepositoryReader } from "./RepositoryReader.ts"
import { describeIssues } from "./SchemaErrors.ts"

/** The end of the review as requested by the model. */
export type Chosen =
  | { readonly _tag: "Summary"; readonly markdown: string }
  | { readonly _tag: "Skip"; readonly reason: string }

/** The objects that the tools of one conversation act on. */
export interface ToolSession {
  /** Records a problem, durably where the session keeps records, and returns the text of the reply. */
  readonly report: (problem: ReportedProblem) => Effect.Effect<string>
  /** Takes the error of a call that is not accepted, or of a part of it, and records the report that is in it, if any. */
  readonly refuse: (error: string, report?: ReportSketch) => Effect.Effect<void>
  /** Whether the pass shows nothing that can be reviewed, so that the model may end it without a summary. */
  readonly maySkip: boolean
  /** Records the end, durably where the session keeps records. */
  readonly end: (chosen: Chosen) => Effect.Effect<void>
  readonly reader: RepositoryReader
  /** Searches the web and returns the text of the reply. Only where that is offered. */
  readonly search?: ((query: string) => Effect.Effect<string>) | undefined
}

/** Returns the text of the reply. */
type ToolRun = (session: ToolSession) => Effect.Effect<string>

export type Decoded =
  | { readonly ok: true; readonly run: ToolRun }
  /** `reports`: what could be read of the reports in the call. */
  | { readonly ok: false; readonly error: string; readonly reports?: ReadonlyArray<ReportSketch> }

export interface Tool {
  readonly description: string
  /** JSON Schema of the input, as models get it. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Replaces `parameters` where the prompt has rules with an id. */
  readonly citingParameters?: Readonly<Record<string, unknown>>
  /** Decodes the input, as an object or as JSON text. The error describes the correction for the model. */
  readonly decode: (input: unknown) => Decoded
}

/** Returns the schema of an object, as models get it. */
export const object = (properties: Readonly<Record<string, unknown>>, required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

/**
 * Returns the row of a tool. `properties` describes to models the fields that `input` accepts. Null is an absent field, and
 * `forms` reads further forms of the input.
 */
export const tool = <S extends Schema.Struct<Readonly<Record<string, Schema.Decoder<unknown>>>>>(row: {
  readonly description: string
  readonly input: S
  readonly properties: Readonly<Partial<Record<keyof S["fields"], unknown>>>
  readonly required: ReadonlyArray<keyof S["fields"] & string>
  readonly forms?: (input: unknown) => unknown
  readonly run: (input: S["Type"], session: ToolSession) => Effect.Effect<string>
}): Tool => {
  const decodeInput = Schema.decodeUnknownResult(row.input)
  return {
    description: row.description,
    parameters: object(row.properties, row.required),
    decode: (input) => {
      const value = withoutNulls(parseJson(input))
      const result = decodeInput(row.forms?.(value) ?? value)
      if (result._tag === "Success") return { ok: true, run: (session) => row.run(result.success, session) }
      return { ok: false, error: describeIssues(result.failure.issue) }
    }
  }
}

const withoutNulls = (value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))

/** Returns the reply to a call, or to a part of it, that is not accepted. */
export const refusedText = (error: string): string => `error: not accepted. ${error}`

export const bounded = (max: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max))
export const text = (description: string) => ({ type: "string", description })
