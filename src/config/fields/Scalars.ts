/**
 * Types of values that fields consist of. Each has a description of the expected value (`expected`), for error messages and the reference,
 * and its limits, for JSON Schema and forms.
 */
import { Schema } from "effect"
import { Usd } from "../../domain/Money.ts"
import { isServerAddress } from "../../domain/PerforcePort.ts"
import type { Concept, Name } from "../../domain/Vocabulary.ts"
import { listNames } from "../../domain/Vocabulary.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Limits and format of a scalar, list or map, read by Shape.ts. */
export interface NumberLimits {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly unique?: boolean
  readonly keys?: string
  readonly reservedKeys?: ReadonlyArray<string>
  readonly secret?: boolean
  /** True if the value is the name of an environment variable. */
  readonly env?: boolean
  readonly concept?: Concept
  readonly expected?: Reason
  /** True if the number is a whole one. */
  readonly integer?: boolean
  /** Fields of which exactly one must be set. */
  readonly oneOf?: ReadonlyArray<string>
  /** Returns a replacement of a wrong value, or undefined if there is none. Never for secrets. */
  readonly hint?: (value: string) => string | undefined
  /** Parses a short form of an object, such as `09:00-18:00` for a window; returns undefined if it is not one. */
  readonly shorthand?: (value: unknown) => unknown
}

export const LimitsKey = "aicr/limits"
const limits = (value: NumberLimits): { readonly [LimitsKey]: NumberLimits } => ({ [LimitsKey]: value })

/** One line of text, 1 to 4096 characters. */
export const Text = Schema.String.check(
  Schema.makeFilter((value: string) => value.length >= 1 && value.length <= 4096)
).annotate(limits({ minLength: 1, maxLength: 4096, expected: { _tag: "LineOfText" } }))

/** Text of any length, such as a template. The document as a whole is limited. */
export const LongText = Schema.String.annotate(limits({ expected: { _tag: "AnyText" } }))

export const Flag = Schema.Boolean.annotate(limits({ expected: { _tag: "TrueOrFalse" } }))

export const matching = (pattern: RegExp, expected: Reason, hint?: (value: string) => string | undefined) =>
  Schema.String.check(Schema.makeFilter((value: string) => value.length <= 4096 && pattern.test(value))).annotate(
    limits({ pattern: pattern.source, maxLength: 4096, expected, ...(hint === undefined ? {} : { hint }) })
  )

export const checked = (expected: Reason, format: string, test: (value: string) => boolean) =>
  Schema.String.check(Schema.makeFilter((value: string) => value.length <= 4096 && test(value))).annotate(
    limits({ format, maxLength: 4096, expected })
  )

const range = (minimum: number | undefined, maximum: number | undefined) => {
  if (minimum === undefined) return maximum === undefined ? {} : { most: maximum }
  if (maximum === undefined) return minimum === 1 ? { above: 0 } : { least: minimum }
  return { from: minimum, to: maximum }
}

/** Defines a whole number from `minimum` to `maximum`. */
export const int = (minimum?: number, maximum?: number) =>
  Schema.Int.check(
    Schema.makeFilter(
      (value: number) => value >= (minimum ?? -Number.MAX_SAFE_INTEGER) && value <= (maximum ?? Number.MAX_SAFE_INTEGER)
    )
  ).annotate(
    limits({
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
      integer: true,
      expected: { _tag: "WholeNumber", ...range(minimum, maximum) }
    })
  )

/** A whole number above 0. */
export const PositiveInt = int(1)

/** Defines a finite number from `minimum` to `maximum`. */
export const number = (minimum: number, maximum?: number) =>
  Schema.Finite.check(
    Schema.makeFilter((value: number) => value >= minimum && value <= (maximum ?? Number.MAX_VALUE))
  ).annotate(
    limits({
      minimum,
      ...(maximum === undefined ? {} : { maximum }),
      expected: { _tag: "AnyNumber", ...(maximum === undefined ? { least: minimum } : { from: minimum, to: maximum }) }
    })
  )

/** A finite number above 0. */
export const PositiveNumber = Schema.Finite.check(Schema.makeFilter((value: number) => value > 0)).annotate(
  limits({ exclusiveMinimum: 0, expected: { _tag: "AnyNumber", above: 0 } })
)

/** An amount in US dollars, of at least 0. */
export const UsdAmount = Usd.check(Schema.makeFilter((amount: Usd) => amount >= 0)).annotate(
  limits({ minimum: 0, expected: { _tag: "AnyNumber", least: 0 } })
)

/** Defines one of a closed set of words. */
export const choice = <const L extends ReadonlyArray<string>>(...values: L) =>
  Schema.Literals(values).annotate(limits({ expected: { _tag: "OneOf", values } }))

/** Defines a product's name in any spelling of the vocabulary; decoded to the canonical one. */
export const named = <const C extends Concept>(concept: C): Schema.Literals<ReadonlyArray<Name<C>>> =>
  Schema.Literals(listNames(concept)).annotate(
    limits({ concept, expected: { _tag: "OneOf", values: listNames(concept) } })
  )

/** A literal credential. Normalise.ts converts it to `Redacted` immediately; it is never echoed. */
export const Secret = Schema.Redacted(
  Schema.String.check(Schema.makeFilter((value: string) => value.trim() !== "" && value.length <= 65_536))
).annotate(
  limits({
    secret: true,
    pattern: "\\S",
    minLength: 1,
    maxLength: 65_536,
    expected: { _tag: "SecretText" }
  })
)

export const isVariableName = (value: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(value)

/** Name of an environment variable. */
export const EnvName = Schema.String.check(Schema.makeFilter(isVariableName)).annotate(
  limits({
    env: true,
    pattern: "^[A-Za-z_][A-Za-z0-9_]{0,255}$",
    expected: { _tag: "VariableName" }
  })
)

export const Url = checked({ _tag: "HttpUrl" }, "uri", (value) => {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  return (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === ""
})

/** Address of a Perforce server. Other forms start a program on the node. */
export const P4Port = checked({ _tag: "ServerAddress" }, "p4port", isServerAddress)

/** IANA time zone that this runtime supports. */
export const TimeZone = checked({ _tag: "TimeZoneName" }, "iana-time-zone", (value) => {
  try {
    return !/^[+-]/.test(value) && new Intl.DateTimeFormat("en", { timeZone: value }).format(0) !== ""
  } catch {
    return false
  }
})

const listOf = (least: number, most: number | undefined): Reason => {
  if (most !== undefined) return { _tag: "ListOf", from: least, to: most }
  return least === 0 ? { _tag: "ListOf" } : { _tag: "ListOf", least }
}

/** Defines a list of at most `maxItems` (default 10 000). */
export const list = <S extends Schema.Constraint>(
  item: S,
  options: { readonly minItems?: number; readonly maxItems?: number; readonly unique?: boolean } = {}
): Schema.$Array<S> => {
  const { minItems = 0, maxItems = 10_000, unique = false } = options
  const entries = listOf(minItems, options.maxItems)
  return Schema.Array(item)
    .check(
      Schema.makeFilter(
        (values: ReadonlyArray<unknown>) =>
          values.length >= minItems && values.length <= maxItems && (!unique || new Set(values).size === values.length)
      )
    )
    .annotate(
      limits({
        minItems,
        maxItems,
        unique,
        expected: unique ? { _tag: "WithoutRepetitions", list: entries } : entries
      })
    )
}

/** Defines a map from free keys to values. */
export const map = <S extends Schema.Constraint>(
  value: S,
  options: { readonly keys?: RegExp; readonly reserved?: ReadonlyArray<string>; readonly expected?: Reason } = {}
): Schema.$Record<typeof Schema.String, S> =>
  Schema.Record(Schema.String, value).annotate(
    limits({
      ...(options.keys === undefined ? {} : { keys: options.keys.source }),
      ...(options.reserved === undefined ? {} : { reservedKeys: options.reserved }),
      expected: options.expected ?? { _tag: "MapOf" }
    })
  )

/** Adds a short form to a struct. */
export const withShorthand = <S extends Schema.Top>(
  schema: S,
  expected: Reason,
  shorthand: (value: unknown) => unknown
): S["Rebuild"] => schema.annotate(limits({ expected, shorthand }))
