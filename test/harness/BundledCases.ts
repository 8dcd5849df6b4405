/** The labelled changes of eval/cases, read as `aicr eval` reads them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { readCase } from "../../eval/EvalCase.ts"
import type { EvalCase } from "../../eval/EvalCase.ts"

const folder = join(import.meta.dirname, "../../eval/cases")

export const bundledCases: ReadonlyArray<EvalCase> = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => {
    const found = readCase(name.replace(".yaml", ""), parse(readFileSync(join(folder, name), "utf8")))
    if (!("name" in found)) throw new Error(found.join("\n"))
    return found
  })

/** Returns the paths that the change adds, removes or changes. */
export const changedPaths = ({ before, after }: EvalCase): ReadonlyArray<string> =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
