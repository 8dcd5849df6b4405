/**
 * The queue over a journal in Redis (src/queue/journal) next to BullMQ, with one ingress process and with three: adds and full
 * cycles, taking turns, each contender on a Redis server of its own with the same settings (appendfsync everysec); a ratio is the
 * median of the rounds' ratios. Of three processes each works on its own entries: BullMQ has a queue for each of them, aicr one
 * queue that every process holds completely. `XADD` is the ceiling: messages of the same size, pipelined, by one process.
 * Then a node with a million waiting entries: bytes of its heap for each, and seconds from its start until it can decide, when
 * the journal has the newest snapshot that its writer made.
 */
import type { ChildProcess } from "node:child_process"
import { fork } from "node:child_process"
import { join } from "node:path"
import { RedisServer } from "../harness/Redis.ts"
import type { Order } from "./queue/Contender.ts"
import { here, inTurn, installPeers, median, next, shuffled, start, take } from "./queue/Race.ts"
import type { Taken } from "./queue/Race.ts"

const rounds = Number(process.env["AICR_BENCH_ROUNDS"] ?? 9)
const warmUp = 2
const counts = { adds: 18_000, bulk: 18_000, cycles: 6000 } as const
const entries = Number(process.env["AICR_BENCH_ENTRIES"] ?? 1_000_000)

const files = { journal: "aicr.ts", BullMQ: "bullmq.mjs", XADD: "xadd.ts" } as const
type Name = keyof typeof files
const names = ["journal", "BullMQ", "XADD"] as const

type Results = Record<Name, ReadonlyArray<Taken>>

const race = async (what: Order["what"], processes: number): Promise<Results> => {
  const taken: Record<Name, Array<Taken>> = { journal: [], BullMQ: [], XADD: [] }
  const contenders = names.filter((name) => name !== "XADD" || what === "adds")
  const servers: Array<RedisServer> = []
  const children: Partial<Record<Name, ReadonlyArray<ChildProcess>>> = {}
  try {
    for (const name of contenders) {
      const server = await RedisServer.start("everysec", inTurn)
      servers.push(server)
      const nodes = Array.from({ length: name === "XADD" ? 1 : processes }, (_, index) => String(index))
      children[name] = await Promise.all(nodes.map((node) => start(files[name], ["redis", server.url, node])))
    }
    for (let round = -warmUp; round < rounds; round++) {
      for (const name of shuffled(contenders)) {
        const result = await take(children[name] ?? [], { what, count: counts[what] })
        if (round >= 0) taken[name].push(result)
      }
    }
    return taken
  } finally {
    for (const child of Object.values(children).flat()) child.disconnect()
    for (const server of servers) await server[Symbol.asyncDispose]()
  }
}

const rateOf = (results: Results, name: Name): number => median(results[name].map(({ rate }) => rate))
const ratio = (results: Results, name: Name, other: Name): number =>
  median(results[name].map(({ rate }, round) => rate / (results[other][round]?.rate ?? Number.NaN)))
/** Share of attempts to append that lost to another node. */
const conflicts = ({ journal }: Results): number => {
  const sum = (name: string) => journal.reduce((all, { counts: own }) => all + (own[name] ?? 0), 0)
  return sum("conflicts") / (sum("conflicts") + sum("appended"))
}

const raceBoth = async (what: "adds" | "cycles", processes: number): Promise<Record<string, number>> => {
  const results = await race(what, processes)
  const key = `${what}_${processes}`
  process.stderr.write(`${what} with ${processes} ingress ${processes === 1 ? "process" : "processes"}\n`)
  for (const name of names) {
    if (results[name].length > 0) process.stderr.write(`  ${name.padEnd(10)} ${Math.round(rateOf(results, name))} /s\n`)
  }
  return {
    [`${key}_per_second`]: rateOf(results, "journal"),
    [`${key}_bullmq_per_second`]: rateOf(results, "BullMQ"),
    [`${key}_vs_bullmq`]: ratio(results, "journal", "BullMQ"),
    [`${key}_conflicts`]: conflicts(results),
    ...(what === "adds" ? { [`${key}_vs_xadd`]: ratio(results, "journal", "XADD") } : {})
  }
}

interface Loaded {
  readonly bytes: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly waiting: number
}

const measureLoad = async (): Promise<Record<string, number>> => {
  await using server = await RedisServer.start("everysec", inTurn)
  const node = async (what: "fill" | "read"): Promise<Loaded> => {
    const child = fork(join(here, "load.ts"), [what, server.url, String(entries)], {
      execArgv: ["--disable-warning=ExperimentalWarning", "--expose-gc", "--max-old-space-size=8192"]
    })
    const loaded = await next<Loaded>(child)
    child.send("end")
    return loaded
  }
  const writer = await node("fill")
  const readers: Array<Loaded> = []
  while (readers.length < 5) readers.push(await node("read"))
  return {
    entries: writer.waiting,
    entry_bytes_of_writer: writer.bytes,
    entry_bytes_of_reader: median(readers.map(({ bytes }) => bytes)),
    load_seconds: median(readers.map(({ seconds }) => seconds)),
    load_seconds_min: Math.min(...readers.map(({ seconds }) => seconds)),
    load_cpu_seconds: median(readers.map(({ cpuSeconds }) => cpuSeconds))
  }
}

const measurements = {
  load: measureLoad,
  adds: async () => ({ ...(await raceBoth("adds", 1)), ...(await raceBoth("adds", 3)) }),
  cycles: async () => ({ ...(await raceBoth("cycles", 1)), ...(await raceBoth("cycles", 3)) })
} as const
/** AICR_BENCH_PARTS selects some of them. */
const chosen = process.env["AICR_BENCH_PARTS"]?.split(",")
const parts = (["load", "adds", "cycles"] as const).filter((part) => chosen?.includes(part) ?? true)

export const queueJournal = {
  name: "queue-journal",
  summary:
    "the queue over a journal in Redis next to BullMQ, with 1 and 3 ingress processes; a node with 1 000 000 entries",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    installPeers(["bullmq"])
    const result: Record<string, number> = {}
    for (const part of parts) Object.assign(result, await measurements[part]())
    for (const [name, value] of Object.entries(result)) process.stderr.write(`${name.padEnd(32)} ${value.toFixed(3)}\n`)
    return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, Math.round(value * 1000) / 1000]))
  }
}
