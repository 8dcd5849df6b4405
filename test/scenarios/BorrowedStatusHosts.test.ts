/**
 * Random histories of pull requests with the same head on every host, by the real process, which is killed at writes of statuses: opened,
 * moved to other base branches, closed, opened again, made drafts, labelled, cancelled, reviewed by request, with new commits, and with
 * deliveries that arrive twice and late. Whenever a status is green, the last review of its commit found nothing against each base branch.
 * One of two hosts by default, all of them and longer histories with AICR_TEST_HOST_KILLS=all.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import type { DemoDelivery } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { makeChance } from "../../eval/Chance.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { honest, renderContent, toFilePath } from "../harness/Installation.ts"
import { isWhole, takeSample, takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const repo = "team/one"
const steps = isWhole("AICR_TEST_HOST_KILLS") ? 60 : 5

const configure = (kind: ForgeKind, directory: string, port: number, forge: FakeForge, model: FakeModel) =>
  stringify({
    server: { port, hostname: "127.0.0.1" },
    triggers: [makeHostTrigger(kind, forge.url)],
    workspaces: { instances: { one: { source_repo: { trigger: "host", repo } } } },
    llm: {
      providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
      model_chain: { default: [{ provider: "fake", model: "fake" }] }
    },
    agent: { default: "native-llm" },
    review: { output_language: "en", verification: "off", status_fail_on: "medium" },
    queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
    storage: {
      database: { sqlite: { path: join(directory, "aicr.db") } },
      object: { filesystem: { root: join(directory, "objects") } }
    }
  })

const query = (path: string, sql: string, ...values: ReadonlyArray<string>) => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

/** Lists the last reviews of a commit that found a problem, by pull request and base branch, from what they found. */
const problemsOf = (path: string, head: string): ReadonlyArray<string> => {
  const rows = query(
    path,
    `SELECT number || ' into ' || json_extract(change, '$.baseRef') AS what,
       json_array_length(analysis, '$.findings') AS findings
     FROM runs WHERE head = ? AND analysis IS NOT NULL ORDER BY id`,
    head
  )
  const last = new Map(rows.map((row) => [String(row["what"]), Number(row["findings"])]))
  return [...last].flatMap(([what, findings]) => (findings > 0 ? [what] : []))
}

const listUnfinished = (path: string): ReadonlyArray<unknown> =>
  query(
    path,
    `SELECT 'delivery' AS what FROM events WHERE work IS NOT NULL AND outcome IS NULL
     UNION ALL SELECT kind FROM publications WHERE status IN ('pending', 'sending', 'unknown')
     UNION ALL SELECT status FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')`
  )

/** The pull requests of one head, and what happens to them. */
class Changes {
  readonly #forge: FakeForge
  readonly #random: () => number
  readonly #pulls: Array<DemoPull> = []
  readonly #delivered: Array<DemoDelivery> = []
  #version = 1

  constructor(forge: FakeForge, random: () => number) {
    this.#forge = forge
    this.#random = random
  }

  #choose<A>(from: ReadonlyArray<A>): A {
    const chosen = from[Math.floor(this.#random() * from.length)]
    if (chosen === undefined) throw new Error("nothing to choose from")
    return chosen
  }

  async #deliver(pull: DemoPull, action: "opened" | "synchronized" | "closed" | "reopened" | "edited") {
    const delivery = this.#forge.delivery({ kind: "pull", pull, action, sender: this.#forge.user("dana") })
    this.#delivered.push(delivery)
    await this.#forge.send(delivery)
  }

  async #comment(body: string) {
    const sender = this.#forge.user("team")
    await this.#forge.send(this.#forge.delivery({ kind: "comment", pull: this.#choose(this.#pulls), body, sender }))
  }

  /** Pushes a head whose first commit has the problem, with branches that have that commit, or everything. */
  async push() {
    const content = renderContent("change", this.#version++)
    const faulty = await this.#forge.push(repo, {
      branch: "change",
      from: "main",
      message: "Change",
      files: { [toFilePath("change")]: content }
    })
    const head = await this.#forge.push(repo, {
      branch: "change",
      message: "More",
      files: { [`docs/more-${this.#version}.txt`]: "More.\n" }
    })
    for (const [branch, from] of [
      ["side", faulty],
      ["all", head]
    ] as const)
      await this.#forge.push(repo, {
        branch,
        from,
        force: true,
        message: branch,
        files: { [`docs/${branch}.txt`]: "x\n" }
      })
    for (const pull of this.#pulls) if (pull.state === "open") await this.#deliver(pull, "synchronized")
  }

  async open(baseBranch: string) {
    const pull = await this.#forge.createPull(repo, { headBranch: "change", baseBranch, title: `Into ${baseBranch}` })
    this.#pulls.push(pull)
    await this.#deliver(pull, "opened")
    return pull
  }

  async retarget(pull: DemoPull, base: string) {
    await this.#forge.retarget(pull, base)
    await this.#deliver(pull, "edited")
  }

  /** Does one of everything that an author or a maintainer can do. Returns its name. */
  async step(): Promise<string> {
    const pull = this.#choose(this.#pulls)
    const base = this.#choose(["main", "side", "all"])
    const name = this.#choose([
      "retarget",
      "retarget",
      "open",
      "push",
      "close",
      "draft",
      "label",
      "review",
      "cancel",
      "again"
    ])
    switch (name) {
      case "retarget":
        await this.retarget(pull, base)
        break
      case "open":
        if (this.#pulls.length < 3) await this.open(base)
        break
      case "push":
        await this.push()
        break
      case "close":
        pull.state = pull.state === "open" ? "closed" : "open"
        await this.#deliver(pull, pull.state === "open" ? "reopened" : "closed")
        break
      case "draft":
        pull.draft = !pull.draft
        await this.#deliver(pull, "synchronized")
        break
      case "label":
        this.#forge.setLabels(pull, pull.labels.length === 0 ? ["aicr:ignore"] : [])
        await this.#deliver(pull, "synchronized")
        break
      case "again":
        await this.#forge.send(this.#choose(this.#delivered))
        break
      default:
        await this.#comment(`/aicr ${name}`)
    }
    return name
  }
}

const histories = [
  ["gitea", 1],
  ["forgejo", 2],
  ["github", 3],
  ["gitlab", 4]
] as const

it.each(takeTurn("AICR_TEST_HOST_KILLS", takeSample("AICR_TEST_HOST_KILLS", histories, 3)))(
  "a commit on %s is green only while its last reviews found nothing (seed %i)",
  async (kind, seed) => {
    const directory = await mkdtemp(join(tmpdir(), "aicr-heads-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const forge = await startFakeForge(kind)
    onTestFinished(forge.stop)
    await using model = await startFakeModel(honest)
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    await writeFile(configFile, configure(kind, directory, port, forge, model))
    const url = `http://127.0.0.1:${port}`
    await using aicr = new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)
    await forge.createRepository(repo)
    await forge.push(repo, { branch: "main", message: "Start", files: { "README.md": "# Start\n" } })
    const database = join(directory, "aicr.db")
    const random = makeChance(seed)
    const log: Array<string> = []
    const violations: Array<string> = []
    let killed: Promise<unknown> | undefined
    let isArmed = false
    let greens = 0
    forge.intercept(({ body, method, path }) => {
      const [, head] = /\/statuses\/([0-9a-f]{40})$/.exec(path) ?? []
      if (method !== "POST" || head === undefined) return undefined
      if (Object(body).state === "success") {
        greens++
        const problems = problemsOf(database, head)
        if (problems.length > 0) violations.push(`green over ${problems.join(", ")} after ${log.join(", ")}`)
      }
      if (!isArmed) return undefined
      isArmed = false
      killed = aicr.kill()
      return { kind: random() < 0.5 ? "cut" : "lost" }
    })
    const settle = async () => {
      await waitUntil(() => killed !== undefined || listUnfinished(database).length === 0, {
        timeout: 120_000,
        describe: () => `${log.join(", ")}: ${JSON.stringify(listUnfinished(database))}\n${aicr.log.slice(-5000)}`
      })
      if (killed === undefined) return
      await killed
      killed = undefined
      await aicr.start()
      log.push("killed")
      await settle()
    }
    const changes = new Changes(forge, random)
    /** Checks the newest head when everything is written. */
    const check = async (name: string, pull: DemoPull) => {
      log.push(name)
      await settle()
      const state = forge.repository(repo).statuses.get(pull.head)?.at(-1)?.state
      const problems = problemsOf(database, pull.head)
      if (problems.length > 0 && (state === "success" || state === undefined))
        violations.push(`${state} with ${problems.join(", ")} after ${log.join(", ")}`)
    }
    await aicr.start()
    await changes.push()
    const first = await changes.open("main")
    await check("open main", first)
    expect(forge.repository(repo).statuses.get(first.head)?.at(-1)?.state).toMatch(/^fail/)
    isArmed = true
    await changes.open("side")
    await check("open side", first)
    await changes.retarget(first, "all")
    await check("retarget all", first)
    for (let step = 0; step < steps; step++) {
      isArmed = step % 3 === 0
      await check(await changes.step(), first)
    }
    isArmed = false
    expect(violations).toEqual([])
    // A commit without the problem is green, so that the states above are no lock.
    first.state = "open"
    first.draft = false
    forge.setLabels(first, [])
    await forge.push(repo, {
      branch: "change",
      message: "Repair",
      files: { [toFilePath("change")]: "export const fine = 1\n" }
    })
    await changes.retarget(first, "main")
    await check("repair", first)
    expect(violations).toEqual([])
    expect([greens > 0, forge.repository(repo).statuses.get(first.head)?.at(-1)?.state]).toEqual([true, "success"])
    forge.expectContract()
  },
  400_000
)
