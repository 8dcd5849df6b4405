/**
 * Takes a screenshot of every page of the dashboard at two widths, in both themes and both languages, with contact sheets of them:
 * `node test/dashboard/Screenshots.ts FOLDER [LINK]`. LINK is a login link, such as that of the demo; without it the pages are those of the tests.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { TestBrowser } from "../harness/Browser.ts"

type Item = Readonly<Record<string, unknown>>
type Read = (path: string) => Promise<ReadonlyArray<Item>>

interface Site extends AsyncDisposable {
  readonly url: string
  readonly token: string
}

const redeem = async (link: string): Promise<Site> => {
  const [url = "", login = ""] = link.split("#login=")
  const response = await fetch(`${url.replace(/\/dashboard$/, "")}/api/admin/login/redeem`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ link: login })
  })
  const { token } = Object(await response.json())
  return { url, token, [Symbol.asyncDispose]: () => Promise.resolve() }
}

const startSite = async (): Promise<Site> => {
  const { startDashboardWorld } = await import("./DashboardWorld.ts")
  const world = await startDashboardWorld()
  return {
    url: world.url,
    token: world.admin.token,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]()
  }
}

const listPaths = async (read: Read): Promise<Readonly<Record<string, string>>> => {
  const idOf = (items: ReadonlyArray<Item>, field: string, value: string) =>
    items.find((item) => item[field] === value)?.["id"] ?? "missing"
  const [runs, events] = [await read("/runs"), await read("/events")]
  const succeeded = runs.findLast(({ status }) => status === "succeeded")
  const change = `repo=${encodeURIComponent(String(succeeded?.["repo"] ?? ""))}&number=1`
  return {
    overview: "/",
    changes: "/changes",
    change: `/change?${change}`,
    deliveries: "/deliveries",
    "delivery-draft": `/deliveries/${idOf(events, "reason", "draft")}`,
    "delivery-queued": `/deliveries/${idOf(events, "decision", "queued")}`,
    runs: "/runs",
    run: `/runs/${succeeded?.["id"] ?? "missing"}`,
    "run-failed": `/runs/${idOf(runs, "status", "failed")}`,
    "run-live": `/runs/${idOf(runs, "status", "analyzing")}`,
    compare: `/runs/${idOf(runs, "status", "succeeded")}/compare`,
    queue: "/queue",
    batches: "/queue?tab=batches",
    projects: "/projects",
    statistics: "/statistics",
    rules: "/rules",
    nodes: "/nodes",
    providers: "/providers",
    setup: "/setup",
    chat: "/chat",
    configuration: "/configuration",
    forms: "/configuration?tab=forms",
    form: "/configuration?tab=forms&kind=workspaces&new=1",
    editor: "/configuration?tab=edit",
    revisions: "/configuration?tab=revisions",
    revision: "/configuration/revisions/1",
    tokens: "/tokens",
    audit: "/audit",
    nowhere: "/nowhere"
  }
}

const looks = [
  { width: 1280, theme: "light", language: "en" },
  { width: 1280, theme: "dark", language: "en" },
  { width: 390, theme: "light", language: "en" },
  { width: 390, theme: "dark", language: "en" },
  { width: 1280, theme: "light", language: "zh-CN" },
  { width: 390, theme: "light", language: "zh-CN" }
] as const

const settle = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor()
  await page.locator("#content .loading").first().waitFor({ state: "detached" })
  await page.evaluate(
    "document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 150))))"
  )
}

/** One image of several screenshots, each with its name. */
const montage = async (
  browser: TestBrowser,
  files: ReadonlyArray<string>,
  width: number,
  to: string
): Promise<void> => {
  const context = await browser.context({ viewport: { width: 1568, height: 400 } })
  const page = await context.newPage()
  const images = files.map((file) => {
    const data = readFileSync(file).toString("base64")
    return `<figure><figcaption>${file.split("/").at(-1) ?? ""}</figcaption><img src="data:image/png;base64,${data}" width="${width}"></figure>`
  })
  await page.setContent(
    `<style>body{margin:0;display:flex;flex-wrap:wrap;gap:4px;align-items:start;background:#c8c}figure{margin:0;width:${width}px;max-height:2300px;overflow:hidden}figcaption{font:14px sans-serif;background:#ff8}img{display:block}</style>${images.join("")}`
  )
  await page
    .locator("img")
    .last()
    .evaluate((image) => Object(image).decode())
  await page.screenshot({ path: to, fullPage: true })
  await context.close()
}

const takeLook = async (
  browser: TestBrowser,
  site: Site,
  paths: Readonly<Record<string, string>>,
  look: (typeof looks)[number],
  folder: string
): Promise<void> => {
  const { language, theme, width } = look
  const context = await browser.signedIn(site.token, {
    viewport: { width, height: width === 390 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: "reduce"
  })
  await context.addInitScript(([chosen]) => localStorage.setItem("aicr.language", chosen ?? ""), [language])
  const page = await context.newPage()
  const files: Array<string> = []
  for (const [name, path] of Object.entries(paths)) {
    if (path.includes("missing")) continue
    await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
    await page.goto(`${site.url}${path}`)
    await settle(page)
    // Pages scroll within the window, so that the window is made as high as they are.
    const height = await page.evaluate(
      "Math.max(...[...document.querySelectorAll('#content, main, body')].map((element) => element.scrollHeight)) + 90"
    )
    await page.setViewportSize({ width, height: Math.min(2600, Math.max(width === 390 ? 844 : 800, Number(height))) })
    const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if (Number(wide) > 0) process.stdout.write(`${name} at ${width} is ${String(wide)} px too wide\n`)
    const file = join(folder, `${width}-${theme}-${language}-${name}.png`)
    await page.screenshot({ path: file, fullPage: true })
    files.push(file)
  }
  await context.close()
  const [perSheet, shown] = width === 390 ? [4, 388] : [2, 780]
  for (let at = 0; at < files.length; at += perSheet)
    await montage(
      browser,
      files.slice(at, at + perSheet),
      shown,
      join(folder, `sheet-${width}-${theme}-${language}-${String(at / perSheet).padStart(2, "0")}.png`)
    )
}

const [folder, link] = process.argv.slice(2)
if (folder === undefined) throw new Error("usage: node test/dashboard/Screenshots.ts FOLDER [LINK]")
mkdirSync(folder, { recursive: true })
await using site = await (link === undefined ? startSite() : redeem(link))
await using browser = await TestBrowser.start()
const paths = await listPaths(async (path) => {
  const response = await fetch(`${site.url.replace(/\/dashboard$/, "")}/api/admin${path}`, {
    headers: { authorization: `Bearer ${site.token}` }
  })
  return Object(await response.json()).items
})
writeFileSync(join(folder, "paths.json"), JSON.stringify(paths))
for (const look of looks) await takeLook(browser, site, paths, look, folder)
