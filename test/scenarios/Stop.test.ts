/**
 * SIGTERM: nothing new is accepted, the process is gone within 15 seconds, and what it was doing is done once. With a queue in SQLite by default,
 * also in memory with AICR_TEST_BACKENDS=all.
 */
import { expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { stopWithin } from "../harness/AicrProcess.ts"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"

const expectOnce = (at: Installation, pull: DemoPull): void =>
  expect(at.posted(pull)).toEqual({
    reviews: [pull.head],
    comments: [`${toFilePath(pull.headBranch)}:${markedLine}`],
    summaries: 1
  })

/** Starts the process again: the review is complete, and published once. */
const reviewOnce = async (at: Installation, pull: DemoPull): Promise<void> => {
  at.model.script(honest)
  await at.aicr.start()
  await at.reviewed(pull)
  await at.settled()
  expectOnce(at, pull)
}

/** Stops the process while the model responds: the review ends before the process does. */
const finishes = async (at: Installation): Promise<void> => {
  const pull = await at.open("finished")
  const stopped = Promise.withResolvers<{ readonly code: number | null; readonly millis: number }>()
  at.model.script((request) => {
    stopped.resolve(at.aicr.stop())
    return honest(request)
  })
  await at.forge.notify(pull, "opened")
  expect(await stopped.promise).toMatchObject({ code: 0 })

  await reviewOnce(at, pull)
  expect(at.countModelCalls("finished")).toBe(1)
}

/** Stops the process while the model is silent: the review is released, and done after the restart. */
const releases = async (at: Installation): Promise<void> => {
  const pull = await at.open("released")
  const asked = Promise.withResolvers<void>()
  at.model.script(() => {
    asked.resolve()
    return { stall: "silent" }
  })
  await at.forge.notify(pull, "opened")
  await asked.promise
  const exited = await at.aicr.stop()
  expect(exited.code).toBe(0)
  expect(exited.millis).toBeLessThan(stopWithin)
  expect(await at.forge.notify(pull, "opened").catch(() => "refused")).toBe("refused")

  await reviewOnce(at, pull)
  expect(at.countModelCalls("released")).toBe(2)
}

// Concurrently, because a stop waits eight seconds for a review that does not end.
it.concurrent.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))(
  "finishes the review that is under way, and releases one that does not end, queue %s",
  async (queue) => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    await finishes(at)
    await releases(at)
    expect(at.unfinished()).toEqual([])
  }
)
