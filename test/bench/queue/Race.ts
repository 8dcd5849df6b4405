/** Starts the contenders of the queue benchmarks and lets them take turns. */
import { execFileSync, fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { begin } from "./Contender.ts"
import type { Answer, Order, Prepared } from "./Contender.ts"

export const here = import.meta.dirname
const installation = join(here, "..")

/** A file that Redis rewrites takes a core for seconds, possibly during the measurement of another contender. */
export const inTurn = { "auto-aof-rewrite-percentage": "0" }

/** Peers have a package.json of their own; missing packages are installed once. */
export const installPeers = (peers: ReadonlyArray<string>): void => {
  if (peers.every((name) => existsSync(join(installation, "node_modules", name)))) return
  process.stderr.write(`Installing ${peers.join(" and ")}, which this benchmark compares with, into ${installation}\n`)
  execFileSync("npm", ["install", "--omit=optional", "--no-audit", "--no-fund"], {
    cwd: installation,
    stdio: ["ignore", "ignore", "inherit"]
  })
}

/** The next message of a process. */
export const next = <A>(child: ChildProcess): Promise<A> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${child.spawnargs.join(" ")} ended with code ${code}`))
    child.once("exit", ended)
    child.once("message", (message: A) => {
      child.off("exit", ended)
      resolve(message)
    })
  })

export const start = async (file: string, args: ReadonlyArray<string>): Promise<ChildProcess> => {
  const child = fork(join(here, file), [...args], {
    execArgv: ["--disable-warning=ExperimentalWarning", "--expose-gc", "--max-old-space-size=8192"]
  })
  await next(child)
  return child
}

export interface Taken {
  /** Operations of all processes together, per second. */
  readonly rate: number
}

/** Gives each process of a contender its part of an order; all begin together. */
export const take = async (children: ReadonlyArray<ChildProcess>, order: Order): Promise<Taken> => {
  const each = Math.floor(order.count / children.length)
  await Promise.all(
    children.map((child) => {
      const prepared = next<Prepared>(child)
      child.send({ ...order, count: each } satisfies Order)
      return prepared
    })
  )
  const answers = await Promise.all(
    children.map((child) => {
      const answer = next<Answer>(child)
      child.send(begin)
      return answer
    })
  )
  let seconds = 0
  for (const answer of answers) {
    if ("error" in answer) throw new Error(`${children[0]?.spawnargs.join(" ")}: ${answer.error}`)
    seconds = Math.max(seconds, answer.seconds)
  }
  return { rate: (each * children.length) / seconds }
}

/**
 * Shuffles the order, so that the delayed work of a contender (a vacuum, a log to copy, pages to write) does not always fall on
 * the same other.
 */
export const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
