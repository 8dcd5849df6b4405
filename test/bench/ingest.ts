/**
 * Webhooks received and stored: the ingress next to a bare node:http server that checks the HMAC, parses and stores nothing, and
 * next to probot. Servers and load generator are processes of their own; rounds alternate, so that other load on the machine
 * falls on all of them. CPU is user and system time of the server process per delivery, the median of the rounds; a ratio is the
 * median of the rounds' ratios.
 * Then memory: 200 000 deliveries for 500 pull requests, each with a newer head that replaces the waiting one.
 */
import { execFileSync, fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Usage } from "./ingest/Measured.ts"
import type { Load, Order, Stock } from "./ingest/load.ts"
import { median } from "./Median.ts"

const here = import.meta.dirname
const connections = 32
const warmUpRequests = 8000
const rounds = 10
const roundRequests = 6000
const memory = { warmUp: 100_000, deliveries: 200_000, step: 20_000, pulls: 500 }
const mebibyte = 1024 * 1024

/** Peers have a package.json of their own; missing packages are installed once. */
const installPeers = (): boolean => {
  if (existsSync(join(here, "node_modules/probot"))) return true
  process.stderr.write(`Installing probot, which this benchmark compares with, into ${here}\n`)
  try {
    execFileSync("npm", ["install", "--omit=optional", "--no-audit", "--no-fund"], {
      cwd: here,
      stdio: ["ignore", "ignore", "inherit"]
    })
    return true
  } catch {
    process.stderr.write("probot could not be installed: its numbers are left out\n")
    return false
  }
}

interface Child {
  readonly process: ChildProcess
  readonly port: number
}

const next = <A>(child: ChildProcess): Promise<A> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${child.spawnfile} ended with code ${code}`))
    child.once("exit", ended)
    child.once("message", (message: A) => {
      child.off("exit", ended)
      resolve(message)
    })
  })

const start = async (file: string, ...args: ReadonlyArray<string>): Promise<Child> => {
  const child = fork(join(here, "ingest", file), [...args], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  const { port = 0 } = await next<{ readonly port?: number }>(child)
  return { process: child, port }
}

const ask = <A>({ process: child }: Child, message: Stock | Order | "usage"): Promise<A> => {
  const answer = next<A>(child)
  child.send(message)
  return answer
}

const stop = async ({ process: child }: Child): Promise<void> => {
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.disconnect()
  await ended
}

interface Measurement {
  readonly cpuMicros: number
  readonly load: Load
  readonly rss: number
}

const measure = async (generator: Child, server: Child, requests: number): Promise<Measurement> => {
  const before = await ask<Usage>(server, "usage")
  const load = await ask<Load>(generator, { _tag: "Order", port: server.port, requests, connections })
  const after = await ask<Usage>(server, "usage")
  if (load.failures > 0) throw new Error(`${load.failures} deliveries were not taken, first: ${load.failure}`)
  return { cpuMicros: (after.cpuMicros - before.cpuMicros) / requests, load, rss: after.rss }
}

const measureCpu = async (generator: Child, print: (line: string) => void) => {
  const peers = [
    { name: "bare node:http", server: await start("bare.ts") },
    { name: "aicr", server: await start("aicr.ts", "memory") },
    ...(installPeers() ? [{ name: "probot", server: await start("probot.mjs") }] : [])
  ].map((peer): { name: string; server: Child; runs: Array<Measurement> } => ({ ...peer, runs: [] }))

  let first = 1
  const restock = async (count: number) => {
    await ask(generator, { _tag: "Stock", first, deliveries: count, pulls: count })
    first += count
  }
  await restock(warmUpRequests)
  for (const { server } of peers) await measure(generator, server, warmUpRequests)
  for (let round = 0; round < rounds; round++) {
    await restock(roundRequests)
    for (const { runs, server } of peers) runs.push(await measure(generator, server, roundRequests))
  }
  for (const { server } of peers) await stop(server)

  const [bare, aicr, probot] = peers.map(({ runs }) => runs)
  const cpu = (runs: ReadonlyArray<Measurement> | undefined) => (runs ?? []).map(({ cpuMicros }) => cpuMicros)
  const ratioTo = (other: ReadonlyArray<Measurement> | undefined) =>
    median(cpu(aicr).map((value, round) => value / (other?.[round]?.cpuMicros ?? Number.NaN)))

  print(
    `${"".padEnd(16)}${"CPU ms/request".padStart(16)}${"requests/s".padStart(12)}${"p50 ms".padStart(9)}${"p99 ms".padStart(9)}`
  )
  for (const { name, runs } of peers) {
    const perSecond = median(runs.map(({ load }) => roundRequests / load.seconds))
    const columns = [
      (median(cpu(runs)) / 1000).toFixed(4).padStart(16),
      perSecond.toFixed(0).padStart(12),
      median(runs.map(({ load }) => load.p50))
        .toFixed(1)
        .padStart(9),
      median(runs.map(({ load }) => load.p99))
        .toFixed(1)
        .padStart(9)
    ]
    print(`${name.padEnd(16)}${columns.join("")}`)
  }
  return {
    cpu_ratio_bare: ratioTo(bare),
    ...(probot === undefined ? {} : { cpu_ratio_probot: ratioTo(probot) }),
    p99_ms: median((aicr ?? []).map(({ load }) => load.p99))
  }
}

const measureMemory = async (generator: Child, print: (line: string) => void) => {
  const server = await start("aicr.ts", "memory")
  await ask(generator, { _tag: "Stock", first: 1, deliveries: 8 * memory.pulls, pulls: memory.pulls })
  const { rss: warm } = await measure(generator, server, memory.warmUp)
  print(`resident after ${memory.warmUp} deliveries: ${(warm / mebibyte).toFixed(0)} MiB`)
  let highest = warm
  for (let sent = 0; sent < memory.deliveries; sent += memory.step) {
    const { rss } = await measure(generator, server, memory.step)
    highest = Math.max(highest, rss)
    print(`  after ${String(sent + memory.step).padStart(7)} more: ${(rss / mebibyte).toFixed(0)} MiB`)
  }
  await stop(server)
  return { rss_growth_mib: (highest - warm) / mebibyte }
}

const rounded = (values: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value * 100) / 100]))

export const ingest = {
  name: "ingest",
  summary: "webhooks stored per CPU, next to a bare server and probot; memory over 200 000 deliveries",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const print = (line: string) => process.stdout.write(`${line}\n`)
    const generator = await start("load.ts")
    const cpu = await measureCpu(generator, print)
    const resident = await measureMemory(generator, print)
    await stop(generator)
    const result = rounded({ ...cpu, ...resident })
    for (const [name, value] of Object.entries(result)) print(`${name.padEnd(18)}${value}`)
    return result
  }
}
