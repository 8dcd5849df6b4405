/**
 * Measures for how long work waits when a node of a cluster ends, as medians of ten rounds with real processes and real NATS, Postgres and Redis:
 *
 * - `executor_kill_s`: a node is killed while it reviews; until another node has called the model about that change;
 * - `actors_kill_s`: a node with actors is killed; until the reviews of changes in all workspaces, delivered at that moment, have started;
 * - `sigterm_s`: the same when the node is stopped in order;
 * - `usual_s`: the same without any failure, which is part of the figures above.
 */
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, namesIn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Benchmark } from "./main.ts"
import { median } from "./Median.ts"

const rounds = Number(process.env["AICR_BENCH_ROUNDS"] ?? 10)
/** Enough workspaces that each of two nodes has actors of some. */
const repositories = 4

const writeLine = (text: string): void => void process.stderr.write(`${text}\n`)
const seconds = (since: number): number => Math.round(performance.now() - since) / 1000

/** Changes that the model has been called about, and how often; calls about those in `held` do not get a response. */
interface Calls {
  readonly count: Map<string, number>
  readonly held: Set<string>
}

const watchCalls = (at: ClusterInstallation): Calls => {
  const calls: Calls = { count: new Map(), held: new Set() }
  at.model.script((request) => {
    const names = namesIn(request)
    for (const name of names) calls.count.set(name, (calls.count.get(name) ?? 0) + 1)
    const isHeld = names.some((name) => calls.held.has(name) && calls.count.get(name) === 1)
    return isHeld ? new Promise<never>(() => {}) : honest(request)
  })
  return calls
}

const called = (at: ClusterInstallation, calls: Calls, names: ReadonlyArray<string>, times = 1) =>
  waitUntil(() => names.every((name) => (calls.count.get(name) ?? 0) >= times), {
    timeout: 60_000,
    describe: () => `the model is called about ${names.join(", ")}\n${at.logs(20)}`
  })

/** Waits until an executor has started a review of each. */
const started = (at: ClusterInstallation, pulls: ReadonlyArray<DemoPull>) => {
  const hasStarted = ({ head }: DemoPull) =>
    ["work-1", "work-2"].some((name) =>
      at
        .node(name)
        .log.split("\n")
        .some((line) => line.includes("run started") && line.includes(head))
    )
  return waitUntil(() => pulls.every(hasStarted), { timeout: 60_000, describe: () => at.logs(20) })
}

const killExecutor = async (at: ClusterInstallation, calls: Calls, round: number): Promise<number> => {
  const name = `executor-${round}`
  calls.held.add(name)
  const pull = await at.open(name, at.repositories[round % repositories] ?? "")
  await at.deliver(pull)
  await called(at, calls, [name])
  const worker = ["work-1", "work-2"].find((node) => at.node(node).log.includes(pull.head)) ?? "work-1"
  const since = performance.now()
  await at.node(worker).kill()
  await called(at, calls, [name], 2)
  const taken = seconds(since)
  await at.node(worker).start()
  await at.reviewed([pull], 60_000)
  return taken
}

const moveActors = async (at: ClusterInstallation, round: string, end: () => Promise<unknown>): Promise<number> => {
  const pulls = await Promise.all(at.repositories.map((repository, index) => at.open(`${round}-${index}`, repository)))
  const since = performance.now()
  const ended = end()
  await Promise.all(pulls.map((pull) => at.deliver(pull)))
  await started(at, pulls)
  const taken = seconds(since)
  await ended
  await at.reviewed(pulls, 60_000)
  return taken
}

export const failover: Benchmark = {
  name: "failover",
  summary: "how long work waits when a node is killed or stopped",
  run: async () => {
    await using at = await ClusterInstallation.make({ repositories, slots: 16, line: false })
    const calls = watchCalls(at)
    await at.start("front", "ingress")
    for (const name of ["work-1", "work-2"]) await at.start(name, "executor")
    for (const name of ["middle-1", "middle-2"]) await at.start(name, "actors,publisher")
    await moveActors(at, "warm", () => Promise.resolve())
    const figures = { executor: [], actors: [], stopped: [], usual: [] } as Record<string, Array<number>>
    const note = (figure: string, value: number): void => {
      figures[figure]?.push(value)
      writeLine(`${figure}: ${value.toFixed(2)} s`)
    }
    for (let round = 0; round < rounds; round++) {
      const middle = at.node(`middle-${1 + (round % 2)}`)
      note("usual", await moveActors(at, `usual-${round}`, () => Promise.resolve()))
      note("executor", await killExecutor(at, calls, round))
      note("actors", await moveActors(at, `killed-${round}`, () => middle.kill()))
      await middle.start()
      note("stopped", await moveActors(at, `stopped-${round}`, () => middle.stop()))
      await middle.start()
    }
    return {
      executor_kill_s: median(figures["executor"] ?? []),
      actors_kill_s: median(figures["actors"] ?? []),
      sigterm_s: median(figures["stopped"] ?? []),
      usual_s: median(figures["usual"] ?? [])
    }
  }
}
