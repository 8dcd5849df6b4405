/** Review threads of GitHub, resolved by GraphQL: few requests, limits, and tokens without the permission. */
import { Effect, Logger } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { DuringOutage } from "../../../src/forge/HostHealth.ts"
import type { ForgeError } from "../../../src/forge/ForgeError.ts"
import { githubClient } from "../../../src/forge/github/Client.ts"
import { graphqlRoot, graphqlStatus } from "../../../src/forge/github/Graphql.ts"
import type { Owners } from "../../harness/Owners.ts"
import { fault } from "../../harness/FakeForge.ts"
import type { Seen } from "../../harness/FakeForge.ts"
import { graphqlError } from "../../harness/FakeGraphql.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { alone, changed, failure, run, startHost } from "../Clients.ts"
import type { Host } from "../Clients.ts"
import { newTraffic } from "../../harness/Owners.ts"

let host: Host

const path = "/api/graphql"
const sent = (word: string) =>
  host.forge.requests.filter((seen: Seen) => JSON.stringify(seen.body ?? "").includes(word))

/** Creates this number of our comments and returns the ids that the REST API has for them. */
const comments = async (count: number): Promise<ReadonlyArray<string>> => {
  for (let left = count; left > 0; left -= 60) {
    const some = Array.from({ length: Math.min(60, left) }, (_, n) => changed(`Comment ${left - n}`))
    const review = { head: host.pull.head, event: "COMMENT" as const, body: "Found", comments: some }
    await run(host.client.createReview(host.repo, 1, { ...review, pending: alone }))
  }
  return host.pull.reviews.flatMap((review) => review.comments).map(({ id }) => String(id))
}
const isResolved = (id: string | undefined): boolean =>
  host.pull.reviews.some((review) =>
    review.comments.some((comment) => String(comment.id) === id && getThread(comment).resolver !== undefined)
  )
const resolve = (id: string | undefined, client = host.client) =>
  client.threads.resolve(host.repo, 1, id ?? "", `${id} is resolved`)

/** Messages of warnings, with their trigger. */
const warnings = async (effect: Effect.Effect<unknown, ForgeError, Owners>): Promise<ReadonlyArray<string>> => {
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") logged.push(String(message))
  })
  await run(Effect.provide(effect, Logger.layer([logger])))
  return logged
}

describe("threads of GitHub", () => {
  beforeEach(async () => {
    host = await startHost("github")
  })
  afterEach(async () => {
    host.forge.expectContract()
    await host.forge.stop()
  })

  it("are listed once for the comments of a review, beyond the first page, and resolved one by one", async () => {
    const ids = await comments(130)
    const gone = [ids[0], ids[50], ids[110], ids[129]]
    for (const id of gone) await run(resolve(id))
    expect(ids.filter(isResolved)).toEqual(gone)
    expect(sent("reviewThreads(")).toHaveLength(2)
    expect(sent("resolveReviewThread(")).toHaveLength(4)
  })

  it("are listed again for a comment that is newer than the listing", async () => {
    const [first] = await comments(1)
    await run(resolve(first))
    const second = (await comments(1)).at(-1)
    await run(resolve(second))
    expect(isResolved(second)).toBe(true)
  })

  it("keep their state when another account resolved them before", async () => {
    const [id] = await comments(1)
    const comment = host.pull.reviews.flatMap((review) => review.comments)[0]
    if (comment === undefined) throw new Error("no comment")
    getThread(comment).resolver = host.forge.user("ann")
    await run(resolve(id))
    expect(getThread(comment)).toMatchObject({ resolver: { login: "ann" }, body: `${id} is resolved` })
    expect(sent("resolveReviewThread(")).toEqual([])
  })

  const refusals = [
    ["FORBIDDEN", graphqlError("FORBIDDEN", "Resource not accessible by integration")],
    ["INSUFFICIENT_SCOPES", graphqlError("INSUFFICIENT_SCOPES", "Your token has not been granted the required scopes")],
    ["NOT_FOUND", graphqlError("NOT_FOUND", "Could not resolve to a Repository")],
    ["an unknown field", graphqlError(undefined, "Field 'fullDatabaseId' doesn't exist")],
    ["401", fault.unauthorized.kind === "answer" ? fault.unauthorized.answer : undefined],
    ["a page of a proxy", { status: 200, body: "<html>" }]
  ] as const
  it.each(refusals)("are annotated only where the host refuses with %s, which is logged once", async (name, answer) => {
    const ids = await comments(2)
    host.forge.intercept((request) => (request.path === path && answer ? { kind: "answer", answer } : undefined))
    const profile = { ...host.forge.profile(`refused by ${name}`) }
    const [one, two] = [githubClient(profile, newTraffic()), githubClient(profile, newTraffic())]
    const logged = await warnings(Effect.andThen(resolve(ids[0], one), resolve(ids[1], two)))
    expect(logged).toEqual(["review threads cannot be resolved, their comments are annotated only"])
    expect(ids.filter(isResolved)).toEqual([])
    const bodies = host.pull.reviews.flatMap((review) => review.comments).map((comment) => getThread(comment).body)
    expect(bodies).toEqual(ids.map((id) => `${id} is resolved`))
  })

  it("delay a review for a few attempts only where GraphQL is unavailable and the host is not", async () => {
    const ids = await comments(2)
    const traffic = newTraffic()
    const client = githubClient(host.forge.profile("down"), traffic)
    host.forge.intercept((request) => (request.path === path ? fault.broken : undefined))
    const waiting = <A>(effect: Effect.Effect<A, ForgeError, Owners>) =>
      Effect.provideService(effect, DuringOutage, "wait")
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(await failure(waiting(resolve(ids[0], client)))).toMatchObject({ reason: "unavailable" })
    }
    expect(await warnings(waiting(resolve(ids[0], client)))).toHaveLength(1)
    expect(await warnings(waiting(resolve(ids[1], client)))).toEqual([])
    host.forge.intercept(() => undefined)
    await run(waiting(resolve(ids[1], client)))
    expect(ids.filter(isResolved)).toEqual([ids[1]])
    host.forge.fail(path, fault.unavailable)
    expect(await failure(waiting(resolve(ids[0], client)))).toMatchObject({ reason: "unavailable" })
    expect([...traffic.states.keys()]).toEqual([host.forge.url, `${host.forge.url}/graphql`])
  })

  it.each([
    ["RATE_LIMITED", "API rate limit exceeded for user ID 1"],
    ["RATE_LIMIT", "API rate limit already exceeded"],
    [undefined, "You have exceeded a secondary rate limit"]
  ])("wait where the host reports the limit %s, with status 200", async (type, message) => {
    const [id] = await comments(1)
    const answer = graphqlError(type, message, { "retry-after": "30" })
    host.forge.fail(path, { kind: "answer", answer })
    expect(await failure(resolve(id))).toMatchObject({ reason: "rate_limited", retryAfterMillis: 30_000 })
    await run(resolve(id))
    expect(isResolved(id)).toBe(true)
  })
})

it.each([
  ["https://api.github.com", "https://api.github.com"],
  ["https://git.example.com/api/v3", "https://git.example.com/api"],
  ["https://example.com/git/api/v3", "https://example.com/git/api"]
])("the GraphQL API of %s is below %s", (api, root) => {
  expect(graphqlRoot(api)).toBe(root)
})

it.each([
  ["{}", 200],
  ['{"data":{},"errors":[]}', 200],
  ['{"data":{},"errors":[{"type":"SERVICE_UNAVAILABLE"}]}', 503],
  ['{"errors":[{"type":"toString","message":null}]}', 422],
  ["not JSON", 200]
])("%s is read as %i", (body, status) => {
  expect(graphqlStatus({ status: 200, body })).toBe(status)
})
