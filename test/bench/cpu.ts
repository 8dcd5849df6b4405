/**
 * Processor time per review, with every thread and child process: changes of 1, 12 and 60 files, with all threads running (hot) and after a pause in
 * which all but the warm ones end (cold), and at rest. `--against COMMIT` measures the program of another commit in alternating rounds. Its own packages are
 * installed once, outside of the repository. One process and three nodes with NATS, Postgres and Redis at rest.
 */
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startDemoForge } from "../../demo/DemoForge.ts"
import { programFolder } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { installCommit } from "./cpu/InstallCommit.ts"
import { MeasuredService, quote, repository, secret, sizes, token } from "./cpu/MeasuredService.ts"
import type { Size } from "./cpu/MeasuredService.ts"
import type { Benchmark } from "./main.ts"
import { median } from "./Median.ts"

const warmUp = 4
const rounds: Readonly<Record<Size, number>> = { 1: 12, 12: 8, 60: 5 }
const coldRounds = 3
/** All but two threads end 20 s after the last change, readers of git after 10 s. */
const pauseSeconds = 25
const restSeconds = 20
const nodeNames = ["one", "two", "three"]

/** The repository of the changes: 300 files of this program. */
const readFiles = (): ReadonlyMap<string, string> => {
  const source = join(programFolder, "src")
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !/^(?:text|dashboard)\//.test(name)
  )
  const texts = names.toSorted().map((name) => [`src/${name}`, readFileSync(join(source, name), "utf8")] as const)
  return new Map(texts.slice(0, 300))
}

type Times = Readonly<Record<Size, number>> & { readonly cold: number; readonly rest: number }

/** Measures services in alternating rounds. */
const measure = async (services: ReadonlyArray<MeasuredService>): Promise<ReadonlyArray<Times>> => {
  const alternate = async (size: Size, count: number, pause = 0): Promise<ReadonlyArray<number>> => {
    const times = services.map((): Array<number> => [])
    for (let round = 0; round < count; round++) {
      await sleep(pause * 1000)
      for (const [at, service] of services.entries()) times[at]?.push(await service.review(size))
    }
    return times.map(median)
  }
  await alternate(1, warmUp)
  const hot: Record<Size, ReadonlyArray<number>> = { 1: await alternate(1, rounds[1]), 12: [], 60: [] }
  for (const size of [12, 60] as const) {
    await alternate(size, 1)
    hot[size] = await alternate(size, rounds[size])
  }
  const cold = await alternate(1, coldRounds, pauseSeconds)
  await sleep(pauseSeconds * 1000)
  const read = () => Promise.all(services.map((service) => service.processorMillis()))
  const before = await read()
  await sleep(restSeconds * 1000)
  const after = await read()
  return services.map((_, at) => ({
    1: hot[1][at] ?? 0,
    12: hot[12][at] ?? 0,
    60: hot[60][at] ?? 0,
    cold: cold[at] ?? 0,
    rest: ((after[at] ?? 0) - (before[at] ?? 0)) / restSeconds
  }))
}

/** Returns the processor time per second of three nodes at rest, each with all roles, and that of NATS, Postgres and Redis. */
const measureCluster = async () => {
  await using at = await ClusterInstallation.make({ repositories: 1, queue: "redis", line: false })
  for (const name of nodeNames) await at.start(name, "all")
  await sleep(pauseSeconds * 1000)
  const read = async () => {
    const sum = (times: ReadonlyArray<Promise<number>>) =>
      Promise.all(times).then((all) => all.reduce((total, one) => total + one, 0))
    const nodes = await sum(nodeNames.map((name) => at.node(name).processorMillisOfAll()))
    return { nodes, servers: await sum([at.nats, at.postgres, at.redis].map((server) => server.processorMillis())) }
  }
  const before = await read()
  await sleep(restSeconds * 1000)
  const after = await read()
  return { nodes: (after.nodes - before.nodes) / restSeconds, servers: (after.servers - before.servers) / restSeconds }
}

const row = (what: string, value: number, unit: string): void =>
  void process.stderr.write(`  ${what.padEnd(44)} ${value.toFixed(2).padStart(9)} ${unit}\n`)

export const cpu: Benchmark = {
  name: "cpu",
  summary: "processor time per review, hot and cold, and at rest; --against COMMIT compares with another commit",
  run: async ({ against }) => {
    const programs = [programFolder, ...(against === undefined ? [] : [installCommit(against)])]
    const directory = await mkdtemp(join(tmpdir(), "aicr-bench-"))
    const files = readFiles()
    const [first = ""] = files.keys()
    const finding = {
      file: first,
      line: 1,
      severity: "high",
      category: "bug",
      title: "Division by zero",
      message: "This divides by zero.",
      quote
    }
    const model = await startFakeModel(() => review([finding], "One problem."))
    const forge = await startDemoForge({ directory, token, secret })
    const services: Array<MeasuredService> = []
    try {
      await forge.createRepository(repository)
      await forge.push(repository, { branch: "main", message: "start", files: Object.fromEntries(files) })
      for (const [at, program] of programs.entries())
        services.push(await MeasuredService.start(`p${at}`, program, { directory, files, forge, modelUrl: model.url }))
      const [own, other] = await measure(services)
      if (own === undefined) throw new Error("nothing was measured")
      for (const size of [1, 12, 60] as const)
        row(`a review of ${size} files, ${sizes[size]} lines each, hot`, own[size], "ms")
      row("a review of 1 file after a pause, cold", own.cold, "ms")
      row("cold to hot (to reach: at most 2)", own.cold / own[1], "x")
      row("one process at rest (to reach: at most 4)", own.rest, "ms/s")
      const three = await measureCluster()
      row("three nodes at rest", three.nodes, "ms/s")
      row("with NATS, Postgres and Redis (to reach: at most 25)", three.nodes + three.servers, "ms/s")
      const result: Record<string, number> = {
        cpu_1_ms: own[1],
        cpu_12_ms: own[12],
        cpu_60_ms: own[60],
        cold_1_ms: own.cold,
        cold_ratio: own.cold / own[1],
        idle_ms_per_s_one: own.rest,
        idle_ms_per_s_three: three.nodes + three.servers,
        idle_ms_per_s_three_nodes: three.nodes
      }
      if (other === undefined) return result
      for (const size of [1, 12, 60] as const) {
        row(`${size} files, of the time of ${against}`, own[size] / other[size], "x")
        result[`vs_${size}`] = own[size] / other[size]
      }
      return result
    } finally {
      for (const service of services) await service[Symbol.asyncDispose]()
      await forge.stop()
      await model.close()
      await rm(directory, { recursive: true, force: true })
    }
  }
}
