/** Texts that are loaded with pages: every source of the dashboard that shows one loads them. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { pagedTexts } from "../../../src/text/en/Paged.ts"

const folder = join(import.meta.dirname, "../../../src/dashboard")

it("are loaded by each source that names one", () => {
  const groups = [...new Set(Object.keys(pagedTexts).map((key) => key.split(".")[0]))]
  // A key, or the group of a value.
  const names = new RegExp(`["\`](?:${groups.join("|")})\\.|(?:tValue\\(|group=)"(?:${groups.join("|")})"`)
  const sources = globSync("**/*.{ts,tsx}", { cwd: folder }).map((file) => [
    file,
    readFileSync(join(folder, file), "utf8")
  ])
  const naming = sources.filter(([, text = ""]) => names.test(text))
  expect(naming.length).toBeGreaterThan(4)
  expect(naming.filter(([, text = ""]) => !text.includes('/PagedTexts.ts"')).map(([file]) => file)).toEqual([])
})
