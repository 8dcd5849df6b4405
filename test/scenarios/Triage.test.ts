/**
 * An issue from its webhook to its triage, on the real process: spam gets a comment with the reason, is labelled and
 * closed, once, though the process dies between the writes and the delivery comes twice; a bug stays open. An issue that was opened while the
 * process was down is triaged after its start.
 */
import { createHmac, randomUUID } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"

const repo = "team/one"

it("spam is closed once, with the reason and its label; a bug stays open", async () => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-triage-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const forge = await startFakeForge("gitea")
  onTestFinished(forge.stop)
  const model = await startFakeModel((request) => ({
    calls: [
      {
        name: "triage",
        input: request.text.includes("cheap watches")
          ? { verdict: "close", category: "spam", reason: "It advertises watches.", confidence: 0.95 }
          : { verdict: "keep_open", category: "bug", reason: "It names a crash.", confidence: 0.95 }
      }
    ]
  }))
  onTestFinished(() => model.close())
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  await writeFile(
    configFile,
    stringify({
      server: { port, hostname: "127.0.0.1" },
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
      workspaces: {
        instances: {
          one: {
            source_repo: { trigger: "host", repo },
            triage: { enabled: true, actions: ["close", "label", "comment"] }
          }
        }
      },
      llm: {
        providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
        model_chain: { default: [{ provider: "fake", model: "fake" }] }
      },
      agent: { default: "native-llm" },
      queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
      storage: {
        database: { sqlite: { path: join(directory, "aicr.db") } },
        object: { filesystem: { root: join(directory, "objects") } }
      }
    })
  )
  const url = `http://127.0.0.1:${port}`
  const aicr = new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
  onTestFinished(() => aicr[Symbol.asyncDispose]())
  await forge.createRepository(repo)
  await forge.push(repo, { branch: "main", message: "Start", files: { "a.ts": "export const a = 1\n" } })

  const { issues } = forge.issues(repo)
  const open = (number: number, title: string, body: string) => {
    const made = { number, title, body, state: "open", labels: [], assignees: [], comments: 0, texts: [] } as const
    issues.push({ ...made, user: forge.user("mallory"), texts: [], createdAt: new Date().toISOString() })
    const delivery = randomUUID()
    const payload = JSON.stringify({
      action: "opened",
      number,
      issue: { number, title, body, state: "open", user: { login: "mallory" }, labels: [] },
      repository: { id: 1, full_name: repo, clone_url: `${forge.url}/${repo}.git`, html_url: `${forge.url}/${repo}` },
      sender: { login: "mallory" }
    })
    return async () => {
      const answer = await fetch(`${url}/webhooks/gitea`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-gitea-event": "issues",
          "x-gitea-event-type": "issues",
          "x-gitea-delivery": delivery,
          "x-gitea-signature": createHmac("sha256", forge.secret).update(payload).digest("hex")
        },
        body: payload
      })
      return [answer.status, await answer.json()]
    }
  }
  const writesOf = (number: number) => forge.writes().filter(({ path }) => path.includes(`/issues/${number}`)).length

  await aicr.start()
  const sendSpam = open(1001, "Great offer", "Buy cheap watches!")
  expect(await sendSpam()).toMatchObject([202, { accepted: true, target_kind: "issue", status: "queued" }])
  await waitUntil(() => writesOf(1001) > 0, { timeout: 60_000, describe: () => `a first write; log:\n${aicr.log}` })
  await aicr.kill()
  await aicr.start()
  await waitUntil(() => issues[0]?.state === "closed", {
    timeout: 60_000,
    describe: () => `the issue closed; log:\n${aicr.log}`
  })
  expect(await sendSpam()).toMatchObject([202, { accepted: true, status: "duplicate" }])

  expect(await open(1002, "It crashes", "Empty input makes it crash.")()).toMatchObject([202, { accepted: true }])
  await waitUntil(() => issues[1]?.labels.includes("bug"), {
    timeout: 60_000,
    describe: () => `a label for the bug; log:\n${aicr.log}`
  })

  const [spam, bug] = issues
  expect(spam).toMatchObject({ state: "closed", labels: ["spam"] })
  expect(spam?.texts.map(({ body }) => body)).toEqual([expect.stringContaining("It advertises watches.")])
  expect(bug).toMatchObject({ state: "open", labels: ["bug"] })
  expect(model.requests.length).toBe(2)
  await aicr.stop()

  // Nothing reports this one: a search finds it.
  const sendLate = open(1003, "It hangs", "A query never ends.")
  await aicr.start()
  await waitUntil(() => issues[2]?.labels.includes("bug"), {
    timeout: 60_000,
    describe: () => `a label for the issue without a delivery; log:\n${aicr.log}`
  })
  expect(await sendLate()).toMatchObject([202, { accepted: true }])
  await aicr.stop()
  expect(model.requests.length).toBe(3)
  forge.expectContract()
}, 180_000)
