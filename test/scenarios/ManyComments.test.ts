/** The comments of a pull request do not fit in the response of a host that has no pages for them. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { Installation } from "../harness/Installation.ts"

it("the summary is published once among 280 comments of 60 KB, also after a restart and without records", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  await at.aicr.start()
  const pull = await at.open("crowded")
  const day = 24 * 3600 * 1000
  const opened = Date.now() - day
  Object.assign(pull, { createdAt: new Date(opened).toISOString() })
  const bot = at.forge.user("other-bot")
  for (let n = 0; n < 280; n++) {
    const time = new Date(opened + (n * day) / 280).toISOString()
    const id = at.forge.state.nextId()
    pull.comments.push({ id, user: bot, createdAt: time, updatedAt: time, body: `${n} ${"x".repeat(60_000)}` })
  }
  let lists = 0
  at.host.onRequest = ({ method, path }) => {
    // The search for missed deliveries, some time after a start, would read the comments once more.
    if (method === "GET" && /\/issues(\/search)?$/.test(path))
      return { kind: "answer", answer: { status: 200, body: [] } }
    if (method === "GET" && path.endsWith("/comments") && path.includes("/issues/")) lists++
    return undefined
  }
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull).summaries).toBe(1)
  expect(lists).toBe(3)

  await at.aicr.stop()
  await at.aicr.start()
  await at.push("crowded", 2)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  await at.settled()
  expect([at.posted(pull).summaries, lists]).toEqual([1, 3])

  await at.aicr.stop()
  await rm(join(at.directory, "aicr.db"))
  await at.aicr.start()
  await at.push("crowded", 3)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  await at.settled()
  // The summary is in the newest half; that nothing of the new review exists is known after both halves.
  expect([at.posted(pull).summaries, lists]).toEqual([1, 3 + 2 + 3])
}, 180_000)
