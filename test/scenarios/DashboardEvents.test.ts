/** A page that is open for long: a stream of events costs it no memory, and what happened between two streams is not missed. */
import type { BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { EventProxy } from "../harness/EventProxy.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** More than an hour has with 50 running reviews. */
const events = 30_000
const mebibyte = 1024 * 1024

let at: Installation
let proxy: EventProxy
let browser: TestBrowser
let admin: AdminSession
let context: BrowserContext
let page: Page

/** Drafts lead to no review. */
const draft = async (): Promise<void> => {
  const pull = await at.forge.createPull("team/one", { headBranch: "drafts", title: "Draft", draft: true })
  await at.forge.notify(pull, "opened")
}
beforeAll(async () => {
  at = await Installation.make({ queue: "sqlite", env: adminEnv })
  await at.aicr.start()
  proxy = await EventProxy.start(at.aicr.url)
  browser = await TestBrowser.start()
  admin = await AdminSession.open(at.aicr.url)
  await at.push("drafts", 1)
  for (let count = 0; count < 60; count++) await draft()
  await waitUntil(async () => (await admin.items("/events?limit=200")).length === 60, { describe: () => at.aicr.log })
  context = await browser.signedIn(admin.token)
  page = await context.newPage()
  await page.goto(`${proxy.url}/dashboard/deliveries`)
  await page.locator("[data-index='0']").waitFor()
  await waitUntil(() => proxy.streams > 0, { describe: () => "no stream" })
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await proxy?.[Symbol.asyncDispose]()
  await at?.[Symbol.asyncDispose]()
})

it("takes in events without growing", { timeout: 180_000 }, async () => {
  const session = await context.newCDPSession(page)
  const heap = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage")
    return (await session.send("Runtime.getHeapUsage")).usedSize
  }
  const received = async (): Promise<number> =>
    Number((await page.locator(".connection").getAttribute("title"))?.replaceAll(/\D/g, "") ?? 0)
  const stream = async (count: number): Promise<void> => {
    const known = await received()
    await proxy.send(count)
    await waitUntil(async () => (await received()) >= known + count, {
      describe: () => "events are missing",
      timeout: 60_000
    })
  }
  await stream(events / 10)
  const before = await heap()
  await stream(events)
  expect((await heap()) - before).toBeLessThan(3 * mebibyte)
})

it("has no stream while its tab is hidden, and reads again what happened once it is visible", async () => {
  const show = (state: string) =>
    page.evaluate(`(() => {
      Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })
      document.dispatchEvent(new Event("visibilitychange"))
    })()`)
  await show("hidden")
  await waitUntil(() => proxy.streams === 0, { describe: () => "the stream stays" })
  await show("visible")
  await waitUntil(() => proxy.streams === 1, { describe: () => "no stream" })
  await page.locator(".connection-live").waitFor()
  expect(await page.locator("[data-index='0']").count()).toBe(1)
})

it("reads again what happened while it had no stream", async () => {
  await draft()
  await waitUntil(async () => (await admin.items("/events?limit=200")).length === 61, { describe: () => at.aicr.log })
  const row = page.locator(".row-link", { hasText: "team/one#61" })
  // The proxy sends no event about it.
  expect(await row.count()).toBe(0)
  proxy.endStreams()
  await row.waitFor()
  expect(await page.locator(".connection-live").count()).toBe(1)
})
