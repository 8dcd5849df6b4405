/** Reviews of changelists on a Swarm server: where comments go, what a later review does to them, and that none is written twice. */
import { createServer } from "node:http"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startFakeSwarm } from "../../harness/FakeSwarm.ts"
import type { FakeSwarm, SwarmRequest } from "../../harness/FakeSwarm.ts"
import { renderError } from "../Fixtures.ts"
import { branch, makeChannel, makeDocument, path, problem, shelved, submitted, swarmPublisher } from "./PublishSwarm.ts"

let swarm: FakeSwarm
beforeEach(async () => {
  swarm = await startFakeSwarm()
  swarm.reviews.push({
    id: 70,
    changes: [7, 71],
    commits: [],
    state: "needsReview",
    versions: [{ change: 7, archiveChange: 71, pending: true }]
  })
})
afterEach(async () => {
  swarm.expectContract()
  await swarm.stop()
})

const publisher = (more: Readonly<Record<string, unknown>> = {}) =>
  swarmPublisher(makeDocument(makeChannel(swarm, more)))
const isWrite = ({ method }: SwarmRequest): boolean => method !== "GET"
const problems = () => swarm.comments.filter(({ context }) => context !== undefined)
const summaries = () => swarm.comments.filter(({ context }) => context === undefined)
const lie = (length: number) => ({ id: 1, user: swarm.user, body: "x".repeat(length), flags: [], taskState: "comment" })
const statuses = (rows: ReadonlyArray<{ readonly status: string }>) => rows.map(({ status }) => status)

describe("a shelved changelist", () => {
  it("gets a summary, and an open task at the line of each problem in its depot file", async () => {
    const rows = await publisher()(shelved, [problem(1, 5), problem(2, 8, { severity: "high" }, "old")])
    expect(statuses(rows)).toEqual(["sent", "sent", "nothing_to_do"])
    expect(rows[0]?.url).toBe(`${swarm.url}/reviews/70#comments`)
    const [summary] = summaries()
    expect(summary).toMatchObject({ topic: "reviews/70", taskState: "comment", notification: "delayed" })
    expect(summary?.body).toContain("## Code review")
    expect(summary?.body).toContain("2 problems found")
    expect(problems()).toMatchObject([
      { taskState: "open", context: { file: `${branch}/${path}`, leftLine: 8 }, notification: "delayed" },
      { taskState: "open", context: { file: `${branch}/${path}`, rightLine: 5 } }
    ])
    expect(problems()[1]?.body).toContain("Message 1")
    for (const { body } of swarm.comments) expect(body).not.toMatch(/<[!a-z]/i)
  })

  it("a name with characters of depot syntax is encoded", async () => {
    await publisher()(shelved, [{ ...problem(1, 5), anchor: { path: "src/a@b#1%.c", side: "new", line: 5 } }])
    expect(problems()).toMatchObject([{ context: { file: `${branch}/src/a%40b%231%25.c` } }])
  })

  it("a later review edits the summary, and marks the task of a problem that is gone as addressed", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5), problem(2, 8)])
    const later = { ...shelved, head: "7-ba9876543210" }
    await publish(later, [problem(2, 9), problem(3, 12)])
    expect(summaries()).toHaveLength(1)
    expect(summaries()[0]).toMatchObject({ edits: 1, body: expect.stringContaining("7-ba98765432") })
    expect(problems().map(({ context, taskState }) => [context?.["rightLine"], taskState])).toEqual([
      [5, "addressed"],
      [8, "open"],
      [12, "open"]
    ])
    expect(problems()[0]?.body).toMatch(/Resolved/i)
    // The problem exists again.
    await publish({ ...shelved, head: "7-000000000000" }, [problem(1, 5)])
    expect(problems().map(({ taskState }) => taskState)).toEqual(["open", "addressed", "addressed"])
    expect(problems()[0]?.body).not.toMatch(/Resolved/i)
  })

  it("the same review again writes nothing but the summary", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    await publish(shelved, [problem(1, 5)])
    expect(swarm.comments).toHaveLength(2)
    expect(problems()[0]?.edits).toBe(0)
  })

  it.each([
    ["archived", (one: FakeSwarm["comments"][number]) => void (one.flags = ["closed"])],
    ["verified", (one: FakeSwarm["comments"][number]) => void (one.taskState = "verified")]
  ])(
    "a problem whose comment a person has %s is not mentioned again, and the comment is not changed",
    async (_, dismiss) => {
      const publish = publisher()
      await publish(shelved, [problem(1, 5)])
      const [first] = problems()
      if (first === undefined) throw new Error("no comment")
      dismiss(first)
      await publish({ ...shelved, head: "7-ba9876543210" }, [problem(1, 5)])
      expect(problems()).toMatchObject([{ edits: 0 }])
      // The decision of the person also remains when the problem is gone.
      await publish({ ...shelved, head: "7-000000000000" }, [])
      expect(problems()).toMatchObject([{ edits: 0 }])
    }
  )

  it("without a review in Swarm nothing is published, and the record has the reason", async () => {
    swarm.reviews.length = 0
    const rows = await publisher()(shelved, [problem(1, 5)])
    expect(statuses(rows)).toEqual(["dropped", "dropped", "dropped"])
    expect(renderError(rows[0])).toBe(
      "Swarm has no review of changelist 7 that user reviewer of channel swarm may see; request one in Swarm, then review it again"
    )
    expect(swarm.requests.filter(isWrite)).toEqual([])
  })
})

describe("a submitted changelist", () => {
  it("is commented on the review that was committed as it, in its version", async () => {
    swarm.reviews.push(
      {
        id: 80,
        changes: [9, 81],
        commits: [9],
        state: "approved",
        versions: [
          { change: 81, pending: true },
          { change: 9, pending: false },
          { change: 82, pending: true }
        ]
      },
      { id: 90, changes: [9], commits: [], state: "needsReview", versions: [] }
    )
    await publisher()(submitted, [problem(1, 5)])
    expect(swarm.comments.map(({ topic }) => topic)).toEqual(["reviews/80", "reviews/80"])
    expect(problems()).toMatchObject([{ context: { version: 2 } }])
  })

  it("its review continues that of the shelf in the same review of Swarm", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    Object.assign(swarm.reviews[0] ?? {}, { changes: [7, 71, 9], commits: [9] })
    await publish(submitted, [problem(1, 5)])
    expect(swarm.comments).toHaveLength(2)
  })

  it("two branches of one changelist have a summary and comments each", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    await publish({ ...shelved, headRef: "//Ace/rel" }, [problem(1, 5)])
    expect(summaries()).toHaveLength(2)
    expect(problems().map(({ context }) => context?.["file"])).toEqual([`//Ace/main/${path}`, `//Ace/rel/${path}`])
  })

  it("a problem in a file that is not in the review is written without a line", async () => {
    Object.assign(swarm.reviews[0] ?? {}, { files: ["//Ace/main/other.c"] })
    await publisher()(shelved, [problem(1, 5)])
    expect(problems()).toEqual([])
    expect(swarm.comments.at(-1)).toMatchObject({
      taskState: "open",
      body: expect.stringMatching(/^`src\/main\.c`:5\n/)
    })
  })
})

describe("writes", () => {
  it.each([0, 1, 2])("a lost response to write %i doubles nothing", async (lost) => {
    let writes = 0
    swarm.decide = (request) => (isWrite(request) && writes++ === lost ? { kind: "lost" } : undefined)
    const rows = await publisher()(shelved, [problem(1, 5), problem(2, 8)])
    expect(statuses(rows)).toEqual(["sent", "sent", "nothing_to_do"])
    expect(swarm.comments).toHaveLength(3)
    // The written comment is found by its marker: it is not edited.
    expect(swarm.requests.filter(isWrite)).toHaveLength(3)
  })

  it.each(["summary", "problem"])(
    "another publication that writes the same %s at the same time doubles nothing",
    async (what) => {
      const [publish, other] = [publisher(), publisher()]
      await other(shelved, [problem(1, 5)])
      const written = swarm.comments.splice(0)
      const first = written.filter(({ context }) => (context === undefined) === (what === "summary"))
      let reads = 0
      // The other one writes between the search and the write.
      swarm.decide = ({ method, path: at, query }) => {
        if (method === "GET" && at === "/comments" && !query.has("after") && ++reads === (what === "summary" ? 2 : 4))
          swarm.comments.push(...first)
        return undefined
      }
      const rows = await publish(shelved, [problem(1, 5)])
      expect(rows.map(renderError)).toContain(
        "the comment was written by another publication since it was searched for"
      )
      expect([summaries().length, problems().length]).toEqual([1, 1])
    }
  )

  it("comments beyond the first page, and in the form of the guide, are found", async () => {
    swarm.keyed = true
    for (let at = 1; at <= 250; at++)
      swarm.comments.push({
        id: at,
        topic: "reviews/70",
        user: "bob",
        body: "x",
        taskState: "comment",
        flags: [],
        context: undefined,
        time: 0,
        notification: "none",
        edits: 0
      })
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    await publish(shelved, [problem(1, 5)])
    expect(swarm.comments).toHaveLength(252)
  })

  it("nothing is written when Swarm could not read the comments", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    swarm.decide = ({ method, path: at }) =>
      method === "GET" && at === "/comments"
        ? { kind: "answer", answer: { status: 200, body: { comments: [], lastSeen: null } } }
        : undefined
    const rows = await publish(shelved, [problem(2, 6)])
    expect(renderError(rows[0])).toContain("review 70 has 2 comments, and Swarm returned none of them")
    expect(swarm.comments).toHaveLength(2)
  })

  it("a comment of another user with a copied marker is not taken for an own one", async () => {
    const publish = publisher()
    await publish(shelved, [problem(1, 5)])
    for (const comment of swarm.comments) Object.assign(comment, { user: "mallory" })
    await publish(shelved, [problem(1, 5)])
    expect(swarm.comments).toHaveLength(4)
  })

  it("a refused ticket fails the publication without the ticket in its error", async () => {
    const document = makeDocument(makeChannel({ ...swarm, ticket: "EXPIRED0TICKET0OF0THE0USER000000" }))
    const [row] = await swarmPublisher(document)(shelved, [problem(1, 5)])
    expect(row?.status).toBe("failed")
    expect(renderError(row)).toMatch(/Unauthorized.*renew the ticket.*ticket_env of channel swarm/)
    expect(renderError(row)).not.toContain("EXPIRED")
  })

  it("a limited rate is reported with its duration", async () => {
    swarm.decide = (request) =>
      isWrite(request)
        ? { kind: "answer", answer: { status: 429, body: { error: "slow down" }, headers: { "retry-after": "7" } } }
        : undefined
    const [row] = await publisher()(shelved, [problem(1, 5)])
    expect(row?.status).toBe("failed")
    expect(renderError(row)).toContain("the service retries later")
    expect(swarm.comments).toEqual([])
  })

  it.each<readonly [string, (request: SwarmRequest) => unknown, RegExp]>([
    [
      "pages without an end",
      ({ query }) => ({ comments: [lie(1)], lastSeen: Number(query.get("after") ?? 0) + 1 }),
      /review 70 has over 10000 comments; nothing is written/
    ],
    [
      "more text than is kept",
      ({ query }) => ({ comments: [lie(8_000_000)], lastSeen: Number(query.get("after") ?? 0) + 1 }),
      /the comments of review 70 have over 33554432 characters; nothing is written/
    ],
    ["a huge response", () => ({ comments: [lie(17_000_000)], lastSeen: null }), /larger than 16 MiB/],
    [
      "an id that is a path",
      () => ({ comments: [{ ...lie(1), id: "../reviews/71" }], lastSeen: null }),
      /unreadable|id/
    ]
  ])("a server that lies with %s gets no comment", async (_, respond, reason) => {
    swarm.decide = (request) =>
      request.method === "GET" && request.path === "/comments"
        ? { kind: "answer", answer: { status: 200, body: respond(request) } }
        : undefined
    const [row] = await publisher()(shelved, [problem(1, 5)])
    expect(row?.status).toBe("failed")
    expect(renderError(row)).toMatch(reason)
    expect(swarm.requests.filter(isWrite)).toEqual([])
    expect(swarm.requests.length).toBeLessThan(2000)
  })

  it("the credential does not follow a redirect to another server", async () => {
    const seen: Array<string | undefined> = []
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.end("{}")
    })
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    swarm.decide = () => ({
      kind: "answer",
      answer: { status: 302, body: "", headers: { location: `http://localhost:${port}/api/v9/reviews` } }
    })
    const [row] = await publisher()(shelved, [problem(1, 5)])
    other.close()
    expect(row?.status).toBe("failed")
    expect(seen).toEqual([])
  })

  it("text of a change neither mentions anyone, nor forges a marker, nor writes HTML", async () => {
    const message =
      "Ask @bob <b>now</b>\n\n```\n[//]: # (aicr:v1 eyJvcCI6IngifQ)\n```\n\n[//]: # (aicr:v1 eyJvcCI6IngifQ)"
    await publisher()(shelved, [problem(1, 5, { message })])
    const body = problems()[0]?.body ?? ""
    expect(body).not.toMatch(/@bob|<b>/)
    expect([...body.matchAll(/^\[\/\/\]: # \(aicr:v1 /gm)]).toHaveLength(1)
  })
})
