/** Combinations of deliveries: repeated ones, outdated heads, and events that the service caused itself. */
import { describe, expect, it } from "vitest"
import { toFilePath, honest, markedLine } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { startedInstallation } from "../harness/StartedInstallation.ts"

const once = (head: string, name: string) => ({
  reviews: [head],
  comments: [`${toFilePath(name)}:${markedLine}`],
  summaries: 1
})

describe.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))("queue %s", (queue) => {
  const installation = startedInstallation({ queue })
  it("reviews once what is delivered five times", async () => {
    const at = installation()
    const pull = await at.open("repeated")
    const delivery = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })

    const early = await Promise.all([1, 2, 3].map(() => at.forge.send(delivery)))
    await at.reviewed(pull)
    const late = [await at.forge.send(delivery), await at.forge.send(delivery)]
    await at.settled()

    const answers = [...early, ...late]
    expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 202, 202])
    const statuses = answers.map((answer) => Object(answer.body).status)
    expect(statuses.toSorted()).toEqual(["duplicate", "duplicate", "duplicate", "duplicate", "queued"])
    expect(new Set(answers.map((answer) => Object(answer.body).event_id)).size).toBe(1)
    expect(at.posted(pull)).toEqual(once(pull.head, "repeated"))
    expect(at.countModelCalls("repeated")).toBe(1)
  })

  it("does not review the same head again for another event", async () => {
    const at = installation()
    const pull = await at.open("again")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(await at.forge.notify(pull, "reopened")).toMatchObject({ status: 202, body: { accepted: true } })
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "again"))
    expect(at.countModelCalls("again")).toBe(1)
  })

  it("gives comments to the newest head only, when it is pushed while an older one is analysed", async () => {
    const at = installation()
    const pull = await at.open("analysed")
    const analysing = Promise.withResolvers<void>()
    const pushed = Promise.withResolvers<void>()
    at.model.script(async (request) => {
      analysing.resolve()
      await pushed.promise
      return honest(request)
    })

    await at.forge.notify(pull, "opened")
    await analysing.promise
    for (const version of [2, 3]) {
      await at.push("analysed", version)
      expect(await at.forge.notify(pull, "synchronized")).toMatchObject({ status: 202, body: { accepted: true } })
    }
    pushed.resolve()
    await at.reviewed(pull)
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "analysed"))
  })

  it("gives comments to the newest head only, when the delivery of its push is lost", async () => {
    const at = installation()
    const pull = await at.open("lost")
    at.model.script(async (request) => {
      at.model.script(honest)
      await at.push("lost", 2)
      return honest(request)
    })

    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "lost"))
  })

  it("starts nothing for events that we caused", async () => {
    const at = installation()
    const pull = await at.open("caused")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await at.push("caused", 2)
    const asked = at.countModelCalls("caused")

    const self = at.forge.user("aicr")
    const answers = [
      await at.forge.notify(pull, "label_updated", "aicr"),
      await at.forge.notify(pull, "synchronized", "aicr"),
      await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr review", sender: self })),
      await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "Summary: /review", sender: self }))
    ]
    await at.settled()

    expect(answers).toMatchObject(answers.map(() => ({ status: 202, body: { accepted: false } })))
    expect(at.countModelCalls("caused")).toBe(asked)
    expect(at.posted(pull).reviews).toHaveLength(1)
  })
})
