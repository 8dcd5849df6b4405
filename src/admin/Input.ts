/** Validates the input of a request. A refusal names the field and the expected value, never the received one. */
import { Effect } from "effect"
import type { Schema } from "effect"
import { isStorable, notStorable } from "../domain/Text.ts"
import type { AdminRequest } from "./AdminApi.ts"
import { AdminRefusal } from "./Answers.ts"

export const invalid = (path: string, message: string): AdminRefusal =>
  new AdminRefusal({
    status: 400,
    code: "invalid_payload",
    detail: path === "" ? message : `${path}: ${message}`,
    issues: [{ path, message }]
  })

/** Parses the fields of a JSON object. */
export const parseFields = ({ body }: AdminRequest): Effect.Effect<ReadonlyMap<string, unknown>, AdminRefusal> =>
  Effect.try({
    try: (): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)),
    catch: () => new AdminRefusal({ status: 400, code: "invalid_json", detail: "The body is not JSON." })
  }).pipe(
    Effect.flatMap((given) =>
      typeof given === "object" && given !== null && !Array.isArray(given)
        ? Effect.succeed(new Map<string, unknown>(Object.entries(given)))
        : invalid("", "expected an object")
    )
  )

/** Reads a field of 1 to 1024 characters. */
export const readText = (fields: ReadonlyMap<string, unknown>, name: string): Effect.Effect<string, AdminRefusal> => {
  const text = fields.get(name)
  if (typeof text !== "string" || text === "" || text.length > 1024)
    return invalid(name, "expected a text of 1 to 1024 characters")
  return isStorable(text) ? Effect.succeed(text) : invalid(name, notStorable)
}

/** Reads an optional boolean, false by default. Fields other than `known` are refused. */
export const readFlag = (
  fields: ReadonlyMap<string, unknown>,
  name: string,
  known: ReadonlyArray<string>
): Effect.Effect<boolean, AdminRefusal> => {
  const unknown = [...fields.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) return invalid(unknown.slice(0, 100), `unknown field (there are: ${known.join(", ")})`)
  const value = fields.get(name) ?? false
  return typeof value === "boolean" ? Effect.succeed(value) : invalid(name, "expected true or false")
}

/** Reads an optional field of at most 1024 characters. */
export const readOptionalText = (
  fields: ReadonlyMap<string, unknown>,
  name: string
): Effect.Effect<string | undefined, AdminRefusal> =>
  fields.get(name) === undefined ? Effect.undefined : readText(fields, name)

/** Parses the fields of a JSON object, none for an empty body. Fields other than `known` are refused. */
export const parseKnownFields = (
  request: AdminRequest,
  known: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, unknown>, AdminRefusal> =>
  request.body.length === 0
    ? Effect.succeed(new Map<string, unknown>())
    : Effect.flatMap(parseFields(request), (fields) => {
        const unknown = [...fields.keys()].find((key) => !known.includes(key))
        return unknown === undefined
          ? Effect.succeed(fields)
          : invalid(unknown.slice(0, 100), `unknown field (there are: ${known.join(", ")})`)
      })

/** Reads the parameters of a list. Unknown parameters are refused, so that a misspelt filter is not ignored. */
export class Query {
  readonly #given: URLSearchParams

  private constructor(given: URLSearchParams) {
    this.#given = given
  }

  static of({ query }: AdminRequest, known: ReadonlyArray<string>): Effect.Effect<Query, AdminRefusal> {
    for (const name of new Set(query.keys())) {
      if (!known.includes(name)) return invalid(name, `unknown parameter (there are: ${known.join(", ")})`)
      if (query.getAll(name).length > 1) return invalid(name, "given more than once")
      if (!isStorable(query.get(name) ?? "")) return invalid(name, notStorable)
    }
    return Effect.succeed(new Query(query))
  }

  /** Returns undefined if the parameter is missing or empty. */
  text(name: string): string | undefined {
    const value = this.#given.get(name)
    return value === null || value === "" ? undefined : value.slice(0, 512)
  }

  /** Refuses a missing value of this parameter. */
  required<A>(name: string, value: A | undefined): Effect.Effect<A, AdminRefusal> {
    return value === undefined ? invalid(name, "missing") : Effect.succeed(value)
  }

  oneOf<A extends string>(
    name: string,
    { literals }: Schema.Literals<ReadonlyArray<A>>
  ): Effect.Effect<A | undefined, AdminRefusal> {
    const value = this.text(name)
    const found = literals.find((literal) => literal === value)
    return value !== undefined && found === undefined
      ? invalid(name, `expected one of ${literals.join(", ")}`)
      : Effect.succeed(found)
  }

  /** Returns the values of a comma-separated list; all of them for `all`, and undefined if the parameter is missing. */
  someOf<A extends string>(
    name: string,
    { literals }: Schema.Literals<ReadonlyArray<A>>
  ): Effect.Effect<ReadonlyArray<A> | undefined, AdminRefusal> {
    const value = this.text(name)
    if (value === undefined || value === "all") return Effect.succeed(value === undefined ? undefined : literals)
    const parts = value.split(",").map((part) => part.trim())
    const found = literals.filter((literal) => parts.includes(literal))
    return found.length === new Set(parts).size
      ? Effect.succeed(found)
      : invalid(name, `expected ${literals.join(", ")}, several of them separated by commas, or all`)
  }

  /** Returns a positive integer, or undefined if the parameter is missing. */
  number(name: string): Effect.Effect<number | undefined, AdminRefusal> {
    const value = this.text(name)
    if (value === undefined) return Effect.undefined
    return /^[1-9]\d{0,14}$/.test(value) ? Effect.succeed(Number(value)) : invalid(name, "expected a positive integer")
  }

  /** Returns a time in milliseconds since the epoch, or undefined if the parameter is missing. */
  time(name: string): Effect.Effect<number | undefined, AdminRefusal> {
    const value = this.text(name)
    if (value === undefined) return Effect.undefined
    const millis = /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(value) ? Date.parse(value) : Number.NaN
    return Number.isNaN(millis)
      ? invalid(name, "expected a time in ISO 8601, such as 2026-03-04T12:00:00Z")
      : Effect.succeed(millis)
  }

  /** Returns the page size: 1 to 200, 50 by default. */
  limit(): Effect.Effect<number, AdminRefusal> {
    const value = this.text("limit") ?? "50"
    const number = Number(value)
    return /^\d{1,3}$/.test(value) && number >= 1 && number <= 200
      ? Effect.succeed(number)
      : invalid("limit", "expected 1 to 200")
  }
}

/** Builds one page of a list that is sorted newest first by id: `asked` is one more than the page size. */
export const toPage = <A extends { readonly id: string }, B>(
  found: ReadonlyArray<A>,
  limit: number,
  show: (one: A) => B
): { readonly items: ReadonlyArray<B>; readonly next_cursor: string | null } => {
  const items = found.slice(0, limit)
  return { items: items.map(show), next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null }
}
