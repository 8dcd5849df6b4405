/** `aicr setup` over the stores of this machine: prints what it will do, writes with --yes only, and lists what a person has to do. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { addHook, getHooks } from "../harness/FakeHooks.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

const url = "https://aicr.test/webhooks/gitea"

const start = async () => {
  const forge = await startFakeForge("gitea")
  onTestFinished(forge.stop)
  for (const name of ["team/app", "team/web", "team/unreviewed"]) await forge.createRepository(name)
  const folder = temporaryFolder()
  const config = join(folder, "config.yaml")
  await writeFile(
    config,
    JSON.stringify({
      server: { base_url: "https://aicr.test" },
      triggers: [
        {
          name: "tea",
          kind: "gitea",
          base_url: forge.url,
          token_env: "TEST_TOKEN",
          webhook_secret_env: "TEST_SECRET"
        }
      ],
      workspaces: {
        instances: { one: { match: ["team/app", "team/web"].map((exact) => ({ source: { repo_ref: { exact } } })) } }
      },
      queue: { kind: "sqlite", sqlite: { path: "queue.db" } },
      storage: { database: { sqlite: { path: "aicr.db" } }, object: { filesystem: { root: "objects" } } }
    })
  )
  const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret }
  const run = (command: ReadonlyArray<string>, ...args: ReadonlyArray<string>) =>
    runAicr([...command, "--config", config, ...args], { env })
  expect(await run(["db", "migrate"])).toMatchObject({ code: 0 })
  const aicr = (...args: ReadonlyArray<string>) => run(["setup"], ...args)
  const may = (name: string) => Object.assign(getHooks(forge, name), { mayList: true, mayWrite: true })
  return { aicr, forge, may }
}

it("prints what it will do, and does it with --yes", async () => {
  const { aicr, forge, may } = await start()
  may("team/app")
  addHook(may("team/web"), { url, events: ["push"] })
  const planned = await aicr("team")
  expect(planned).toMatchObject({ code: 0, err: "" })
  expect(planned.out).toMatch(
    /^team\/app {2}create a webhook\nteam\/web {2}repair the webhook: the webhook lacks the events .*\nNothing is written\. Repeat the command with --yes/
  )
  expect(forge.writes()).toEqual([])
  const done = await aicr("team", "--yes")
  expect(done.out).toContain("team/app  created\nteam/web  repaired\n")
  expect(done.code).toBe(0)
  expect(getHooks(forge, "team/app").hooks).toMatchObject([{ url, secret: forge.secret, isActive: true }])
  expect(getHooks(forge, "team/unreviewed").hooks).toEqual([])
  const again = await aicr("team/app", "--yes")
  expect(again.out).toBe("team/app  complete\nNothing is to be done.\n")
  expect(forge.writes()).toHaveLength(2)
  expect(done.out + planned.out + again.out).not.toContain(forge.secret)
}, 90_000)

it("lists what a person has to enter where the credential may not", async () => {
  const { aicr, forge } = await start()
  const { code, err, out } = await aicr("team/app", "--yes")
  expect([code, err]).toEqual([1, "1 webhook not complete\n"])
  expect(out).toContain("team/app  unreadable: ")
  for (const text of [url, "Pull Request Synchronized", "Repository → Settings → Webhooks", "webhook_secret_env"])
    expect(out).toContain(text)
  expect(forge.writes()).toEqual([])
  expect((await aicr("team/unreviewed")).code).toBe(2)
}, 90_000)
