/** The fields of the document that a consumer reads, by the path they have in the reference. Layers of a field are one field. */
import { Document } from "../../src/config/Document.ts"
import type { FieldMeta } from "../../src/config/fields/Field.ts"
import type { Shape } from "../../src/config/fields/Shape.ts"
import { readShape } from "../../src/config/fields/Shape.ts"
import { unconsumedAt } from "../../src/config/fields/Unconsumed.ts"

const layered =
  /^workspaces\.(?:defaults|instances\.<id>)\.(?=(?:agent|review|outputs|sandbox|triage|prompt|context_repositories|model_chain|triage_model_chain|author_resolution_model_chain)\b)/

/** `review.max_files` for each of its layers; what only workspaces have keeps the path of an instance. */
const canonical = (path: string): string => {
  const own = path.replace(layered, "")
  return /^(?:agent|review|outputs)\b/.test(own) ? own : path.replace(layered, "workspaces.instances.<id>.")
}

interface Field {
  readonly path: string
  /** A group of fields without a value of its own. */
  readonly isGroup: boolean
}

const metas = (): ReadonlyMap<FieldMeta, Field> => {
  const found = new Map<FieldMeta, Field>()
  const walk = (shape: Shape, path: string): void => {
    if (shape.type === "list") return walk(shape.item, `${path}[]`)
    if (shape.type === "union") return shape.members.forEach((member) => walk(member, path))
    if (shape.type !== "object") return
    for (const { name, meta, shape: inner } of shape.fields.values()) {
      const here = path === "" ? name : `${path}.${name}`
      if (!found.has(meta)) found.set(meta, { path: canonical(here), isGroup: hasFields(inner) })
      walk(inner, here)
    }
    if (shape.rest !== undefined) walk(shape.rest, `${path}.<id>`)
  }
  walk(readShape(Document), "")
  return found
}

const hasFields = (shape: Shape): boolean =>
  shape.type === "list"
    ? hasFields(shape.item)
    : shape.type === "union"
      ? shape.members.some(hasFields)
      : shape.type === "object" && (shape.fields.size > 0 || (shape.rest !== undefined && hasFields(shape.rest)))

const fields = metas()

export const toPath = (meta: FieldMeta): string | undefined => fields.get(meta)?.path

/** Reserved fields, those without effect in this build, and choices whose other value is not implemented have none to observe. */
const hasEffect = (meta: FieldMeta, path: string): boolean =>
  meta.reserved === undefined &&
  meta.unimplemented === undefined &&
  path.split(".").every((_, index, parts) => {
    const upTo = parts.slice(0, index + 1).join(".")
    return unconsumedAt(upTo) === undefined && unconsumedAt(upTo.replace(/\[\]$/, "")) === undefined
  })

export const fieldPaths: ReadonlyArray<string> = [
  ...new Set([...fields].flatMap(([meta, { path, isGroup }]) => (!isGroup && hasEffect(meta, path) ? [path] : [])))
].toSorted()
