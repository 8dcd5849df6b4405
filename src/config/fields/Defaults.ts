/** Merges layers, then fills in defaults: converts the given form of a schema to its resolved one. */
import type { Schema } from "effect"
import type { FieldMeta, Resolved } from "./Field.ts"
import { isRecord } from "../document/Path.ts"
import type { Shape } from "./Shape.ts"
import { readShape } from "./Shape.ts"

/**
 * Merges layers; later ones win. Maps merge key by key, everything else (text, numbers, lists, secrets) is taken as a whole from the last
 * layer that has it. Layers are never modified; the result shares equal parts.
 */
export const mergeLayers = <T>(...layers: ReadonlyArray<T | undefined>): T | undefined =>
  layers.reduce<T | undefined>((under, over) => {
    if (over === undefined) return under
    if (!isRecord(under) || !isRecord(over)) return over
    const merged: Record<string, unknown> = { ...under }
    for (const key of Object.keys(over)) merged[key] = mergeLayers(under[key], over[key])
    return sameType<T>(merged)
  }, undefined)

const defaultOf = (
  { default: usual, defaultNextTo }: FieldMeta,
  siblings: Readonly<Record<string, unknown>>
): unknown =>
  defaultNextTo?.fields.some((name) => siblings[name] !== undefined) === true ? defaultNextTo.value : usual

const fill = (shape: Shape, value: unknown): unknown => {
  switch (shape.type) {
    case "object": {
      if (!isRecord(value)) return value
      const result: Record<string, unknown> = {}
      for (const [name, { meta, shape: inner }] of shape.fields) {
        const given = value[name] ?? defaultOf(meta, value)
        if (given !== undefined) result[name] = meta.layer === true ? given : fill(inner, given)
      }
      if (shape.rest !== undefined)
        for (const key of Object.keys(value)) if (!shape.fields.has(key)) result[key] = fill(shape.rest, value[key])
      return result
    }
    case "list":
      return Array.isArray(value) ? value.map((item) => fill(shape.item, item)) : value
    case "union": {
      const member = shape.members.find((candidate) => candidate.type === (isRecord(value) ? "object" : "list"))
      return member === undefined ? value : fill(member, value)
    }
    default:
      return value
  }
}

/** Resolves the layers of a schema, nearest last, to one value with every default filled in. */
export const resolve = <S extends Schema.Top>(
  schema: S,
  ...layers: ReadonlyArray<S["Type"] | undefined>
): Resolved<S> => assertResolved<S>(fill(readShape(schema), mergeLayers<S["Type"]>({}, ...layers)))

/* The functions above work on the schema's shape and on plain maps; these assign the types that follow from it. */
const sameType = <T>(value: unknown): T => value as T
const assertResolved = <S extends Schema.Top>(value: unknown): Resolved<S> => value as Resolved<S>
