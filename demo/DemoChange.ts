/**
 * The bundled change in demo/change: a small repository before (`base/`) and after (`head/`), and the title of the pull request.
 * faults.json next to them is for the tests only.
 */
import { Schema } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

const Described = Schema.Struct({
  repository: Schema.String,
  branch: Schema.String,
  title: Schema.String,
  description: Schema.String,
  commit: Schema.String
})

export interface DemoChange extends Schema.Schema.Type<typeof Described> {
  /** Content by path. */
  readonly base: Readonly<Record<string, string>>
  /** Files that the head changes; null for a deleted file. */
  readonly head: Readonly<Record<string, string | null>>
}

export const demoChangeFolder = fileURLToPath(new URL("./change", import.meta.url))

const decodeDescribed = Schema.decodeUnknownPromise(Schema.fromJsonString(Described))

export const readDemoChange = async (folder: string = demoChangeFolder): Promise<DemoChange> => {
  const described = await decodeDescribed(await readFile(join(folder, "change.json"), "utf8"))
  const [base, after] = await Promise.all([readTree(join(folder, "base")), readTree(join(folder, "head"))])
  const gone = Object.keys(base).filter((path) => !(path in after))
  const changed = Object.entries(after).filter(([path, text]) => base[path] !== text)
  return {
    ...described,
    base,
    head: Object.fromEntries([...changed, ...gone.map((path) => [path, null] as const)])
  }
}

const readTree = async (folder: string): Promise<Record<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [relative(folder, file).split(sep).join("/"), await readFile(file, "utf8")] as const)
    )
  )
}
