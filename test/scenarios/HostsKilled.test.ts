/**
 * Every channel of a host concurrently, and a process that is killed at every eighth write to one of three hosts, or with AICR_TEST_HOST_KILLS=all at
 * every single one, also at Forgejo: each process gets that much further. The host has processed every other write at which a process dies, and not the
 * rest. In the end every item exists exactly once.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import type { Fault } from "../../demo/DemoForge.ts"
import { maxLosses } from "../../src/domain/Entry.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import { startFakeForge, makeHostTrigger } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { isWhole as isWholeOf, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"
import { isSummary } from "../harness/Summaries.ts"

const quote = "  return total / 0"
const content = `export const one = 1\n\nexport const mean = (total: number): number => {\n${quote}\n}\n`

const webhook = { webhook_url_env: "TEST_CHAT" }
const issues = { severity_label_prefix: "sev/", notify_feishu: webhook }
const chats = [
  { name: "feishu", kind: "feishu_bot", ...webhook },
  { name: "wecom", kind: "wecom_bot", ...webhook, mentioned_mobile_list: ["13800000000"] },
  { name: "slack", kind: "slack_webhook", ...webhook },
  { name: "teams", kind: "teams_webhook", ...webhook },
  { name: "program", kind: "webhook", ...webhook, secret: "whsec_c2VjcmV0IG9mIHRoZSBob29rcyBvZiB0ZXN0cw==" }
]
const channels: Record<
  ForgeKind,
  ReadonlyArray<{ readonly name: string; readonly kind: string; readonly labels?: ReadonlyArray<string> }>
> = {
  gitea: [
    { name: "review", kind: "gitea_pr_review" },
    { name: "joined", kind: "gitea_issue" },
    { name: "issues", kind: "gitea_problem_issue", ...issues },
    ...chats
  ],
  forgejo: [
    { name: "review", kind: "gitea_pr_review" },
    { name: "joined", kind: "gitea_issue" },
    { name: "issues", kind: "gitea_problem_issue", ...issues }
  ],
  github: [
    { name: "review", kind: "github_pr_review" },
    { name: "joined", kind: "github_issue" },
    { name: "issues", kind: "github_problem_issue", ...issues, labels: ["found"] }
  ],
  gitlab: [
    { name: "review", kind: "gitlab_mr_review" },
    { name: "issues", kind: "gitlab_problem_issue", ...issues, labels: ["found"] }
  ]
}

/** Expected content after a review of a pull request and of a push, each of which has one problem. */
const expected: Record<ForgeKind, object> = {
  gitea: { inline: ["src/sum.ts:4"], comments: 2, issues: 3, notes: 0 },
  forgejo: { inline: ["src/sum.ts:4"], comments: 2, issues: 3, notes: 0 },
  github: { inline: ["src/sum.ts:4"], comments: 2, issues: 3, notes: 1 },
  gitlab: { inline: ["src/sum.ts:4"], comments: 1, issues: 2, notes: 1 }
}

const countRows = (path: string, query: string): number => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const [row] = database.prepare(`SELECT (${query}) AS found`).all()
    return Number(row?.["found"])
  } finally {
    database.close()
  }
}
const unfinished = `(SELECT count(*) FROM events WHERE work IS NOT NULL AND outcome IS NULL)
  + (SELECT count(*) FROM publications WHERE status IN ('pending', 'sending', 'unknown'))`
const analysed = "SELECT count(DISTINCT run_id) FROM publications WHERE kind = 'Issues'"

/** Writes that the host processes before the process dies: both ways of alternating, spread over the hosts. */
const cases = [
  ["gitea", 0],
  ["forgejo", 1],
  ["github", 0],
  ["gitlab", 1]
] as const
const isWhole = isWholeOf("AICR_TEST_HOST_KILLS")
const stride = isWhole ? 1 : 8
const all = isWhole
  ? cases.flatMap(([kind, odd]) => [[kind, odd] as const, [kind, 1 - odd] as const])
  : takeTurn(
      "AICR_TEST_HOST_KILLS",
      cases.filter(([kind]) => kind !== "forgejo"),
      1
    )

it.each(all)(
  "killed at writes to %s (%i)",
  async (kind, odd) => {
    const directory = await mkdtemp(join(tmpdir(), "aicr-killed-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const forge = await startFakeForge(kind)
    onTestFinished(forge.stop)
    const chat = await startChatPlatform()
    onTestFinished(chat.stop)
    await using model = await startFakeModel((request) =>
      review(
        ["src/sum.ts", "src/push.ts"]
          .filter((file) => request.text.includes(file))
          .map((file) => ({
            file,
            line: 4,
            severity: "high",
            category: "bug",
            title: `Division by zero in ${file}`,
            message: "This divides by zero.",
            quote
          })),
        "One problem."
      )
    )
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    const names = channels[kind].map(({ name }) => name)
    const database = join(directory, "aicr.db")
    await writeFile(
      configFile,
      stringify({
        server: { port, hostname: "127.0.0.1" },
        triggers: [makeHostTrigger(kind, forge.url)],
        workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
        outputs: { channels: channels[kind], routes: { default: { line_comments: names, summary: names } } },
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
          model_chain: { default: [{ provider: "fake", model: "fake" }] }
        },
        agent: { default: "native-llm" },
        review: {
          output_language: "en",
          verification: "off",
          labels: { auto_tag: "in review", reviewed_tag: "reviewed" },
          auto_commit: { delay_seconds: 0 }
        },
        queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
        storage: { database: { sqlite: { path: database } }, object: { filesystem: { root: "objects" } } }
      })
    )
    const url = `http://127.0.0.1:${port}`
    const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret, TEST_CHAT: chat.url }
    await using aicr = new AicrProcess({ configFile, url, env })
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)

    await forge.createRepository("team/one")
    const start = { branch: "main", message: "Start", files: { "src/sum.ts": "export const one = 1\n" } }
    const before = await forge.push("team/one", start)
    await forge.push("team/one", { branch: "mean", from: "main", message: "Mean", files: { "src/sum.ts": content } })
    const after = await forge.push("team/one", { branch: "main", message: "Push", files: { "src/push.ts": content } })
    const repository = forge.repository("team/one")
    const pull = await forge.createPull("team/one", { title: "Mean", headBranch: "mean" })

    let kills = 0
    let killed = Promise.withResolvers<void>()
    let armed = false
    /** Admits the write at which the last process died, and the ones in between. */
    let pass = isWhole ? 0 : odd
    /** Writes that only waited, for both reviews to be analysed. */
    let held = 0
    let reviews = 0
    const areAnalysed = () => reviews === 2 || (reviews = countRows(database, analysed)) === 2
    const strike = (): Fault | undefined => {
      if (!armed) return { kind: "cut" }
      // An entry that lost the last of its workers is dead, with its reason: on a busy machine a review takes as long as several processes live.
      if (kills >= maxLosses - 1 && !areAnalysed()) {
        held++
        return { kind: "slow", millis: 5000 }
      }
      if (pass-- > 0) return undefined
      armed = false
      const done = ++kills % 2 === odd
      pass = (done ? 0 : 1) + stride - 1
      killed.resolve(aicr.kill().then(() => undefined))
      return { kind: done ? "lost" : "cut" }
    }
    forge.intercept(({ method }) => (method === "GET" ? undefined : strike()))
    chat.decide = strike

    const deliver = async () => {
      const opened = await forge.notify(pull, "opened")
      const sender = forge.user("dana")
      const pushed = await forge.send(
        forge.delivery({ kind: "push", repository, branch: "main", before, after, sender })
      )
      if (opened.status !== 202 || pushed.status !== 202) throw new Error(JSON.stringify([opened, pushed]))
    }
    const finished = () =>
      countRows(database, unfinished) === 0 && repository.statuses.get(pull.head)?.at(-1)?.state === "success"
    for (let life = 0; ; life++) {
      expect(life).toBeLessThan(80)
      killed = Promise.withResolvers<void>()
      // Not before both changes were received: no host would send them again.
      armed = life > 0
      // A process may reach a write before it is ready.
      const isDeadEarly = await Promise.race([killed.promise.then(() => true), aicr.start().then(() => false)]).catch(
        (error: unknown) => {
          if (life === 0 || armed) throw error
          return true
        }
      )
      if (isDeadEarly) continue
      if (life === 0) {
        await deliver()
        armed = true
      }
      let dead = false
      void killed.promise.then(() => (dead = true))
      const ended = await waitUntil(() => (dead ? "killed" : armed && finished() ? "finished" : undefined), {
        timeout: 120_000,
        describe: () => `the process is killed or done in life ${life}; the log says:\n${aicr.log.slice(-20_000)}`
      })
      if (ended === "finished") break
    }

    const { commitComments, issues: made, labels } = forge.issues("team/one")
    const lastStates = repository.statuses.get(pull.head)?.map(({ state }) => state)
    expect({
      inline: pull.reviews.flatMap(({ comments }) => comments.map(({ path, line }) => `${path}:${line}`)),
      comments:
        pull.comments.filter(({ user }) => user.login === "aicr").length + pull.reviews.filter(isSummary).length,
      issues: made.filter(({ state }) => state === "open").length,
      notes: commitComments.length
    }).toEqual(expected[kind])
    expect(made.length).toBe(made.filter(({ state }) => state === "open").length)
    expect(lastStates?.at(-1)).toBe("success")
    expect(pull.labels.map(({ name }) => name).toSorted()).toEqual(["in review", "reviewed"])
    const labelNames = [...labels.values()].map(({ name }) => name)
    expect(labelNames.length).toBe(new Set(labelNames).size)
    const texts = chat.got.map((text) => text.replace(/"(timestamp|sign)":"[^"]*"/g, ""))
    // The calls of people's telephone numbers, one for each review, read the same.
    const called = texts.filter((text) => text.includes("mentioned_mobile_list"))
    expect(called.length).toBeLessThanOrEqual(2)
    expect(texts.length - called.length).toBe(new Set(texts.filter((text) => !called.includes(text))).size)
    // A plain webhook is repeated until it has a response: neither of the two reviews is lost.
    const programs = texts.filter((text) => text.includes('"version":1,'))
    expect(programs.length).toBe(kind === "gitea" ? 2 : 0)
    expect(kills + held).toBeGreaterThan(10 / stride)
    forge.expectContract()
    process.stdout.write(`${kind}: killed ${kills} times, ${held} writes waited\n`)
  },
  600_000
)
