/** Combinations of deliveries: repeated ones, outdated heads, and events that the service caused itself. */
import { describe, expect, it } from "vitest"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"

const once = (head: string, name: string) => ({
  reviews: [head],
  comments: [`${toFilePath(name)}:${markedLine}`],
  summaries: 1
})

describe.each(["memory", "sqlite"] as const)("queue %s", (queue) => {
  it("reviews once what is delivered five times", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
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
    expect(at.posted(pull)).toEqual(once(pull.head, "change"))
    expect(at.countModelCalls("change")).toBe(1)
  })

  it("does not review the same head again for another event", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(await at.forge.notify(pull, "reopened")).toMatchObject({ status: 202, body: { accepted: true } })
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "change"))
    expect(at.countModelCalls("change")).toBe(1)
  })

  it("gives comments to the newest head only, when it is pushed while an older one is analysed", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
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
      await at.push("change", version)
      expect(await at.forge.notify(pull, "synchronized")).toMatchObject({ status: 202, body: { accepted: true } })
    }
    pushed.resolve()
    await at.reviewed(pull)
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "change"))
  })

  it("gives comments to the newest head only, when the delivery of its push is lost", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
    at.model.script(async (request) => {
      at.model.script(honest)
      await at.push("change", 2)
      return honest(request)
    })

    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await at.settled()

    expect(at.posted(pull)).toEqual(once(pull.head, "change"))
  })

  it("starts nothing for events that we caused", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const pull = await at.open("change")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await at.push("change", 2)
    const asked = at.countModelCalls("change")

    const self = at.forge.user("aicr")
    const answers = [
      await at.forge.notify(pull, "label_updated", "aicr"),
      await at.forge.notify(pull, "synchronized", "aicr"),
      await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr review", sender: self })),
      await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "Summary: /review", sender: self }))
    ]
    await at.settled()

    expect(answers).toMatchObject(answers.map(() => ({ status: 202, body: { accepted: false } })))
    expect(at.countModelCalls("change")).toBe(asked)
    expect(at.posted(pull).reviews).toHaveLength(1)
  })
})
