/**
 * Managed issues of pushes on every host, with the real process: an issue is resolved when its code is gone from its file at the head,
 * whatever else the pushes contain. Each push is reviewed from its own difference, in which the model finds only what is new. Gitea by
 * default, all hosts with AICR_TEST_PUSHED_ISSUES=all.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"

const filler = (from: number) =>
  Array.from({ length: 300 }, (_, i) => `const filler${from + i} = ${from + i}`).join("\n")
const fault = (name: string) => `  const value = evaluate(${name}Input, { strict: false })`
const wrapped = (name: string) => `    const value = evaluate(\n\t${name}Input,\n\n      { strict: false })`
const body = (name: string, code = fault(name)) => `export function ${name}() {\n${code}\n  return value\n}\n`

interface Found {
  readonly file: string
  readonly name: string
}

const reportOf = (found: ReadonlyArray<Found>) =>
  review(
    found.map(({ file, name }) => ({
      file,
      line: 1,
      severity: "high",
      category: "security",
      title: `Input of ${name}`,
      message: `The input of ${name} is evaluated.`,
      quote: fault(name).trim()
    }))
  )

const app = "src/app.js"
const other = "src/other.js"
const start = `${body("one")}${body("two")}${filler(0)}\n// end\n`

interface Step {
  readonly what: string
  readonly files: Readonly<Record<string, string | null>>
  readonly found?: ReadonlyArray<Found>
  /** Names of the problems whose issue is open afterwards. */
  readonly open: ReadonlyArray<string>
}

const late = "src/late.js"
const steps: ReadonlyArray<Step> = [
  {
    what: "three problems",
    files: { [app]: start, [other]: body("three") },
    found: [
      { file: app, name: "one" },
      { file: app, name: "two" },
      { file: other, name: "three" }
    ],
    open: ["one", "three", "two"]
  },
  {
    what: "a comment 300 lines below",
    files: { [app]: start.replace("// end", "// the end") },
    open: ["one", "three", "two"]
  },
  {
    what: "code that is moved within its file and wrapped",
    files: { [app]: `${filler(0)}\n${body("two", wrapped("two"))}${body("one")}` },
    open: ["one", "three", "two"]
  },
  {
    what: "a fix",
    files: { [app]: `${filler(0)}\n${body("two")}${body("one", "  const value = 1")}` },
    open: ["three", "two"]
  },
  {
    what: "a revert of the fix",
    files: { [app]: `${filler(0)}\n${body("two")}${body("one")}` },
    found: [{ file: app, name: "one" }],
    open: ["one", "three", "two"]
  },
  {
    what: "a rename",
    files: { [app]: null, [late]: `${filler(0)}\n${body("two")}${body("one")}` },
    open: ["one", "three", "two"]
  },
  {
    what: "an edit after the rename, which reports a known problem by its new path",
    files: { [late]: `${filler(0)}\n${body("two")}// edited\n${body("one")}` },
    found: [{ file: late, name: "one" }],
    open: ["one", "three", "two"]
  },
  { what: "an edit of another file", files: { "src/new.js": filler(1000) }, open: ["one", "three", "two"] },
  {
    what: "a file that is too large to read",
    files: { [late]: `// ${"x".repeat(1_200_000)}\n` },
    open: ["one", "three", "two"]
  },
  {
    what: "the readable file with one fix",
    files: { [late]: `${filler(0)}\n${body("two", "  const value = 2")}${body("one")}` },
    open: ["one", "three"]
  },
  { what: "a deleted file", files: { [other]: null }, open: ["one"] },
  { what: "the last fix", files: { [late]: filler(0) }, open: [] }
]

const actions = ["close", "mark_resolved", "none", "delete"] as const
const kinds = {
  gitea: "gitea_problem_issue",
  forgejo: "gitea_problem_issue",
  github: "github_problem_issue",
  gitlab: "gitlab_problem_issue"
} as const

const hosts = process.env["AICR_TEST_PUSHED_ISSUES"] === "all" ? ForgeKind.literals : (["gitea"] as const)

it.each(hosts)(
  "issues of pushes to %s follow the code of their files",
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-pushed-issues-"))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const forge = await startFakeForge(kind)
    onTestFinished(forge.stop)
    let found: ReadonlyArray<Found> = []
    await using model = await startFakeModel(() => reportOf(found))
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    const used = actions.filter((action) => action !== "delete" || kinds[kind] === "gitea_problem_issue")
    const channels = [
      ...used.map((action) => ({ name: action, kind: kinds[kind], resolved_action: action, assign_committer: false })),
      { name: "joined", kind: kinds[kind], issue_mode: "consolidated", assign_committer: false },
      { name: "commits", kind: kinds[kind], issue_mode: "per_commit", assign_committer: false }
    ]
    const names = channels.map(({ name }) => name)
    writeFileSync(
      configFile,
      stringify({
        server: { port, hostname: "127.0.0.1" },
        triggers: [{ ...makeHostTrigger(kind, forge.url), write_interval_ms: 0 }],
        workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
        outputs: { channels, routes: { default: { line_comments: names, summary: names } } },
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
          model_chain: { default: [{ provider: "fake", model: "fake" }] }
        },
        agent: { default: "native-llm" },
        review: { output_language: "en", verification: "off", auto_commit: { delay_seconds: 0 } },
        queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
        storage: {
          database: { sqlite: { path: join(directory, "aicr.db") } },
          object: { filesystem: { root: join(directory, "objects") } }
        }
      })
    )
    const url = `http://127.0.0.1:${port}`
    await using aicr = new AicrProcess({
      configFile,
      url,
      env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret }
    })
    await forge.createRepository("team/one")
    let before = await forge.push("team/one", { branch: "main", message: "Start", files: { "README.md": "One\n" } })
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)
    await aicr.start()
    const repository = forge.repository("team/one")
    const { issues } = forge.issues("team/one")
    const namesIn = (text: string) =>
      [...text.matchAll(/The input of (\w+) is evaluated/g)].map(([, name = ""]) => name)
    /** Names of the open, unresolved problems of a channel, by the text of its issues. */
    const openIn = (channel: string) =>
      issues
        .filter(({ state, body: text }) => state === "open" && ofChannel(text) === channel)
        .filter(({ body: text }) => !parseMarkers(text).some(({ state }) => state === "resolved"))
        .flatMap(({ body: text }) => namesIn(text))
        .toSorted()
    const scopes = new Map<string, string>()
    const ofChannel = (text: string) => scopes.get(parseMarkers(text)[0]?.scope ?? "")

    for (const [at, step] of steps.entries()) {
      found = step.found ?? []
      const after = await forge.push("team/one", { branch: "main", message: step.what, files: step.files })
      const ended = aicr.log.split('"msg":"run ended"').length
      const sent = await forge.send(
        forge.delivery({ kind: "push", repository, branch: "main", before, after, sender: forge.user("dana") })
      )
      expect(sent.status).toBe(202)
      before = after
      await waitUntil(() => aicr.log.split('"msg":"run ended"').length > ended, {
        timeout: 60_000,
        describe: () => `the end of the run of ${step.what}:\n${aicr.log.slice(-6000)}`
      })
      if (at === 0) {
        const own = [...new Set(issues.map(({ body: text }) => parseMarkers(text)[0]?.scope ?? ""))]
        // Channels publish in their order.
        for (const [i, name] of names.entries()) scopes.set(own[i] ?? "", name)
      }
      // With none nothing is ever resolved, and commits keep a problem until all of their commit are.
      for (const name of names.filter((one) => one !== "none" && one !== "commits"))
        expect([step.what, name, openIn(name)]).toEqual([step.what, name, step.open])
      expect([step.what, openIn("none")]).toEqual([step.what, ["one", "three", "two"]])
      expect([step.what, new Set(openIn("commits")).size > 0]).toEqual([step.what, step.open.length > 0])
    }
    forge.expectContract()
  },
  300_000
)
