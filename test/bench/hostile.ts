/**
 * Changes that are too large or too complex, each reviewed by the service while a neighbour opens small pull requests one after
 * the other: how much longer the neighbour waits than alone, and the memory of the node and of all processes that it starts.
 * Rounds with and without such a change alternate, and each change is reviewed in several repositories: a 99th percentile of few rounds
 * is the slowest of them, so all copies together give the percentiles, which are the fourth or fifth slowest of their rounds. The ratio
 * of the medians is printed too; it is much less subject to other work on the machine.
 */
import { fork } from "node:child_process"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge } from "../../demo/DemoForge.ts"
import { git } from "../../demo/DemoForgeGit.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { serviceFlags } from "../harness/ServiceFlags.ts"
import { waitUntil } from "../harness/Wait.ts"
import { watchTree } from "./hostile/Memory.ts"
import type { MemoryWatch } from "./hostile/Memory.ts"
import { hostileChanges } from "./hostile/Repositories.ts"
import type { HostileChange } from "./hostile/Repositories.ts"

const rounds = 10
const copies = 4
const neighbour = "team/neighbour"
const repositoriesOf = ({ name }: HostileChange): ReadonlyArray<string> =>
  Array.from({ length: copies }, (_, copy) => `team/${name}-${copy}`)

interface World {
  readonly forge: DemoForge
  serial: number
}

const documentOf = (forge: DemoForge, model: FakeModel, port: number) => ({
  llm: {
    providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "x" }],
    model_chain: { default: [{ provider: "fake", model: "m" }] }
  },
  triggers: [{ name: "forge", kind: "gitea", base_url: forge.url, token: "t0ken", webhook_secret: "s3cret" }],
  workspaces: {
    instances: Object.fromEntries(
      [neighbour, ...hostileChanges.flatMap(repositoriesOf)].map((repo) => [
        repo.replace("/", "-"),
        { source_repo: { trigger: "forge", repo } }
      ])
    )
  },
  agent: { default: "native-llm" },
  review: { verification: "off" },
  storage: { database: { sqlite: { path: "data/aicr.db" } } },
  server: { port, hostname: "127.0.0.1" }
})

const statusOf = (pull: DemoPull): string | undefined => pull.repository.statuses.get(pull.head)?.at(-1)?.state

const isOpen = (pull: DemoPull): boolean => (statusOf(pull) ?? "pending") === "pending"

/** Milliseconds from the webhook to the final status. */
const reviewed = async ({ forge }: World, pull: DemoPull, ends: string): Promise<number> => {
  const delivery = forge.delivery({ kind: "pull", pull, action: "opened", sender: forge.user("dana") })
  const began = performance.now()
  await forge.send(delivery)
  await waitUntil(() => !isOpen(pull), {
    timeout: 120_000,
    describe: () => `the review of ${pull.repository.fullName} ends`
  })
  if (statusOf(pull) !== ends) throw new Error(`the review of ${pull.repository.fullName} ended in ${statusOf(pull)}`)
  return performance.now() - began
}

const neighbourly = async (world: World): Promise<number> => {
  const branch = `change-${++world.serial}`
  const files = { "src/added.ts": `export const total = ${world.serial}\n` }
  await world.forge.push(neighbour, { branch, from: "main", message: branch, files })
  const pull = await world.forge.createPull(neighbour, { title: branch, headBranch: branch })
  return reviewed(world, pull, "success")
}

const prepare = async (forge: DemoForge): Promise<void> => {
  for (const name of [neighbour, ...hostileChanges.flatMap(repositoriesOf)]) {
    await forge.createRepository(name)
    await forge.push(name, { branch: "main", message: "start", files: { "README.md": "# Start\n" } })
  }
  for (const change of hostileChanges) {
    const [first = "", ...others] = repositoriesOf(change).map((name) => forge.repository(name).directory)
    await change.write(first)
    // Packed in advance, so that serving the change takes no time of the neighbour.
    await git(first, ["-c", "core.bigFileThreshold=1m", "repack", "-a", "-d", "-q"])
    for (const directory of others) await cp(first, directory, { recursive: true, force: true })
  }
}

const percentile = (times: ReadonlyArray<number>, share: number): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? Number.NaN
const p99 = (times: ReadonlyArray<number>): number => percentile(times, 0.99)

const run = async (world: World, memory: MemoryWatch): Promise<Record<string, number>> => {
  const took: Record<string, number> = {}
  const alone: Array<number> = []
  const together: Array<number> = []
  for (let round = 0; round < rounds; round++) await neighbourly(world)
  for (const [index, change] of Array.from({ length: copies }, () => hostileChanges)
    .flat()
    .entries()) {
    const repository = repositoriesOf(change)[Math.floor(index / hostileChanges.length)] ?? ""
    for (let round = 0; round < rounds; round++) alone.push(await neighbourly(world))
    memory.phase()
    const pull = await world.forge.createPull(repository, { title: change.name, headBranch: "change" })
    const hostile = reviewed(world, pull, change.ends)
    hostile.catch(() => {})
    const neighbours: Array<number> = []
    for (let round = 0; round < rounds || isOpen(pull); round++) neighbours.push(await neighbourly(world))
    together.push(...neighbours)
    const millis = await hostile
    const key = `${change.name.replaceAll("-", "_")}_ms`
    took[key] = Math.max(millis, took[key] ?? 0)
    const slowest = Math.max(...neighbours).toFixed(0)
    const { total, own } = memory.phase()
    const parts = `${total.toFixed(0)} MiB, of these ${own.toFixed(0)} the service`
    process.stderr.write(
      `  ${change.name.padEnd(20)} ${millis.toFixed(0).padStart(9)} ms, ${change.ends}, slowest neighbour ${slowest} ms, ${parts}\n`
    )
  }
  return {
    neighbour_p99_ratio: p99(together) / p99(alone),
    neighbour_median_ratio: percentile(together, 0.5) / percentile(alone, 0.5),
    neighbour_alone_p99_ms: p99(alone),
    neighbour_beside_p99_ms: p99(together),
    ...took
  }
}

const measure = async (): Promise<Record<string, number>> => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-bench-"))
  const model = await startFakeModel(() => review([], "Nothing."))
  const forge = await startDemoForge({ directory, token: "t0ken", secret: "s3cret" })
  process.stderr.write("making the repositories\n")
  await prepare(forge)
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  await writeFile(configFile, stringify(documentOf(forge, model, port)))
  const service = fork(join(import.meta.dirname, "overhead/service.ts"), [configFile], {
    execArgv: [...serviceFlags]
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200, {
      timeout: 90_000,
      describe: () => "the service is ready"
    })
    forge.setWebhookUrl(`${url}/webhooks/gitea`)
    const memory = watchTree(service.pid ?? 0)
    const measured = await run({ forge, serial: 0 }, memory)
    const result: Record<string, number> = { ...measured, rss_peak_mib: memory.end().total }
    const row = (what: string, value: number) =>
      process.stderr.write(`  ${what.padEnd(44)} ${value.toFixed(2).padStart(9)}\n`)
    row("neighbour's p99 beside / alone (at most 1.5)", result["neighbour_p99_ratio"] ?? Number.NaN)
    row("node and its processes, MiB (at most 600)", result["rss_peak_mib"] ?? Number.NaN)
    return result
  } finally {
    service.kill("SIGKILL")
    await forge.stop()
    await model.close()
    await rm(directory, { recursive: true, force: true })
  }
}

export const hostile = {
  name: "hostile",
  summary: "a normal repository next to hostile ones",
  run: measure
}
