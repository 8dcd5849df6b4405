/** Tests mirror the sources: `test/<folder>/<Source><Topic>.test.ts` tests `src/<folder>/<Source>.ts`, so that a file's tests are found by its name. */
import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")

const list = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`)

/** Folders of tests that belong to no folder of sources. */
const suites: ReadonlyArray<string> = ["fuzz", "harness", "repository", "scenarios"]

/** Returns the folder of sources that a folder of tests mirrors. */
const mirrored = (folder: string): string =>
  /^(?:actors|demo|eval|nats)(?:\/|$)/.test(folder) ? folder : `src/${folder}`

/** Names of sources by folder, without their extension. */
const sourcesByFolder = (files: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> =>
  Map.groupBy(
    files.filter((file) => /\.m?[tj]sx?$/.test(file)).map((file) => file.replace(/(?:\.d)?\.m?[tj]sx?$/, "")),
    dirname
  )

const sources = sourcesByFolder(["actors", "demo", "eval", "nats", "src"].flatMap(list))

/** Returns why the name of a test is refused, or undefined. */
const problemOf = (file: string): string | undefined => {
  const folder = dirname(file).replace(/^test\//, "")
  const name = basename(file, ".test.ts")
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) return `${file}: write the name in PascalCase`
  if (suites.includes(folder)) return undefined
  const own = sources.get(mirrored(folder))?.map((path) => basename(path).toLowerCase())
  if (own === undefined) return `${file}: ${mirrored(folder)} does not exist`
  // Fields of one namespace of the configuration, each observed at its effect.
  if (name.endsWith("Fields")) return undefined
  return own.some((source) => name.toLowerCase().startsWith(source))
    ? undefined
    : `${file}: begin the name with that of the file in ${mirrored(folder)} that it tests`
}

/** Peers that a benchmark installed bring tests of their own. */
const tests = list("test").filter((file) => file.endsWith(".test.ts") && !file.includes("/node_modules/"))

it("every test has the name of the source file that it tests, and its topic", () => {
  expect(tests.length).toBeGreaterThan(200)
  expect(tests.map(problemOf).filter((problem) => problem !== undefined)).toEqual([])
})

it("every source file has the name of what it holds, in PascalCase", () => {
  // main.mjs is the program; a language has its code; the change of the demo is not of this repository.
  const names = [...sources].filter(([folder]) => !folder.startsWith("demo/change/")).flatMap(([, paths]) => paths)
  expect(
    names.filter(
      (path) =>
        !["src/main", "src/text/en", "src/text/zh"].includes(path) && !/^[A-Z][A-Za-z0-9]*$/.test(basename(path))
    )
  ).toEqual([])
})

it.each([
  ["test/queue/Plan.test.ts", "accepted"],
  ["test/queue/PlanFairness.test.ts", "accepted"],
  ["test/store/StorageFields.test.ts", "accepted"],
  ["test/scenarios/Crash.test.ts", "accepted"],
  ["test/queue/Queue.kill.test.ts", "PascalCase"],
  ["test/scenarios/crash.test.ts", "PascalCase"],
  ["test/queue/Fairness.test.ts", "begin the name with that of the file in src/queue"],
  ["test/store/Plan.test.ts", "begin the name with that of the file in src/store"],
  ["test/somewhere/Plan.test.ts", "src/somewhere does not exist"]
])("%s: %s", (file, result) => expect(problemOf(file) ?? "accepted").toContain(result))
