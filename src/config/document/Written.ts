/** Paths as the author of a document wrote them: with aliases of keys in place of canonical names. */
import type { Path } from "./Path.ts"
import { isRecord } from "./Path.ts"
import type { Shape } from "../fields/Shape.ts"

/** Converts a path of canonical names to the spelling of the document. */
export const asWritten = (root: Shape, source: unknown, path: Path): Path => {
  let shape: Shape | undefined = root
  let value = source
  return path.map((segment) => {
    const here = shape?.type === "union" ? shape.members.find((member) => member.type !== "scalar") : shape
    let written: string | number = segment
    if (here?.type === "object") {
      if (isRecord(value) && !Object.hasOwn(value, segment))
        written = Object.keys(value).find((key) => here.keys.get(key) === segment) ?? segment
      shape = here.fields.get(String(segment))?.shape ?? here.rest
    } else {
      shape = here?.type === "list" ? here.item : undefined
    }
    value = isRecord(value)
      ? value[written]
      : Array.isArray(value) && typeof segment === "number"
        ? value[segment]
        : undefined
    return written
  })
}
