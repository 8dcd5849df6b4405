/**
 * How the schema files write a field: its schema, its meaning, its default and its rules in one place. The wrappers put all of
 * it into the key's annotations, from where Shape.ts reads it for decoding, cross-checks, JSON Schema, the reference and forms.
 *
 * A schema decodes the *given* form: what the document says, nothing filled in. `Resolved` is the form with defaults, made by
 * Defaults.ts after the layers are merged, so that a layer never overrides another with a default.
 */
import { Schema } from "effect"

/** Names that a field may refer to. */
export type Reference =
  | "trigger"
  | "channel"
  | "template"
  | "prompt"
  | "chain"
  | "provider"
  | "connection"
  | "workspace"

export interface FieldRules {
  /** Applied where the value is used, not filled into the resolved document. */
  readonly runtimeDefault?: unknown
  /** Shown as default in the reference where it is not a plain value, such as `inherit`. */
  readonly defaultText?: string
  /** Accepted and not consumed, and why. Setting it gives a warning. */
  readonly reserved?: string
  /** The one other value than the default, where it is accepted and not implemented, and what happens instead. Setting it gives a warning. */
  readonly unimplemented?: { readonly value: string; readonly instead: string }
  /** The values of a neighbour field (default `kind`) under which this field may be set. */
  readonly when?: When
  /** The values of that neighbour field under which this field must be set. */
  readonly requiredWhen?: When
  /** Neighbour fields that may not be set together with this one. */
  readonly exclusive?: ReadonlyArray<string>
  /** Neighbour field over which this one wins when both are set. */
  readonly winsOver?: string
  /** The string, or each string of the list, names one of these. */
  readonly refers?: Reference
  /** Other accepted spellings of the key. */
  readonly aliases?: ReadonlyArray<string>
}

export interface When {
  readonly field: string
  readonly values: ReadonlyArray<string>
  /** What the neighbour counts as when it is absent. */
  readonly absent?: string
}

export interface FieldMeta extends FieldRules {
  readonly description: string
  readonly default?: unknown
  /** A layer over values from elsewhere: defaults inside it are not filled in. */
  readonly layer?: boolean
}

export const FieldMetaKey = "aicr/field"

export const kinds = (...values: ReadonlyArray<string>): When => ({ field: "kind", values })

export interface Defaulted<S extends Schema.Constraint> extends Schema.optionalKey<S> {
  readonly "~aicr/defaulted": true
}

export interface Layered<S extends Schema.Constraint> extends Schema.optionalKey<S> {
  readonly "~aicr/layered": true
}

const annotated = <S extends Schema.Top>(schema: S, meta: FieldMeta): S["Rebuild"] =>
  schema.pipe(Schema.annotateKey({ description: meta.description, [FieldMetaKey]: meta }))

/** A field that must be given. */
export const required = <S extends Schema.Top>(schema: S, description: string, rules: FieldRules = {}): S["Rebuild"] =>
  annotated(schema, { ...rules, description })

/** A field without default. */
export const optional = <S extends Schema.Top>(
  schema: S,
  description: string,
  rules: FieldRules = {}
): Schema.optionalKey<S> =>
  Schema.make<Schema.optionalKey<S>>(annotated(Schema.optionalKey(schema), { ...rules, description }).ast, { schema })

/** A field with a default, filled in when the document is resolved. */
export const defaulted = <S extends Schema.Top>(
  schema: S,
  value: S["Type"],
  description: string,
  rules: FieldRules = {}
): Defaulted<S> =>
  Schema.make<Defaulted<S>>(annotated(Schema.optionalKey(schema), { ...rules, description, default: value }).ast, {
    schema
  })

/** A group of fields that is always there once resolved. */
export const group = <const F extends Schema.Struct.Fields>(
  fields: F,
  description: string
): Defaulted<Schema.Struct<F>> => {
  const schema = Schema.Struct(fields)
  return Schema.make<Defaulted<Schema.Struct<F>>>(
    annotated(Schema.optionalKey(schema), { description, default: {} }).ast,
    { schema }
  )
}

/** A workspace's part of something that has values elsewhere: kept as given. */
export const layer = <S extends Schema.Top>(schema: S, description: string, rules: FieldRules = {}): Layered<S> =>
  Schema.make<Layered<S>>(annotated(Schema.optionalKey(schema), { ...rules, description, layer: true }).ast, { schema })

type RequiredKeys<F> = {
  [K in keyof F]: F[K] extends { readonly "~type.optionality": "optional" }
    ? "~aicr/defaulted" extends keyof F[K]
      ? K
      : never
    : K
}[keyof F]

type Inner<F> = "~aicr/layered" extends keyof F
  ? F extends Schema.optionalKey<infer S>
    ? S["Type"]
    : never
  : F extends Schema.optionalKey<infer S>
    ? Resolved<S>
    : Resolved<F>

type ResolvedFields<F> = { readonly [K in keyof F & RequiredKeys<F>]: Inner<F[K]> } & {
  readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: Inner<F[K]> | undefined
}

type Simplify<T> = T extends infer U ? { readonly [K in keyof U]: U[K] } : never

/** The decoded type of a schema with every default filled in. */
export type Resolved<S> =
  S extends Schema.Struct<infer F>
    ? Simplify<ResolvedFields<F>>
    : S extends Schema.$Array<infer I>
      ? ReadonlyArray<Resolved<I>>
      : S extends Schema.NonEmptyArray<infer I>
        ? readonly [Resolved<I>, ...ReadonlyArray<Resolved<I>>]
        : S extends Schema.$Record<infer _K, infer V>
          ? { readonly [key: string]: Resolved<V> }
          : S extends Schema.Constraint
            ? S["Type"]
            : never
