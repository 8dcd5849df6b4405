/**
 * The whole service with its cache in Redis: responses of the host are cached for every node, and reviews continue
 * without Redis.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { Redis } from "ioredis"
import { parse, stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { fault } from "../harness/FakeForge.ts"
import { Installation } from "../harness/Installation.ts"
import { RedisServer } from "../harness/Redis.ts"

const onRedis = async (at: Installation, redis: RedisServer): Promise<AicrProcess> => {
  const configFile = join(at.directory, "config.yaml")
  const document = parse(await readFile(configFile, "utf8"))
  document.storage.cache = { kind: "redis", redis: { url_env: "TEST_REDIS" }, ttl_seconds: 100 }
  for (const channel of document.outputs.channels) channel.mention_author = true
  await writeFile(configFile, stringify(document))
  const env = {
    TEST_TOKEN_0: "t0ken-of-the-reviewer-0",
    TEST_SECRET: "s3cret-of-the-webhook",
    TEST_KEY: "key-of-the-model",
    SVC_REDIS_PREFIX: "own",
    TEST_REDIS: redis.url
  }
  return new AicrProcess({ configFile, url: at.aicr.url, env })
}

it("keeps there who wrote a commit, has no name in a key, and reviews on when Redis is gone", async () => {
  await using redis = await RedisServer.start()
  await using at = await Installation.make({ queue: "memory" })
  await using aicr = await onRedis(at, redis)
  // The fake host of installations has no authors of commits.
  let asked = 0
  at.host.onRequest = ({ path }) => {
    const sha = /\/git\/commits\/(\w+)$/.exec(path)?.[1]
    if (sha === undefined) return undefined
    asked++
    const author = { login: "olga", id: 77 }
    return fault.answered(200, { sha, author, commit: { author: { name: "Olga", email: "olga@corp.test" } } })
  }
  await aicr.start()
  const first = await at.open("first")
  await at.forge.notify(first, "opened")
  await at.reviewed(first)
  await at.settled()

  const client = new Redis(redis.url)
  const keys = await client.keys("*")
  expect([keys.length, asked]).toEqual([1, 1])
  for (const key of keys) {
    expect(key).toMatch(/^\{own\}:cache:commit-author:[0-9a-f]{64}$/)
    expect(await client.get(key)).toBe('{"account":"olga"}')
    const left = await client.ttl(key)
    expect(left > 0 && left <= 100).toBe(true)
  }
  client.disconnect()

  await redis.kill()
  const second = await at.open("second")
  await at.forge.notify(second, "opened")
  await at.reviewed(second)
  expect((await fetch(`${at.aicr.url}/readyz`)).status).toBe(200)
})
