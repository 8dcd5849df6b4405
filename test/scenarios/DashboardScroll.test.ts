/** A list that was scrolled: rows in view stay where they are, to the pixel, while deliveries arrive above them. */
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

let at: Installation
let admin: AdminSession
let browser: TestBrowser
let page: Page
let delivered = 0

/** Drafts lead to no review, so that nothing else changes. */
const deliver = async (count: number): Promise<void> => {
  for (let sent = 0; sent < count; sent++) {
    const pull = await at.forge.createPull("team/one", { headBranch: "drafts", title: "Draft", draft: true })
    await at.forge.notify(pull, "opened")
  }
  delivered += count
  const total = async (): Promise<number> => {
    const groups = await admin.items("/events/reasons")
    return groups.reduce((sum, group) => sum + Number(group["count"]), 0)
  }
  await waitUntil(async () => (await total()) >= delivered, { describe: () => at.aicr.log })
}

beforeAll(async () => {
  at = await Installation.make({ queue: "sqlite", env: adminEnv })
  await at.aicr.start()
  admin = await AdminSession.open(at.aicr.url)
  await at.push("drafts", 1)
  await deliver(240)
  browser = await TestBrowser.start()
  const context = await browser.signedIn(admin.token)
  page = await context.newPage()
  // Every frame is observed, which takes long on a busy machine.
  page.setDefaultTimeout(60_000)
}, 180_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await at?.[Symbol.asyncDispose]()
})

const open = async (): Promise<void> => {
  await page.goto(`${at.aicr.url}/dashboard/deliveries`)
  await page.locator("[data-index='0']").waitFor()
  await page.locator(".connection.live, .connection").first().waitFor()
}

/** Scrolls until the row at this position is the first one in view. */
const scrollTo = async (index: number): Promise<void> => {
  await waitUntil(
    async () => {
      await page.evaluate(`document.querySelector(".list").scrollTop = ${index} * 37`)
      return (await page.locator(`[data-index='${index}']`).count()) === 1
    },
    { describe: () => `row ${index} is missing` }
  )
}

/** Records in each frame where the row that is now the first one in view is. Undefined: it is not in the document. */
const follow = async (): Promise<void> => {
  await page.evaluate(`(() => {
      const list = document.querySelector(".list").getBoundingClientRect()
      const rows = [...document.querySelectorAll(".list-rows .row")]
      const row = rows.find((one) => one.getBoundingClientRect().top >= list.top + 32)
      const link = row.querySelector(".row-link").getAttribute("href")
      globalThis.seen = new Set()
      const frame = () => {
        const place = document.querySelector('.row-link[href="' + link + '"]')?.closest(".row")
        globalThis.seen.add(place === undefined ? "missing" : Math.round(place.getBoundingClientRect().top))
        globalThis.frame = requestAnimationFrame(frame)
      }
      cancelAnimationFrame(globalThis.frame)
      frame()
    })()`)
}
const places = (): Promise<unknown> => page.evaluate("[...globalThis.seen]")

describe("a list that was scrolled", () => {
  for (const [name, index, count, label] of [
    ["within its first page", 40, 3, "3 new"],
    ["to its second page", 150, 5, "5 new"],
    ["while more rows arrive than a page has", 60, 120, "100 or more new"]
  ] as const)
    it(
      `${name} keeps its rows in place, counts the new ones, and shows them on request`,
      { timeout: 120_000 },
      async () => {
        await open()
        await scrollTo(index)
        await follow()
        const before = Number(await page.evaluate(`document.querySelector(".list").scrollTop`))
        await deliver(count)
        const pill = page.getByRole("button", { name: label })
        await pill.waitFor()
        // Further deliveries refresh a list whose start is known by then.
        await deliver(2)
        if (count < 100) await page.getByRole("button", { name: `${count + 2} new` }).waitFor()
        expect(await places()).toHaveLength(1)
        expect(await places()).not.toContain("missing")
        expect(Number(await page.evaluate(`document.querySelector(".list").scrollTop`))).toBe(before)
        await page.locator(".list-newer button").click()
        const newest = (await admin.items("/events?limit=1"))[0]
        await page.locator(`[data-index='0'] .row-link[href$="${String(newest?.["id"])}"]`).waitFor()
        await page.locator(".list-newer button").waitFor({ state: "detached" })
      }
    )

  it("at its top shows new rows without a request", async () => {
    await open()
    await deliver(1)
    const newest = (await admin.items("/events?limit=1"))[0]
    await page.locator(`[data-index='0'] .row-link[href$="${String(newest?.["id"])}"]`).waitFor()
    expect(await page.locator(".list-newer button").count()).toBe(0)
  })

  it("returns to its place, and to the row that was opened, when one goes back", async () => {
    await open()
    await scrollTo(170)
    const before = Number(await page.evaluate(`document.querySelector(".list").scrollTop`))
    const opened = page.locator("[data-index='172'] .row-link")
    const address = await opened.getAttribute("href")
    await opened.click()
    await page.locator(".list").waitFor({ state: "detached" })
    await page.goBack()
    await page.locator(`.row-link[href="${address}"]:focus`).waitFor()
    expect(Number(await page.evaluate(`document.querySelector(".list").scrollTop`))).toBe(before)
  })
})

it("pages that were not opened yet can be opened while the service is unavailable, and the header has the age of the figures", async () => {
  await open()
  // The code of the last page was loaded after the first one.
  const names = `performance.getEntriesByType("resource").map(({ name }) => name).join()`
  await waitUntil(async () => String(await page.evaluate(names)).includes("/Audit-"), {
    describe: () => "the code of the last page is not loaded"
  })
  await at.aicr.kill()
  await page.getByText(/^no live events; figures of \d/).waitFor()
  await page.getByRole("link", { name: "Audit" }).click()
  await page.getByRole("heading", { name: "Audit" }).waitFor()
  await at.aicr.start()
  await page.getByText("live", { exact: true }).waitFor()
  expect(await page.getByRole("heading", { name: "Audit" }).count()).toBe(1)
})
