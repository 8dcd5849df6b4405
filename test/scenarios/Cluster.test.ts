/**
 * Five nodes under continuous work and failures: nodes are killed, stopped and frozen, the line to NATS is cut, the
 * stores restart. Afterwards every accepted change has exactly one review on its newest head, nothing is posted twice,
 * every concurrency limit held, and no reservation of money is left without an owner.
 *
 * AICR_TEST_CHANGES=500 delivers that many changes, and applies every failure to every node. AICR_TEST_QUEUE=nats keeps
 * the queue in JetStream instead of Redis.
 */
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { toFilePath, markedLine, postedOn } from "../harness/Installation.ts"
import { QueueWatch } from "../harness/QueueWatch.ts"

const changes = Number(process.env["AICR_TEST_CHANGES"] ?? 30)
const thorough = changes >= 500
const queue = process.env["AICR_TEST_QUEUE"] === "nats" ? "nats" : "redis"
const repositories = thorough ? 50 : 20
const slots = 3
const perWorkspace = 2
/** Longer than a lease. */
const frozenFor = 12_000

const nodes = {
  "front-1": "ingress",
  "front-2": "ingress,actors,publisher",
  "work-1": "executor",
  "work-2": "executor",
  middle: "actors,publisher"
} as const
type Name = keyof typeof nodes

/** Waits for a fixed time. */
const elapse = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const troubles = (at: ClusterInstallation) => {
  const killed = (name: Name) => async () => {
    await at.node(name).kill()
    await at.node(name).start()
  }
  const stopped = (name: Name) => async () => {
    await at.node(name).stop()
    await at.node(name).start()
  }
  const frozen = (name: Name) => async () => {
    at.node(name).freeze()
    await elapse(frozenFor)
    at.node(name).thaw()
  }
  const cut = (millis: number) => async () => {
    at.line.cut()
    await elapse(millis)
    at.line.mend()
  }
  const postgres = async () => {
    await at.postgres.stop()
    await at.postgres.start()
  }
  const redis = async () => {
    await at.redis.kill()
    await at.redis.start()
  }
  const together =
    (...some: ReadonlyArray<() => Promise<void>>) =>
    async () => {
      await Promise.all(some.map((one) => one()))
    }
  const every = Object.keys(nodes).filter((name): name is Name => name in nodes)
  return thorough
    ? [...every.map(killed), ...every.map(stopped), ...every.map(frozen), cut(2000), cut(12_000), postgres, redis]
    : [
        together(killed("work-1"), stopped("front-1")),
        killed("middle"),
        together(stopped("front-2"), cut(2000)),
        together(frozen("middle"), postgres),
        together(frozen("work-2"), redis),
        cut(12_000)
      ]
}

it(
  `${changes} changes flow while nodes die, stop and freeze, NATS is cut, Postgres and Redis restart`,
  async () => {
    await using at = await ClusterInstallation.make({
      repositories,
      queue,
      slots,
      perWorkspaceConcurrency: perWorkspace,
      writeIntervalMs: 1000,
      dailyUsd: 50
    })
    await Promise.all(Object.entries(nodes).map(([name, roles]) => at.start(name, roles)))
    await using watch = new QueueWatch(queue === "nats" ? at.nats.url : at.redis.url)

    const pulls: Array<DemoPull> = []
    let over = false
    const trouble = (async () => {
      for (const one of troubles(at)) await one()
      over = true
    })()
    const flow = (async () => {
      for (let index = 0; index < changes; index++) {
        // What is open for longer is found by the search of a node that starts.
        const pull = await at.open(`change-${index}`, at.repositories[index % repositories] ?? "")
        pulls.push(pull)
        await at.deliver(pull)
        // Some move on while they wait, run or are published.
        if (index % 5 === 4) {
          await at.push(pull.headBranch, 2, pull.repository.fullName)
          await at.deliver(pull, "synchronized")
        }
        // Spread over the troubles.
        if (!over) await elapse(thorough ? 300 : 1000)
      }
    })()
    await Promise.all([trouble, flow])
    await at.reviewed(pulls, 180_000)
    await at.settled(60_000)

    const said = pulls.map((pull) => {
      const { reviews, comments, summaries } = postedOn(pull)
      const onHead = reviews.filter((head) => head === pull.head).length
      return { onHead, heads: new Set(reviews).size === reviews.length, comments: new Set(comments), summaries }
    })
    expect(said).toEqual(
      pulls.map((pull) => ({
        onHead: 1,
        heads: true,
        comments: new Set([`${toFilePath(pull.headBranch)}:${markedLine}`]),
        summaries: 1
      }))
    )
    for (const pull of pulls) {
      const { comments, reviews } = postedOn(pull)
      expect(comments.length).toBeLessThanOrEqual(reviews.length)
    }
    expect(watch.looks).toBeGreaterThan(100)
    expect(watch.mostPerTarget).toBe(1)
    expect(watch.mostPerWorkspace).toBeLessThanOrEqual(perWorkspace)
    expect(watch.mostPerWorker).toBeLessThanOrEqual(slots)
    const spent = await at.query<{ most: number }>(
      "SELECT COALESCE(MAX(committed), 0) / 1e9 AS most FROM ledger_accounts WHERE id LIKE 'day:%'"
    )
    expect(Number(spent[0]?.most)).toBeGreaterThan(0)
    expect(Number(spent[0]?.most)).toBeLessThanOrEqual(50)
    // Two nodes write with each account. With one second of spacing on each node alone, two writes would be half a
    // second apart at most. The difference allows for the delay in which this process observes a write.
    const gaps = [...at.writes.values()].flatMap((times) => times.slice(1).map((time, i) => time - (times[i] ?? 0)))
    expect(Math.min(...gaps)).toBeGreaterThan(500)
    expect(at.answers.filter(({ status }) => status !== 202 && status !== 503)).toEqual([])
  },
  thorough ? 900_000 : 400_000
)
