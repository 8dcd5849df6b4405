/**
 * Makes the pictures of the documents: for each git host what its webhook needs, as the page of the set-up shows it, and the page of a reviewed
 * change. A browser opens the real dashboard under the address that the documents use.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { BrowserContext, Locator, Page } from "playwright-core"
import { parse, stringify } from "yaml"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { review } from "../harness/FakeModel.ts"
import { Installation } from "../harness/Installation.ts"
import { ownFolder } from "../harness/RunFolder.ts"

const pictures = join(import.meta.dirname, "../../docs/pictures")
const origin = "https://aicr.example.com"

/** The hosts that the set-up waits for. They do not exist, so nothing arrives. */
const waitForHosts = async ({ directory }: Installation): Promise<void> => {
  const file = join(directory, "config.yaml")
  const document = parse(await readFile(file, "utf8"))
  const [first] = document.triggers
  const others = ForgeKind.literals.map((kind) => ({
    ...first,
    name: kind,
    kind,
    base_url: kind === "github" ? undefined : `https://${kind}.example.com`
  }))
  await writeFile(file, stringify({ ...document, triggers: [...document.triggers, ...others] }))
}

/** Opens pages of the service under the address of the documents. */
const openAs = async (browser: TestBrowser, token: string, url: string): Promise<BrowserContext> => {
  const context = await browser.signedIn(token, {
    viewport: { width: 960, height: 1300 },
    deviceScaleFactor: 1,
    colorScheme: "light"
  })
  await context.route(`${origin}/**`, async (route) => {
    const address = route.request().url().replace(origin, url)
    // A stream of events has no end to wait for; the pages poll without it.
    if (address.endsWith("/live")) return route.abort()
    return route.fulfill({ response: await route.fetch({ url: address }) })
  })
  return context
}

const file = "src/orders.ts"
const quote = "return lines.reduce((sum, line) => sum + line.price * line.count, 0) / lines.length"

/** Opens a pull request with a fault, which the model finds, and waits for its review. */
const reviewOrders = async (at: Installation): Promise<void> => {
  at.model.script(() =>
    review(
      [
        {
          file,
          line: 2,
          quote,
          severity: "high",
          category: "bug",
          title: "An order without lines has the average NaN",
          message: "`lines.length` is 0 for an order without lines, and 0 / 0 is NaN. Return 0 for it."
        }
      ],
      "Adds the average price of the lines of an order."
    )
  )
  const content = `export const average = (lines: ReadonlyArray<Line>): number => {\n  ${quote}\n}\n`
  const change = { branch: "average", from: "main", message: "Add the average", files: { [file]: content } }
  await at.forge.push("team/one", change)
  const pull = await at.forge.createPull("team/one", { headBranch: "average", title: "Add the average of an order" })
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
}

/** Takes a picture of what is shown, with a margin of so many pixels. */
const take = async (shown: Locator, name: string, margin: number): Promise<void> => {
  const { height = 0, width = 0, x = 0, y = 0 } = (await shown.boundingBox()) ?? {}
  const clip = { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin }
  await shown.page().screenshot({ path: join(pictures, `${name}.png`), clip, fullPage: true })
  process.stdout.write(`docs/pictures/${name}.png\n`)
}

const takeSetup = async (page: Page): Promise<void> => {
  await page.goto(`${origin}/dashboard/setup`)
  for (const kind of ForgeKind.literals) {
    const shown = page
      .locator("details", { has: page.locator("summary", { hasText: new RegExp(`^${kind} `) }) })
      .first()
    await shown.locator("summary").click()
    await take(shown, `setup-${kind}`, 15)
    await shown.locator("summary").click()
  }
}

ownFolder()
await using at = await Installation.make({ queue: "memory", env: adminEnv })
await waitForHosts(at)
await at.aicr.start()
await reviewOrders(at)
const admin = await AdminSession.open(at.aicr.url)
await using browser = await TestBrowser.start()
const context = await openAs(browser, admin.token, at.aicr.url)
const page = await context.newPage()
await takeSetup(page)
const [run] = await admin.items("/runs?repo=team/one")
await page.goto(`${origin}/dashboard/runs/${String(run?.["id"])}`)
await page.locator("h1").waitFor()
await page.getByText("Timeline").waitFor()
await take(page.locator("main"), "run", 0)
await context.close()
