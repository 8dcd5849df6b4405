/** Every entity of the real schema has a form: each field an input, and conditions that name a neighbour. */
import { describe, expect, it } from "vitest"
import { jsonSchema, withTextKey } from "../../../src/config/JsonSchema.ts"
import { formKinds } from "../../../src/dashboard/configuration/EntityKinds.ts"
import { applies, inputKind, listFields } from "../../../src/dashboard/configuration/FormFields.ts"
import { inlineReferences, schemaAt } from "../../../src/dashboard/configuration/SchemaPath.ts"
import { fieldTexts } from "../../../src/text/en/Fields.ts"

const schema = inlineReferences(jsonSchema(withTextKey))
const fieldsOf = (kind: string) => listFields(schemaAt(schema, ["entities", kind, "x"]) ?? {})
const field = (kind: string, name: string) => {
  const found = fieldsOf(kind).find((one) => one.name === name)
  if (found === undefined) throw new Error(`${kind} has no field ${name}`)
  return found
}

describe("fields", () => {
  it.each([
    ["triggers", "kind", "choice"],
    ["triggers", "enabled", "flag"],
    ["triggers", "token", "secret"],
    ["triggers", "watch_path", "texts"],
    ["triggers", "app", "group"],
    ["triggers", "repositories", "list"],
    ["triggers", "port", "text"],
    ["providers", "timeout_ms", "number"],
    ["providers", "extra_headers", "json"],
    ["channels", "max_comments", "number"],
    ["channels", "min_severity", "choice"],
    ["workspaces", "match", "list"],
    ["workspaces", "source_repo", "group"],
    ["routes", "line_comments", "texts"]
  ])("%s.%s has the input %s", (kind, name, input) => {
    expect(field(kind, name).kind).toBe(input)
  })

  it("of every kind are described, and none is another spelling of a field", () => {
    for (const kind of formKinds.filter((name) => name !== "model_groups" && name !== "prompts")) {
      const all = fieldsOf(kind)
      expect([kind, all.length > 2]).toEqual([kind, true])
      expect(all.filter(({ text }) => !Object.hasOwn(fieldTexts, text))).toEqual([])
    }
  })

  it("of a model group are those of its models", () => {
    const group = schemaAt(schema, ["entities", "model_groups", "x"]) ?? {}
    expect(inputKind(group)).toBe("list")
    expect(listFields(group).map(({ name }) => name)).toEqual(["provider", "model", "role"])
  })

  it("say what is required and what the default is", () => {
    expect([field("triggers", "kind").isRequired, field("triggers", "base_url").isRequired]).toEqual([true, false])
    expect([field("triggers", "enabled").fallback, field("channels", "marker_prefix").fallback]).toEqual([
      "true",
      "[AICR]"
    ])
  })
})

describe("a field with a condition", () => {
  it("applies to the kinds that it is for", () => {
    const token = field("triggers", "token")
    expect(["gitea", "perforce", undefined].map((kind) => applies(token, { kind }))).toEqual([true, false, false])
  })

  it("is shown while it is set, so that it can be removed", () => {
    expect(applies(field("triggers", "token"), { kind: "perforce", token: "********" })).toBe(true)
  })
})
