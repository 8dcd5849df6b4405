/**
 * Two services with accounts of their own on one change, and a person with a program that contradicts every text of theirs and mentions both, below
 * the change and in the threads of their findings. Both get every delivery, also of what they wrote. They end at their limits, and stay silent however
 * long it goes on: eight comments and a limit of two replies; ten minutes with one comment per second with AICR_TEST_CONVERSATIONS=all.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, expect, it, onTestFinished } from "vitest"
import { parse, stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { freePort } from "../harness/FreePort.ts"
import { addComment, isIdle, startReviewed } from "../harness/ReviewedChange.ts"
import { isWhole as isWholeOf, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const isWhole = isWholeOf("AICR_TEST_CONVERSATIONS")
const comments = isWhole ? 600 : 8
/** `review.conversation.limits.person_hour`, by default 10. */
const limit = isWhole ? 10 : 2
const hosts = ["gitea", "github"] as const
const services = ["aicr", "other"]
const otherToken = "t0ken-of-the-other"

it.each(isWhole ? hosts : takeTurn("AICR_TEST_CONVERSATIONS", hosts))(
  "two services and a program that contradicts both end at their limits at %s",
  async (kind) => {
    const review = { conversation: { from: "everybody", limits: { person_hour: limit } } }
    const world = await startReviewed(kind, { accounts: { [otherToken]: "other" }, review })
    onTestFinished(world.stop)
    const { configFile, forge, model, pull } = world
    model.script(({ text }) =>
      text.includes("Write the reply to the last comment")
        ? { calls: [{ name: "reply", input: { outcome: "replied", text: "@aicr @other and @chatty, is that so?" } }] }
        : { text: "", calls: [{ name: "finish", input: {} }] }
    )
    const own = dirname(configFile)
    const directory = join(own, "other")
    mkdirSync(directory)
    const port = await freePort()
    const document = parse(readFileSync(configFile, "utf8"))
    const otherFile = join(directory, "config.yaml")
    writeFileSync(
      otherFile,
      stringify({
        ...document,
        server: { ...document.server, port },
        queue: { ...document.queue, sqlite: { path: join(directory, "queue.db") } },
        storage: {
          database: { sqlite: { path: join(directory, "aicr.db") } },
          object: { filesystem: { root: join(directory, "objects") } }
        }
      })
    )
    const url = `http://127.0.0.1:${port}`
    const env = { TEST_TOKEN: otherToken, TEST_SECRET: forge.secret }
    await using other = new AicrProcess({ configFile: otherFile, url, env })
    await other.start()

    const texts = () => [
      ...pull.comments,
      ...pull.reviews.flatMap(({ comments: lines, user }) =>
        lines.flatMap((line) => [{ ...line, user }, ...getThread(line).answers])
      )
    ]
    /** The texts of the services by account and form, for a failure. */
    const listTexts = () => JSON.stringify(ofServices().map(({ body, user }) => `${user.login}: ${body.slice(0, 60)}`))
    const ofServices = () => texts().filter(({ user }) => services.includes(user.login))
    const send = (delivery: ReturnType<typeof forge.delivery>) =>
      Promise.all([forge.send(delivery), forge.send({ ...delivery, url: `${url}/webhooks/${kind}` })])
    const describe = () => `${world.describe()}\n--- other:\n${other.log.slice(-3000)}`
    const settle = () => waitUntil(() => [own, directory].every(isIdle), { timeout: 60_000, describe })

    const delivered = new Set(ofServices().map(({ body }) => body))
    const before = ofServices().length
    const counts: Array<number> = []
    for (let n = 0; n < comments; n++) {
      // Hosts report what the services wrote, too.
      for (const { body, user } of ofServices()) {
        if (delivered.has(body)) continue
        delivered.add(body)
        await send(forge.delivery({ kind: "comment", pull, body, sender: user, id: forge.state.nextId() }))
      }
      const text = `@aicr and @other, that is wrong in case ${n}. What else?`
      await send(addComment(forge, pull, "chatty", text, n % 2 === 0 ? undefined : world.comment).delivery)
      if (isWhole) await new Promise((resume) => setTimeout(resume, 1000))
      else await settle()
      counts.push(ofServices().length - before)
    }
    await settle()
    // As many replies to a person per hour, by each service, and a sentence about the limit below the change and in the thread.
    expect(counts.at(-1)).toBeGreaterThanOrEqual(2 * limit)
    assert.isAtMost(counts.at(-1) ?? 0, 2 * (limit + 2), listTexts())
    // Nothing follows once the limits are reached.
    expect(counts.at(-1)).toBe(counts.at(-4))
    expect(model.requests.filter(({ text }) => text.includes("Write the reply")).length).toBeLessThanOrEqual(2 * limit)
    forge.expectContract()
  },
  isWhole ? 1_500_000 : 240_000
)
