/** `aicr prompt show` prints the prompt that an operator replaces. */
import { expect, it } from "vitest"
import { basePrompt } from "../../src/domain/BasePrompt.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

it("prints the built-in base prompt without a configuration", async () => {
  const { out } = await runAicr(["prompt", "show"], { cwd: temporaryFolder() })
  expect(out).toBe(`${basePrompt.trimEnd()}\n`)
})
