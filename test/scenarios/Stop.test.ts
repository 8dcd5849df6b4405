/** SIGTERM: nothing new is accepted, the process is gone within 15 seconds, and what it was doing is done once. */
import { describe, expect, it } from "vitest"
import { stopWithin } from "../harness/AicrProcess.ts"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"

describe.each(["memory", "sqlite"] as const)("stopped, queue %s", (queue) => {
  it("finishes the review that is under way", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
    const stopped = Promise.withResolvers<{ readonly code: number | null; readonly millis: number }>()
    at.model.script((request) => {
      stopped.resolve(at.aicr.stop())
      return honest(request)
    })
    await at.forge.notify(pull, "opened")
    expect(await stopped.promise).toMatchObject({ code: 0 })

    at.model.script(honest)
    await at.aicr.start()
    await at.reviewed(pull)
    await at.settled()
    expect(at.posted(pull)).toEqual({
      reviews: [pull.head],
      comments: [`${toFilePath("change")}:${markedLine}`],
      summaries: 1
    })
    expect(at.countModelCalls("change")).toBe(1)
  })

  it("releases a review that does not end, and finishes it once after the restart", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
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

    at.model.script(honest)
    await at.aicr.start()
    await at.reviewed(pull)
    await at.settled()
    expect(at.posted(pull)).toEqual({
      reviews: [pull.head],
      comments: [`${toFilePath("change")}:${markedLine}`],
      summaries: 1
    })
    expect(at.countModelCalls("change")).toBe(2)
  })
})
