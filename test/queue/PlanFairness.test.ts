/**
 * Fairness in simulated time: every workspace has its slots, one entry takes one unit of time, and executors take tickets in the order of
 * the schedulers' offers. The pure plan, the in-memory queue and no actor: time is a number.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerMemory } from "../../src/queue/journal/MemoryQueue.ts"
import { plan } from "../../src/queue/Plan.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { admission } from "./Admissions.ts"

interface Load {
  readonly workspace: string
  readonly repo: string
  readonly entries: number
}

/** Returns when the last entry of each workspace and repository ended. */
const simulate = (loads: ReadonlyArray<Load>, slots: number, places: number) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    let number = 0
    // The busiest came first, all of it.
    for (const { workspace, repo, entries } of loads) {
      const items = Array.from({ length: entries }, () => {
        const item = admission({ number: ++number, head: "a", workspace, admittedAt: number, dueAt: number })
        return { ...item, change: { ...item.change, repo: { fullName: repo } } }
      })
      yield* queue.admit(items)
    }
    const workspaces = [...new Set(loads.map(({ workspace }) => workspace))]
    const turns = new Map(workspaces.map((workspace) => [workspace, new Map<string, number>()]))
    const tickets: Array<string> = []
    const ended = new Map<string, number>()
    let woken: ReadonlyArray<string> = workspaces
    for (let now = number, turn = 0; ; now += 1) {
      for (const workspace of new Set(woken)) {
        const survey = yield* queue.loadSnapshot(workspace, now, places)
        const { promote } = plan(
          survey,
          { computing: places, awaiting: 0, replies: 0 },
          turns.get(workspace) ?? new Map()
        )
        for (const { repo } of promote) turns.get(workspace)?.set(repo, turn++)
        tickets.push(
          ...(yield* queue.promote(
            promote.map(({ id }) => id),
            now
          ))
        )
      }
      const taken = tickets.splice(0, slots)
      if (taken.length === 0) return ended
      const work: Array<{ readonly lease: Lease; readonly workspace: string; readonly repo: string }> = []
      for (const id of taken) {
        const claimed = yield* queue.claim(id, "node/1", now, 60_000)
        assert.isDefined(claimed)
        if (claimed === undefined) continue
        const { workspace, change } = claimed.entry
        work.push({ lease: claimed.lease, workspace, repo: change.repo.fullName })
      }
      for (const { lease, workspace, repo } of work) {
        assert.isTrue(yield* queue.finish(lease, { _tag: "Done" }))
        ended.set(workspace, now + 1 - number).set(`${workspace}/${repo}`, now + 1 - number)
      }
      woken = work.map(({ workspace }) => workspace)
    }
  }).pipe(Effect.provide(layerMemory({ perWorkspace: 20_000, total: 100_000 })))

const loadsOf = (small: number): ReadonlyArray<Load> =>
  Array.from({ length: small }, (_, index) => ({ workspace: `small-${index}`, repo: "acme/small", entries: 10 }))
const latest = (ended: ReadonlyMap<string, number>, prefix: string) =>
  Math.max(...[...ended].filter(([name]) => name.startsWith(prefix)).map(([, at]) => at))

describe("Fairness", () => {
  it.effect("one workspace with 10 000 entries and 99 with 10: the 99 end as if they were alone", () =>
    Effect.gen(function* () {
      const small = loadsOf(99)
      const alone = latest(yield* simulate(small, 8, 1), "small")
      const together = yield* simulate([{ workspace: "busy", repo: "acme/busy", entries: 10_000 }, ...small], 8, 1)
      assert.isAtMost(latest(together, "small"), 1.2 * alone)
      assert.isAtLeast(latest(together, "busy"), 10_000)
    })
  )

  it.effect("one repository with 1 000 entries and 9 with 10 in one workspace: the 9 take their turns", () =>
    Effect.gen(function* () {
      const small = Array.from({ length: 9 }, (_, index) => ({
        workspace: "w",
        repo: `acme/small-${index}`,
        entries: 10
      }))
      const together = yield* simulate([{ workspace: "w", repo: "acme/busy", entries: 1000 }, ...small], 8, 2)
      // Ten repositories take turns, two at a time.
      assert.isAtMost(latest(together, "w/acme/small"), 1.2 * ((10 * 10) / 2))
    })
  )
})
