/** A backup taken while the service works, and restored after its database was lost. */
import { readdirSync } from "node:fs"
import { rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { honest, Installation, namesIn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

const aicr = async (at: Installation, ...args: ReadonlyArray<string>) => {
  const { code, err, out } = await runAicr(["db", ...args, "--config", join(at.directory, "config.yaml")])
  return { code, text: `${out}${err}` }
}

it("a restored backup continues what it holds, and posts nothing twice", async () => {
  await using at = await Installation.make({ queue: "memory" })
  const released = Promise.withResolvers<void>()
  at.model.script(async (request) => {
    if (namesIn(request).includes("running")) await released.promise
    return honest(request)
  })
  await at.aicr.start()
  const kept = await at.open("kept")
  await at.forge.notify(kept, "opened")
  await at.reviewed(kept)
  const running = await at.open("running")
  await at.forge.notify(running, "opened")
  await waitUntil(() => at.countModelCalls("running") > 0, { describe: () => at.aicr.log })

  const file = join(at.directory, "backup.db")
  expect(await aicr(at, "backup", file)).toMatchObject({ code: 0 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await aicr(at, "backup", file)).toMatchObject({ code: 2, text: expect.stringContaining("name a new file") })
  expect(await aicr(at, "restore", file)).toMatchObject({
    code: 3,
    text: expect.stringContaining("Another aicr process uses the data folder")
  })
  released.resolve()
  await at.reviewed(running)

  await at.aicr.kill()
  for (const name of readdirSync(at.directory)) if (name.startsWith("aicr.db")) await rm(join(at.directory, name))
  await writeFile(join(at.directory, "aicr.db"), "damaged")
  await writeFile(join(at.directory, "junk.db"), "damaged")
  expect(await aicr(at, "restore", join(at.directory, "junk.db"))).toMatchObject({ code: 2 })
  expect(await aicr(at, "restore", file)).toMatchObject({
    code: 0,
    text: expect.stringContaining("the former database is kept as")
  })
  const calls = at.countModelCalls("kept")
  await at.aicr.start()
  await at.settled()
  expect(at.countModelCalls("kept")).toBe(calls)
  for (const pull of [kept, running])
    expect(at.posted(pull)).toMatchObject({ comments: [expect.any(String)], summaries: 1 })
})
