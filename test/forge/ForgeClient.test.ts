/** The contract of every host's client, against a server that behaves and is described like the host. */
import { Effect, Redacted, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { alone, changed, context, failure, file, outside, range, removed, repoName, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"

describe.each(ForgeKind.literals)("client of %s", (kind) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(kind)
  })
  afterAll(async () => {
    await host.forge.stop()
  })

  it("reads the current state of a pull request", async () => {
    const { client, repo, pull, forge } = host
    expect(await run(client.pull(repo, 1))).toMatchObject({
      number: 1,
      state: "open",
      draft: false,
      head: pull.head,
      base: pull.base,
      headRef: "feature/x",
      baseRef: "main",
      title: "Change lines",
      description: "Says what it does",
      author: { username: "dana" },
      labels: ["bug"]
    })
    forge.close(pull, true)
    expect((await run(client.pull(repo, 1))).state).toBe("merged")
    pull.state = "open"
    pull.merged = false
    expect(await failure(client.pull(repo, 99))).toMatchObject({ reason: "not_found", status: 404 })
  })

  it("reads an issue of any author", async () => {
    const { client, repo, forge } = host
    const issues = forge.issues(repoName)
    const user = { id: 77, login: "mallory", name: "Mallory" }
    issues.issues.push({
      number: 901,
      user,
      title: "It crashes",
      body: "When empty",
      state: "open",
      labels: ["bug", "new"],
      assignees: [],
      comments: 2,
      texts: []
    })
    const read = { title: "It crashes", body: "When empty", state: "open", labels: ["bug", "new"] }
    expect(await run(client.issues.read(repo, 901))).toMatchObject(read)
    Object.assign(issues.issues.find(({ number }) => number === 901) ?? {}, { state: "closed", labels: [] })
    expect(await run(client.issues.read(repo, 901))).toMatchObject({ ...read, state: "closed", labels: [] })
    expect(await failure(client.issues.read(repo, 902))).toMatchObject({ reason: "not_found" })
  })

  it("finds the open pull requests of a commit", async () => {
    const { client, repo, pull, forge } = host
    expect(await run(client.openPulls(repo, pull.head))).toEqual([1])
    expect(await run(client.openPulls(repo, pull.base))).toEqual([])
    expect(await run(client.openPulls(repo, "1".repeat(40)))).toEqual([])
    forge.close(pull, true)
    expect(await run(client.openPulls(repo, pull.head))).toEqual([])
    pull.state = "open"
    pull.merged = false
  })

  it("finds the tip of a branch with a slash in its name", async () => {
    expect(await run(host.client.branchHead(host.repo, "feature/x"))).toBe(host.pull.head)
    const missing = await failure(host.client.branchHead(host.repo, "nowhere"))
    expect(["not_found", "invalid"]).toContain(missing.reason)
  })

  it("returns the tip of a branch, and whether the host protects it", async () => {
    const { client, forge, pull, repo } = host
    const { protectedBranches } = forge.repository("team/shop")
    expect(await run(client.branchTip(repo, "feature/x"))).toMatchObject({ commit: pull.head, isProtected: false })
    protectedBranches.add("feature/x")
    expect(await run(client.branchTip(repo, "feature/x"))).toMatchObject({ commit: pull.head, isProtected: true })
    expect(await run(client.branchTip(repo, "nowhere"))).toBeUndefined()
    protectedBranches.clear()
  })

  it("reads its account once", async () => {
    const before = host.forge.requests.length
    expect((await run(host.client.self)).username).toBe("aicr")
    expect((await run(host.client.self)).username).toBe("aicr")
    expect(host.forge.requests.length).toBe(before + 1)
  })

  it.each([
    ["dana", true],
    ["team", true],
    ["stranger", false]
  ])("returns whether %s may write", async (login, may) => {
    expect(await run(host.client.canWrite(host.repo, login))).toBe(may)
  })

  it("names the repository of the head, and the person to whom it belongs", async () => {
    const { client, pull, repo } = host
    const read = async (fork?: NonNullable<typeof pull.headRepository> | null) => {
      if (fork === undefined) delete pull.headRepository
      else pull.headRepository = fork
      const { headRepo } = await run(client.pull(repo, 1))
      return { headRepo, owner: fork && headRepo ? await run(client.ownerOf(headRepo, repo)) : undefined }
    }
    expect((await read()).headRepo).toMatchObject({ fullName: repoName, hostId: pull.repository.id })
    const fork = { id: 901, owner: "erin", fullName: "erin/shop" }
    expect(await read(fork)).toMatchObject({ headRepo: { hostId: 901 }, owner: "erin" })
    expect(await read(null)).toEqual({ headRepo: undefined, owner: undefined })
    const neighbour = { id: 902, owner: kind === "gitlab" ? "team/sub" : "team", fullName: "team/shop-2" }
    expect((await read(neighbour)).owner).toBeUndefined()
    delete pull.headRepository
    const hidden = kind === "gitlab" ? { hostId: 1234 } : {}
    expect(await run(client.ownerOf(hidden, repo))).toBeUndefined()
  })

  it("puts each comment on exactly its line and side, in one review", async () => {
    const { client, repo, pull } = host
    const comments = [changed("a"), removed("b"), context("c")]
    const made = await run(
      client.createReview(repo, 1, { head: pull.head, event: "COMMENT", body: "look", comments, pending: alone })
    )
    expect(made.refused).toEqual([])
    const posted = pull.reviews.at(-1)
    expect(posted?.commit).toBe(pull.head)
    expect(posted?.comments.map(({ path, side, line, body }) => ({ path, side, line, body }))).toEqual([
      { path: file, side: "new", line: 20, body: "a" },
      { path: file, side: "old", line: 22, body: "b" },
      { path: file, side: "new", line: 19, body: "c" }
    ])
  })

  it("spans lines where the host can, and is on the last line where it cannot", async () => {
    const { client, repo, pull } = host
    const review = { head: pull.head, event: "COMMENT", body: "two lines", comments: [range("r")] } as const
    await run(client.createReview(repo, 1, { ...review, pending: alone }))
    const spans = kind !== "gitea"
    expect(pull.reviews.at(-1)?.comments).toMatchObject([{ line: 30, startLine: spans ? 29 : undefined }])
  })

  it("reports which line is refused", async () => {
    const { client, repo, pull } = host
    const before = pull.reviews.length
    const review = {
      head: pull.head,
      event: "COMMENT",
      body: "x",
      comments: [outside("far"), changed("near")]
    } as const
    const made = await run(Effect.result(client.createReview(repo, 1, { ...review, pending: alone })))
    const said = Result.match(made, {
      onFailure: ({ reason, status }) => ({ reason, status }),
      onSuccess: ({ refused }) => ({ refused })
    })
    const posted = pull.reviews.slice(before).flatMap(({ comments }) => comments.map(({ body }) => body))
    // GitLab takes comments one by one; the others refuse the whole review.
    const single = kind === "gitlab"
    expect(said).toEqual(single ? { refused: [outside("far")] } : { reason: "invalid", status: 422 })
    expect(posted).toEqual(single ? ["near"] : [])
  })

  it("reads back its own review texts over all pages, and those of no other account", async () => {
    const { client, repo, pull, forge } = host
    const start = pull.reviews.length
    for (let i = 0; i < 60; i++) {
      const id = forge.state.nextId()
      const comment = { id: id + 10_000, path: file, side: "new", line: 20, startLine: undefined, hunk: "" } as const
      const user = forge.user(i % 2 === 0 ? "aicr" : "dana")
      const comments = [{ ...comment, body: `inline ${i}` }]
      pull.reviews.push({ id, user, state: "COMMENT", body: `review ${i}`, commit: pull.head, createdAt: "", comments })
    }
    const texts = (await run(client.reviewTexts(repo, 1))).map((text) => text.body)
    const inline = texts.filter((text) => text.startsWith("inline "))
    expect(inline).toEqual(Array.from({ length: 30 }, (_, i) => `inline ${i * 2}`))
    pull.reviews.splice(start)
  })

  it("writes, finds and updates its own comment among many", async () => {
    const { client, repo, pull, forge } = host
    const said = (body: string, login: string) => {
      const now = forge.state.now()
      pull.comments.push({ id: forge.state.nextId(), user: forge.user(login), createdAt: now, updatedAt: now, body })
    }
    said("mark-7 says someone else", "dana")
    const made = await run(client.createComment(repo, 1, "first mark-7"))
    for (let i = 0; i < 120; i++) said(`talk ${i}`, "dana")
    expect(await run(client.findComment(repo, 1, "mark-7"))).toMatchObject({
      hostId: made.hostId,
      body: "first mark-7"
    })
    await run(client.updateComment(repo, 1, made.hostId, "second mark-7"))
    expect((await run(client.findComment(repo, 1, "mark-7")))?.body).toBe("second mark-7")
    expect(await run(client.findComment(repo, 1, "mark-8"))).toBeUndefined()
    expect(await failure(client.updateComment(repo, 1, "987654", "x"))).toMatchObject({ reason: "not_found" })
  })

  it("sets commit statuses, the same one twice too", async () => {
    const { client, repo, pull, forge } = host
    const common = { url: undefined, key: "k", number: 1 }
    const status = { ...common, state: "failure", description: "no", url: "http://dash.test/run/1" } as const
    await run(client.setStatus(repo, pull.head, status))
    await run(client.setStatus(repo, pull.head, status))
    await run(client.setStatus(repo, pull.head, { ...common, state: "success", description: "d".repeat(500) }))
    const statuses = forge.repository(repoName).statuses.get(pull.head) ?? []
    expect(statuses.at(-1)).toMatchObject({ context: "aicr/review", state: "success" })
    // None of them lets a commit pass that was not read.
    await run(client.setStatus(repo, pull.head, { ...common, state: "neutral", description: "part" }))
    const neutral = { gitea: "warning", forgejo: "warning", github: "error", gitlab: "skipped" }[kind]
    expect(forge.repository(repoName).statuses.get(pull.head)?.at(-1)?.state).toBe(neutral)
    expect(statuses[0]).toMatchObject({ state: kind === "gitlab" ? "failed" : "failure", description: "no" })
  })

  it("hands git a header that the host takes", async () => {
    const header = await run(host.client.gitAuthorization(host.repo))
    const value = header === undefined ? "" : Redacted.value(header)
    const [name, ...rest] = value.split(": ")
    expect(name).toBe("Authorization")
    const url = `${host.forge.url}/${repoName}.git/info/refs?service=git-upload-pack`
    expect((await fetch(url, { headers: { authorization: rest.join(": ") } })).status).toBe(200)
    expect((await fetch(url)).status).toBe(401)
  })

  it("sends only requests that the host's API description contains", () => {
    expect(host.forge.violations).toEqual([])
  })
})
