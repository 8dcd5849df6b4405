/** The command `aicr review --publish`: a clone, a pull request at a git host, and the real program. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

const repository = "team/shop"

interface World {
  readonly forge: DemoForge
  readonly host: { refuses: boolean }
  readonly model: FakeModel
  readonly pull: DemoPull
  readonly clone: string
  readonly config: string
  readonly problems: Array<Record<string, unknown>>
}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "pipe"]
  }).trim()

const problem = (line: string, title: string) => ({
  file: "a.ts",
  severity: "high",
  category: "correctness",
  title,
  message: `${title} is wrong.`,
  quote: line
})

const world = async (): Promise<World> => {
  const directory = temporaryFolder()
  const problems = [problem("const two = 2", "Two")]
  const host = { refuses: false }
  const model = await startFakeModel(() => review(problems, "A summary."))
  const forge = await startDemoForge({
    directory: temporaryFolder(),
    token: "token-of-the-reviewer",
    accounts: { "token-of-the-reviewer": "aicr" },
    secret: "s",
    webhookUrl: "http://127.0.0.1:1/",
    onRequest: ({ method }) =>
      host.refuses && method === "POST"
        ? { kind: "answer", answer: { status: 403, body: { message: "the token may not write" } } }
        : undefined
  })
  await forge.createRepository(repository)
  await forge.push(repository, { branch: "main", message: "Start", files: { "a.ts": "const one = 1\n" } })
  await forge.push(repository, {
    branch: "feature",
    from: "main",
    message: "Change",
    files: { "a.ts": "const one = 1\nconst two = 2\nconst three = 3\n" }
  })
  const pull = await forge.createPull(repository, { headBranch: "feature", title: "A change" })
  const clone = join(directory, "clone")
  git(directory, "clone", "-q", forge.repository(repository).directory, clone)
  git(clone, "checkout", "-q", "feature")
  const config = join(directory, "config.yaml")
  const document = {
    triggers: [{ name: "host", kind: "gitea", base_url: forge.url, token_env: "HOST_TOKEN" }],
    workspaces: { instances: { shop: { source_repo: { trigger: "host", repo: repository } } } },
    outputs: {
      channels: [{ name: "review", kind: "gitea_pr_review" }],
      routes: { default: { line_comments: ["review"], summary: ["review"] } }
    },
    llm: {
      providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
      model_chain: { default: [{ provider: "fake", model: "fake" }] }
    },
    agent: { default: "native-llm" },
    review: { output_language: "en", verification: "off" }
  }
  writeFileSync(config, stringify(document))
  return { forge, host, model, pull, clone, config, problems }
}

const aicr = async (at: World, ...args: ReadonlyArray<string>) => {
  const env = { HOST_TOKEN: "token-of-the-reviewer" }
  const { code, err, out } = await runAicr(["review", at.clone, ...args], { env })
  return { code, stderr: err, stdout: out }
}

const posted = ({ pull }: World) => ({
  comments: pull.reviews.flatMap((one) => one.comments.map(({ path, line }) => `${path}:${line}`)),
  summaries: pull.comments.length
})

const open: Array<World> = []
let at: World
beforeEach(async () => {
  at = await world()
  open.push(at)
})
afterAll(async () => {
  for (const { forge, model } of open) {
    await forge.stop()
    await model.close()
  }
})

describe("aicr review --publish", () => {
  it("writes the review on the pull request of the head, once however often it is run", async () => {
    const first = await aicr(at, "--config", at.config, "--publish")
    expect(first.stderr).toContain(`Published on ${at.forge.pageOf(at.pull)} (review)`)
    expect(first.code).toBe(0)
    expect(posted(at)).toEqual({ comments: ["a.ts:2"], summaries: 1 })
    expect((await aicr(at, "--config", at.config, "--publish")).code).toBe(0)
    expect(posted(at)).toEqual({ comments: ["a.ts:2"], summaries: 1 })
    at.problems.push(problem("const three = 3", "Three"))
    expect((await aicr(at, "--config", at.config, "--publish")).code).toBe(0)
    expect(posted(at)).toEqual({ comments: ["a.ts:2", "a.ts:3"], summaries: 1 })
  }, 60_000)

  it("reviews what the pull request shows, whatever the default branch of the clone is", async () => {
    git(at.clone, "update-ref", "-d", "refs/remotes/origin/HEAD")
    git(at.clone, "update-ref", "refs/remotes/origin/main", "feature")
    await aicr(at, "--config", at.config, "--publish")
    expect(posted(at).comments).toEqual(["a.ts:2"])
  }, 30_000)

  it("refuses a review with a problem for maintainers only, and shows no word of it", async () => {
    const hook = { name: "ops", kind: "feishu_bot", webhook_url: "http://127.0.0.1:1/" }
    const document = parse(readFileSync(at.config, "utf8"))
    document.outputs.channels.push(hook)
    document.review.private = { channel: "ops", severity: "high" }
    writeFileSync(at.config, stringify(document))
    at.problems.splice(0, 1, { ...problem("const two = 2", "Zebra"), category: "security" })
    // ReportPrivate.test.ts has the other formats.
    for (const format of ["text", "json"]) {
      const { code, stderr, stdout } = await aicr(at, "--config", at.config, "--publish", "--format", format)
      expect([format, code]).toEqual([format, 3])
      expect(stderr).toContain("--publish: nothing is published, because the review has 1 problem for maintainers only")
      expect(stderr + stdout).not.toContain("Zebra")
    }
    expect(posted(at)).toEqual({ comments: [], summaries: 0 })
  }, 60_000)

  it.each<readonly [string, (world: World) => ReadonlyArray<string>, number, string]>([
    ["without a configuration", () => ["--publish"], 2, "--publish needs --config"],
    [
      "to nowhere",
      ({ config }) => ["--config", config, "--pull", "1"],
      2,
      "--pull and --repo say where to publish: add --publish"
    ],
    [
      "of a commit that is not pushed",
      ({ clone, config }) => {
        writeFileSync(join(clone, "a.ts"), "const four = 4\n")
        git(clone, "-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qam", "Local")
        return ["--config", config, "--publish"]
      },
      2,
      "no open pull request of team/shop (trigger host) has"
    ],
    [
      "on a pull request that stands elsewhere",
      ({ config }) => ["--config", config, "--publish", "--pull", "1", "--head", "origin/main"],
      2,
      "the head of pull request 1 of team/shop is"
    ],
    [
      "on one that is not there",
      ({ config }) => ["--config", config, "--publish", "--pull", "9"],
      3,
      "the request to the host failed"
    ],
    [
      "on another repository",
      ({ config }) => ["--config", config, "--publish", "--repo", "team/other"],
      2,
      "workspace shop is not for team/other"
    ],
    [
      "on one that is closed",
      ({ config, forge, pull }) => {
        forge.close(pull, false)
        return ["--config", config, "--publish", "--pull", "1"]
      },
      2,
      "pull request 1 of team/shop is closed"
    ],
    [
      "without the host's branch at hand",
      ({ clone, config, pull }) => {
        Object.assign(pull, { base: "1".repeat(40) })
        git(clone, "fetch", "-q")
        return ["--config", config, "--publish"]
      },
      2,
      "the base of the pull request (main) is not here: run git fetch"
    ]
  ])(
    "%s is refused before a model is called",
    async (_, args, code, message) => {
      const ended = await aicr(at, ...args(at))
      expect(ended.stderr).toContain(message)
      expect(ended.code).toBe(code)
      expect(at.model.requests).toEqual([])
      expect(posted(at)).toEqual({ comments: [], summaries: 0 })
    },
    30_000
  )

  it("shows the review if the host refuses it, with the reason", async () => {
    at.host.refuses = true
    const { code, stderr, stdout } = await aicr(at, "--config", at.config, "--publish")
    expect(stdout).toContain("a.ts:2")
    expect(stderr).toContain("writes failed: review: ")
    expect(code).toBe(3)
  }, 30_000)
})
