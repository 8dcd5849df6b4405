/** The first steps in a real browser: a set-up page that waits for the first delivery, and the page of a review in shadow. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { makeViolationSearch } from "../harness/Axe.ts"
import { TestBrowser } from "../harness/Browser.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const searchViolations = makeViolationSearch(true)
let at: Installation
let browser: TestBrowser
let admin: AdminSession
let page: Page

beforeAll(async () => {
  at = await Installation.make({ queue: "sqlite", env: adminEnv })
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  document.outputs.shadow = true
  document.config_sources = { database: { enabled: true } }
  writeFileSync(file, stringify(document))
  await at.aicr.start()
  browser = await TestBrowser.start()
  admin = await AdminSession.open(at.aicr.url)
  page = await (await browser.signedIn(admin.token)).newPage()
}, 60_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await at?.[Symbol.asyncDispose]()
})

it("shows that it waits, that a secret is wrong, and that the first delivery arrived, without a reload", async () => {
  await page.goto(`${at.aicr.url}/dashboard/setup`)
  const panel = page
    .getByRole("region", { name: "First delivery" })
    .or(page.locator(".panel", { hasText: "First delivery" }))
  const status = panel.getByRole("status")
  await status.getByText("Waiting.").waitFor()
  await panel.getByText(`${at.aicr.url}/webhooks/gitea`).waitFor()
  await panel.getByText("Pull Request, Pull Request Synchronized").waitFor()
  expect(await searchViolations(page, "#content")).toEqual([])
  const pull = await at.open("first")
  const event = { kind: "pull", pull, action: "opened", sender: at.forge.user("dana") } as const
  await at.forge.send(at.forge.delivery(event, { secret: "another" }))
  await status.getByText("Deliveries with a wrong signature in 24 hours: 1.").waitFor()
  await at.forge.send(at.forge.delivery(event))
  await status.getByText("The first delivery arrived and was accepted.").waitFor()
  await page.reload()
  await page.getByRole("region", { name: "Triggers" }).waitFor()
  expect(await page.getByText("The first delivery arrived").count()).toBe(0)
})

it("shows what a review in shadow would have published, and prepares a draft that publishes", async () => {
  await waitUntil(async () => (await admin.items("/runs"))[0]?.["status"] === "succeeded", {
    timeout: 60_000,
    describe: () => at.aicr.log.slice(-3000)
  })
  const [run] = await admin.items("/runs")
  await page.goto(`${at.aicr.url}/dashboard/runs/${run?.["id"]}`)
  const panel = page.locator(".panel", { hasText: "Would have been published" })
  await panel.getByText("Problem of first").first().waitFor()
  await panel.getByRole("code").filter({ hasText: "src/first.ts:2" }).first().waitFor()
  expect(await searchViolations(page, "#content")).toEqual([])
  await panel.getByText("Begin to publish").click()
  await panel.getByText(/"team-one":\s+outputs:\s+shadow: false/).waitFor()
  await panel.getByRole("button", { name: "Prepare a draft" }).click()
  await waitUntil(async () => (await admin.items("/config/drafts")).length === 1, { describe: () => "no draft" })
  const [draft] = await admin.items("/config/drafts")
  expect(draft?.["operations"]).toEqual([
    { op: "set", entity: { kind: "workspaces", name: "team-one" }, path: ["outputs", "shadow"], value: false }
  ])
})
