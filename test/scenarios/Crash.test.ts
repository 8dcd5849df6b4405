/**
 * The process is killed at the worst moments. Whenever it dies, after a restart every pull request has exactly one review, one
 * inline comment and one summary, nothing is lost, and a stored analysis is not paid for again. The processes of a queue follow each other
 * in one installation: each is killed once, and the next one finishes the work. With AICR_TEST_HOST_KILLS=all at every moment with the queue in
 * SQLite, instead of at every second one; with AICR_TEST_BACKENDS=all at some with the queue in memory, too.
 */
import { describe, expect, it } from "vitest"
import type { ApiRequest } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { faults } from "../harness/FakeModel.ts"
import { renderContent, toFilePath, honest, markedLine, namesIn } from "../harness/Installation.ts"
import type { Installation } from "../harness/Installation.ts"
import { isWhole, takeSample } from "../harness/Samples.ts"
import { startedInstallation } from "../harness/StartedInstallation.ts"

interface Point {
  readonly name: string
  /** Calls `kill` when the moment has come. */
  readonly arm: (at: Installation, kill: () => void) => void
  /** Number of model calls for the pull request, before and after the kill together. */
  readonly asked: number
}

const isReview = ({ method, path }: ApiRequest): boolean => method === "POST" && path.endsWith("/reviews")
const isSummary = ({ method, path }: ApiRequest): boolean => method === "POST" && path.endsWith("/comments")
const isLastStatus = ({ body, method, path }: ApiRequest): boolean =>
  method === "POST" && path.includes("/statuses/") && JSON.stringify(body).includes('"success"')

/** The request comes and is not done. */
const before =
  (is: (request: ApiRequest) => boolean): Point["arm"] =>
  (at, kill) => {
    at.host.onRequest = (request) => {
      if (!is(request)) return undefined
      kill()
      return { kind: "cut" }
    }
  }

/** The request is processed and its response never arrives. */
const after =
  (is: (request: ApiRequest) => boolean): Point["arm"] =>
  (at, kill) => {
    at.host.onAnswer = (request) => {
      if (is(request)) kill()
    }
  }

const points: ReadonlyArray<Point> = [
  {
    name: "while the host is asked what stands",
    arm: before(({ method, path }) => method === "GET" && path.includes("/pulls/")),
    asked: 1
  },
  {
    name: "while the model answers",
    arm: (at, kill) =>
      at.model.script(() => {
        kill()
        return { cut: true }
      }),
    asked: 2
  },
  { name: "before the summary is posted", arm: before(isSummary), asked: 1 },
  { name: "summary posted, answer outstanding", arm: after(isSummary), asked: 1 },
  { name: "between the summary and the review", arm: before(isReview), asked: 1 },
  { name: "review posted, answer outstanding", arm: after(isReview), asked: 1 },
  { name: "before the last status", arm: before(isLastStatus), asked: 1 }
]

/** The queue in memory is filled from the stored receipts at any point of death: few of them show that. */
const isTried = { memory: isWhole("AICR_TEST_BACKENDS"), sqlite: true }
const pointsOf = {
  memory: isTried.memory ? points.filter((_, index) => index % 4 === 1) : [],
  sqlite: takeSample("AICR_TEST_HOST_KILLS", points, 2)
}

const behave = (at: Installation): void => {
  at.host.onRequest = () => undefined
  at.host.onAnswer = () => {}
  at.model.script(honest)
}

const expectOnce = (at: Installation, pull: DemoPull): void =>
  expect(at.posted(pull)).toEqual({
    reviews: [pull.head],
    comments: [`${toFilePath(pull.headBranch)}:${markedLine}`],
    summaries: 1
  })

describe.each(["memory", "sqlite"] as const)("killed, queue %s", (queue) => {
  const installation = startedInstallation({ queue })

  it.each(pointsOf[queue])("$name", async ({ arm, asked, name }) => {
    const at = installation()
    const branch = name.replaceAll(/[^a-z]+/g, "-")
    const pull = await at.open(branch)

    const killed = Promise.withResolvers<void>()
    let armed = true
    arm(at, () => {
      if (!armed) return
      armed = false
      killed.resolve(at.aicr.kill().then(() => undefined))
    })
    expect((await at.forge.notify(pull, "opened")).status).toBe(202)
    await killed.promise

    behave(at)
    await at.aicr.start()
    await at.reviewed(pull)
    await at.settled()

    expectOnce(at, pull)
    expect(at.countModelCalls(branch)).toBe(asked)
  })

  it.runIf(isTried[queue])("while a second delivery of the same head waits", async () => {
    const at = installation()
    const pull = await at.open("twice")

    // The review is not posted yet when the other delivery is accepted, and never will be by this process.
    const reached = Promise.withResolvers<void>()
    at.host.onRequest = (request) => {
      if (isReview(request)) reached.resolve()
      return isReview(request) ? { kind: "cut" } : undefined
    }
    await at.forge.notify(pull, "opened")
    await reached.promise
    expect(await at.forge.notify(pull, "reopened")).toMatchObject({ status: 202, body: { accepted: true } })
    await at.aicr.kill()

    behave(at)
    await at.aicr.start()
    await at.reviewed(pull)
    await at.settled()

    expectOnce(at, pull)
    expect(at.countModelCalls("twice")).toBe(1)
  })

  it("after the 202 and before the run", async () => {
    const at = installation()
    const pulls = [await at.open("first"), await at.open("second"), await at.open("third")]

    // The first keeps the workspace's only place, so the others are accepted and cannot start.
    const reached = Promise.withResolvers<void>()
    at.model.script(() => {
      reached.resolve()
      return { stall: "silent" }
    })
    const answers = []
    for (const pull of pulls) {
      answers.push(await at.forge.notify(pull, "opened"))
      await reached.promise
    }
    expect(answers).toMatchObject(pulls.map(() => ({ status: 202, body: { accepted: true } })))
    expect([at.countModelCalls("first"), at.countModelCalls("second"), at.countModelCalls("third")]).toEqual([1, 0, 0])
    await at.aicr.kill()

    behave(at)
    await at.aicr.start()
    await at.reviewed(...pulls)
    await at.settled()

    for (const pull of pulls) expectOnce(at, pull)
    expect([at.countModelCalls("first"), at.countModelCalls("second"), at.countModelCalls("third")]).toEqual([2, 1, 1])
  })
})

describe("killed within a review", () => {
  const installation = startedInstallation({ queue: "sqlite" })

  it("between two steps of a conversation: it continues after the first, which is not paid for again", async () => {
    const at = installation()
    const pull = await at.open("change")
    const killed = Promise.withResolvers<void>()
    const reading = { name: "fetch_more_context", input: { path: "README.md", reason: "what is it" } }
    at.model.script((_, number) => {
      if (number === 0) return { calls: [reading] }
      killed.resolve(at.aicr.kill().then(() => undefined))
      return { cut: true }
    })
    await at.forge.notify(pull, "opened")
    await killed.promise
    const asked = at.model.requests.length

    at.model.script(honest)
    await at.aicr.start()
    await at.reviewed(pull)
    const resumed = at.model.requests.slice(asked)
    expect(resumed).toHaveLength(1)
    // The second step of the conversation, with the file that the first one requested.
    expect(resumed[0]?.text).toContain("fetch_more_context")
    expect(resumed[0]?.text).toContain("# Start")
    expect(at.aicr.log).toMatch(
      /"responses":1[^\n]*"recorded responses of an earlier attempt found"|"recorded responses of an earlier attempt found"[^\n]*"responses":1/
    )
  })

  it("between two attempts of which one pass failed: only that pass is read again", async () => {
    const at = installation()
    const parts = ["alpha", "beta", "gamma"]
    const filler = Array.from({ length: 300 }, (_, line) => `export const value${line} = ${line} * 17`).join("\n")
    await at.forge.push("team/one", {
      branch: "wide",
      from: "main",
      message: "Three files",
      files: Object.fromEntries(parts.map((name) => [toFilePath(name), `${renderContent(name, 1)}${filler}\n`]))
    })
    const pull = await at.forge.createPull("team/one", { headBranch: "wide", title: "Add three files" })
    const passesOf = (name: string) =>
      at.model.requests.filter(({ text }) => text.includes("value299") && text.includes(`marker-${name}-end`)).length

    // Only the test ends an attempt: the failing pass of the second one waits until the process is killed.
    const killed = Promise.withResolvers<void>()
    let failures = 0
    at.model.script((request) => {
      if (!namesIn(request).includes("beta") || !request.text.includes("value299")) return honest(request)
      if (++failures === 1) return faults.serverError
      if (failures === 2) killed.resolve(at.aicr.kill().then(() => undefined))
      return { stall: "silent" }
    })
    await at.forge.notify(pull, "opened")
    await killed.promise

    at.model.script(honest)
    await at.aicr.start()
    await at.reviewed(pull)
    await at.settled()
    expect(parts.map(passesOf)).toEqual([1, 3, 1])
    expect(at.posted(pull)).toEqual({
      reviews: [pull.head],
      comments: parts.map((name) => `${toFilePath(name)}:${markedLine}`),
      summaries: 1
    })
  })
})
