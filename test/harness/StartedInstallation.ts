/** An installation whose process runs before the tests of a file or of a group: they share it, with a pull request of their own each. */
import { afterAll, beforeAll } from "vitest"
import { Installation } from "./Installation.ts"
import type { InstallationOptions } from "./Installation.ts"

export const startedInstallation = (options: InstallationOptions): (() => Installation) => {
  let at: Installation
  beforeAll(async () => {
    at = await Installation.make(options)
    await at.aicr.start()
  })
  afterAll(() => at[Symbol.asyncDispose]())
  return () => at
}
