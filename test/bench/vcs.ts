/**
 * Revisions of Subversion: the real process, a real svnserve and a fake model. First revisions of 40 files one after the other, from the report of
 * the hook to the first request to the model, compared with plain `svn` commands that fetch the same bytes. Then reports as fast as the
 * service takes them.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { setPriority, tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { promisify } from "node:util"
import { Pool } from "undici"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { startSvnserve, SvnRepository, svnPassword, svnUser } from "../harness/Subversion.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Benchmark } from "./main.ts"
import { median } from "./Median.ts"

const files = 40
const rounds = 9
const receipts = 2000
const connections = 32
const key = "key-of-the-hooks"
const execute = promisify(execFile)
const programPriority = 10

const paths = Array.from({ length: files }, (_, index) => `trunk/src/part${index % 4}/file${index}.c`)
const contentOf = (round: number, path: string): string =>
  Array.from(
    { length: 80 },
    (_, line) => `int ${path.replaceAll(/\W/g, "_")}_${line} = ${line === 40 ? round : line};\n`
  ).join("")

/** Fetches what a review of the revision needs: author, message, changed paths, and both sides of each file. */
const fetchPlainly = async (url: string, revision: string, config: string): Promise<void> => {
  const before = String(Number(revision) - 1)
  const options = ["--non-interactive", "--no-auth-cache", "--config-dir", config, "--username", svnUser]
  const svn = (...args: ReadonlyArray<string>) => {
    const running = execute("svn", [...args, ...options, "--password", svnPassword], { maxBuffer: 1e9 })
    // Programs of the service have this priority, whatever that of the benchmark, which counts on a busy machine.
    if (running.child.pid !== undefined) setPriority(running.child.pid, programPriority)
    return running
  }
  await svn("log", "--verbose", "--xml", "-r", revision, url)
  await svn("diff", "--summarize", "--xml", "-r", `${before}:${revision}`, `${url}/trunk`)
  for (const side of [before, revision]) await svn("cat", ...paths.map((path) => `${url}/${path}@${side}`))
}

const makeDocument = (directory: string, url: string, port: number, model: string, chat: string) => ({
  server: { port, hostname: "127.0.0.1", auth: { api_key: key } },
  triggers: [
    { name: "tree", kind: "subversion", repository_url: url, username: svnUser, password_env: "TEST_PASSWORD" },
    // Its reports are stored, and match no workspace.
    { name: "other", kind: "subversion", repository_url: "svn://127.0.0.1:9/other" }
  ],
  workspaces: {
    root: join(directory, "workspaces"),
    instances: { web: { source_repo: { trigger: "tree", repo: "web" } } }
  },
  outputs: {
    channels: [{ name: "group", kind: "feishu_bot", webhook_url: chat }],
    routes: { default: { summary: ["group"] } }
  },
  llm: {
    providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model}/v1`, api_key: "k" }],
    model_chain: { default: [{ provider: "fake", model: "fake" }] }
  },
  agent: { default: "native-llm" },
  review: {
    output_language: "en",
    verification: "off",
    auto_commit: { delay_seconds: 0, include_branches: ["trunk"] }
  },
  queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
  storage: {
    database: { sqlite: { path: join(directory, "aicr.db") } },
    object: { filesystem: { root: join(directory, "objects") } }
  }
})

const run = async (): Promise<Record<string, number>> => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-bench-vcs-"))
  using repository = new SvnRepository()
  await using server = await startSvnserve(repository)
  await using model = await startFakeModel(() => review([]))
  const chat = await startChatPlatform()
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  writeFileSync(configFile, stringify(makeDocument(directory, server.url, port, model.url, chat.url)))
  const url = `http://127.0.0.1:${port}`
  await using aicr = new AicrProcess({
    configFile,
    url,
    env: { TEST_PASSWORD: svnPassword, SVC_LOG_LEVEL: "info" }
  })
  await aicr.start()
  const pool = new Pool(url, { connections })
  const report = async (body: Readonly<Record<string, unknown>>) => {
    const headers = { "x-api-key": key, "content-type": "application/json" }
    const response = await pool.request({
      path: "/triggers/svn",
      method: "POST",
      headers,
      body: JSON.stringify({ repository: server.url, ...body })
    })
    await response.body.dump()
    if (response.statusCode !== 202) throw new Error(`status ${response.statusCode} of a report`)
  }
  const commit = (round: number): string =>
    repository.commit(`Round ${round}`, {
      files: Object.fromEntries(paths.map((path) => [path, contentOf(round, path)]))
    })
  const measure = async (round: number) => {
    const revision = commit(round)
    const seen = model.requests.length
    const start = performance.now()
    await report({ revision })
    await waitUntil(() => model.requests.length > seen, { timeout: 60_000, describe: () => aicr.log.slice(-4000) })
    const ours = performance.now() - start
    await waitUntil(() => aicr.log.split('"msg":"run ended"').length > round + 1, {
      timeout: 60_000,
      describe: () => aicr.log.slice(-4000)
    })
    const plainStart = performance.now()
    await fetchPlainly(server.url, revision, join(directory, "svn"))
    return { ours, plain: performance.now() - plainStart }
  }
  try {
    commit(-1)
    // The first two load what only reviews need.
    const times: Array<{ readonly ours: number; readonly plain: number }> = []
    for (let round = 0; round < rounds + 2; round++) times.push(await measure(round))
    const counted = times.slice(2)
    const start = performance.now()
    await Promise.all(
      Array.from({ length: receipts }, (_, index) =>
        report({ repository: "svn://127.0.0.1:9/other", revision: String(index + 1) })
      )
    )
    const seconds = (performance.now() - start) / 1000
    const [ours, plain] = [median(counted.map((one) => one.ours)), median(counted.map((one) => one.plain))]
    const result = {
      svn_files: files,
      svn_report_to_model_ms: Math.round(ours),
      svn_plain_ms: Math.round(plain),
      svn_ratio: Math.round(median(counted.map((one) => one.ours / one.plain)) * 100) / 100,
      receipts_per_s: Math.round(receipts / seconds)
    }
    for (const [name, value] of Object.entries(result)) process.stdout.write(`${name.padEnd(28)} ${value}\n`)
    return result
  } finally {
    await pool.close()
    await aicr.kill()
    await chat.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

export const vcs: Benchmark = {
  name: "vcs",
  summary: "revisions of Subversion: report to first model call compared with plain svn commands; reports per second",
  run
}
