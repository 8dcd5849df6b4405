/** An owners file whose patterns backtrack, in the default branch and in the pushed one: read by one real process that is killed while it reads. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { nodeDocument } from "../harness/HookedNode.ts"
import { HealthProbe } from "../harness/HealthProbe.ts"
import { waitUntil } from "../harness/Wait.ts"

const wild = `${`**/${"*a".repeat(60)}b @mallory\n`.repeat(50)}${"**/a/".repeat(40)}b @mallory\n`
const file = `${"a/".repeat(30)}${"a".repeat(90)}.ts`
const quote = "export const mean = total / 0"

const start = async (directory: string) => {
  const forge = await startFakeForge("gitea")
  onTestFinished(forge.stop)
  const model = await startFakeModel(() =>
    review([
      { file, line: 1, severity: "high", category: "bug", title: "Division by zero", message: "Divides.", quote }
    ])
  )
  onTestFinished(() => model.close())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const configFile = join(directory, "config.yaml")
  await writeFile(
    configFile,
    stringify({
      ...nodeDocument({ directory, model }, port),
      triggers: [
        {
          name: "host",
          kind: "gitea",
          base_url: forge.url,
          token_env: "TEST_TOKEN",
          webhook_secret_env: "TEST_SECRET",
          write_interval_ms: 20
        }
      ],
      workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
      outputs: {
        channels: [
          { name: "issues", kind: "gitea_problem_issue", assign_committer: false, add_owners_as_assignees: true }
        ],
        routes: { default: { line_comments: ["issues"], summary: [] } }
      }
    })
  )
  forge.setWebhookUrl(`${url}/webhooks/gitea`)
  return {
    forge,
    aicr: new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
  }
}

it("patterns of an owners file that backtrack freeze nothing, also after a kill, and a pushed branch names no owners", async () => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-owners-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const { aicr, forge } = await start(directory)
  await using _ = aicr
  await forge.createRepository("team/one")
  const before = await forge.push("team/one", {
    branch: "main",
    message: "Start",
    files: { OWNERS: `* @olga\n${wild}` }
  })
  const after = await forge.push("team/one", {
    branch: "release",
    from: "main",
    message: "Release",
    files: { OWNERS: `${wild}* @mallory\n`, [file]: `${quote}\n` }
  })
  const { issues } = forge.issues("team/one")

  const reading = Promise.withResolvers<void>()
  forge.intercept(({ path }) => {
    if (path.includes("OWNERS")) reading.resolve()
    return undefined
  })
  aicr.useOwnProcess()
  await aicr.start()
  const repository = forge.repository("team/one")
  const sender = forge.user("dana")
  const pushed = forge.delivery({ kind: "push", repository, branch: "release", before, after, sender })
  expect((await forge.send(pushed)).status).toBe(202)
  await reading.promise
  await aicr.kill()
  await aicr.start()
  await using probe = new HealthProbe(aicr.url)
  await waitUntil(() => issues.length > 0, { timeout: 60_000, describe: () => `an issue; log:\n${aicr.log}` })
  expect(issues.map(({ assignees }) => assignees)).toEqual([["olga"]])
  expect(probe.slowest).toBeLessThan(3000)
  expect(await aicr.processorMillis()).toBeLessThan(20_000)
})
