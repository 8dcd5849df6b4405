/**
 * Time from webhook to visible comment, with a model that responds immediately: the service next to a plain script
 * (overhead/plain.ts) that makes the same fetch, diff, model call and posts. Host, model, service and script are processes or
 * servers of their own on loopback; rounds alternate, each on a new pull request. And the service alone on a repository with 40
 * and one with 4 000 pull refs.
 */
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge } from "../../demo/DemoForge.ts"
import { git } from "../../demo/DemoForgeGit.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { serviceFlags } from "../harness/ServiceFlags.ts"
import { waitUntil } from "../harness/Wait.ts"
import { median } from "./Median.ts"

const rounds = 25
const warmUp = 5
const token = "t0ken"
const secret = "s3cret"
const quote = "const marked = divide(total, 0)"
const few = { name: "team/few", refs: 40 }
const many = { name: "team/many", refs: 4000 }

/** A repository with 300 files, 40 commits, and as many pull refs as a busy host has. */
const makeRepository = async (forge: DemoForge, { name, refs }: { readonly name: string; readonly refs: number }) => {
  const { directory } = await forge.createRepository(name)
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `src/part${n % 20}/file${n}.ts`,
      `export const value${n} = ${n}\n`.repeat(40)
    ])
  )
  await forge.push(name, { branch: "main", message: "start", files })
  for (let n = 0; n < 40; n++) {
    await forge.push(name, {
      branch: "main",
      message: `change ${n}`,
      files: { [`src/part0/file${n * 20}.ts`]: `// ${n}\n` }
    })
  }
  const tip = (await git(directory, ["rev-parse", "refs/heads/main"])).trim()
  const lines = Array.from({ length: refs }, (_, n) => `create refs/pull/${100_000 + n}/head ${tip}\n`).join("")
  await git(directory, ["update-ref", "--stdin"], Buffer.from(lines))
  await git(directory, ["pack-refs", "--all"])
}

const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("message", (port) => resolve(Number(port)))
    child.once("exit", (code) => reject(new Error(`it ended with code ${code}`)))
  })

const measure = async (): Promise<Record<string, number>> => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-bench-"))
  const children: Array<ChildProcess> = []
  const model = await startFakeModel(() =>
    review(
      [
        {
          file: "src/added.ts",
          line: 2,
          severity: "high",
          category: "bug",
          title: "Division by zero",
          message: "This divides by zero.",
          quote
        }
      ],
      "One problem."
    )
  )
  let seen: (() => void) | undefined
  const forge = await startDemoForge({
    directory,
    token,
    secret,
    onAnswer: ({ method, path }) => {
      if (method === "POST" && path.endsWith("/reviews")) seen?.()
    }
  })
  try {
    await makeRepository(forge, few)
    await makeRepository(forge, many)

    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    await writeFile(
      configFile,
      stringify({
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "x" }],
          model_chain: { default: [{ provider: "fake", model: "m" }] }
        },
        triggers: [{ name: "forge", kind: "gitea", base_url: forge.url, token, webhook_secret: secret }],
        workspaces: {
          instances: {
            few: { source_repo: { trigger: "forge", repo: few.name } },
            many: { source_repo: { trigger: "forge", repo: many.name } }
          }
        },
        agent: { default: "native-llm" },
        // The script calls the model once.
        review: { verification: "off" },
        storage: { database: { sqlite: { path: "data/aicr.db" } } },
        server: { port, hostname: "127.0.0.1" }
      })
    )
    const flags = { execArgv: [...serviceFlags] }
    children.push(fork(join(import.meta.dirname, "overhead/service.ts"), [configFile], flags))
    const plainFolder = join(directory, "plain")
    await mkdir(plainFolder)
    const plain = fork(
      join(import.meta.dirname, "overhead/plain.ts"),
      [forge.url, token, `${model.url}/v1`, plainFolder],
      flags
    )
    children.push(plain)
    const plainUrl = `http://127.0.0.1:${await portOf(plain)}/`
    const serviceUrl = `http://127.0.0.1:${port}/webhooks/gitea`
    await waitUntil(
      async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200,
      { describe: () => "the service is ready" }
    )

    forge.setWebhookUrl(serviceUrl)
    let serial = 0
    /** Milliseconds from the webhook to the host's response to the review; waits for the final status after it. */
    const once = async (url: string, repository: string): Promise<number> => {
      const branch = `change-${++serial}`
      await forge.push(repository, {
        branch,
        from: "main",
        message: branch,
        files: { "src/added.ts": `const total = ${serial}\n${quote}\nexport { marked }\n` }
      })
      const pull = await forge.createPull(repository, { title: branch, headBranch: branch })
      const made = forge.delivery({ kind: "pull", pull, action: "opened", sender: forge.user("dana") })
      const visible = new Promise<number>((resolve) => (seen = () => resolve(performance.now())))
      const began = performance.now()
      await forge.send({ ...made, url })
      const took = (await visible) - began
      await waitUntil(() => pull.repository.statuses.get(pull.head)?.at(-1)?.state === "success", {
        describe: () => "the final status is there"
      })
      const [comment] = pull.reviews[0]?.comments ?? []
      if (comment?.line !== 2) throw new Error(`the comment stands on line ${comment?.line}`)
      return took
    }

    const times = {
      service: [] as Array<number>,
      plain: [] as Array<number>,
      few: [] as Array<number>,
      many: [] as Array<number>
    }
    process.stderr.write(
      `webhook to visible comment, median of ${rounds} alternating rounds after ${warmUp} to warm up\n`
    )
    for (let round = -warmUp; round < rounds; round++) {
      const service = await once(serviceUrl, few.name)
      const script = await once(plainUrl, few.name)
      if (round < 0) continue
      times.service.push(service)
      times.plain.push(script)
    }
    for (let round = -warmUp; round < rounds; round++) {
      const little = await once(serviceUrl, few.name)
      const much = await once(serviceUrl, many.name)
      if (round < 0) continue
      times.few.push(little)
      times.many.push(much)
    }
    const [service, script, little, much] = [times.service, times.plain, times.few, times.many].map(median)
    const result = {
      ratio: (service ?? 0) / (script ?? 0),
      refs_ratio: (much ?? 0) / (little ?? 0),
      service_ms: service ?? 0,
      plain_ms: script ?? 0,
      few_refs_ms: little ?? 0,
      many_refs_ms: much ?? 0
    }
    const row = (what: string, value: number, unit: string) =>
      process.stderr.write(`  ${what.padEnd(44)} ${value.toFixed(2).padStart(9)} ${unit}\n`)
    row("aicr", result.service_ms, "ms")
    row("plain script", result.plain_ms, "ms")
    row("ratio (to reach: at most 1.5)", result.ratio, "x")
    row(`aicr, ${few.refs} pull refs`, result.few_refs_ms, "ms")
    row(`aicr, ${many.refs} pull refs`, result.many_refs_ms, "ms")
    row("ratio (to reach: no slower)", result.refs_ratio, "x")
    return result
  } finally {
    for (const child of children) child.kill("SIGKILL")
    await forge.stop()
    await model.close()
    await rm(directory, { recursive: true, force: true })
  }
}

export const overhead = {
  name: "overhead",
  summary: "webhook to visible comment next to a plain script, and with 4 000 pull refs",
  run: measure
}
