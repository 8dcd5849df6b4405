/**
 * The gates of examples/ci with the real command: their scripts run as a runner of GitHub or GitLab runs them, against a server that has one statement
 * and serves it whatever is requested.
 */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { ReviewConfig } from "../../src/config/schema/Review.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { buildStatement } from "../../src/domain/BuildStatement.ts"
import { digestText } from "../../src/domain/RuleDigests.ts"
import { exportKey, signStatement } from "../../src/domain/SignedStatement.ts"
import { programFolder } from "../harness/AicrProcess.ts"
import { makeStatementKey } from "../harness/StatementKeys.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"

const { key } = makeStatementKey()
const token = "aicr-token-of-the-gate"
const project = "acme/app"
const rules = "Be strict.\n"

const repository = makeRepository()
repository.write("AGENTS.md", rules)
repository.commit("base")
repository.git("switch", "-q", "-c", "feature")
repository.write("a.ts", "export const a = 1\n")
const head = repository.commit("head")
repository.git("switch", "-q", "main")

const passing: Analysis = {
  findings: [],
  summary: "",
  coverage: { reviewed: ["a.ts"], skipped: [], lines: 1 },
  models: ["p/m"],
  usage: noUsage,
  notices: [],
  inputs: {
    mergeBase: "b".repeat(40),
    prompts: "0".repeat(64),
    rules: [{ name: "AGENTS.md", sha256: digestText(rules) }]
  }
}

interface Stated {
  readonly head?: string
  readonly baseRef?: string
  readonly repo?: string
  readonly analysis?: Partial<Analysis>
}

const sign = ({ analysis, baseRef = "main", head: about = head, repo = project }: Stated): string =>
  signStatement(
    buildStatement(
      {
        runId: "run-1",
        change: {
          provider: "github",
          trigger: "t",
          workspace: "w",
          repo: { fullName: repo },
          target: { kind: "pull_request", number: 7 },
          baseRef
        },
        head: about,
        base: undefined,
        configHash: "1".repeat(64),
        analysis: { ...passing, ...analysis },
        review: resolve(ReviewConfig, {})
      },
      "2026-03-04T12:00:00.000Z"
    ) ?? expect.fail("no statement"),
    key
  )

let served: string | undefined
const requested: Array<Readonly<Record<string, string>>> = []
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://aicr.test")
  const isKnown = request.headers.authorization === `Bearer ${token}` && pathname === "/api/verdicts/statement"
  requested.push(Object.fromEntries(searchParams))
  response.statusCode = isKnown && served !== undefined ? 200 : 404
  response.end(isKnown ? served : "")
})
let url = ""
beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  url = `http://127.0.0.1:${Object(server.address()).port}`
})
afterAll(() => server.close())

/** Programs in place of those that wait. */
const stubs = temporaryFolder()
for (const [name, text] of [
  ["sleep", "exit 0"],
  ["seq", "echo 1 2"]
] as const) {
  writeFileSync(join(stubs, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(stubs, name), 0o755)
}

interface Ended {
  readonly code: number
  readonly out: string
}

const bash = (script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Ended> =>
  new Promise((done) => {
    const all = { PATH: `${stubs}:${process.env["PATH"]}`, HOME: cwd, ...env }
    execFile("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env: all }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out: out + err })
    )
  })

/** Returns the value of an expression of GitHub: paths into the contexts, the first of which that has a value counts. */
const evaluate = (text: string, contexts: object): string =>
  text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const values = expression
      .split(" || ")
      .map((path) => path.split(".").reduce<unknown>((value, name) => Object(value)[name], contexts))
    return String(values.find((value) => value !== undefined) ?? "")
  })

interface Step {
  readonly name?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: { readonly ref?: string; readonly path?: string }
}

const events = {
  pull_request: { pull_request: { number: 7, head: { sha: head }, base: { ref: "main" } } },
  merge_group: { merge_group: { head_sha: head, base_ref: "refs/heads/main" } }
}

/** Runs the job of the workflow: its checkouts, and then its scripts up to the first that fails. */
const runGithub = async (event: object): Promise<Ended> => {
  const { jobs, on } = parse(readFileSync(join(programFolder, "examples/ci/github-verdict-gate.yaml"), "utf8"))
  expect(Object.keys(on)).toEqual(["pull_request_target", "merge_group"])
  expect(on.pull_request_target.types).toContain("edited")
  const contexts = {
    github: { event },
    vars: { AICR_URL: url, AICR_KEYS: exportKey(key) },
    secrets: { AICR_TOKEN: token }
  }
  const evaluated = (env: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(env).map(([name, value]) => [name, evaluate(value, contexts)]))
  const cwd = mkdtempSync(join(temporaryFolder(), "job-"))
  let ended: Ended = { code: -1, out: "" }
  const steps: ReadonlyArray<Step> = jobs.verdict.steps
  for (const { env, name, run, with: given } of steps) {
    if (given?.ref !== undefined)
      repository.git("worktree", "add", "-q", "--detach", join(cwd, given.path ?? ""), evaluate(given.ref, contexts))
    else if (given?.path !== undefined) symlinkSync(programFolder, join(cwd, given.path))
    if (run === undefined || name === undefined) continue
    ended = await bash(run, cwd, { GITHUB_REPOSITORY: project, ...evaluated(jobs.verdict.env), ...evaluated(env) })
    if (ended.code !== 0) break
  }
  return ended
}

/** Runs the script of the job in a clone, with a folder of its own in place of `/tmp`. */
const runGitlab = (): Promise<Ended> => {
  const { verdict } = parse(readFileSync(join(programFolder, "examples/ci/gitlab-verdict-gate.yaml"), "utf8"))
  const [clone, install, ...lines]: ReadonlyArray<string> = verdict.script
  expect([clone, install]).toEqual(['git clone --depth 1 "$AICR_REPOSITORY" /tmp/aicr', "npm ci --prefix /tmp/aicr"])
  const folder = temporaryFolder()
  symlinkSync(programFolder, join(folder, "aicr"))
  const cwd = join(folder, "project")
  mkdirSync(cwd)
  repository.git("clone", "-q", repository.path, cwd)
  return bash(lines.join("\n").replaceAll("/tmp/", `${folder}/`), cwd, {
    AICR_URL: url,
    AICR_TOKEN: token,
    AICR_KEYS: exportKey(key),
    CI_PROJECT_PATH: project,
    CI_COMMIT_SHA: head,
    CI_MERGE_REQUEST_IID: "7",
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main"
  })
}

const gates = { GitHub: () => runGithub(events.pull_request), GitLab: runGitlab } as const

const inconclusive = { coverage: { reviewed: [], skipped: [], lines: 1, changed: 100 } }
const refusals: ReadonlyArray<readonly [string, Stated | undefined, string]> = [
  ["a statement of another head", { head: "d".repeat(40) }, "it is about ddd"],
  ["a review against another branch", { baseRef: "stack/1" }, "of the branch stack/1, not of main"],
  ["a review in another repository", { repo: "acme/fork" }, "the repository acme/fork, not about acme/app"],
  [
    "older rules",
    {
      analysis: {
        inputs: { ...Object(passing.inputs), rules: [{ name: "AGENTS.md", sha256: digestText("Be kind.\n") }] }
      }
    },
    "the rules have changed since the review: AGENTS.md"
  ],
  ["an inconclusive result", { analysis: inconclusive }, "the verdict is inconclusive (neutral)"]
]

describe("the gate of each host", () => {
  for (const [host, run] of Object.entries(gates)) {
    it(`${host} passes with a verdict about the head, its branch and its rules`, async () => {
      served = sign({})
      requested.length = 0
      expect(await run()).toEqual({ code: 0, out: expect.stringContaining(`Verified: acme/app at ${head} passes`) })
      expect(requested).toEqual([{ repository: project, head, base: "main", number: "7" }])
    }, 60_000)

    it.each(refusals)(
      `${host} refuses %s`,
      async (_, stated, message) => {
        served = stated && sign(stated)
        const { code, out } = await run()
        expect(out).toContain(message)
        expect(code).toBe(1)
      },
      60_000
    )
  }

  it("GitHub passes a group of the merge queue, and ends without a statement after its time", async () => {
    served = sign({})
    requested.length = 0
    expect(await runGithub(events.merge_group)).toMatchObject({ code: 0 })
    expect(requested).toEqual([{ repository: project, head, base: "main" }])
    served = undefined
    expect(await runGithub(events.pull_request)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`no statement about ${head}`)
    })
  }, 60_000)
})
