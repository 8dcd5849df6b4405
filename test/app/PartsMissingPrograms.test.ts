/** The real process on a machine without git. */
import { expect, it } from "vitest"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

it("warns when it starts that git is missing", async () => {
  await using at = await Installation.make({ queue: "memory", env: { PATH: temporaryFolder() } })
  await at.aicr.start()
  const text = "program missing, reviews that need it fail"
  const warnings = () =>
    at.aicr.log
      .split("\n")
      .filter((line) => line.includes(text))
      .map((line) => JSON.parse(line))
  await waitUntil(() => warnings().length > 0, { describe: () => at.aicr.log })
  expect(warnings()).toMatchObject([{ level: "warn", program: "git", needed_for: "checkouts", advice: "install it" }])
}, 60_000)
