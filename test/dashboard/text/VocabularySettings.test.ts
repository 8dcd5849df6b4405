/** Settings that the texts of pages name exist. */
import { expect, it } from "vitest"
import { fieldTexts } from "../../../src/text/en/Fields.ts"
import { pageTexts as english } from "../../../src/text/en/Pages.ts"
import { pageTexts as chinese } from "../../../src/text/zh/Pages.ts"

const roots =
  "agent|admin|compression|config_sources|im|llm|outputs|prompts|queue|review|server|storage|triggers|workspaces"
const named = new RegExp(`\\b(?:${roots})(?:\\.[a-z_]+)+`, "g")

/** Names without positions and ids, and all that they begin with. */
const known = new Set(
  Object.keys(fieldTexts).flatMap((name) => {
    const parts = name.replaceAll(/\[\]|\.<\w+>/g, "").split(".")
    return parts.map((_, end) => parts.slice(0, end + 1).join("."))
  })
)

it.each([
  ["English", english],
  ["Chinese", chinese]
])("%s", (_, texts: Readonly<Record<string, string>>) => {
  const wrong = Object.entries(texts).flatMap(([key, text]) =>
    (text.match(named) ?? []).filter((name) => !known.has(name)).map((name) => `${key}: ${name}`)
  )
  expect(wrong).toEqual([])
})
