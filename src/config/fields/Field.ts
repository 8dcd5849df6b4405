/**
 * Defines fields for the schema files: schema, meaning, default and rules in one place. The functions store all of it in the key's
 * annotations, from which Shape.ts reads it for decoding, cross-checks, JSON Schema, the reference and forms.
 *
 * A schema decodes the *given* form of the document, without defaults. `Resolved` is the form with defaults, which Defaults.ts builds after
 * the layers are merged, so that a default never overrides a value of another layer.
 */
import { Schema } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { fieldTexts } from "../../text/en/Fields.ts"

/** Path of a field. One that several locations share has the path of one of them. */
export type FieldKey = keyof typeof fieldTexts

/** Kinds of names that a field may refer to. */
export type Reference =
  | "trigger"
  | "channel"
  | "template"
  | "prompt"
  | "chain"
  | "provider"
  | "connection"
  | "workspace"

interface FieldRules {
  /** Applied when the value is used, and not part of the resolved document. */
  readonly runtimeDefault?: unknown
  /** Default instead of the usual one where one of these sibling fields is set. */
  readonly defaultNextTo?: { readonly fields: ReadonlyArray<string>; readonly value: unknown }
  /** Default in the reference if it is not a plain value, such as `inherit`. */
  readonly defaultText?: string
  /** Reason why the field is accepted but not used. Setting it gives a warning. */
  readonly reserved?: Reason
  /** The one other value than the default, if it is accepted but not implemented, and the actual behaviour. Setting it gives a warning. */
  readonly unimplemented?: { readonly value: string; readonly instead: Reason }
  /** Values of a sibling field (default `kind`) under which this field may be set. */
  readonly when?: When
  /** Values of that sibling field under which this field must be set. */
  readonly requiredWhen?: When
  /** Sibling fields that may not be set together with this one. */
  readonly exclusive?: ReadonlyArray<string>
  /** Sibling field over which this one takes precedence if both are set. */
  readonly winsOver?: string
  /** Kind of name that the string, or each string of the list or key of the map, refers to. */
  readonly refers?: Reference
  /** A rule of its group checks whether the name exists. */
  readonly isCheckedByGroup?: true
  /** Other accepted spellings of the key. */
  readonly aliases?: ReadonlyArray<string>
  /** Decides to whom the credentials of its holder are sent, or whom the sender takes for the receiver: part of their destination. */
  readonly destination?: true
  /** Values that only the file may set. */
  readonly fileOnly?: FileOnly
}

/** Values with which an editor of the database's configuration would reach the nodes themselves: their files, programs or sandbox. */
export interface FileOnly {
  /** Completes the sentence "… in the file, because it". */
  readonly because: Reason
  /** Default: every value. */
  readonly applies?: (value: unknown) => boolean
}

export const nodeFile: FileOnly = { because: { _tag: "NamesNodeFile" } }
export const nodeProgram: FileOnly = { because: { _tag: "SelectsProgram" } }
export const nodeCredential: FileOnly = { because: { _tag: "NamesNodeCredential" } }

export interface When {
  readonly field: string
  readonly values: ReadonlyArray<string>
  /** Value of an absent sibling. */
  readonly absent?: string
}

export interface FieldMeta extends FieldRules {
  /** Key of its description in the texts of fields. */
  readonly text: FieldKey
  readonly default?: unknown
  /** True for a layer over values of another location: its defaults are not filled in. */
  readonly layer?: boolean
}

/** Returns the description of a field in English, for documents and editors. */
export const describeField = ({ text }: FieldMeta): string => fieldTexts[text]

export const FieldMetaKey = "aicr/field"

export const kinds = (...values: ReadonlyArray<string>): When => ({ field: "kind", values })

interface Defaulted<S extends Schema.Constraint> extends Schema.optionalKey<S> {
  readonly "~aicr/defaulted": true
}

interface Layered<S extends Schema.Constraint> extends Schema.optionalKey<S> {
  readonly "~aicr/layered": true
}

const annotated = <S extends Schema.Top>(schema: S, meta: FieldMeta): S["Rebuild"] =>
  schema.pipe(Schema.annotateKey({ [FieldMetaKey]: meta }))

/** Defines a required field. */
export const required = <S extends Schema.Top>(schema: S, text: FieldKey, rules: FieldRules = {}): S["Rebuild"] =>
  annotated(schema, { ...rules, text })

/** Defines a field without a default. */
export const optional = <S extends Schema.Top>(
  schema: S,
  text: FieldKey,
  rules: FieldRules = {}
): Schema.optionalKey<S> =>
  Schema.make<Schema.optionalKey<S>>(annotated(Schema.optionalKey(schema), { ...rules, text }).ast, { schema })

/** Defines a field with a default, filled in when the document is resolved. */
export const defaulted = <S extends Schema.Top>(
  schema: S,
  value: S["Type"],
  text: FieldKey,
  rules: FieldRules = {}
): Defaulted<S> =>
  Schema.make<Defaulted<S>>(annotated(Schema.optionalKey(schema), { ...rules, text, default: value }).ast, {
    schema
  })

/** Defines a group of fields that is always present in the resolved document. */
export const group = <const F extends Schema.Struct.Fields>(
  fields: F,
  text: FieldKey,
  rules: FieldRules = {}
): Defaulted<Schema.Struct<F>> => {
  const schema = Schema.Struct(fields)
  const meta = { ...rules, text, default: {} }
  return Schema.make<Defaulted<Schema.Struct<F>>>(annotated(Schema.optionalKey(schema), meta).ast, { schema })
}

/** Defines a workspace's layer over values of another location: not resolved by itself. */
export const layer = <S extends Schema.Top>(schema: S, text: FieldKey, rules: FieldRules = {}): Layered<S> =>
  Schema.make<Layered<S>>(annotated(Schema.optionalKey(schema), { ...rules, text, layer: true }).ast, { schema })

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

/** Decoded type of a schema with every default filled in. */
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
