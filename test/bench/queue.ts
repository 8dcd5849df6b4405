/**
 * The queue on each of its stores next to BullMQ on the same kind of Redis and graphile-worker on Postgres. Contenders are
 * processes of their own, Redis servers too, and take turns, so that other load on the machine falls on all of them; a ratio is
 * the median of the rounds' ratios.
 * An add is the cost of one delivery to a service: BullMQ's `add`, graphile-worker's `addJob`, and an admission as the ingress of
 * aicr makes it, which shares a transaction with the others of the same moment. 512 are in flight; their payloads are made before
 * the clock starts. `bulk` is the equivalent in one call: 512 in one. `bare SQLite` is the ceiling: the same work as rows of two
 * columns, without any lookup.
 * Durability is the same in each comparison: `synced` is on disk before the response (SQLite synchronous FULL, Redis appendfsync
 * always, Postgres fsync on); `each second` is Redis appendfsync everysec, for both that use it. NATS syncs its files every two
 * minutes and relies on copies on other servers; here it is one server.
 *
 * `load` fills a queue with entries that wait and starts a node on it: bytes of heap per entry, and seconds until the node can decide.
 *
 * AICR_BENCH_PARTS selects parts (wakes,synced,everysec,load), AICR_BENCH_ROUNDS and AICR_BENCH_ENTRIES change their size.
 */
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NatsServer } from "../harness/Nats.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { RedisServer } from "../harness/Redis.ts"
import type { Fsync } from "../harness/Redis.ts"
import type { Order } from "./queue/Contender.ts"
import { median } from "./Median.ts"
import { here, inTurn, installPeers, next, shuffled, start, take } from "./queue/Race.ts"

/** Cycles leave nothing that waits: more of them only take more time, and give more exact figures. */
const roundsOfAdds = Number(process.env["AICR_BENCH_ROUNDS"] ?? 9)
const rounds = { adds: roundsOfAdds, bulk: roundsOfAdds, cycles: 2 * roundsOfAdds - 1 } as const
const entries = Number(process.env["AICR_BENCH_ENTRIES"] ?? 1_000_000)
const warmUp = 2
/** Enough that each contender that makes garbage collects it within a round of adds. */
const counts = { adds: 20_000, bulk: 20_000, cycles: 5000 } as const
/** The contender that syncs each job by itself: a tenth of the jobs takes as long as those of the others together. */
const slow = "graphile-worker"

/** The contender that does no cycles. */
const onlyAdds = "bare SQLite"

type Rates = Readonly<Record<string, ReadonlyArray<number>>>

/** Rates of each contender, round by round. */
const race = async (contenders: Readonly<Record<string, ChildProcess>>, what: Order["what"]): Promise<Rates> => {
  const rates: Record<string, Array<number>> = {}
  for (let round = -warmUp; round < rounds[what]; round++) {
    for (const [name, child] of shuffled(Object.entries(contenders))) {
      if (what === "cycles" && name === onlyAdds) continue
      const count = what !== "bulk" && name === slow ? counts[what] / 10 : counts[what]
      const { rate } = await take([child], { what, count })
      if (round >= 0) (rates[name] ??= []).push(rate)
    }
  }
  return rates
}

const ratio = (rates: Rates, name: string, other: string): number =>
  median((rates[name] ?? []).map((rate, round) => rate / (rates[other]?.[round] ?? Number.NaN)))

const print = (title: string, rates: Rates): void => {
  process.stderr.write(`${title}\n`)
  for (const [name, values] of Object.entries(rates))
    process.stderr.write(`  ${name.padEnd(24)} ${Math.round(median(values)).toString().padStart(8)} /s\n`)
}

/** Each race has contenders and servers of its own: entries that one leaves behind, waiting or done, slow down no other. */
const raceFresh = async (what: Order["what"], fsync: Fsync, postgres?: PostgresServer): Promise<Rates> => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-bench-"))
  const [ours, theirs] = [await RedisServer.start(fsync, inTurn), await RedisServer.start(fsync, inTurn)]
  await using nats = fsync === "always" ? undefined : await NatsServer.start()
  const contenders: Record<string, ChildProcess> = {}
  try {
    if (fsync === "always") {
      contenders["aicr sqlite"] = await start("aicr.ts", ["sqlite", folder])
      contenders[onlyAdds] = await start("bare.ts", [folder])
    } else contenders["aicr memory"] = await start("aicr.ts", ["memory"])
    if (nats !== undefined) contenders["aicr nats"] = await start("aicr.ts", ["nats", nats.url])
    contenders["aicr redis"] = await start("aicr.ts", ["redis", ours.url])
    contenders["BullMQ"] = await start("bullmq.mjs", ["redis", theirs.url])
    if (postgres !== undefined) contenders[slow] = await start("graphile.mjs", [postgres.url])
    const rates = await race(contenders, what)
    print(`${what}, ${fsync === "always" ? "synced" : "each second"}`, rates)
    return rates
  } finally {
    for (const child of Object.values(contenders)) child.disconnect()
    await ours[Symbol.asyncDispose]()
    await theirs[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Wakes {
  readonly bytes: number
  readonly p50: number
  readonly p99: number
  /** Microseconds. */
  readonly decision: number
  readonly growth: number
}

const measureWakes = (): Promise<Wakes> =>
  next(fork(join(here, "wake.ts"), { execArgv: ["--disable-warning=ExperimentalWarning", "--expose-gc"] }))

const measureWaking = async (): Promise<Record<string, number>> => {
  const wakes = await measureWakes()
  process.stderr.write(
    `100 000 entries in 10 000 workspaces: wake to ticket p50 ${wakes.p50.toFixed(3)} and p99 ${wakes.p99.toFixed(3)} ms, a decision ` +
      `${wakes.decision.toFixed(1)} us, ${wakes.growth.toFixed(2)} times that with 100 workspaces; ${Math.round(wakes.bytes)} bytes an entry\n`
  )
  return {
    wake_p99_ms: wakes.p99,
    wake_p50_ms: wakes.p50,
    decision_growth: wakes.growth,
    bytes_per_entry: wakes.bytes
  }
}

const measureSynced = async (): Promise<Record<string, number>> => {
  await using postgres = await PostgresServer.start()
  const synced = {
    adds: await raceFresh("adds", "always", postgres),
    bulk: await raceFresh("bulk", "always", postgres),
    cycles: await raceFresh("cycles", "always", postgres)
  }
  return {
    sqlite_adds_vs_bullmq: ratio(synced.adds, "aicr sqlite", "BullMQ"),
    sqlite_bulk_adds_vs_bullmq: ratio(synced.bulk, "aicr sqlite", "BullMQ"),
    sqlite_adds_vs_bare: ratio(synced.adds, "aicr sqlite", onlyAdds),
    bare_sqlite_adds_vs_bullmq: ratio(synced.adds, onlyAdds, "BullMQ"),
    sqlite_adds_vs_graphile: ratio(synced.adds, "aicr sqlite", "graphile-worker"),
    redis_cycles_synced_vs_bullmq: ratio(synced.cycles, "aicr redis", "BullMQ"),
    redis_cycles_vs_graphile: ratio(synced.cycles, "aicr redis", "graphile-worker")
  }
}

const measureEachSecond = async (): Promise<Record<string, number>> => {
  const adds = await raceFresh("adds", "everysec")
  const cycles = await raceFresh("cycles", "everysec")
  return {
    redis_adds_vs_bullmq: ratio(adds, "aicr redis", "BullMQ"),
    redis_cycles_vs_bullmq: ratio(cycles, "aicr redis", "BullMQ")
  }
}

interface Loaded {
  readonly bytes: number
  readonly seconds: number
  readonly cpuSeconds: number
}

/** `place`: a file, or the URL of a server. */
const measureLoad = async (kind: string, place: string): Promise<Record<string, number>> => {
  const node = async (what: "fill" | "read"): Promise<Loaded> => {
    const child = fork(join(here, "load.ts"), [what, place, String(entries)], {
      execArgv: ["--disable-warning=ExperimentalWarning", "--expose-gc", "--max-old-space-size=8192"]
    })
    const loaded = await next<Loaded>(child)
    const ended = once(child, "exit")
    child.send("end")
    await ended
    return loaded
  }
  await node("fill")
  const readers = [await node("read"), await node("read"), await node("read")]
  return {
    [`${kind}_entry_bytes`]: median(readers.map(({ bytes }) => bytes)),
    [`${kind}_load_seconds`]: median(readers.map(({ seconds }) => seconds)),
    [`${kind}_load_cpu_seconds`]: median(readers.map(({ cpuSeconds }) => cpuSeconds))
  }
}

const measureLoads = async (): Promise<Record<string, number>> => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-bench-"))
  await using redis = await RedisServer.start("everysec", inTurn)
  try {
    return { ...(await measureLoad("sqlite", join(folder, "queue.db"))), ...(await measureLoad("redis", redis.url)) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const parts = { wakes: measureWaking, synced: measureSynced, everysec: measureEachSecond, load: measureLoads } as const
const chosen = process.env["AICR_BENCH_PARTS"]?.split(",")

const measure = async (): Promise<Record<string, number>> => {
  installPeers(["bullmq", "graphile-worker"])
  const result: Record<string, number> = {}
  for (const [name, part] of Object.entries(parts))
    if (chosen?.includes(name) ?? true) Object.assign(result, await part())
  return result
}

export const queue = {
  name: "queue",
  summary: "admissions and full cycles next to BullMQ and graphile-worker; wakes with 100 000 waiting entries; loading",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const result = await measure()
    for (const [name, value] of Object.entries(result)) process.stderr.write(`${name.padEnd(32)} ${value.toFixed(2)}\n`)
    return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, Math.round(value * 1000) / 1000]))
  }
}
