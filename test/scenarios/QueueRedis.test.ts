/** The whole service with its queue in Redis: killed in the middle of its work, and with Redis away while deliveries come. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Redis } from "ioredis"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"
import { RedisServer } from "../harness/Redis.ts"
import { waitUntil } from "../harness/Wait.ts"

/** The installation's process, with its queue in Redis. */
const onRedis = async (at: Installation, redis: RedisServer): Promise<AicrProcess> => {
  const configFile = join(at.directory, "config.yaml")
  const document = parse(await readFile(configFile, "utf8"))
  document.queue.kind = "redis"
  document.storage.cache = { redis: { url_env: "TEST_REDIS" } }
  await writeFile(configFile, stringify(document))
  const env = {
    TEST_TOKEN_0: "t0ken-of-the-reviewer-0",
    TEST_SECRET: "s3cret-of-the-webhook",
    TEST_KEY: "key-of-the-model",
    TEST_REDIS: redis.url
  }
  return new AicrProcess({ configFile, url: at.aicr.url, env })
}

const once = (name: string, head: string) => ({
  reviews: [head],
  comments: [`${toFilePath(name)}:${markedLine}`],
  summaries: 1
})

let redis: RedisServer
let at: Installation
let aicr: AicrProcess
beforeAll(async () => {
  redis = await RedisServer.start()
  at = await Installation.make({ queue: "memory", perWorkspaceConcurrency: 2 })
  aicr = await onRedis(at, redis)
  await aicr.start()
})
afterAll(async () => {
  await aicr[Symbol.asyncDispose]()
  await at[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

it("is killed during a model call: reviewed once after the restart", async () => {
  const pull = await at.open("change")
  const killed = Promise.withResolvers<void>()
  at.model.script(() => {
    killed.resolve(aicr.kill().then(() => undefined))
    return { cut: true }
  })
  await at.forge.notify(pull, "opened")
  await killed.promise
  at.model.script(honest)
  await aicr.start()
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toEqual(once("change", pull.head))
})

it("refuses a queue of another layout, and without its keys queues again what was accepted", async () => {
  const pull = await at.open("accepted")
  const killed = Promise.withResolvers<void>()
  at.model.script(() => {
    killed.resolve(aicr.kill().then(() => undefined))
    return { cut: true }
  })
  await at.forge.notify(pull, "opened")
  await killed.promise
  at.model.script(honest)

  const client = new Redis(redis.url)
  await client.set("{aicr}:queue:layout", "5")
  aicr.spawn()
  await waitUntil(() => /have layout 5, and this release knows 7.*queued again from its records/.test(aicr.log), {
    describe: () => `it refuses the keys; the log says:\n${aicr.log}`
  })
  await waitUntil(
    () =>
      aicr.kill().then(
        () => true,
        () => true
      ),
    { describe: () => "it ended" }
  )
  await client.del(...(await client.keys("{aicr}:queue:*")))
  client.disconnect()

  await aicr.start()
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toEqual(once("accepted", pull.head))
})

it("takes deliveries while Redis is unavailable, and reviews them after the reconnect", async () => {
  const pulls = [await at.open("first"), await at.open("second"), await at.open("third")]
  const [first, ...others] = pulls
  if (first === undefined) throw new Error("no pull request")

  // One review is in progress when Redis stops, and ends while it is unavailable.
  const reached = Promise.withResolvers<void>()
  const away = Promise.withResolvers<void>()
  at.model.script(async (request) => {
    reached.resolve()
    await away.promise
    return honest(request)
  })
  await at.forge.notify(first, "opened")
  await reached.promise
  await redis.kill()
  const answers = await Promise.all(others.map((pull) => at.forge.notify(pull, "opened")))
  expect(answers).toMatchObject(others.map(() => ({ status: 202, body: { accepted: true } })))
  away.resolve()
  await at.reviewed(first)
  await redis.start()

  await at.reviewed(...pulls)
  await at.settled()
  expect(pulls.map((pull) => at.posted(pull))).toEqual(pulls.map((pull) => once(pull.headBranch, pull.head)))
  expect(pulls.map((pull) => at.countModelCalls(pull.headBranch))).toEqual([1, 1, 1])
})
