/** Fields of a record (Record.ts): how a value is stored in a column, and how a response of the administration shows it. */
import { DateTime, Schema } from "effect"
import { toStorable } from "./Text.ts"

/** Value of a column. */
export type Column = string | number | null

/** A value of type A, shown as S. */
export interface Field<A, S = A, IsOptional extends boolean = boolean> {
  /** Decodes the value of a column. */
  readonly column: Schema.Codec<unknown, unknown>
  fromColumn(decoded: unknown): A
  toColumn(value: A): Column
  readonly shown: Schema.Codec<S, unknown>
  toShown(value: A): S
  /** Form of the shown value, at the end of its description. */
  readonly form?: string
  /** True if the column may be NULL: the record has no value then. */
  readonly isOptional: IsOptional
  /** Name of the column. Default: that of the field. */
  readonly name?: string
  /** Fields of an object, which have a column each. */
  readonly parts?: RecordFields
}

export type RecordFields = Readonly<Record<string, Field<unknown, unknown>>>

type ValueOf<F> = F extends Field<infer A, infer _> ? A : never
type Flat<A> = { readonly [K in keyof A]: A[K] }

/** Type of an object with these fields; optional ones may be absent. */
export type Values<F extends RecordFields> = Flat<
  { readonly [K in keyof F as F[K]["isOptional"] extends true ? never : K]: ValueOf<F[K]> } & {
    readonly [K in keyof F as F[K]["isOptional"] extends true ? K : never]?: ValueOf<F[K]> | undefined
  }
>

// The schema of the column has decoded the value.
const decodedAs = <A>(decoded: unknown): A => decoded as A

/** A text or a number of a schema without a transformation. */
export const stored = <A extends string | number>(schema: Schema.Codec<A, string | number>): Field<A, A, false> => ({
  column: schema,
  fromColumn: decodedAs,
  toColumn: (value) => value,
  shown: schema,
  toShown: (value) => value,
  isOptional: false
})

export const text = stored(Schema.String)
export const integer = stored(Schema.Int)

/** A text from outside, which may have characters that a column cannot store. */
export const outsideText: typeof text = { ...text, toColumn: toStorable }

/** A value in a column of text, as JSON, which escapes every character that a column cannot store. */
export const json = <A>(schema: Schema.Codec<A, unknown>): Field<A, A, false> => ({
  column: Schema.fromJsonString(schema),
  fromColumn: decodedAs,
  toColumn: (value) => JSON.stringify(value),
  shown: Schema.toType(schema),
  toShown: (value) => value,
  isOptional: false
})

/** Like `json`, validated when it is stored: a value that could not be read again fails its own statement, and no later one. */
export const checkedJson = <A>(schema: Schema.Codec<A, unknown>): Field<A, A, false> => ({
  ...json(schema),
  toColumn: Schema.encodeSync(Schema.fromJsonString(schema))
})

/** Milliseconds since the epoch; in responses a text in ISO 8601. */
export const time: Field<number, string, false> = {
  ...integer,
  shown: Schema.String,
  toShown: (millis) => DateTime.formatIso(DateTime.makeUnsafe(millis)),
  form: ", in ISO 8601"
}

/** 0 or 1 in a column. A condition that a statement returns is a boolean in Postgres. */
export const flag: Field<boolean, boolean, false> = {
  column: Schema.Union([Schema.Boolean, Schema.Int]),
  fromColumn: (decoded) => decoded === true || decoded === 1,
  toColumn: (value) => (value ? 1 : 0),
  shown: Schema.Boolean,
  toShown: (value) => value,
  isOptional: false
}

/** A field whose column may be NULL. */
export const optional = <A, S>(field: Field<A, S, false>): Field<A, S, true> => ({ ...field, isOptional: true })

/** A field whose column has another name. */
export const named = <A, S, O extends boolean>(name: string, field: Field<A, S, O>): Field<A, S, O> => ({
  ...field,
  name
})

/** An object whose fields have a column each. */
export const group = <const F extends RecordFields>(parts: F): Field<Values<F>, Values<F>, false> => ({
  ...json(Schema.declare((value): value is Values<F> => typeof value === "object")),
  parts
})
