/** Every field of the configuration has a description in each language, and no description is of a field that does not exist. */
import { assert, it } from "vitest"
import { Document } from "../../src/config/Document.ts"
import { readShape } from "../../src/config/fields/Shape.ts"
import type { Shape } from "../../src/config/fields/Shape.ts"
import { fieldTexts as english } from "../../src/text/en/Fields.ts"
import { fieldTexts as chinese } from "../../src/text/zh/Fields.ts"

const listTexts = (shape: Shape): ReadonlyArray<string> => {
  if (shape.type === "list") return listTexts(shape.item)
  if (shape.type === "union") return shape.members.flatMap(listTexts)
  if (shape.type !== "object") return []
  const inner = [...shape.fields.values()].flatMap((field) => [field.meta.text, ...listTexts(field.shape)])
  return shape.rest === undefined ? inner : [...inner, ...listTexts(shape.rest)]
}

it("the texts of fields are those of the schema", () => {
  const used: ReadonlyArray<string> = [...new Set(listTexts(readShape(Document)))].toSorted()
  assert.deepStrictEqual(used, Object.keys(english).toSorted())
})

it("Chinese descriptions are Chinese", () => {
  assert.deepStrictEqual(
    Object.entries(chinese).filter(([, text]) => !/[\u4E00-\u9FFF]/.test(text)),
    []
  )
})
