/** Bundles leave out what each start would pay for. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { bundleScript, loadBundler } from "../../../src/app/program/Bundle.mjs"
import { temporaryFolder } from "../../vcs/Repository.ts"

it("a bundle has no comments, and loads no second client of HTTP for an import of node:http", async () => {
  const folder = temporaryFolder()
  const script = join(folder, "script.ts")
  writeFileSync(
    script,
    `import { createServer, STATUS_CODES } from "node:http"
/** A comment of a declaration. */
export const isLoaded = (): boolean => process.moduleLoadList.some((name) => name.includes("undici"))
process.stdout.write([typeof createServer, STATUS_CODES[404], isLoaded()].join())`
  )
  const bundler = await loadBundler()
  if (bundler === undefined) throw new Error("the bundler is not installed; run npm ci")
  await bundleScript(bundler, folder, { bundle: script })
  const bundle = join(folder, "bundle.mjs")
  expect(execFileSync(process.execPath, [bundle], { encoding: "utf8" })).toBe("function,Not Found,false")
  expect(readFileSync(bundle, "utf8")).not.toContain("A comment")
})

it("a bundle is ASCII, and has the texts of its source", async () => {
  const folder = temporaryFolder()
  const script = join(folder, "script.ts")
  const parts = ['"中文 – é 😀"', '"\\\\é"', '/^[–\\–]+$/.test("––")', '/^.$/u.test("😀")', '"\\u00e9"']
  writeFileSync(script, `process.stdout.write(JSON.stringify([${parts.join()}]))`)
  const bundler = await loadBundler()
  if (bundler === undefined) throw new Error("the bundler is not installed; run npm ci")
  await bundleScript(bundler, folder, { bundle: script })
  const bundle = join(folder, "bundle.mjs")
  const texts: unknown = JSON.parse(execFileSync(process.execPath, [bundle], { encoding: "utf8" }))
  expect(texts).toEqual(["中文 – é 😀", "\\é", true, true, "é"])
  expect(readFileSync(bundle).every((byte) => byte < 128)).toBe(true)
})
