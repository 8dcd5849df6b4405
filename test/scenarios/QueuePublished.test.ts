/**
 * Work that no pull request starts, from its entry to its publication, on the real process: pushes are one batch and
 * one comment on their newest commit, a review requested by hand goes to its route, and scheduled work is published
 * once. At GitHub by default, with AICR_TEST_HOSTS=all at GitLab too.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { dueNow } from "../harness/DueNow.ts"
import { startFakeForge, makeHostTrigger } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { takeSample } from "../harness/Samples.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = "key-of-the-operator"
const quote = "  return total / 0"
const finding = {
  file: "src/sum.ts",
  line: 1,
  severity: "high",
  category: "bug",
  title: "Division by zero",
  message: "This divides by zero.",
  quote
} as const

/** A chat group that keeps the messages it receives. */
const startGroup = async () => {
  const messages: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (data) => (body += String(data)))
    request.on("end", () => {
      messages.push(body)
      response.setHeader("content-type", "application/json").end(JSON.stringify({ errcode: 0, errmsg: "ok" }))
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return { messages, url: `http://127.0.0.1:${address.port}/hook` }
}

const install = async (kind: "github" | "gitlab", delaySeconds: number) => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-published-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const forge = await startFakeForge(kind)
  onTestFinished(forge.stop)
  const model = await startFakeModel(review([finding], "One problem."))
  onTestFinished(() => model.close())
  const group = await startGroup()
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  await writeFile(
    configFile,
    stringify({
      server: { port, hostname: "127.0.0.1", auth: { api_key: key } },
      triggers: [
        makeHostTrigger(kind, forge.url),
        { name: "ci", kind: "manual" },
        { name: "yearly", kind: "scheduled", cron: "0 4 1 1 *", repositories: [{ repo: "team/one", branch: "main" }] }
      ],
      workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
      outputs: {
        channels: [
          { name: "host", kind: kind === "github" ? "github_pr_review" : "gitlab_mr_review" },
          { name: "group", kind: "wecom_bot", webhook_url: group.url }
        ],
        routes: {
          default: { summary: ["host"], line_comments: ["host"] },
          rules: [{ match: { target_kind: "manual" }, summary: ["group"], line_comments: [] }]
        }
      },
      llm: {
        providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
        model_chain: { default: [{ provider: "fake", model: "fake" }] }
      },
      agent: { default: "native-llm" },
      review: { output_language: "en", verification: "off", auto_commit: { delay_seconds: delaySeconds } },
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
  forge.setWebhookUrl(`${url}/webhooks/${kind}`)
  const repository = await forge.createRepository("team/one")
  const start = await forge.push("team/one", {
    branch: "main",
    message: "Start",
    files: { "src/sum.ts": "export const one = 1\n" }
  })
  const database = <A>(use: (db: DatabaseSync) => A): A => {
    const db = new DatabaseSync(join(directory, "aicr.db"), { timeout: 5000 })
    try {
      return use(db)
    } finally {
      db.close()
    }
  }
  /** Receipts with an outcome, and no run or publication that is under way. */
  const settled = (count: number) =>
    waitUntil(
      () =>
        database((db) => {
          const events = db.prepare("SELECT event, outcome, outcome_reason FROM events ORDER BY id").all()
          const open = db
            .prepare(
              "SELECT 1 FROM runs WHERE status IN ('preparing', 'analyzing', 'publishing') UNION ALL SELECT 1 FROM publications WHERE status IN ('pending', 'sending', 'unknown')"
            )
            .all()
          return events.length >= count && events.every(({ outcome }) => outcome !== null) && open.length === 0
            ? events.map(({ event, outcome, outcome_reason }) => ({
                event,
                outcome,
                reason: readReasonColumn(outcome_reason)
              }))
            : undefined
        }),
      { timeout: 60_000, describe: () => `${count} events with an outcome; log:\n${aicr.log}` }
    )
  const change = (message: string) =>
    forge.push("team/one", {
      branch: "main",
      message,
      files: {
        "src/sum.ts": `export const one = 1\n\nexport const ${message} = (total: number): number => {\n${quote}\n}\n`
      }
    })
  const comments = () => forge.issues("team/one").commitComments
  return { aicr, change, comments, database, directory, forge, group, model, repository, settled, start, url }
}

describe.each(takeSample("AICR_TEST_HOSTS", ["github", "gitlab"] as const, 2))("%s", (kind) => {
  it("two pushes and a death between them: one review, one comment on the newest commit", async () => {
    const { aicr, change, comments, directory, forge, group, model, repository, settled, start } = await install(
      kind,
      3600
    )
    await aicr.start()
    const push = (before: string, after: string) =>
      forge.send(
        forge.delivery({ kind: "push", repository, branch: "main", before, after, sender: forge.user("dana") })
      )
    const first = await change("mean")
    expect(await push(start, first)).toMatchObject({ status: 202, body: { accepted: true } })
    await aicr.kill()
    await aicr.start()
    const second = await change("average")
    expect(await push(first, second)).toMatchObject({ status: 202, body: { accepted: true } })
    await aicr.stop()
    dueNow(directory)
    await aicr.start()
    expect(await settled(2)).toMatchObject([{ outcome: "executed" }, { outcome: "executed" }])
    expect(comments().map(({ sha }) => sha)).toEqual([second])
    expect(comments()[0]?.body).toContain("Division by zero")
    expect(model.requests.length).toBe(1)
    expect(group.messages).toEqual([])
    forge.expectContract()
  })

  it("a review requested by hand goes to its route, and to no other", async () => {
    const { aicr, change, comments, forge, group, settled, start, url } = await install(kind, 0)
    await aicr.start()
    const head = await change("mean")
    const ask = () =>
      fetch(`${url}/triggers/manual`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": "one" },
        body: JSON.stringify({ repo: "team/one", base: start, head })
      })
    expect((await ask()).status).toBe(202)
    expect((await ask()).status).toBe(202)
    expect(await settled(1)).toMatchObject([{ event: "manual", outcome: "executed" }])
    expect(group.messages.length).toBe(1)
    expect(group.messages[0]).toContain("Division by zero")
    expect(comments()).toEqual([])
    forge.expectContract()
  })

  it("a time that passed while the service was down is made up for once", async () => {
    const { aicr, change, comments, database, forge, settled } = await install(kind, 0)
    await aicr.start()
    await waitUntil(() => database((db) => db.prepare("SELECT 1 FROM schedules").all().length === 1), {
      describe: () => `the schedule is known; log:\n${aicr.log}`
    })
    await aicr.stop()
    const head = await change("mean")
    const threeYears = Date.now() - 3 * 366 * 86_400_000
    database((db) => db.prepare("UPDATE schedules SET last_fire = ?").run(threeYears))
    await aicr.start()
    expect(await settled(1)).toEqual([{ event: "scheduled", outcome: "executed", reason: null }])
    await aicr.kill()
    await aicr.start()
    // Nothing more fires: what the next start finds due has been fired for.
    expect((await settled(1)).length).toBe(1)
    expect(comments().map(({ sha }) => sha)).toEqual([head])
    // The described APIs do not hold the list of commits, by which the range is found: every other request is as described.
    expect(forge.violations.filter((violation) => !/no operation GET \S+\/commits$/.test(violation))).toEqual([])
  })
})
