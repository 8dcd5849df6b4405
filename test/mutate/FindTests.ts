/** Searches the test files that name a field for a test that fails when the field is cut. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { registry, saveRegistry } from "./Registry.ts"
import { runCuts, uncut, waves } from "./RunTests.ts"

const root = join(import.meta.dirname, "../..")

/** Tests of the document's form show no effect, and whole installations are other processes. */
const excluded =
  /^test\/(?:bench|scenarios|repository|mutate|eval)\/|^test\/config\/(?:Checks|Documents|Fields|LoadConfig|Sealing|FileConfigStore)|[Ff]ault|Fuzz|Hostile/

const testFiles = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
      .map((name) => `test/${name}`)
      .filter((name) => name.endsWith(".test.ts") && !excluded.test(name))
      .map((name) => [name, readFileSync(join(root, name), "utf8")])
  )

const wordOf = (path: string): string =>
  path
    .replaceAll("[]", "")
    .split(".")
    .findLast((part) => part !== "<id>") ?? path

/** Files that say the field's name, those that say more of its path first; configuration's own suites last. */
const candidates = (path: string, files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const parts = path
    .replaceAll("[]", "")
    .split(".")
    .filter((part) => part !== "<id>")
  return [...files]
    .filter(([, text]) => new RegExp(`\\b${wordOf(path)}\\b`).test(text))
    .map(([file, text]) => ({
      file,
      worth: parts.filter((part) => text.includes(part)).length - (file.startsWith("test/config/") ? 10 : 0)
    }))
    .toSorted((a, b) => b.worth - a.worth)
    .map((candidate) => candidate.file)
}

/** Limits the search to `file`, or to `count` of the candidates of a field, beginning with number `from`. */
export interface Where {
  readonly file: string | undefined
  readonly from: number
  readonly count: number
}

/** Adds a row for each field with a matching test. */
export const findTests = async (paths: ReadonlyArray<string>, { file: only, from, count }: Where): Promise<void> => {
  const rows = new Map(registry())
  const files = testFiles()
  const cuts = paths
    .filter((path) => !rows.has(path))
    .map((path) => ({ path, files: only === undefined ? candidates(path, files).slice(from, from + count) : [only] }))
    .filter((cut) => cut.files.length > 0)
  for (const wave of waves(cuts)) {
    const all = [...new Set(wave.flatMap((cut) => cut.files))]
    const states = await runCuts([...wave, { path: uncut, files: all }])
    const passes = new Set(
      states.flatMap(({ path, file, test, state }) =>
        path === uncut && state === "passed" ? [`${file}\t${test}`] : []
      )
    )
    for (const { path } of wave) {
      const killed = states.find(
        (one) => one.path === path && one.state === "failed" && passes.has(`${one.file}\t${one.test}`)
      )
      if (killed === undefined) continue
      rows.set(path, { file: killed.file, test: killed.test })
      console.log(`found  ${path}  ${killed.file}  ${killed.test}`)
    }
    saveRegistry(rows)
  }
}
