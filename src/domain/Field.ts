/** Fields of a record (Record.ts): how a value is stored in a column, and how a response of the administration shows it. */
import { DateTime, Schema } from "effect"
import { Reason } from "./Reason.ts"
import { toStorable } from "./Text.ts"

/** Value of a column. */
export type Column = string | number | null

/** A value of type A that responses show as S. */
export interface ShownField<A, S = A, IsOptional extends boolean = boolean> {
  readonly shown: Schema.Codec<S, unknown>
  toShown(value: A): S
  /** Form of the shown value, at the end of its description. */
  readonly form?: string
  /** True if a record may have no value: the column is NULL then. */
  readonly isOptional: IsOptional
}

export type ShownFields = Readonly<Record<string, ShownField<unknown, unknown>>>

/** A value that has a column. */
export interface Field<A, S = A, IsOptional extends boolean = boolean> extends ShownField<A, S, IsOptional> {
  /** Decodes the value of a column. */
  readonly column: Schema.Codec<unknown, unknown>
  /** `null` only if it is not optional and its column may be NULL. */
  fromColumn(decoded: unknown): A
  toColumn(value: A): Column
  /** Name of the column. Default: that of the field. */
  readonly name?: string
  /** Fields of an object, which have a column each. */
  readonly parts?: RecordFields
}

export type RecordFields = Readonly<Record<string, Field<unknown, unknown>>>

type ValueOf<F> = F extends ShownField<infer A, infer _> ? A : never
type Flat<A> = { readonly [K in keyof A]: A[K] }

/** Type of an object with these fields; optional ones may be absent. */
export type Values<F extends ShownFields> = Flat<
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
export const number = stored(Schema.Finite)

/** A sum or a count that a statement computes: Postgres returns it as text. */
export const sum: typeof integer = { ...integer, column: Schema.Union([Schema.Int, Schema.NumberFromString]) }

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

/** A reason. Responses leave out its absent parameters. */
export const reason: Field<Reason, Reason, false> = { ...json(Reason), shown: Reason }

/** Like `json`, validated when it is stored: a value that could not be read again fails its own statement, and no later one. */
export const checkedJson = <A>(schema: Schema.Codec<A, unknown>): Field<A, A, false> => ({
  ...json(schema),
  toColumn: Schema.encodeSync(Schema.fromJsonString(schema))
})

/** A number whose column is NULL until something is counted. */
export const counter: Field<number, number, false> = {
  ...integer,
  column: Schema.NullOr(Schema.Int),
  fromColumn: (decoded) => decodedAs<number | null>(decoded) ?? 0
}

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

type OptionalFields<F extends ShownFields> = {
  readonly [K in keyof F]: F[K] extends ShownField<infer A, infer S> ? ShownField<A, S, true> : never
}

/** Returns the fields of several forms of a value, of which each has some. */
export const optionalFields = <const F extends ShownFields>(fields: F): OptionalFields<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, isOptional: true }])
  ) as unknown as OptionalFields<F>

type StructFields<F extends Schema.Struct.Fields> = {
  readonly [K in keyof F]: ShownField<
    Exclude<F[K]["Type"], undefined>,
    Exclude<F[K]["Type"], undefined>,
    undefined extends F[K]["Type"] ? true : false
  >
}

/** Returns the fields of a value that is stored as JSON, for responses. */
export const structFields = <const F extends Schema.Struct.Fields>(
  struct: Schema.Struct<F>
): { readonly fields: StructFields<F> } => ({
  fields: Object.fromEntries(
    Object.entries(struct.fields).map(([name, schema]) => {
      const inner = requiredSchema(schema)
      return [name, { shown: inner ?? schema, toShown: (value: unknown) => value, isOptional: inner !== undefined }]
    })
  ) as StructFields<F>
})

/** Returns the schema of the values of an optional field; undefined if the field is required. */
const requiredSchema = (field: Schema.Struct.Fields[string]): unknown => {
  if (!("schema" in field) || !Schema.isSchema(field.schema) || field.ast.context?.isOptional !== true) return undefined
  const { schema } = field
  return "members" in schema && Array.isArray(schema.members) && schema.members[1] === Schema.Undefined
    ? schema.members[0]
    : schema
}
