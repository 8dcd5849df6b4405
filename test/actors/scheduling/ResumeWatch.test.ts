/** Workspaces that an operator resumes in the store of the queue, without a message to an actor. */
import { assert, describe, expect, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as ResumeWatch from "../../../actors/scheduling/ResumeWatch.ts"
import { listPaused, listReminders, listResumed } from "../../../actors/scheduling/ResumeWatch.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { Tickets } from "../../../src/queue/dispatch/Tickets.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import type { Pause } from "../../../src/queue/operator/QueueControl.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { actorStores, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"

const pause = (name: string, scope: Pause["scope"] = "workspace"): Pause => ({
  scope,
  name,
  reason: verbatimReason("r"),
  since: 0
})

describe("listResumed", () => {
  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<Pause>, ReadonlyArray<string>]>([
    ["a workspace whose pause ended", ["app"], [], ["app"]],
    ["none while it is paused", ["app"], [pause("app")], []],
    ["none that was paused since the last scan", [], [pause("app")], []],
    ["the resumed one of several", ["app", "web"], [pause("web")], ["app"]],
    ["a workspace, although a node with its name is paused", ["app"], [pause("app", "node")], ["app"]]
  ])("returns %s", (_, before, pauses, resumed) => {
    expect(listResumed(new Set(before), pauses)).toEqual(resumed)
  })
})

it("lists paused workspaces without nodes", () => {
  expect([...listPaused([pause("app"), pause("one", "node")])]).toEqual(["app"])
})

it("reminds of each pause an hour after it began, then every hour, until it ends", () => {
  const hour = 3_600_000
  const remindedAt = new Map<string, number>()
  const reminders = (pauses: ReadonlyArray<Pause>, now: number) =>
    listReminders(pauses, remindedAt, now).map(({ name }) => name)
  const both = [pause("app"), { ...pause("one", "node"), since: hour / 2 }]
  expect(reminders(both, hour - 1)).toEqual([])
  expect(reminders(both, hour)).toEqual(["app"])
  expect(reminders(both, hour * 1.5)).toEqual(["one"])
  expect(reminders(both, hour * 2 - 1)).toEqual([])
  expect(reminders(both, hour * 2)).toEqual(["app"])
  expect(reminders([], hour * 9)).toEqual([])
  expect(remindedAt.size).toBe(0)
})

const world = Layer.mergeAll(Scheduler.layer, ResumeWatch.layer.pipe(Layer.provide(Scheduler.layer))).pipe(
  Layer.provideMerge(Layer.mergeAll(actorStores(), Layer.succeed(ConfigStore, testSnapshotWith("w", "t")))),
  Layer.provideMerge(testCluster)
)

layer(world)((given) => {
  given.effect("work of a workspace that is resumed in the store starts within a second", () =>
    Effect.gen(function* () {
      const queue = yield* Queue
      const control = yield* QueueControl
      // The cluster places both actors.
      yield* TestClock.adjust("1 minute")
      yield* control.pause({ scope: "workspace", name: "w", reason: verbatimReason("release"), since: 0 })
      yield* TestClock.adjust("1 second")
      const change = {
        provider: "gitea",
        trigger: "t",
        workspace: "w",
        repo: { fullName: "team/app" },
        target: { kind: "pull_request", number: 1 },
        head: "h1"
      } as const
      yield* queue.admit([{ eventId: "event-1", change, configHash: "c", priority: 10, admittedAt: 0, dueAt: 0 }])
      const ticket = yield* Effect.forkChild(
        Tickets.use(({ take }) => take("review")),
        { startImmediately: true }
      )
      yield* TestClock.adjust("10 minutes")
      assert.isUndefined(ticket.pollUnsafe())
      yield* control.resume("workspace", "w")
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(ticket), { workspace: "w" })
    })
  )
})
