/**
 * Postgres becomes unavailable in the moment in which the model replies, for seconds, for longer than the pause between attempts, and across the death of the process:
 * what was paid for is stored or spooled, published once, and the model is called once.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CutLine } from "../harness/CutLine.ts"
import { honest, Installation, namesIn } from "../harness/Installation.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { waitUntil } from "../harness/Wait.ts"

describe("records that become unavailable when an analysis ends", () => {
  let database: PostgresServer
  let line: CutLine
  let at: Installation
  beforeAll(async () => {
    database = await PostgresServer.start()
    const { hostname, port, pathname, username } = new URL(database.url)
    line = await CutLine.to({ host: hostname, port: Number(port) })
    at = await Installation.make({
      queue: "sqlite",
      repositories: ["team/one", "team/two"],
      database: `postgres://${username}@127.0.0.1:${line.port}${pathname}`
    })
    await at.aicr.start()
  })
  afterAll(async () => {
    line.mend()
    await at[Symbol.asyncDispose]()
    await line[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  /** The line is cut before the reply that ends the analysis leaves. */
  const cutAtReply = (): { readonly cutAt: () => number | undefined } => {
    let cutAt: number | undefined
    at.model.script((request) => {
      if (cutAt === undefined && namesIn(request).length > 0) {
        cutAt = Date.now()
        line.cut()
      }
      return honest(request)
    })
    return { cutAt: () => cutAt }
  }
  const spooled = () => readdirSync(join(at.directory, "spool")).length
  const logged = (message: string, from: number) => at.aicr.log.slice(from).includes(message)

  it.each([
    ["six seconds", 6_000],
    // The longest pause between attempts begins after 7.75 s.
    ["twelve seconds", 12_000]
  ])(
    "%s: the analysis is stored when they are back",
    async (name, millis) => {
      const branch = name.replaceAll(" ", "-")
      const from = at.aicr.log.length
      const pull = await at.open(branch)
      const { cutAt } = cutAtReply()
      await at.forge.notify(pull, "opened")
      await waitUntil(() => logged("analysis spooled", from), { timeout: 30_000, describe: () => at.aicr.log })
      assert.strictEqual(spooled(), 1)
      await waitUntil(() => Date.now() - (cutAt() ?? Infinity) >= millis, {
        timeout: millis + 5_000,
        describe: () => "time passes"
      })
      line.mend()
      await at.reviewed(pull)
      assert.lengthOf(at.posted(pull).reviews, 1)
      assert.lengthOf(at.posted(pull).comments, 1)
      assert.strictEqual(at.countModelCalls(branch), 1)
      await waitUntil(() => spooled() === 0, { describe: () => at.aicr.log })
      assert.match(
        at.aicr.log.slice(from),
        /analysis stored after retries[^\n]*run_id|run_id[^\n]*analysis stored after retries/
      )
    },
    120_000
  )

  it("the process dies while they are unavailable: the next one adopts the analysis", async () => {
    const pull = await at.open("dies")
    const from = at.aicr.log.length
    cutAtReply()
    await at.forge.notify(pull, "opened")
    await waitUntil(() => logged("analysis spooled", from), { timeout: 30_000, describe: () => at.aicr.log })
    await at.aicr.kill()
    line.mend()
    await at.aicr.start()
    await at.reviewed(pull)
    assert.strictEqual(at.countModelCalls("dies"), 1)
    assert.lengthOf(at.posted(pull).reviews, 1)
    assert.isTrue(logged("spooled analysis adopted", from))
    await waitUntil(() => spooled() === 0, { describe: () => at.aicr.log })
  }, 90_000)
})
