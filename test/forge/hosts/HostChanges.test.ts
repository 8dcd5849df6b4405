/** Reads what changed at a host: the exact requests, and lists that are long, cut, refused, unreadable or endless. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { ApiAnswer, ApiRequest } from "../../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../../demo/DemoForgeState.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { fault } from "../../harness/FakeForge.ts"
import { failure, repoName, run, startHost } from "../Clients.ts"
import type { Host } from "../Clients.ts"

const start = Date.parse("2026-03-09T03:00:00Z")
const minute = 60_000
const team = { name: "team", repositories: [repoName] }
const toIso = (time: number) => new Date(time).toISOString()

let host: Host
let now: number
/** Sets the clock of the host, in minutes. */
const at = (minutes: number) => void (now = start + minutes * minute)

const begin = async (kind: ForgeKind) => {
  host = await startHost(kind)
  Object.assign(host.forge.state, { now: () => toIso(now) })
  Object.assign(host.pull, { createdAt: toIso(start), changedAt: toIso(start) })
  at(0)
}
afterEach(async () => {
  host.forge.expectContract()
  await host.forge.stop()
})

/** The requests since the last call, with their queries decoded. */
const requests = (): ReadonlyArray<string> => {
  const all = host.forge.requests.map(({ path, query }) => {
    const readable = [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).join("&")
    return readable === "" ? path : `${path}?${readable}`
  })
  const fresh = all.slice(seen)
  seen = all.length
  return fresh
}
let seen = 0
beforeEach(() => {
  seen = 0
})

/** Adds pull requests without git, each updated some seconds before the one before it. */
const fill = (count: number, seconds: number, latest = start): void => {
  const { pulls } = host.forge.repository(repoName)
  for (let n = 0; n < count; n++) {
    const time = toIso(latest - n * seconds * 1000)
    const pull: DemoPull = { ...host.pull, id: 1000 + n, number: 2 + n, createdAt: time, changedAt: time }
    pulls.set(pull.number, { ...pull, comments: [], reviews: [] })
  }
}

const open = async (minutes: number, fullName = repoName): Promise<DemoPull> => {
  at(minutes)
  const branch = `feature/${minutes}`
  await host.forge.push(fullName, { branch, from: "main", message: "change", files: { "a.txt": `${minutes}\n` } })
  return host.forge.createPull(fullName, { title: `Change ${minutes}`, headBranch: branch })
}

/** The list of an owner since a time. */
const listOf = (since: string | undefined): Record<ForgeKind, string> => {
  const search = `/repos/issues/search?type=pulls&state=all&owner=team${since === undefined ? "" : `&since=${since}`}`
  const updated = since === undefined ? "" : ` updated:>=${since}`
  const after = since === undefined ? "" : `&updated_after=${since}`
  return {
    gitea: `${search}&limit=50&page=1`,
    forgejo: `${search}&limit=50&page=1`,
    github: `/search/issues?q=is:pr user:team${updated}&sort=updated&order=desc&per_page=100&page=1`,
    gitlab: `/groups/team/merge_requests?state=all&scope=all&order_by=updated_at&sort=desc${after}&per_page=100&page=1`
  }
}

/** A response with these pull requests, as the list of the owner has them. */
const listed = (kind: ForgeKind, numbers: ReadonlyArray<unknown>): ApiAnswer => {
  const times = { created_at: toIso(start), updated_at: toIso(start) }
  if (kind === "gitlab") {
    const items = numbers.map((iid) => ({
      iid,
      project_id: 1,
      ...times,
      references: { full: `${repoName}!${String(iid)}` }
    }))
    return { status: 200, headers: { "x-next-page": "2" }, body: items }
  }
  const repository = { id: 1, full_name: repoName }
  const repository_url = `https://git.test/api/v3/repos/${repoName}`
  const items = numbers.map((number) => ({ number, ...times, repository, repository_url }))
  if (kind === "github") return { status: 200, body: { total_count: 100_000, incomplete_results: false, items } }
  return { status: 200, headers: { link: '<next>; rel="next"', "x-total-count": "100000" }, body: items }
}

describe.each(ForgeKind.literals)("%s", (kind) => {
  beforeEach(() => begin(kind))

  it("lists what was updated since a time in one request, the latest first", async () => {
    const { forge } = host
    const pulls: Array<DemoPull> = []
    for (let n = 1; n <= 8; n++) pulls.push(await open(n))
    const [pushed, commented, edited, closed, merged, ready, labelled, untouched] = pulls as [
      ...[DemoPull, DemoPull, DemoPull, DemoPull, DemoPull, DemoPull, DemoPull, DemoPull]
    ]
    const changes = [
      () => forge.push(repoName, { branch: pushed.headBranch, message: "more", files: { "a.txt": "more\n" } }),
      () => forge.comment(commented, "a comment"),
      () => forge.edit(edited, { title: "Another title" }),
      () => forge.close(closed, false),
      () => forge.close(merged, true),
      () => forge.edit(ready, { draft: false }),
      () => forge.setLabels(labelled, ["later"])
    ]
    for (const [n, change] of changes.entries()) {
      at(20 + n)
      await change()
    }
    await open(30)
    requests()
    const found = await run(host.client.changes.pulls(team, start + 20 * minute + 999, 200))
    expect(requests()).toEqual([listOf("2026-03-09T03:20:00Z")[kind]])
    const order = [labelled, ready, merged, closed, edited, commented, pushed]
    expect(found.pulls.map(({ number }) => number)).toEqual([10, ...order.map(({ number }) => number)])
    expect(found.more).toBe(0)
    expect(found.pulls.at(-1)).toEqual({
      repo: { fullName: repoName, ...(kind === "github" ? {} : { hostId: forge.repository(repoName).id }) },
      number: pushed.number,
      updatedAt: start + 20 * minute
    })
    expect(found.pulls.map(({ number }) => number)).not.toContain(untouched.number)
    expect(await run(host.client.changes.pulls(team, start + 31 * minute, 200))).toEqual({ pulls: [], more: 0 })
  })

  it("lists the newest ones without a time, and counts the others", async () => {
    fill(300, 60)
    const found = await run(host.client.changes.pulls(team, undefined, 40))
    expect(requests()[0]).toBe(listOf(undefined)[kind])
    expect(found.pulls.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1)
    )
    expect(found.more).toBe(261)
  })

  it("lists the open issues of an owner that were updated since a time, where issues are triaged", async () => {
    const { issues } = host.client.changes
    expect(issues === undefined).toBe(kind === "github" || kind === "gitlab")
    if (issues === undefined) return
    const { issues: all } = host.forge.issues(repoName)
    const [user, more] = [host.forge.user("dana"), { body: "", labels: [], assignees: [], comments: 0, texts: [] }]
    for (const [number, state] of [
      [1, "open"],
      [2, "open"],
      [3, "closed"]
    ] as const)
      all.push({
        ...more,
        user,
        number,
        state,
        title: `Issue ${number}`,
        createdAt: toIso(start + number * minute),
        texts: []
      })
    const since = start + 2 * minute
    const found = [expect.objectContaining({ number: 2, title: "Issue 2", createdAt: since, updatedAt: since })]
    expect(await run(issues(team, since + 999, 200))).toEqual({ issues: found, more: 0 })
    const query = "type=issues&state=open&since=2026-03-09T03:02:00Z"
    expect(requests()).toEqual([`/repos/issues/search?${query}&owner=team&limit=50&page=1`])
    // An owner that is unknown to the host.
    host.forge.fail("/issues/search", fault.missing)
    expect(await run(issues(team, since, 200))).toMatchObject({ more: 0 })
    expect(requests()[1]).toBe(`/repos/${repoName}/issues?${query}&limit=50&page=1`)
  })

  it("reads all pages of a server whose pages are short", async () => {
    fill(8, 60)
    host.forge.state.pageLimit = 3
    const found = await run(host.client.changes.pulls(team, start - 60 * minute, 200))
    expect(found.pulls).toHaveLength(9)
    expect(found.more).toBe(0)
    expect(requests()).toHaveLength(3)
  })

  it.each([
    ["half a page", fault.half, { reason: "unavailable" }],
    ["an error", fault.broken, { reason: "unavailable", status: 500 }],
    ["a limit", fault.tooMany("90"), { reason: "rate_limited", retryAfterMillis: 90_000 }]
  ] as const)("fails as a whole with %s in the middle", async (_, thrown, expected) => {
    fill(150, 60)
    host.forge.intercept(({ query }) => (query.get("page") === "2" ? thrown : undefined))
    expect(await failure(host.client.changes.pulls(team, start - 600 * minute, 200))).toMatchObject(expected)
  })

  it("reads the repositories of a person", async () => {
    const { forge } = host
    for (const name of ["dana/tools", "dana/notes"]) {
      await forge.createRepository(name)
      await forge.push(name, { branch: "main", message: "start", files: { "a.txt": "a\n" } })
    }
    await open(1, "dana/tools")
    await open(3, "dana/notes")
    await open(2, "dana/tools")
    requests()
    const owner = { name: "dana", repositories: ["dana/tools", "dana/notes", "dana/gone"] }
    const list = () => run(host.client.changes.pulls(owner, start, 200))
    const found = await list()
    expect(found.pulls.map(({ number, repo }) => `${repo.fullName} ${number}`)).toEqual([
      "dana/notes 1",
      "dana/tools 2",
      "dana/tools 1"
    ])
    const repositories = owner.repositories.map((name) => `/projects/${encodeURIComponent(name)}/merge_requests`)
    const paths = () => requests().map((request) => request.split("?")[0])
    const first = paths()
    expect(first).toEqual(kind === "gitlab" ? ["/groups/dana/merge_requests", ...repositories] : [first[0]])
    expect(await list()).toEqual(found)
    expect(paths()).toEqual(kind === "gitlab" ? repositories : [first[0]])
  })

  it("names the repository of the target where the head is in a fork", async () => {
    host.pull.headRepository = { id: 99, owner: "olga", fullName: "olga/shop" }
    const { pulls } = await run(host.client.changes.pulls(team, start, 200))
    expect(pulls).toMatchObject([{ repo: { fullName: repoName }, number: 1 }])
  })

  it("finds a repository under its new name, where the owner is not found", async () => {
    host.forge.intercept(({ path }) => {
      if (!path.includes("old")) return undefined
      if (!/old(\/|%2F)shop/.test(path) && kind === "gitlab") return fault.missing
      const { pathname } = new URL(path.replace(/old(\/|%2F)shop/, "team$1shop"), "http://host")
      const query = kind === "gitea" || kind === "forgejo" ? "type=pulls&state=all" : "state=all"
      const root = { gitea: "/api/v1", forgejo: "/api/v1", github: "/api/v3", gitlab: "/api/v4" }[kind]
      return fault.answered(301, {}, { location: `${host.forge.url}${root}${pathname}?${query}` })
    })
    const owner = { name: "old", repositories: ["old/shop"] }
    const { pulls } = await run(host.client.changes.pulls(owner, undefined, 200))
    expect(pulls).toMatchObject([{ repo: { fullName: repoName }, number: 1 }])
  })

  it("leaves out what cannot be read", async () => {
    const answer = listed(kind, ["seven", 7, null, -7, 8])
    host.forge.intercept(({ query }) =>
      query.get("page") === "1" ? { kind: "answer", answer } : { kind: "answer", answer: listed(kind, []) }
    )
    const { pulls } = await run(host.client.changes.pulls(team, start, 5))
    expect(pulls.map(({ number }) => number)).toEqual([7, 8])
  })

  it("reads a bounded part of a list without end", async () => {
    let next = 0
    let sent = 0
    host.forge.intercept(() => {
      sent++
      return {
        kind: "answer",
        answer: listed(
          kind,
          Array.from({ length: 10_000 }, () => ++next)
        )
      }
    })
    const found = await run(host.client.changes.pulls(team, undefined, 200))
    expect(found.pulls.length).toBeLessThanOrEqual(200)
    expect(found.more).toBeGreaterThan(0)
    expect(sent).toBeLessThanOrEqual(45)
  })

  it("lists comments since a time, with the id that a delivery has", async () => {
    const { forge, pull } = host
    at(1)
    const old = forge.comment(pull, "/aicr review")
    at(10)
    const asked = forge.comment(pull, "/aicr review", "olga")
    at(12)
    old.body = "/aicr cancel"
    old.updatedAt = forge.state.now()
    requests()
    const found = await run(host.client.changes.comments(host.repo, 1, start + 10 * minute + 500))
    const list = `/repos/${repoName}/issues/1/comments`
    const since = "since=2026-03-09T03:10:00Z"
    const gitea = [`${list}?since=2026-03-09T03:10:00.000Z`]
    const notes = "/projects/team%2Fshop/merge_requests/1/notes"
    expect(requests()).toEqual(
      {
        gitea,
        forgejo: gitea,
        github: [
          `${list}?${since}&per_page=100&page=1`,
          `/repos/${repoName}/pulls/1/comments?${since}&per_page=100&page=1`
        ],
        gitlab: [`${notes}?order_by=created_at&sort=desc&activity_filter=only_comments&per_page=100&page=1`]
      }[kind]
    )
    expect(found).toMatchObject([
      {
        place: { id: String(asked.id) },
        body: "/aicr review",
        author: { username: "olga" },
        createdAt: start + 10 * minute
      }
    ])
    forge.setWebhookUrl("http://service.test/")
    const { body, headers } = forge.delivery({
      kind: "comment",
      pull,
      body: asked.body,
      sender: asked.user,
      id: asked.id
    })
    expect(forgeTable[kind].webhook.parse(headers, body)).toMatchObject({
      event: { _tag: "Commanded", comment: { id: found[0]?.place.id } }
    })
  })

  it("reads a bounded number of comments, branches and statuses", async () => {
    let next = 0
    let sent = 0
    const endless = ({ path }: ApiRequest): ApiAnswer => {
      sent++
      const items = Array.from({ length: 100 }, () => {
        const id = ++next
        const user = { id: 7, login: "olga", username: "olga" }
        const times = { created_at: toIso(start), updated_at: toIso(start) }
        const commit = { id: "a".repeat(40), sha: "a".repeat(40) }
        return {
          id,
          body: "b",
          user,
          author: user,
          creator: user,
          ...times,
          name: `b${id}`,
          commit,
          context: "c",
          status: "s",
          state: "s"
        }
      })
      const headers = { link: '<next>; rel="next"', "x-next-page": "2" }
      return path === "/user"
        ? { status: 200, body: { id: 1, login: "aicr", username: "aicr" } }
        : { status: 200, headers, body: items }
    }
    host.forge.intercept((request) => ({ kind: "answer", answer: endless(request) }))
    const { changes } = host.client
    const bounded = [
      async () => (await run(changes.comments(host.repo, 1, start))).length,
      async () => (await run(changes.tips(host.repo, undefined))).length,
      async () => ((await run(changes.ownStatus(host.repo, "a".repeat(40)))) === undefined ? 0 : 1)
    ]
    for (const read of bounded) {
      sent = 0
      expect(await read()).toBeLessThanOrEqual(5000)
      expect(sent).toBeLessThanOrEqual(101)
    }
  })

  it("reads the tips of branches, a single one or in one list", async () => {
    const { forge, pull, repo } = host
    const { directory } = forge.repository(repoName)
    expect(directory).not.toBe("")
    const tips = { main: pull.base, "feature/x": pull.head }
    requests()
    const one = await run(host.client.changes.tips(repo, ["feature/x"]))
    expect(one).toEqual([{ branch: "feature/x", head: tips["feature/x"] }])
    expect(await run(host.client.changes.tips(repo, ["gone"]))).toEqual([])
    const path = kind === "gitlab" ? "/projects/team%2Fshop/repository/branches" : `/repos/${repoName}/branches`
    expect(requests()).toEqual([`${path}/feature%2Fx`, `${path}/gone`])
    const all = await run(host.client.changes.tips(repo, undefined))
    expect(all).toEqual(
      Object.entries(tips)
        .map(([branch, head]) => ({ branch, head }))
        .toReversed()
    )
    const size = kind === "gitea" || kind === "forgejo" ? "limit=50" : "per_page=100"
    expect(requests()).toEqual([`${path}?${size}&page=1`])
    const some = await run(host.client.changes.tips(repo, ["main", "gone", "feature/x"]))
    expect(some.map(({ branch }) => branch)).toEqual(["main", "feature/x"])
    expect(requests()).toEqual([`${path}?${size}&page=1`])
    forge.fail(
      /branches$/,
      fault.answered(200, [{ name: "-rf", commit: { id: tips.main, sha: tips.main } }, { name: "x" }])
    )
    expect(await run(host.client.changes.tips(repo, undefined))).toEqual([])
  })

  it("reads what a push added, with at most 100 commits", async () => {
    const { forge, pull, repo } = host
    const commitTo = (message: string, author: string) =>
      forge.push(repoName, { branch: "feature/x", message, files: { "a.txt": `${message}\n` }, author })
    const opened = pull.head
    const first = await commitTo("first\n\nwith a body", "Ada")
    const after = await commitTo("second", "Bo")
    requests()
    const found = await run(host.client.changes.pushed(repo, pull.base, after))
    const [base, head] = [pull.base, after]
    const gitea = `/repos/${repoName}/commits?sha=${head}&not=${base}&stat=false&verification=false&files=false&limit=50&page=1`
    expect(requests()).toEqual([
      {
        gitea,
        forgejo: gitea,
        github: `/repos/${repoName}/compare/${base}...${head}?per_page=100`,
        gitlab: `/projects/team%2Fshop/repository/compare?from=${base}&to=${head}`
      }[kind]
    ])
    expect(found.commits).toBe(3)
    expect(found.listed.toSorted((a, b) => (a.message < b.message ? -1 : 1))).toEqual([
      { id: opened, author: "Dana Developer", email: "dana@example.org", message: "change" },
      { id: first, author: "Ada", email: "dana@example.org", message: "first\n\nwith a body" },
      { id: after, author: "Bo", email: "dana@example.org", message: "second" }
    ])
    expect(await failure(host.client.changes.pushed(repo, "b".repeat(40), after))).toMatchObject({
      reason: "not_found"
    })
  })

  it("reads the latest status that the own account set", async () => {
    const { forge, pull, repo } = host
    const read = () => run(host.client.changes.ownStatus(repo, pull.head))
    expect(await read()).toBeUndefined()
    for (const [minutes, state] of [
      [1, "pending"],
      [2, "neutral"]
    ] as const) {
      at(minutes)
      await run(host.client.setStatus(repo, pull.head, { state, description: "", url: undefined, key: "k", number: 1 }))
    }
    at(3)
    const { statuses } = forge.repository(repoName)
    const own = statuses.get(pull.head) ?? []
    const forged = { ...own[0], id: 900, state: "success", user: forge.user("mallory"), createdAt: forge.state.now() }
    const others = Array.from({ length: 120 }, (_, n) => ({ ...forged, id: 1000 + n, context: `ci/${n}` }))
    statuses.set(pull.head, [...own, forged as never, ...(others as never)])
    requests()
    expect(await read()).toEqual({ state: "neutral", at: start + 2 * minute })
    const head = pull.head
    const gitea = [1, 2, 3].map((page) => `/repos/${repoName}/statuses/${head}?sort=highestindex&limit=50&page=${page}`)
    const statusPath = `/repos/${repoName}/commits/${head}/statuses`
    expect(requests()).toEqual(
      {
        gitea,
        forgejo: gitea,
        github: [1, 2].map((page) => `${statusPath}?per_page=100&page=${page}`),
        gitlab: [
          `/projects/team%2Fshop/repository/commits/${head}/statuses?name=aicr/review&all=true&per_page=100&page=1`
        ]
      }[kind]
    )
  })
})

describe.each(["gitea", "forgejo"] as const)("%s lists by creation", (kind) => {
  beforeEach(() => begin(kind))
  afterEach(() => void vi.useRealTimers())

  it("finds the latest of many, and those of one second", async () => {
    // The search begins at the current time: the longer ago the changes, the more requests.
    vi.useFakeTimers({ now: start + 2 * minute, toFake: ["Date"] })
    fill(3000, 1)
    const oldest = host.forge.repository(repoName).pulls.get(3001)
    if (oldest === undefined) throw new Error("no pull request 3001")
    at(1)
    host.forge.edit(oldest, { title: "New" })
    const found = await run(host.client.changes.pulls(team, start - 3000 * 1000, 50))
    expect(found.pulls.slice(0, 3).map(({ number }) => number)).toEqual([3001, 2, 1])
    expect(found.pulls).toHaveLength(50)
    expect(found.more).toBe(2951)
    expect(requests().length).toBeLessThanOrEqual(25)
    fill(3000, 0)
    at(2)
    host.forge.edit(host.pull, { title: "Newer" })
    const second = await run(host.client.changes.pulls(team, start - 1000, 50))
    expect(second.pulls[0]?.number).toBe(1)
    expect(second.pulls).toHaveLength(50)
    expect(second.pulls.length + second.more).toBe(3001)
  })

  it("finds the latest one in few requests", async () => {
    fill(3000, 60, Date.now())
    const found = await run(host.client.changes.pulls(team, undefined, 1))
    expect(found.pulls).toMatchObject([{ number: 2 }])
    expect(found.more).toBe(3000)
    expect(requests().length).toBeLessThanOrEqual(10)
  })

  it("lists comments that do not fit in one response", async () => {
    at(1)
    for (let n = 0; n < 90; n++) {
      host.forge.comment(host.pull, `comment-${n} ${"x".repeat(200_000)}`)
      at(n + 2)
    }
    const found = await run(host.client.changes.comments(host.repo, 1, start + 5 * minute))
    expect(found.map(({ body }) => body.slice(0, 10).trim())).toEqual(
      Array.from({ length: 86 }, (_, n) => `comment-${n + 4}`)
    )
    expect(Math.max(...found.map(({ body }) => body.length))).toBe(65_536)
  })
})

describe("github", () => {
  beforeEach(() => begin("github"))

  it("reads pull requests by repository where a search is incomplete or the owner is hidden", async () => {
    fill(150, 60)
    const since = start - 20 * minute
    const expected = [1, ...Array.from({ length: 21 }, (_, n) => n + 2)]
    for (const answer of [
      fault.answered(200, { total_count: 1, incomplete_results: true, items: [] }),
      fault.answered(422, { message: "Validation Failed" })
    ]) {
      host.forge.fail("/search/issues", answer)
      requests()
      const { more, pulls } = await run(host.client.changes.pulls(team, since, 200))
      expect(pulls.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(expected)
      expect(more).toBe(0)
      expect(requests().slice(1)).toEqual([
        `/repos/${repoName}/pulls?state=all&sort=updated&direction=desc&per_page=100&page=1`
      ])
    }
    host.forge.fail("/search/issues", fault.answered(422, { message: "Validation Failed" }))
    const unknown = { name: "nobody", repositories: [] }
    expect(await failure(host.client.changes.pulls(unknown, since, 200))).toMatchObject({ reason: "invalid" })
  })

  it("does not close the account for a limit of the search", async () => {
    host.forge.fail("/search/issues", fault.rateLimited)
    expect(await failure(host.client.changes.pulls(team, start, 200))).toMatchObject({ reason: "rate_limited" })
    expect(await run(host.client.pull(host.repo, 1))).toMatchObject({ number: 1 })
  })

  it("lists comments on lines under ids of their own", async () => {
    const { forge, pull, repo } = host
    const [user, createdAt] = [forge.user("olga"), toIso(start + minute)]
    const line = {
      id: 77,
      path: "a.txt",
      side: "new" as const,
      line: 1,
      startLine: undefined,
      hunk: "",
      body: "/review"
    }
    pull.reviews.push({ id: 76, user, state: "COMMENT", body: "", commit: pull.head, createdAt, comments: [line] })
    expect(await run(host.client.changes.comments(repo, 1, start))).toMatchObject([
      { place: { id: "line-77" }, body: "/review" }
    ])
  })
})

it("leaves out notes of the system at gitlab", async () => {
  await begin("gitlab")
  const author = { id: 9, username: "olga", name: "Olga" }
  const note = { body: "/review", author, created_at: toIso(start) }
  host.forge.fail(
    /\/notes$/,
    fault.answered(200, [
      { ...note, id: 2, system: true },
      { ...note, id: 1 },
      { ...note, id: "x" }
    ])
  )
  expect(await run(host.client.changes.comments(host.repo, 1, start))).toMatchObject([{ place: { id: "1" } }])
})
