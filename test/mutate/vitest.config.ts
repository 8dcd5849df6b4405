/**
 * Test files once for each field that is cut (`AICR_CUTS`: JSON of paths and files), each as a project of its own. One line of
 * Defaults.ts is replaced, so that each value that is filled in goes through Cut.ts. What became of the tests goes to `AICR_CUT_REPORT`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import type { TestModule } from "vitest/node"
import { common } from "../../vitest.config.ts"

const root = join(import.meta.dirname, "../..")
const line = "const given = value[name] ??"
const defaults = join(root, "src/config/fields/Defaults.ts")
if (!readFileSync(defaults, "utf8").includes(line))
  throw new Error(`${defaults} has no line "${line}"; adapt test/mutate`)
const cutModule = join(import.meta.dirname, "Cut.ts")

const cutField = {
  name: "cut-field",
  enforce: "pre" as const,
  transform: (code: string, id: string) => {
    if (id !== defaults) return undefined
    const imported = `import { cut as __cut } from ${JSON.stringify(cutModule)}\n`
    return imported + code.replace(line, "const given = __cut(meta, value[name]) ??")
  }
}

interface Wanted {
  readonly path: string
  readonly files: ReadonlyArray<string>
}

const cuts: ReadonlyArray<Wanted> = JSON.parse(process.env["AICR_CUTS"] ?? "[]")

const report = {
  onTestRunEnd: (modules: ReadonlyArray<TestModule>): void => {
    const rows = modules.flatMap((module) => {
      const of = { path: module.project.name, file: module.moduleId.replace(`${root}/`, "") }
      const tests = [...module.children.allTests()].map((test) => ({
        ...of,
        test: test.fullName,
        state: test.result().state
      }))
      return tests.length > 0 ? tests : [{ ...of, test: "", state: module.state() }]
    })
    writeFileSync(process.env["AICR_CUT_REPORT"] ?? "/dev/stdout", JSON.stringify(rows))
  }
}

export default defineConfig({
  root,
  test: {
    ...common,
    include: [],
    reporters: [report],
    silent: true,
    projects: cuts.map(({ path, files }) => ({
      root,
      plugins: [cutField],
      test: {
        ...common,
        name: path,
        include: [...files],
        env: { AICR_CUT_FIELD: path },
        // What waits for the effect of a field that is cut waits for nothing.
        testTimeout: 10_000,
        hookTimeout: 10_000
      }
    }))
  }
})
