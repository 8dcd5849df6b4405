/** The configuration document: the operator's, but uploaded by editors and pipelines, and read again at every change. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readText } from "../../../src/config/LoadConfig.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"
import { inEnglish } from "../../../src/text/en.ts"

const root = join(import.meta.dirname, "../../..")
const examples = ["config.example.yaml", "examples/gitlab.yaml", "examples/cluster.yaml"]

export const configuration: FuzzTarget = {
  name: "configuration",
  seeds: () => [
    ...examples.map((file) => readFileSync(join(root, file))),
    bytes("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
    bytes("server: { port: 1 }\nserver: { port: 2 }\n")
  ],
  words: ["&a ", "*a", "<<: ", "!!js", "? ", "- ", ": ", "|\n", ">-\n", "__proto__: ", "{", "}", "\t"],
  check: (input) => {
    const { snapshot, issues } = readText(text(input), {})
    const errors = issues.filter(({ severity }) => severity === "error")
    ensure((snapshot === undefined) === errors.length > 0, "a document is either used or refused with errors")
    ensure(
      errors.every(({ reason }) => inEnglish(reason).length <= 4096),
      "every message is bounded"
    )
  }
}
