/** The fields of a record that responses show, with their descriptions: their schema and their values. */
import { Schema } from "effect"
import type { ShownField, ShownFields, Values } from "../../domain/Field.ts"
import { snakeCase } from "../../domain/Record.ts"
import type { SnakeCase } from "../../domain/Record.ts"

type Shown<F> =
  F extends ShownField<infer _, infer S, infer IsOptional>
    ? IsOptional extends true
      ? Schema.optionalKey<Schema.Codec<S, S>>
      : Schema.Codec<S, S>
    : never

type ShownSchemas<F extends ShownFields, D> = {
  readonly [K in keyof D & keyof F & string as SnakeCase<K>]: Shown<F[K]>
}
type Json<F extends ShownFields, D> = Schema.Struct.Type<ShownSchemas<F, D>>

/** `descriptions`: the fields to show, in their order. */
export const shown = <F extends ShownFields, const D extends { readonly [K in keyof F]?: string }>(
  { fields }: { readonly fields: F },
  descriptions: D
): { readonly fields: ShownSchemas<F, D>; readonly view: (values: Values<F>) => Json<F, D> } => {
  const listed = Object.entries(descriptions).map(([key, description]) => ({
    key,
    name: snakeCase(key),
    field: fields[key],
    description: String(description)
  }))
  return {
    fields: Object.fromEntries(
      listed.flatMap(({ description, field, name }) => {
        if (field === undefined) return []
        const schema = field.shown.annotate({ description: `${description}${field.form ?? ""}` })
        return [[name, field.isOptional ? Schema.optionalKey(schema) : schema]]
      })
    ) as ShownSchemas<F, D>,
    view: (values) =>
      Object.fromEntries(
        listed.flatMap(({ field, key, name }) => {
          const value = values[key as keyof Values<F>]
          return value === undefined || field === undefined ? [] : [[name, field.toShown(value)]]
        })
      ) as Json<F, D>
  }
}
