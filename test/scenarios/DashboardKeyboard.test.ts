/**
 * Every page and every dialog by keyboard alone, in a real browser: each control is reached with Tab and shows that it has the focus, `/` reaches the
 * filter or the palette, `j` and Enter open rows, and dialogs keep the focus and give it back. Dialogs have no accessibility violation in either theme.
 */
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startDashboardWorld } from "../dashboard/DashboardWorld.ts"
import type { DashboardWorld } from "../dashboard/DashboardWorld.ts"
import { adminCredentials, AdminSession } from "../harness/AdminSession.ts"
import { makeViolationSearch } from "../harness/Axe.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { isWhole } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

let world: DashboardWorld
let browser: TestBrowser
let page: Page
const ids: Record<string, string> = {}

beforeAll(async () => {
  world = await startDashboardWorld()
  browser = await TestBrowser.start()
  // A session of its own, which a test ends.
  const { token } = await AdminSession.open(world.at.aicr.url)
  const context = await browser.signedIn(token)
  page = await context.newPage()
  const runs = await world.admin.items("/runs")
  for (const status of ["succeeded", "analyzing"])
    ids[status] = String(runs.find((run) => run["status"] === status)?.["id"])
  const events = await world.admin.items("/events")
  // The newest revision is not offered to be restored.
  for (const [revision, name] of ["fast", "slow"].entries()) {
    const { status } = await world.admin.post("/config/changesets", {
      base_revision: revision,
      operation_id: name,
      operations: [
        { op: "create", entity: { kind: "model_groups", name }, value: [{ provider: "fake", model: "small" }] }
      ]
    })
    expect(status).toBeLessThan(300)
  }
  ids["draft"] = String(events.find((event) => event["reason"] === "draft")?.["id"])
}, 240_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const open = async (path: string): Promise<void> => {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "missing")
  await page.goto(`${world.url}${filled}`)
  await page.locator("#content h1").waitFor()
  await page.locator("#content .loading").first().waitFor({ state: "detached" })
  // The editor is loaded after the page.
  if (path.endsWith("tab=edit")) await page.locator("#content .cm-content").waitFor()
}

/** Controls of the page that are visible, numbered in an attribute that Tab leaves behind. */
const countControls = (): Promise<unknown> =>
  page.evaluate(`(() => {
    const all = document.querySelectorAll("#content :is(a[href], button, select, input, textarea, summary, [tabindex='0'], .cm-content)")
    let count = 0
    for (const control of all) {
      if (control.disabled || !control.checkVisibility() || control.closest("details:not([open]) > :not(summary)")) continue
      if (control.matches(".cm-scroller")) continue
      control.dataset.control = String(count++)
    }
    return count
  })()`)

/** Number of the control that has the focus, and whether that is visible. */
const focused = async (): Promise<{ readonly control: string | null; readonly isShown: boolean }> =>
  Object(
    await page.evaluate(`(() => {
      const element = document.activeElement
      const shows = (one) => {
        const style = getComputedStyle(one)
        return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none"
      }
      const around = [element, element.closest(".row"), element.closest(".cm-editor")].filter((one) => one !== null)
      return { control: element.dataset.control ?? null, isShown: around.some(shows) }
    })()`)
  )

const isShownSoon = (): Promise<boolean> =>
  waitUntil(async () => (await focused()).isShown, { timeout: 1000, describe: () => "the focus is visible" }).catch(
    () => false
  )

const pages = [
  "/",
  "/changes",
  "/change?repo=team/one&number=1",
  "/deliveries",
  "/deliveries/:draft",
  "/runs",
  "/runs/:succeeded",
  "/runs/:succeeded/compare",
  "/queue",
  "/queue?tab=batches",
  "/projects",
  "/statistics",
  "/rules",
  "/nodes",
  "/providers",
  "/setup",
  "/chat",
  "/configuration",
  "/configuration?tab=forms",
  "/configuration?tab=forms&kind=triggers&new=1",
  "/configuration?tab=edit",
  "/configuration?tab=revisions",
  "/tokens",
  "/audit",
  "/nowhere"
] as const

describe("a page", () => {
  it.each(pages)(
    "%s: Tab reaches every control, which shows it, and / the filter or the palette",
    { timeout: 90_000 },
    async (path) => {
      await open(path)
      const count = Number(await countControls())
      expect(count).toBeGreaterThan(0)
      await page.locator("#content").focus()
      const reached = new Set<string>()
      const unseen: Array<string> = []
      for (let step = 0; step < count + 30 && reached.size < count; step++) {
        await page.keyboard.press("Tab")
        const { control, isShown } = await focused()
        if (control === null) continue
        reached.add(control)
        // The editor shows its focus a moment later.
        if (!isShown && !(await isShownSoon())) unseen.push(control)
      }
      expect([reached.size, unseen]).toEqual([count, []])
      await page.evaluate("document.activeElement.blur()")
      await page.keyboard.press("/")
      const filter = page.locator("#content [data-filter]:focus")
      const palette = page.getByRole("dialog").getByRole("combobox")
      await filter.or(palette).first().waitFor()
      if ((await palette.count()) > 0) {
        await page.keyboard.press("Escape")
        await palette.waitFor({ state: "detached" })
      }
    }
  )

  it.each(["/changes", "/deliveries", "/runs"])(
    "%s: j, k and Enter open a row, and the browser goes back",
    async (path) => {
      await open(path)
      await page.keyboard.press("j")
      await page.keyboard.press("j")
      await page.locator("[data-index='1'] .row-link:focus").waitFor()
      await page.keyboard.press("k")
      await page.locator("[data-index='0'] .row-link:focus").waitFor()
      const before = page.url()
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.href !== before)
      await page.goBack()
      await page.waitForURL((url) => url.href === before)
      expect(await page.locator("#content h1").count()).toBe(1)
    }
  )
})

const dialogs = [
  ["/queue", "Pause a workspace", "Pause a workspace"],
  ["/queue?status=dead", /^Retry all/, /^Retry/],
  ["/queue?tab=batches", "team/one main", "Batch"],
  ["/configuration?tab=revisions", "Restore revision 1", "Restore revision 1"],
  ["/projects", "Delete team/one", "Delete team/one"],
  ["/nodes", /^Drain/, "Drain"],
  ["/setup", "Check host-0", "Check of host-0"],
  ["/deliveries/:draft", "Replay", "Replay"],
  ["/runs/:analyzing", "Cancel the run", "Cancel the run"]
] as const

const searchViolations = makeViolationSearch(isWhole("AICR_TEST_PAGES"))

/** Asserts that a dialog is usable, and that Escape closes it. */
const useDialog = async (name: string | RegExp): Promise<void> => {
  const dialog = page.getByRole("dialog", { name })
  await dialog.waitFor()
  await dialog.locator(".loading").first().waitFor({ state: "detached" })
  expect(await page.evaluate("document.activeElement.closest('dialog[open]') !== null")).toBe(true)
  // Tab leaves a modal dialog only for the browser itself.
  for (let step = 0; step < 12; step++) {
    await page.keyboard.press("Tab")
    expect(
      await page.evaluate(
        "document.activeElement === document.body || document.activeElement.closest('dialog[open]') !== null"
      )
    ).toBe(true)
  }
  expect(await searchViolations(page, "dialog[open]")).toEqual([])
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "detached" })
}

describe("a dialog", () => {
  it.each(dialogs)(
    "of %s, opened by %s, keeps the focus and gives it back",
    { timeout: 60_000 },
    async (path, button, name) => {
      await open(path)
      const opener = page.getByRole("button", { name: button }).first()
      await opener.focus()
      await page.keyboard.press("Enter")
      await useDialog(name)
      expect(await opener.evaluate((element) => element.matches(":focus"))).toBe(true)
    }
  )

  it.each([
    ["Control+k", "Go to"],
    ["?", "Keyboard"]
  ] as const)("that %s opens keeps the focus and gives it back", async (key, name) => {
    await open("/runs")
    await page.keyboard.press("j")
    const row = page.locator("[data-index='0'] .row-link:focus")
    await row.waitFor()
    await page.keyboard.press(key)
    await useDialog(name)
    expect(await row.count()).toBe(1)
  })

  it("that ends other sessions is opened from the menu of the user", async () => {
    await open("/")
    const summary = page.locator(".user-menu summary")
    await summary.focus()
    await page.keyboard.press("Enter")
    const entry = page.getByRole("button", { name: "Log out everywhere" })
    await entry.focus()
    await page.keyboard.press("Enter")
    await useDialog("Log out everywhere")
    expect(await entry.evaluate((element) => element.matches(":focus"))).toBe(true)
  })
})

describe("the login", () => {
  it("is done by keyboard, and its page has no violation", async () => {
    await using stranger = await browser.context()
    const other = await stranger.newPage()
    await other.goto(`${world.url}/nodes`)
    await other.getByLabel("User name").waitFor()
    expect(await searchViolations(other, "body")).toEqual([])
    await other.getByLabel("User name").focus()
    await other.keyboard.type(adminCredentials.username)
    await other.keyboard.press("Tab")
    await other.keyboard.type(adminCredentials.password)
    await other.keyboard.press("Enter")
    await other.locator("#content h1", { hasText: "Nodes" }).waitFor()
  })

  it("over a page whose session has ended keeps the focus, and Escape does not close it", async () => {
    // Without live events the page notices the end of its session with the next request only.
    await page.route("**/api/admin/live", () => new Promise(() => {}))
    await open("/runs")
    await world.admin.post("/sessions/revoke", { keep_current: true })
    await page.keyboard.press("g")
    await page.keyboard.press("n")
    const dialog = page.getByRole("dialog", { name: "The session has ended" })
    await dialog.waitFor()
    expect(await searchViolations(page, "dialog[open]")).toEqual([])
    await page.keyboard.press("Escape")
    await page.keyboard.type(adminCredentials.password)
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    await page.locator("#content h1", { hasText: "Nodes" }).waitFor()
    expect(await page.locator("#content .failure").count()).toBe(0)
  })
})
