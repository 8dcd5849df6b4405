/** Every field of the reference has a test that shows its effect (test/mutate/fields.json). */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { fieldPaths } from "../mutate/FieldPaths.ts"
import { registry } from "../mutate/Registry.ts"

const root = join(import.meta.dirname, "../..")

describe("tests of fields", () => {
  it("a new field gets a row: npm run mutate -- fields --find PATH", () => {
    const rows = registry()
    expect(fieldPaths.filter((path) => !rows.has(path))).toEqual([])
  })

  it("rows name fields of the reference and existing tests", () => {
    const wrong = [...registry()].filter(([path, { file, test }]) => {
      const title = test.split(" > ").at(-1) ?? ""
      const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : ""
      // Titles of tables are put together from several places of the file, and from JSON that it computes.
      const words = title.replace(/\{.*\}/, " ").split(/[^A-Za-z]+/)
      return !fieldPaths.includes(path) || !words.every((word) => text.includes(word))
    })
    expect(wrong).toEqual([])
  })
})
