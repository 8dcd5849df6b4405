/**
 * One declaration of a record: its type, its row in a table, and the fields that responses of the administration show. Columns and fields of
 * responses have the names of the record's fields, in snake_case.
 */
import { Effect, Schema } from "effect"
import type { Column, Field, RecordFields, Values } from "./Field.ts"

/** Name of a column or of a field of a response: `waitingSince` becomes `waiting_since`. */
export type SnakeCase<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : S

export const snakeCase = <S extends string>(name: S): SnakeCase<S> =>
  // The type is computed by the same rule.
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<S>

/** Returns an object with the names of fields of responses. */
export const toSnakeCase = <A extends object>(values: A): { readonly [K in keyof A & string as SnakeCase<K>]: A[K] } =>
  // The type is computed by the same rule.
  Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value])) as {
    [K in keyof A & string as SnakeCase<K>]: A[K]
  }

export interface StoredRecord<F extends RecordFields> {
  readonly fields: F
  /** Decodes rows, which may have further columns. */
  readonly decodeRows: (rows: ReadonlyArray<object>) => Effect.Effect<ReadonlyArray<Values<F>>, Schema.SchemaError>
  /** Names of the columns, in the order of the fields. */
  readonly columns: ReadonlyArray<string>
  /** Returns the values of the columns, in their order. */
  readonly toValues: (values: Values<F>) => ReadonlyArray<Column>
  /** Returns the columns of a record: NULL for a value that it does not have. */
  readonly toRow: (values: Values<F>) => Readonly<Record<string, Column>>
  /** Returns the column of one value. */
  readonly toColumn: <K extends keyof Values<F> & string>(key: K, value: Values<F>[K]) => Column
}

/** Type of the values that a record declares. */
export type RecordValues<R> = R extends StoredRecord<infer F> ? Values<F> : never

/** A field with a column: of the record, or of an object in it. */
interface Leaf {
  readonly key: string
  readonly part: string | undefined
  readonly name: string
  readonly field: Field<unknown, unknown>
}

const leavesOf = (fields: RecordFields): ReadonlyArray<Leaf> =>
  Object.entries(fields).flatMap(([key, field]): ReadonlyArray<Leaf> =>
    field.parts === undefined
      ? [{ key, part: undefined, name: field.name ?? snakeCase(key), field }]
      : leavesOf(field.parts).map((leaf) => ({ ...leaf, key, part: leaf.key }))
  )

const fieldOf = (values: object, key: string): unknown => Reflect.get(values, key)

const columnOf = (field: Field<unknown, unknown>, value: unknown): Column =>
  value === undefined ? null : field.toColumn(value)

/** Returns the values of a decoded row: undefined for NULL. */
const fromRow = (leaves: ReadonlyArray<Leaf>, row: object): object => {
  const values: Record<string, unknown> = {}
  const groups: Record<string, Record<string, unknown>> = {}
  for (const { field, key, name, part } of leaves) {
    const found = fieldOf(row, name)
    if (part !== undefined) values[key] = groups[key] ??= {}
    const value = found === null && field.isOptional ? undefined : field.fromColumn(found)
    if (part === undefined) values[key] = value
    else if (groups[key] !== undefined) groups[key][part] = value
  }
  return values
}

const valueAt = (values: object, { key, part }: Leaf): unknown => {
  const value = fieldOf(values, key)
  return part === undefined || typeof value !== "object" || value === null ? value : fieldOf(value, part)
}

export const record = <const F extends RecordFields>(fields: F): StoredRecord<F> => {
  const leaves = leavesOf(fields)
  const columns = leaves.map(({ field, name }): readonly [string, Schema.Codec<unknown, unknown>] => [
    name,
    field.isOptional ? Schema.NullOr(field.column) : field.column
  ])
  const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct(Object.fromEntries(columns))))
  return {
    fields,
    // The columns are decoded by the fields that the type is derived from.
    decodeRows: (rows) =>
      Effect.map(decode(rows), (decoded) => decoded.map((row) => fromRow(leaves, row) as Values<F>)),
    columns: leaves.map(({ name }) => name),
    toValues: (values) => leaves.map((leaf) => columnOf(leaf.field, valueAt(values, leaf))),
    toRow: (values) =>
      Object.fromEntries(leaves.map((leaf) => [leaf.name, columnOf(leaf.field, valueAt(values, leaf))])),
    toColumn: (key, value) => {
      const field = fields[key]
      return field === undefined ? null : columnOf(field, value)
    }
  }
}
