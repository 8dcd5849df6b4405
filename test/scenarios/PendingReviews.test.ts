/**
 * A review of many comments that ends after a part of them, with the real process: at Gitea and Forgejo the server writes the comments one
 * by one into a pending review, at GitLab they are drafts, and GitHub writes all of them, but the response is lost. The process is killed, or only the connection breaks; the change stays, or a
 * force push replaces its head before the repair. In the end each comment of the newest head is published once, and nothing of another
 * head is; what GitHub published stays on its own head. A few places of 12 comments on one of two hosts by default, all of 24 with AICR_TEST_PENDING=all.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import type { Fault } from "../../demo/DemoForge.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "../harness/FakeForge.ts"
import { getDrafts } from "../harness/FakeGitlab.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { isWhole as isWholeOf, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const isWhole = isWholeOf("AICR_TEST_PENDING")
const count = isWhole ? 24 : 12
const line = (version: string, n: number) => `export const ${version}${n} = compute(${n}, "${version}")`
const content = (version: string) => `${Array.from({ length: count }, (_, n) => line(version, n)).join("\n")}\n`
const reportOf = (version: string) =>
  review(
    Array.from({ length: count }, (_, n) => ({
      file: "src/values.ts",
      line: n + 1,
      severity: "high",
      category: "bug",
      title: `Value ${version}${n}`,
      message: `The value ${version}${n} is wrong.`,
      quote: line(version, n)
    }))
  )

const hosts = isWhole ? ForgeKind.literals : takeTurn("AICR_TEST_PENDING", ["gitea", "gitlab"] as const)
const ends = [
  { killed: true, moves: false },
  { killed: true, moves: true },
  { killed: false, moves: false },
  { killed: false, moves: true }
]

/** `at`: comments that are written before. With all of them, only their submission is missing. */
const cases = isWhole
  ? Array.from({ length: count + 1 }, (_, at) => ends.map((end) => ({ at, ...end }))).flat()
  : [
      { at: count, killed: true, moves: false },
      { at: 7, killed: true, moves: true },
      { at: 1, killed: false, moves: false },
      { at: count, killed: false, moves: true }
    ]

it.each(hosts)(
  "a part of a review at %s is never published on its own, twice, or for another head",
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-pending-"))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const forge = await startFakeForge(kind)
    onTestFinished(forge.stop)
    await using model = await startFakeModel(({ text }) => {
      const [, version = ""] = /export const ([a-z]+)0 = compute/.exec(text) ?? []
      return reportOf(version)
    })
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    const names = ["review"]
    writeFileSync(
      configFile,
      stringify({
        server: { port, hostname: "127.0.0.1" },
        triggers: [{ ...makeHostTrigger(kind, forge.url), write_interval_ms: 0 }],
        workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
        outputs: {
          channels: [
            {
              name: "review",
              max_comments: 100,
              kind: {
                gitea: "gitea_pr_review",
                forgejo: "gitea_pr_review",
                github: "github_pr_review",
                gitlab: "gitlab_mr_review"
              }[kind]
            }
          ],
          routes: { default: { line_comments: names, summary: names } }
        },
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
          model_chain: { default: [{ provider: "fake", model: "fake" }] }
        },
        agent: { default: "native-llm" },
        review: { output_language: "en", verification: "off", max_problems: 100 },
        queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
        storage: {
          database: { sqlite: { path: join(directory, "aicr.db") } },
          object: { filesystem: { root: join(directory, "objects") } }
        }
      })
    )
    const url = `http://127.0.0.1:${port}`
    await using aicr = new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
    await forge.createRepository("team/one")
    await forge.push("team/one", { branch: "main", message: "Start", files: { "README.md": "One\n" } })
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)
    await aicr.start()
    const repository = forge.repository("team/one")

    for (const [i, { at, killed, moves }] of cases.entries()) {
      const version = (suffix: string) => `v${String.fromCodePoint(97 + (i % 26), 97 + Math.floor(i / 26))}${suffix}`
      const branch = `change-${i}`
      const push = (suffix: string, force: boolean) =>
        forge.push("team/one", {
          branch,
          from: "main",
          force,
          message: suffix,
          files: { "src/values.ts": content(version(suffix)) }
        })
      await push("old", false)
      const pull = await forge.createPull("team/one", { title: branch, headBranch: branch })
      const published = kind === "github" || !moves ? [{ version: version("old"), head: pull.head }] : []
      const struck = Promise.withResolvers<void>()
      let writes = 0
      let isStruck = false
      forge.intercept(({ method, path }): Fault | undefined => {
        if (isStruck || method !== "POST") return undefined
        const fault: Fault | undefined =
          kind === "gitlab"
            ? path.endsWith("/draft_notes") || path.endsWith("/bulk_publish")
              ? writes++ === at
                ? { kind: "cut" }
                : undefined
              : undefined
            : path.endsWith("/reviews")
              ? { kind: "partial", transactions: at }
              : undefined
        if (fault === undefined) return undefined
        isStruck = true
        struck.resolve(killed ? aicr.kill().then(() => undefined) : undefined)
        return fault
      })
      expect((await forge.notify(pull, "opened")).status).toBe(202)
      await struck.promise
      if (moves) await push("new", true)
      if (killed) await aicr.start()
      const notified = moves ? await forge.notify(pull, "synchronized") : undefined
      expect(notified?.status ?? 202).toBe(202)
      await waitUntil(() => repository.statuses.get(pull.head)?.at(-1)?.state === "success", {
        timeout: 90_000,
        describe: () => `the end of case ${JSON.stringify(cases[i])}:\n${aicr.log.slice(-6000)}`
      })
      const comments = pull.reviews.flatMap((one) => one.comments.map(({ body }) => ({ body, commit: one.commit })))
      const own = comments.flatMap(({ body, commit }) =>
        parseMarkers(body).map(({ scope }) => ({ body, commit, scope }))
      )
      const seen = own.flatMap(({ body }) => /The value (\w+) is wrong/.exec(body)?.[1] ?? [])
      if (moves) published.push({ version: version("new"), head: pull.head })
      const expected = published.flatMap((one) => Array.from({ length: count }, (_, n) => `${one.version}${n}`))
      const where = JSON.stringify(cases[i])
      expect([where, ...seen.toSorted()]).toEqual([where, ...expected.toSorted()])
      expect([where, ...new Set(own.map(({ commit, scope }) => `${commit} ${scope}`))]).toEqual([
        where,
        ...published.map(({ head }) => `${head} ${head.slice(0, 16)}`)
      ])
      expect([where, pull.pendingReviews.length, getDrafts(pull).length]).toEqual([where, 0, 0])
    }
    forge.expectContract()
  },
  isWhole ? 3_600_000 : 300_000
)
