/** The type of the descriptions of fields in forms is that of the schema, so that the compiler requires each of them in Chinese. */
import { expect, it } from "vitest"
import { jsonSchema } from "../../../src/config/JsonSchema.ts"
import { formKinds } from "../../../src/dashboard/configuration/EntityKinds.ts"
import { chineseFieldHelp } from "../../../src/dashboard/configuration/ChineseFieldHelp.ts"
import { listFields } from "../../../src/dashboard/configuration/FormFields.ts"
import type { FormField } from "../../../src/dashboard/configuration/FormFields.ts"
import { inlineReferences, schemaAt } from "../../../src/dashboard/configuration/SchemaPath.ts"

const schema = inlineReferences(jsonSchema())

const listDescriptions = (fields: ReadonlyArray<FormField>): ReadonlyArray<string> =>
  fields.flatMap(({ description, kind, schema: inner }) => [
    description,
    ...(kind === "group" || kind === "list" ? listDescriptions(listFields(inner)) : [])
  ])

const descriptions = [
  ...new Set(
    formKinds.flatMap((kind) => {
      const form = schemaAt(schema, ["entities", kind, "x"]) ?? {}
      return listDescriptions(kind === "model_groups" ? listFields({ properties: { models: form } }) : listFields(form))
    })
  )
]
  .filter((description) => description !== "")
  .toSorted()

const quote = (text: string): string => (text.includes('"') ? `'${text}'` : JSON.stringify(text))

it("the type of the descriptions is that of the schema; `npx vitest run FILE -u` writes it again", async () => {
  const text = `/** Descriptions of the fields of forms, as the schema has them. Written by its test. */
export type FieldHelp =
${descriptions.map((description) => `  | ${quote(description)}\n`).join("")}`
  await expect(text).toMatchFileSnapshot("../../../src/dashboard/configuration/FieldHelp.ts")
})

it("each description is in Chinese", () => {
  const entries = Object.entries(chineseFieldHelp)
  expect(entries.map(([english]) => english).toSorted()).toEqual(descriptions)
  expect(entries.filter(([, chinese]) => !/[\u4E00-\u9FFF]/.test(chinese))).toEqual([])
})
