/**
 * Measures the delay of work when a node with actors ends, and checks that a rolling restart refuses no delivery. Every
 * figure is compared with the usual one at that moment, because a busy machine slows down everything.
 */
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { programFolder, stopWithin } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, namesIn, postedOn } from "../harness/Installation.ts"
import { OtherRelease } from "../harness/OtherRelease.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Enough workspaces that each of two nodes probably has some. */
const repositories = 5
/** Pause between two deliveries during the rolling restart. */
const paceMillis = 100

/** No sweep releases what a killed node held, only its death. */
const rare = new OtherRelease("0.1.0", [
  ["actors/upkeep/Housekeeping.ts", "sweepEvery = Duration.seconds(15)", "sweepEvery = Duration.minutes(10)"]
])
afterAll(() => rare[Symbol.dispose]())

let at: ClusterInstallation
/** Time of the first model call for each pull request. */
const askedAt = new Map<string, number>()

beforeAll(async () => {
  at = await ClusterInstallation.make({ repositories, slots: 16 })
  at.model.script((request) => {
    for (const name of namesIn(request)) if (!askedAt.has(name)) askedAt.set(name, performance.now())
    return honest(request)
  })
  await at.start("front", "ingress")
  await at.start("work", "executor")
  await at.start("middle-1", "actors,publisher")
  await at.start("middle-2", "actors,publisher")
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

/** Writes figures for readers of the output. */
const writeLine = (text: string): void => void process.stderr.write(`${text}\n`)

/** A change in every workspace, prepared so that only its delivery is left to do. */
const prepare = (round: string) =>
  Promise.all(at.repositories.map((repository, index) => at.open(`${round}-${index}`, repository)))

/** Returns the time of each workspace from `since` until its review called the model, sorted. */
const delivered = async (pulls: Awaited<ReturnType<typeof prepare>>, since: number) => {
  for (const pull of pulls) await at.deliver(pull)
  const names = pulls.map((pull) => pull.headBranch)
  await waitUntil(() => names.every((name) => askedAt.has(name)), {
    timeout: 40_000,
    describe: () => `the model is asked about ${names.filter((name) => !askedAt.has(name)).join(", ")}\n${at.logs(30)}`
  })
  return names.map((name) => (askedAt.get(name) ?? 0) - since).toSorted((a, b) => a - b)
}

describe("actors move", () => {
  it("within 6 s when their node is killed", async () => {
    // The first of each workspace wakes its actors and fetches its mirror.
    const warm = await prepare("warm")
    await delivered(warm, performance.now())
    await at.reviewed(warm, 60_000)
    const calm = await prepare("calm")
    const usual = (await delivered(calm, performance.now())).at(-1) ?? 0
    await at.reviewed(calm, 60_000)

    const pulls = await prepare("killed")
    const since = performance.now()
    await at.node("middle-1").kill()
    const times = await delivered(pulls, since)
    await at.node("middle-1").start()
    writeLine(`killed: ${times.map(Math.round).join(" ")} ms; usual: ${Math.round(usual)} ms`)
    expect(times.at(-1)).toBeLessThan(6000 + 3 * usual)
    await at.reviewed(pulls, 60_000)
  }, 180_000)

  it("within 2 s when their node is stopped", async () => {
    const calm = await prepare("calm-again")
    const usual = (await delivered(calm, performance.now())).at(-1) ?? 0
    await at.reviewed(calm, 60_000)

    const pulls = await prepare("stopped")
    const since = performance.now()
    const stopped = at.node("middle-2").stop()
    const times = await delivered(pulls, since)
    await stopped
    await at.node("middle-2").start()
    writeLine(`stopped: ${times.map(Math.round).join(" ")} ms; usual: ${Math.round(usual)} ms`)
    expect(times.at(-1)).toBeLessThan(2000 + 2 * usual)
    expect((await stopped).code).toBe(0)
    await at.reviewed(pulls, 60_000)
  }, 180_000)
})

it("actors move immediately from a node whose reviews do not end", async () => {
  await at.start("both", "executor,actors,publisher")
  await at.node("work").stop()
  // No other node can own it.
  const stuck = await at.open("stuck", at.repositories[0] ?? "")
  const [asked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  at.model.script(async (request) => {
    for (const name of namesIn(request)) if (!askedAt.has(name)) askedAt.set(name, performance.now())
    if (!namesIn(request).includes("stuck")) return honest(request)
    asked.resolve()
    await over.promise
    return honest(request)
  })
  await at.deliver(stuck)
  await asked.promise
  await at.node("work").start()
  await at.node("middle-1").stop()
  const calm = await prepare("calm-still")
  const usual = (await delivered(calm.slice(1), performance.now())).at(-1) ?? 0
  await at.reviewed(calm.slice(1), 60_000)

  const pulls = await prepare("busy")
  const since = performance.now()
  const stopped = at.node("both").stop()
  const times = await delivered(pulls.slice(1), since)
  writeLine(`stopped while it reviews: ${times.map(Math.round).join(" ")} ms; usual: ${Math.round(usual)} ms`)
  const { code, millis } = await stopped
  over.resolve()
  at.nodes.delete("both")
  await at.node("middle-1").start()
  expect(times.at(-1)).toBeLessThan(2000 + 2 * usual)
  expect([code, millis > 5000, millis < stopWithin]).toEqual([0, true, true])
  await at.reviewed([stuck], 60_000)
  expect(postedOn(stuck)).toMatchObject({ reviews: [stuck.head], summaries: 1 })
}, 180_000)

it("a review continues on another node within 6 s when its executor is killed, without a sweep", async () => {
  // The next test starts the nodes with this release again.
  for (const name of ["middle-1", "middle-2"]) {
    await at.node(name).stop()
    at.node(name).setProgram(rare.folder)
    await at.node(name).start()
    at.node(name).setProgram(programFolder)
  }
  const [first, last] = ["work", "work-next"]
  await at.start(last, "executor")
  const [asked, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let calls = 0
  at.model.script((request) => {
    if (!namesIn(request).includes("interrupted")) return honest(request)
    if (++calls === 2) continued.resolve()
    if (calls > 1) return honest(request)
    asked.resolve()
    return new Promise<never>(() => {})
  })
  const pull = await at.open("interrupted", at.repositories[1] ?? "")
  const deliveredAt = performance.now()
  await at.deliver(pull)
  await asked.promise
  const usual = performance.now() - deliveredAt
  const worker = at.node(first).log.includes(pull.head) ? first : last
  const since = performance.now()
  await at.node(worker).kill()
  await continued.promise
  const taken = performance.now() - since
  writeLine(`executor killed: ${Math.round(taken)} ms; usual: ${Math.round(usual)} ms`)
  expect(taken).toBeLessThan(6000 + 3 * usual)
  await at.reviewed([pull], 60_000)
  expect(postedOn(pull)).toMatchObject({ reviews: [pull.head], summaries: 1 })
  if (worker === first) await at.node(first).start()
  else at.nodes.delete(last)
}, 180_000)

describe("rolling restart", () => {
  it("of every node, one by one, with deliveries all the time: none is refused and nothing is lost", async () => {
    await at.start("front-2", "ingress")
    await at.start("work-2", "executor")
    const pulls = await prepare("rolling")
    const before = at.answers.length
    const state = { over: false }
    const rolling = (async () => {
      for (const [name, node] of at.nodes) {
        // Behind a load balancer a node that is going gets nothing more.
        const place = at.ingress.indexOf(name)
        if (place !== -1) at.ingress.splice(place, 1)
        await node.stop()
        await node.start()
        if (place !== -1) at.ingress.push(name)
      }
      state.over = true
    })()
    // Every change again and again: the same delivery of the same head changes nothing.
    const flow = (async () => {
      while (!state.over)
        for (const pull of pulls) {
          await at.deliver(pull)
          await setTimeout(paceMillis)
        }
    })()
    await Promise.all([rolling, flow])
    await at.reviewed(pulls, 60_000)
    await at.settled()
    const statuses = at.answers.slice(before).map(({ status }) => status)
    expect(statuses.length).toBeGreaterThan(100)
    expect(new Set(statuses)).toEqual(new Set([202]))
    expect(pulls.map((pull) => postedOn(pull).reviews)).toEqual(pulls.map((pull) => [pull.head]))
    expect(pulls.map((pull) => postedOn(pull).summaries)).toEqual(pulls.map(() => 1))
  }, 240_000)
})
