/** The list of fields without effect is equal to the code: nothing in it is read, nothing outside it goes unread. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Document } from "../../src/config/Document.ts"
import { rowsOf } from "../../src/config/Reference.ts"
import { shapeOf } from "../../src/config/Shape.ts"
import { readDocument } from "../../src/config/Snapshots.ts"
import { unconsumed, unconsumedAt } from "../../src/config/Unconsumed.ts"

const root = join(import.meta.dirname, "../..")
const sourcesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))

/** Everything that could read a field: the service without the configuration's own description of it, and without the demo. */
const readers = [...sourcesOf("src"), ...sourcesOf("actors")].filter(
  (file) => !/src\/(config|demo)\/|Vocabulary\.ts$/.test(file)
)
const resolving = ["Resolve", "RouteIndex", "Matcher", "Snapshots"].map((name) => join(root, `src/config/${name}.ts`))
const textOf = (files: ReadonlyArray<string>): string =>
  files.map((file) => readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "")).join("\n")
const code = textOf(readers)
const all = code + textOf(resolving)

const wordOf = (path: string): string => path.split(".").at(-1)?.replace("[]", "") ?? ""
const isRead = (text: string, word: string): boolean =>
  new RegExp(`\\b${word}\\b`).test(text) || (word.endsWith("_env") && new RegExp(`"${word.slice(0, -4)}"`).test(text))

describe("fields without effect", () => {
  it.each(unconsumed.map((row) => [row.path, row] as const))(
    "%s is read by nothing; else its row goes",
    (path, row) => {
      expect(row.reader === undefined ? isRead(code, wordOf(path)) : row.reader.test(code)).toBe(false)
    }
  )

  it("every field that nothing reads is listed", () => {
    const shape = shapeOf(Document)
    const fields =
      shape.type === "object" ? [...shape.fields.values()].flatMap((field) => rowsOf(field.name, field.shape)) : []
    const listed = (path: string): boolean =>
      path.split(".").some((_, index, parts) => {
        const upTo = parts.slice(0, index + 1).join(".")
        return unconsumedAt(upTo) !== undefined || unconsumedAt(upTo.replace(/\[\]$/, "")) !== undefined
      })
    const reserved = /^queue\.(dead_letter|workers\.lock_ttl_seconds)/
    const ofOtherWords = /^outputs\.template_engine$|<id>$/
    const unread = fields
      .map(({ path }) => path)
      .filter((path) => !isRead(all, wordOf(path)) && !listed(path) && !reserved.test(path) && !ofOtherWords.test(path))
    expect(unread).toEqual([])
  })

  it("gives one warning, at the topmost place, in every layer", () => {
    const { issues } = readDocument(
      {
        im: { connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } } },
        agent: { timeout_seconds: 5 },
        workspaces: { defaults: { agent: { timeout_seconds: 6 } } }
      },
      {}
    )
    expect(issues.map(({ severity, path }) => [severity, path])).toEqual([
      ["warning", "agent.timeout_seconds"],
      ["warning", "im"],
      ["warning", "workspaces.defaults.agent.timeout_seconds"]
    ])
  })
})
