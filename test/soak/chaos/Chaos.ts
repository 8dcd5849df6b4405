/**
 * The chaos series: changes flow through a cluster while faults happen one after another, in an order that the seed decides. In the end
 * every change has exactly what one review writes, was paid for once unless a node lost the reply with its memory, and nothing is left
 * to do soon after the last fault.
 */
import { join } from "node:path"
import type { DemoPull } from "../../../demo/DemoForgeState.ts"
import { ClusterInstallation } from "../../harness/ClusterInstallation.ts"
import type { Reply } from "../../harness/FakeModelReply.ts"
import { honest, listStates, markedLine, namesIn, postedOn, toFilePath } from "../../harness/Installation.ts"
import { SetClock } from "../../harness/SetClock.ts"
import { SmallDisk } from "../../harness/SmallDisk.ts"
import { makeChance } from "../../../eval/Chance.ts"
import { configured, elapse, faultNames, faults } from "./Faults.ts"
import type { ChaosWorld, FaultName } from "./Faults.ts"

export const shapes = {
  /** Each role on nodes of its own, with the queue in Redis. The second node has the clock that is set and the disk that is filled. */
  apart: {
    queue: "redis",
    nodes: {
      "front-1": "ingress",
      "work-1": "executor",
      "front-2": "ingress",
      "work-2": "executor",
      middle: "actors",
      publisher: "publisher"
    }
  },
  /** Three nodes with every role, with the queue in JetStream. */
  equal: { queue: "nats", nodes: { one: "all", two: "all", three: "all" } }
} as const
export type Shape = keyof typeof shapes

export interface ChaosOptions {
  readonly shape: Shape
  readonly seed: number
  readonly changes: number
  /** Number of faults, or the faults themselves. */
  readonly faults: number | ReadonlyArray<FaultName>
  readonly repositories: number
  readonly lastsMillis: number
  /** Time limit for the rest of the work after the last fault. */
  readonly settleMillis: number
}

export interface ChaosResult {
  readonly changes: number
  readonly faults: ReadonlyArray<FaultName>
  /** Calls of the model that it replied to, and those that were repeated because a node had lost the reply. */
  readonly paid: number
  readonly repeated: number
  /** Seconds from the end of the last fault until nothing was left to do. */
  readonly settledSeconds: number
  readonly seconds: number
  readonly wrong: ReadonlyArray<string>
}

const fullDisk: FaultName = "a node that reviews has a full disk"
const possibleFaults = faultNames.filter((name) => name !== fullDisk || SmallDisk.isPossible)

/** Every fault once in random order, then again in another order. */
const orderFaults = (count: number, random: () => number): ReadonlyArray<FaultName> => {
  const ordered: Array<FaultName> = []
  while (ordered.length < count) {
    const shuffled = possibleFaults.map((name) => ({ name, key: random() })).toSorted((a, b) => a.key - b.key)
    ordered.push(...shuffled.map(({ name }) => name))
  }
  return ordered.slice(0, count)
}

/** Counts paid calls by change, and those that may be repeated. */
class Bill {
  readonly paid = new Map<string, number>()
  readonly allowed = new Map<string, number>()
  behaviour: ((reply: Reply) => Promise<Reply>) | undefined

  constructor(at: ClusterInstallation, random: () => number) {
    at.model.script(async (request) => {
      const reply = honest(request)
      const delay = elapse(200 + 1300 * random())
      const sent = (await this.behaviour?.(reply)) ?? reply
      await delay
      if (sent === reply) for (const name of namesIn(request)) this.paid.set(name, (this.paid.get(name) ?? 0) + 1)
      return sent
    })
  }

  allow(name: string): void {
    this.allowed.set(name, (this.allowed.get(name) ?? 1) + 1)
  }

  isOver(name: string): boolean {
    return (this.paid.get(name) ?? 0) > (this.allowed.get(name) ?? 1)
  }
}

/** Describes what is wrong with one change. */
const judge = (pull: DemoPull, bill: Bill): ReadonlyArray<string> => {
  const name = pull.headBranch
  const { comments, reviews, summaries } = postedOn(pull)
  const wrong: Array<string> = []
  if (reviews.join() !== pull.head) wrong.push(`reviews of ${JSON.stringify(reviews)}, the head is ${pull.head}`)
  if (comments.join() !== `${toFilePath(name)}:${markedLine}`) wrong.push(`comments at ${JSON.stringify(comments)}`)
  if (summaries !== 1) wrong.push(`${summaries} summaries`)
  if (listStates(pull).at(-1) !== "success") wrong.push(`status ${listStates(pull).at(-1) ?? "missing"}`)
  if (bill.isOver(name)) wrong.push(`paid ${bill.paid.get(name)} times, ${bill.allowed.get(name) ?? 1} allowed`)
  return wrong.map((what) => `${pull.repository.fullName}#${pull.number} ${name}: ${what}`)
}

/** Heads under review whose analysis is not stored. */
const unstored = async (at: ClusterInstallation): Promise<ReadonlySet<string>> => {
  const rows = await at.query<{ head: string }>(
    "SELECT head FROM runs WHERE status IN ('queued', 'preparing', 'analyzing')"
  )
  return new Set(rows.map(({ head }) => head))
}

export const chaos = async (options: ChaosOptions, say: (line: string) => void): Promise<ChaosResult> => {
  const began = performance.now()
  const random = makeChance(options.seed)
  const planned = typeof options.faults === "number" ? orderFaults(options.faults, random) : options.faults
  const added = planned.filter((name) => name === "a workspace is added to the configuration").length
  const { nodes, queue } = shapes[options.shape]
  await using at = await ClusterInstallation.make({
    repositories: options.repositories + added,
    configured: options.repositories,
    queue,
    slots: 4,
    perWorkspaceConcurrency: 2,
    dailyUsd: 50,
    defaultRetry: true
  })
  using clock = new SetClock()
  const names = Object.keys(nodes)
  using disk = SmallDisk.isPossible ? new SmallDisk(join(at.directory, names[1] ?? "", "workspaces"), 64) : undefined
  await Promise.all(
    Object.entries(nodes).map(([name, roles]) => at.start(name, roles, name === names[1] ? clock.env : {}))
  )
  const bill = new Bill(at, makeChance(options.seed + 1))
  const pulls: Array<DemoPull> = []
  const deliver = async (index: number) => {
    const pull = await at.open(`change-${index}`, at.repositories[index % options.repositories] ?? "")
    pulls.push(pull)
    await at.deliver(pull)
  }
  const world = makeWorld({ at, nodes, queue, clock, disk, random, bill, pulls, options })
  const share = options.changes / planned.length
  for (const [index, name] of planned.entries()) {
    const [from, to] = [Math.round(index * share), Math.round((index + 1) * share)]
    // Reviews are under way when the fault begins, and more arrive while it lasts.
    const flow = (async () => {
      for (let change = from; change < to; change++) {
        await deliver(change)
        await elapse(300)
      }
    })()
    await elapse(1500 + 1500 * random())
    const since = performance.now()
    await faults[name](world)
    say(`${name}: ${Math.round(performance.now() - since)} ms, after ${pulls.length} changes`)
    await flow
  }
  const settled = await settle(at, pulls, options)
  const wrong = [...pulls.flatMap((pull) => judge(pull, bill)), ...settled.wrong]
  wrong.push(
    ...at.answers
      .filter(({ status }) => status !== 202 && status !== 503)
      .map(({ node, status }) => `${node} responded with ${status} to a delivery`)
  )
  if (wrong.length > 0) say(`${at.logs(2000)}\n--- nats-server\n${at.nats.log}`)
  const paid = [...bill.paid.values()].reduce((sum, count) => sum + count, 0)
  return {
    changes: pulls.length,
    faults: planned,
    paid,
    repeated: paid - bill.paid.size,
    settledSeconds: settled.seconds,
    seconds: Math.round((performance.now() - began) / 1000),
    wrong
  }
}

/** Time after the limit for which work is waited for, so that what is late is distinguished from what is lost. */
const maxDelayMillis = 120_000

/** Waits until all is done. */
const settle = async (at: ClusterInstallation, pulls: ReadonlyArray<DemoPull>, { settleMillis }: ChaosOptions) => {
  const since = performance.now()
  const isReviewed = () => pulls.every((pull) => listStates(pull).at(-1) === "success")
  let open: ReadonlyArray<string> = ["not queried"]
  const deadline = since + settleMillis + maxDelayMillis
  while (open.length > 0 && performance.now() < deadline) {
    if (isReviewed()) open = await at.unfinished()
    if (open.length > 0) await elapse(100)
  }
  if (open.length > 0) open = await at.unfinished()
  const seconds = Math.round((performance.now() - since) / 100) / 10
  const late = seconds * 1000 > settleMillis ? [`done only ${seconds} s after the last fault`] : []
  return { seconds, wrong: [...open.map((what) => `not finished: ${what}`), ...late] }
}

interface Parts extends Pick<ChaosWorld, "at" | "nodes" | "queue" | "clock" | "disk"> {
  readonly random: () => number
  readonly bill: Bill
  readonly pulls: Array<DemoPull>
  readonly options: ChaosOptions
}

const makeWorld = ({ at, bill, clock, disk, nodes, options, pulls, queue, random }: Parts): ChaosWorld => {
  let known = options.repositories
  return {
    at,
    nodes,
    queue,
    clock,
    disk,
    lastsMillis: options.lastsMillis,
    freezeMillis: 12_000,
    choose: (list) => {
      const chosen = list[Math.floor(random() * list.length)]
      if (chosen === undefined) throw new Error("nothing to choose from")
      return chosen
    },
    interrupt: async (node) => {
      const heads = await unstored(at)
      const { log } = at.node(node)
      for (const { head, headBranch } of pulls) if (heads.has(head) && log.includes(head)) bill.allow(headBranch)
    },
    setModel: (behaviour) => {
      bill.behaviour = behaviour
    },
    addWorkspace: async () => {
      const repository = at.repositories[known++] ?? ""
      const pull = await at.open(`added-${known}`, repository)
      const [first, ...others] = [...at.ingress, ...Object.keys(nodes).filter((name) => !at.ingress.includes(name))]
      if (first === undefined) throw new Error("no node takes deliveries")
      await configured(at, first, () => at.configure(first, known))
      pulls.push(pull)
      await at.deliver(pull, "opened", first)
      for (const name of others) await configured(at, name, () => at.configure(name, known))
    }
  }
}
