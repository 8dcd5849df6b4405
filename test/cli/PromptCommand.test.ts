/** `aicr prompt show` prints the prompt that an operator replaces. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "vitest"
import { basePrompt } from "../../src/domain/BasePrompt.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

it("prints the built-in base prompt without a configuration", () => {
  const main = join(import.meta.dirname, "../../src/main.mjs")
  const out = execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", main, "prompt", "show"], {
    cwd: temporaryFolder(),
    encoding: "utf8"
  })
  expect(out).toBe(`${basePrompt.trimEnd()}\n`)
})
