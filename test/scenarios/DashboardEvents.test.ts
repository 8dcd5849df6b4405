/** A page that is open for long: a stream of events costs it no memory. */
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
beforeAll(async () => {
  at = await Installation.make({ queue: "sqlite", env: adminEnv })
  await at.aicr.start()
  proxy = await EventProxy.start(at.aicr.url)
  browser = await TestBrowser.start()
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await proxy?.[Symbol.asyncDispose]()
  await at?.[Symbol.asyncDispose]()
})

it(
  "takes in events without growing",
  { timeout: 180_000 },
  async () => {
    const admin = await AdminSession.open(at.aicr.url)
    const draft = async (): Promise<void> => {
      const pull = await at.forge.createPull("team/one", { headBranch: "drafts", title: "Draft", draft: true })
      await at.forge.notify(pull, "opened")
    }
    await at.push("drafts", 1)
    for (let count = 0; count < 60; count++)
  }
)
