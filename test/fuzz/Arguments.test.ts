/** Checks the arguments of `npm run fuzz`. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")

const runFuzzer = (...args: ReadonlyArray<string>) => {
  const argv = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "main.ts"), ...args]
  return spawnSync(join(root, "node_modules/.bin/node"), argv, { encoding: "utf8" })
}

describe("npm run fuzz", () => {
  it.each(["0", "1.5"])("refuses --concurrency %s with its usage", (concurrency) => {
    const { status, stderr } = runFuzzer("--concurrency", concurrency)
    expect(stderr).toContain("[--concurrency N]")
    expect(status).toBe(2)
  })
})
