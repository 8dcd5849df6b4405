/**
 * The section "Run it for your repositories" of the README, followed literally on each host: its configuration, its commands in a shell, the role and
 * the webhook of its tables, up to a `/aicr review` that a person writes. Only addresses, the name of the model and the values of credentials are
 * replaced, and the port.
 */
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { getAccess } from "../harness/FakeAccess.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { isPairTried } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"
import { listSummaries } from "../harness/Summaries.ts"

const root = join(import.meta.dirname, "../..")
const readme = await readFile(join(root, "README.md"), "utf8")
const [, section = ""] = /^## Run it for your repositories\n([\s\S]*?)^## /m.exec(readme) ?? []

const blockOf = (language: string): string => {
  const [, text = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section) ?? []
  return text.replaceAll(/^ {3}/gm, "")
}
/** Returns the cells of a row after its first one. */
const rowOf = (start: string): ReadonlyArray<string> => {
  const line = section.split("\n").find((text) => text.trim().startsWith(`| ${start} |`)) ?? ""
  return line
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim())
}

interface Host {
  /** Its row in the table of tokens, and its column in the table of webhooks. */
  readonly name: string
  readonly column: number
  readonly channel: string
  /** A role below the needed one, and what `aicr doctor` reports about it. */
  readonly lesser: "write" | "read"
  readonly problem: RegExp
}

const gitea: Host = {
  name: "Gitea, Forgejo",
  column: 0,
  channel: "gitea_pr_review",
  lesser: "write",
  problem: /does not administer the repository.*\/aicr commands.*make it an administrator/
}

const hosts: Readonly<Record<ForgeKind, Host>> = {
  gitea,
  forgejo: gitea,
  github: {
    name: "GitHub",
    column: 1,
    channel: "github_pr_review",
    lesser: "read",
    problem: /may not write to the repository/
  },
  gitlab: { name: "GitLab", column: 2, channel: "gitlab_mr_review", lesser: "read", problem: /below Developer/ }
}

/** Roles of the README as the rights that the hosts report. */
const rights = { Administrator: "admin", Write: "write", Developer: "write" } as const
const isRole = (name: string | undefined): name is keyof typeof rights => name !== undefined && name in rights

/** Selects one of the values that a line of the configuration or its comment names. */
const select = (text: string, key: RegExp, value: string): string => {
  const line = text.split("\n").find((one) => key.test(one)) ?? ""
  expect(line).toContain(value)
  return text.replace(line, line.replace(key, `$1${value}`))
}

const configOf = (kind: ForgeKind, forge: string, model: string, port: number): string => {
  const ofHost = select(
    select(blockOf("yaml"), /(^ +kind: )gitea\b/, kind),
    /(name: review, kind: )\w+/,
    hosts[kind].channel
  )
  const addressed = ofHost
    .replace("https://git.example.com", forge)
    .replace("https://llm.example.com", model)
    .replace("name-of-the-model", "model")
  return `${addressed}server: { port: ${port}, hostname: 127.0.0.1 }\n`
}

/** Runs the lines of a shell, in the folder of the configuration, where the program is as in a clone. */
const startShell = (folder: string, lines: ReadonlyArray<string>) => {
  const child = spawn("sh", ["-eu", "-c", lines.join("\n")], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env["PATH"], HOME: folder, SVC_LOG_LEVEL: "debug" }
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)))
  const ended = new Promise<number | null>((done) => child.once("exit", done))
  onTestFinished(async () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL")
    } catch {
      // It has ended.
    }
    await ended
  })
  return { ended, output: () => output }
}

const setUp = async (kind: ForgeKind) => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-readme-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ["package.json", "src", "actors", "demo", "eval", "nats", "node_modules"])
    await symlink(join(root, name), join(folder, name))
  const forge = await startFakeForge(kind)
  onTestFinished(forge.stop)
  const problem = {
    file: "mean.ts",
    line: 1,
    severity: "high",
    category: "bug",
    title: "Division by zero",
    message: "It fails.",
    quote: "export const mean = 1 / 0"
  }
  const model = await startFakeModel(({ text }) =>
    text.includes("report_ready") ? { calls: [{ name: "report_ready", input: {} }] } : review([problem])
  )
  onTestFinished(model.close)
  const port = await freePort()
  await writeFile(join(folder, "config.yaml"), configOf(kind, forge.url, `${model.url}`, port))
  const repository = await forge.createRepository("team/website")
  await forge.push("team/website", { branch: "main", message: "Start", files: { "one.ts": "export const one = 1\n" } })
  return { folder, forge, repository, url: `http://127.0.0.1:${port}` }
}

/** The commands of step 3, with values in place of the dots. The secret is the one that the shell makes. */
const commandsFor = (token: string): ReadonlyArray<string> => {
  const [exported = "", ...commands] = blockOf("sh").trim().split("\n")
  expect(commands).toHaveLength(3)
  return [
    exported.replace("SVC_GITEA_TOKEN=…", `SVC_GITEA_TOKEN=${token}`).replace("SVC_LLM_API_KEY=…", "SVC_LLM_API_KEY=k"),
    'echo "$SVC_WEBHOOK_SECRET" >secret',
    ...commands
  ]
}

const kinds = ["github", "gitea", "gitlab", "forgejo"] as const

describe.each(kinds)("the README's steps on %s", (kind) => {
  /** Each host has one of the two tests; with AICR_TEST_HOSTS=all both. */
  const isTried = (test: number) => isPairTried("AICR_TEST_HOSTS", kinds.indexOf(kind), test, 2)

  it.runIf(isTried(0))("end with a review that a comment requested", async () => {
    const { folder, forge, repository, url } = await setUp(kind)
    const [role, token = ""] = rowOf(hosts[kind].name)
    // Of tokens whose scopes the host reports.
    const scopes =
      kind === "gitea" || kind === "forgejo" ? undefined : token.match(/(?<=(?:scope|classic token:) `)\w+/g)
    expect(scopes).not.toBe(null)
    if (!isRole(role)) throw new Error(`unknown role ${role}`)
    const isAdmin = rights[role] === "admin"
    forge.setPermission("team/website", "aicr", rights[role])
    Object.assign(getAccess(repository), {
      push: true,
      admin: isAdmin,
      hooks: isAdmin ? [] : undefined,
      scopes
    })
    const shell = startShell(folder, commandsFor(forge.token))
    await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200, {
      timeout: 90_000,
      describe: () => shell.output()
    })

    const [path = ""] = rowOf("URL")[hosts[kind].column]?.match(new RegExp(`(?<=/webhooks|…)/${kind}(?=\`)`)) ?? []
    forge.setWebhookUrl(`${url}/webhooks${path}`)
    const secret = (await readFile(join(folder, "secret"), "utf8")).trim()
    const files = { "mean.ts": "export const mean = 1 / 0\n" }
    await forge.push("team/website", { branch: "mean", from: "main", message: "Mean", files })
    const pull = await forge.createPull("team/website", { title: "Mean", headBranch: "mean" })
    const comment = (login: string) =>
      forge.send(forge.delivery({ kind: "comment", pull, body: "/aicr review", sender: forge.user(login) }, { secret }))
    // A person who may only read.
    forge.setPermission("team/website", "erin", "read")
    expect(await comment("erin")).toMatchObject({ status: 202 })
    expect(await comment("dana")).toMatchObject({ status: 202, body: { accepted: true } })
    const status = () => pull.repository.statuses.get(pull.head)?.at(-1)
    await waitUntil(() => status()?.state === "success", { timeout: 60_000, describe: () => shell.output() })
    expect(pull.reviews.flatMap(({ comments }) => comments.map((one) => one.path))).toEqual(["mean.ts"])
    expect(listSummaries(pull)).toHaveLength(1)
    forge.expectContract()
  })

  it.runIf(isTried(1))("name the missing right before the service starts, if the account has less", async () => {
    const { folder, forge, repository } = await setUp(kind)
    const { lesser, problem } = hosts[kind]
    forge.setPermission("team/website", "aicr", lesser)
    Object.assign(getAccess(repository), { push: lesser === "write", admin: false })
    const shell = startShell(folder, commandsFor(forge.token).slice(0, -1))
    await shell.ended
    expect(shell.output()).toMatch(problem)
  })
})
