/** Searches pages for violations of accessibility, with axe in a real browser. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const themes = ["light", "dark"] as const

/**
 * Returns a search within a selector, which lists the violations and leaves the page with light colours. Searches take turns with the two themes;
 * with `both` each search tries both, the second one for its colours only, because nothing else differs.
 */
export const makeViolationSearch = (both: boolean) => {
  let searches = 0
  return async (page: Page, within: string): Promise<ReadonlyArray<string>> => {
    // The policy forbids inserted scripts, not those of the debugger.
    await page.evaluate(axe)
    const found: Array<string> = []
    const turn = themes.filter((_, index) => index === searches % themes.length)
    searches++
    for (const [index, theme] of (both ? themes : turn).entries()) {
      await page.emulateMedia({ colorScheme: theme })
      const rules = index === 0 ? "" : ", runOnly: ['color-contrast']"
      const { violations } = Object(
        await page.evaluate(`axe.run(${JSON.stringify(within)}, { resultTypes: ["violations"]${rules} })`)
      )
      for (const { id, nodes } of violations) found.push(`${theme} ${id}: ${nodes[0].html.slice(0, 160)}`)
    }
    await page.emulateMedia({ colorScheme: "light" })
    return found
  }
}
