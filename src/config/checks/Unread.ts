/** Warns of fields that are set and have no effect in this build, once per field, at the topmost path. */
import { Document } from "../Document.ts"
import type { Path } from "../document/Path.ts"
import { isRecord } from "../document/Path.ts"
import type { Shape } from "../fields/Shape.ts"
import { readShape } from "../fields/Shape.ts"
import { unconsumedAt } from "../fields/Unconsumed.ts"
import type { Check, CrossCheckReports } from "./Check.ts"

export const checkUnread: Check = (tree, reports) => walk(readShape(Document), tree, [], "", reports)

const walk = (shape: Shape, value: unknown, path: Path, field: string, { warning, error }: CrossCheckReports): void => {
  const row = unconsumedAt(field)
  if (row !== undefined) {
    warning({ path, reason: { _tag: "WithoutEffect", why: row.effect }, at: "key" })
  } else if (shape.type === "list") {
    if (Array.isArray(value))
      value.forEach((item, index) => walk(shape.item, item, [...path, index], `${field}[]`, { warning, error }))
  } else if (shape.type === "object" && isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      const known = shape.fields.get(key)
      const inner = known?.shape ?? shape.rest
      const name = known === undefined ? "<id>" : key
      if (inner !== undefined)
        walk(inner, item, [...path, key], field === "" ? name : `${field}.${name}`, { warning, error })
    }
  }
}
