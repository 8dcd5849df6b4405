/** Conversations at every host: threads, comments below, reactions, what is deleted, locked, resolved or outdated, and lost responses. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { DemoReviewComment, DemoUser } from "../../../demo/DemoForgeState.ts"
import type { CommentPlace } from "../../../src/domain/Change.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { getConversations } from "../../harness/FakeHostConversations.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { fault } from "../../harness/FakeForge.ts"
import { alone, changed, failure, file, repoName, run, startHost } from "../Clients.ts"
import type { Host } from "../Clients.ts"

const mark = "<!-- aicr:v1 {} -->"

let host: Host
let dana: DemoUser

const begin = async (kind: ForgeKind) => {
  host = await startHost(kind)
  dana = host.forge.user("dana")
}
afterEach(async () => {
  host.forge.expectContract()
  await host.forge.stop()
})

const state = () => getConversations(host.forge.repository(repoName))
const conversations = () => host.client.conversations
const target = () => ({ number: 1, head: host.pull.head })
const read = (place: CommentPlace, to = target()) => run(conversations().read(host.repo, to, place))
const reply = (place: CommentPlace, body: string, to = target()) =>
  run(conversations().reply(host.repo, to, place, body))
const findReply = (place: CommentPlace, marker: string, to = target()) =>
  run(conversations().findReply(host.repo, to, place, marker))
const requestsOf = async (act: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  const before = host.forge.requests.length
  await act()
  return host.forge.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
}

/** Posts a review with one comment at a line and returns the comment. */
const post = async (body: string): Promise<DemoReviewComment> => {
  const { client, pull, repo } = host
  await run(
    client.createReview(repo, 1, {
      head: pull.head,
      event: "COMMENT",
      body: "Review",
      comments: [changed(`${body}\n\n${mark}`)],
      pending: alone
    })
  )
  const comment = pull.reviews.at(-1)?.comments[0]
  if (comment === undefined) throw new Error("no comment")
  return comment
}

/** A person replies to a comment at a line; returns the place as a delivery names it. */
const replyOf = (kind: ForgeKind, comment: DemoReviewComment, body: string, user = dana): CommentPlace => {
  const id = host.forge.state.nextId()
  getThread(comment).answers.push({ id, user, body, createdAt: host.forge.state.now() })
  return {
    gitea: { id: String(id), on: "pull_request", kind: "general" },
    forgejo: { id: String(id), on: "pull_request", kind: "general" },
    github: { id: `line-${id}`, on: "pull_request", kind: "line", thread: String(comment.id) },
    gitlab: { id: String(id), on: "pull_request", kind: "line", thread: `d${comment.id}` }
  }[kind] as CommentPlace
}

const below = (kind: ForgeKind, body: string): CommentPlace => {
  const { id } = host.forge.comment(host.pull, body)
  const place = { id: String(id), on: "pull_request", kind: "general" } as const
  return kind === "gitlab" ? { ...place, thread: `d${id}` } : place
}

describe.each(ForgeKind.literals)("%s", (kind) => {
  beforeEach(() => begin(kind))

  it("reads the thread of a reply, and replies in it", async () => {
    await post("Other")
    const comment = await post("A finding")
    const place = replyOf(kind, comment, "Why?")
    const found = await read(place)
    expect(found).toMatchObject({ path: file, side: "new", isLocked: false, isResolved: false, isPart: false })
    expect(found?.comments.at(-1)).toMatchObject({
      id: place.id,
      body: "Why?",
      author: { username: "dana" },
      isOwn: false,
      isBot: false
    })
    expect(found?.comments.filter(({ isOwn }) => isOwn).map(({ body }) => body)).toContain(`A finding\n\n${mark}`)
    expect(await findReply(place, "reply-1")).toBeUndefined()
    const { hostId } = await reply(place, "Because. reply-1")
    const again = await read(place)
    expect(again?.comments.at(-1)).toMatchObject({ body: "Because. reply-1", isOwn: true })
    expect(hostId).toBe(kind === "gitea" ? `review-${host.pull.reviews.at(-1)?.id}` : again?.comments.at(-1)?.id)
    expect(await findReply(place, "reply-1")).toMatchObject({ body: "Because. reply-1" })
    expect(await findReply(place, "reply-2")).toBeUndefined()
    expect(host.pull.comments).toEqual([])
  })

  it("reads what is below the change, and replies there", async () => {
    below(kind, "First")
    const place = below(kind, "@aicr explain")
    const found = await read(place)
    expect(found?.comments.map(({ body }) => body)).toEqual(["First", "@aicr explain"])
    expect(found).toMatchObject({ path: undefined, line: undefined, isPart: false })
    await reply(place, "An explanation. reply-3")
    expect(await findReply(place, "reply-3")).toMatchObject({ body: "An explanation. reply-3" })
    expect((await read(place))?.comments.map(({ body }) => body)).toContain("An explanation. reply-3")
  })

  it("returns the newest hundred comments, and the comment itself", async () => {
    const early = below(kind, "early")
    for (let n = 0; n < 230; n++) below(kind, `c${n}`)
    const late = below(kind, "late")
    const found = await read(late)
    expect(found?.comments).toHaveLength(100)
    expect(found?.comments.at(-1)?.body).toBe("late")
    expect(found?.isPart).toBe(true)
    const other = await read(early)
    expect(other?.comments.some(({ body }) => body === "early")).toBe(true)
    expect(other?.comments.length).toBeLessThanOrEqual(100)
  })

  it("returns the first comment of a long thread, and those of the service", async () => {
    const comment = await post("A finding")
    await reply(replyOf(kind, comment, "Why?"), "Because. reply-4")
    for (let n = 0; n < 120; n++) replyOf(kind, comment, `c${n}`)
    const found = await read(replyOf(kind, comment, "late"))
    expect(found?.comments[0]?.body).toBe(`A finding\n\n${mark}`)
    expect(found?.comments.map(({ body }) => body)).toContain("Because. reply-4")
    expect(found?.comments).toHaveLength(102)
    expect(found?.isPart).toBe(true)
  })

  it("returns nothing for a deleted comment", async () => {
    const comment = await post("A finding")
    const inThread = replyOf(kind, comment, "Why?")
    getThread(comment).answers = []
    expect(await read(inThread)).toBeUndefined()
    const general = below(kind, "gone")
    host.pull.comments.length = 0
    expect(await read(general)).toBeUndefined()
    const wrongChange = below(kind, "here")
    expect(await read({ ...wrongChange, id: "99999" })).toBeUndefined()
  })

  it("reads the current text, in a bounded length", async () => {
    const comment = await post("A finding")
    const place = replyOf(kind, comment, "x".repeat(100_000))
    expect((await read(place))?.comments.at(-1)?.body).toHaveLength(65_536)
    const general = below(kind, "before")
    const [own] = host.pull.comments.slice(-1)
    if (own !== undefined) own.body = "after"
    expect((await read(general))?.comments.at(-1)?.body).toBe("after")
  })

  it("reads whether the conversation is locked", async () => {
    const comment = await post("A finding")
    const place = replyOf(kind, comment, "Why?")
    const general = below(kind, "Here")
    state().locked.add(1)
    expect((await read(place))?.isLocked).toBe(true)
    expect((await read(general))?.isLocked).toBe(true)
    state().locked.clear()
    expect((await read(place))?.isLocked).toBe(false)
  })

  it("adds a reaction once", async () => {
    const comment = await post("A finding")
    const places = [replyOf(kind, comment, "Why?"), below(kind, "Here")]
    const { react } = conversations()
    if (react === undefined) throw new Error("no reactions")
    for (const place of places)
      for (const reaction of ["eyes", "eyes", "thumbs_up", "confused"] as const)
        await run(react(host.repo, target(), place, reaction))
    const names = kind === "gitlab" ? ["eyes", "thumbsup", "confused"] : ["eyes", "+1", "confused"]
    expect(state().reactions.map(({ content }) => content)).toEqual([...names, ...names])
    expect(new Set(state().reactions.map(({ login }) => login))).toEqual(new Set(["aicr"]))
    const gone = { ...below(kind, "x"), id: kind === "github" ? "line-4711" : "4711" }
    await run(react(host.repo, target(), gone, "eyes"))
  })

  it("finds a reply whose response was lost", async () => {
    const comment = await post("A finding")
    for (const place of [replyOf(kind, comment, "Why?"), below(kind, "Here")]) {
      host.forge.fail(/^POST .*(?:replies|notes|reviews|comments)$/, fault.lost)
      expect(await failure(conversations().reply(host.repo, target(), place, `Because ${place.id}!`))).toMatchObject({
        reason: "unknown_outcome"
      })
      expect(await findReply(place, `Because ${place.id}!`)).toMatchObject({ body: expect.stringContaining(place.id) })
    }
  })

  it("names bots", async () => {
    const comment = await post("A finding")
    const login = {
      gitea: "gitea-actions",
      forgejo: "forgejo-actions",
      github: "helper[bot]",
      gitlab: "project_3_bot_a1"
    }[kind]
    const bot = { id: kind === "gitea" || kind === "forgejo" ? -2 : 90, login, name: "" }
    const place = replyOf(kind, comment, "Coverage fell", bot)
    expect((await read(place))?.comments.at(-1)).toMatchObject({ isBot: true, isOwn: false })
  })

  it("reads who may read the repository", async () => {
    const isPrivate = () => run(conversations().isPrivate(host.repo))
    expect(await isPrivate()).toBe(true)
    state().visibility = "internal"
    expect(await isPrivate()).toBe(false)
    state().visibility = "public"
    expect(await isPrivate()).toBe(false)
  })

  it("talks below an issue", async () => {
    const issues = host.forge.issues(repoName)
    const text = { id: host.forge.state.nextId(), body: "@aicr why?", user: dana }
    const issue = { number: 901, user: dana, title: "t", body: "", state: "open" as const, labels: [], assignees: [] }
    issues.issues.push({ ...issue, comments: 1, texts: [text] })
    const place = {
      id: String(text.id),
      on: "issue",
      kind: "general",
      ...(kind === "gitlab" ? { thread: `d${text.id}` } : {})
    } as const
    const to = { number: 901, head: "" }
    expect((await read(place, to))?.comments).toMatchObject([{ body: "@aicr why?" }])
    await reply(place, "Because. reply-4", to)
    expect(await findReply(place, "reply-4", to)).toMatchObject({ body: "Because. reply-4" })
    state().locked.add(901)
    expect((await read(place, to))?.isLocked).toBe(true)
  })

  it("reads a bounded number of requests from an endless host", async () => {
    let next = 0
    host.forge.intercept(({ path }) => {
      if (path === "/user") return fault.answered(200, { id: 1, login: "aicr", username: "aicr" })
      const user = { id: 7, login: "olga", username: "olga" }
      const items = Array.from({ length: 100 }, () => ({
        id: path.includes("discussions") ? `x${next++}` : next++,
        body: "b",
        notes: [],
        user,
        author: user,
        state: "COMMENT",
        comments_count: 1,
        created_at: "2026-01-01T00:00:00Z"
      }))
      if (path.endsWith("/issues/1")) return fault.answered(200, { comments: 10 ** 9, locked: false })
      if (/\/issues\/comments\/\d+$/.test(path)) return fault.answered(204, undefined)
      return fault.answered(200, items, { link: '<next>; rel="next"', "x-next-page": "2" })
    })
    const requests = await requestsOf(() =>
      run(
        conversations().read(host.repo, target(), {
          id: kind === "github" ? "line-999999999" : "999999999",
          on: "pull_request",
          kind: kind === "github" ? "line" : "general"
        })
      )
    )
    expect(requests.length).toBeLessThanOrEqual(175)
  })
})

/** Requests of a reply in a thread, and of one below the change: the conversation, a reaction, and the text, which is searched for before it is written. */
const replyRequests: Readonly<Record<ForgeKind, Readonly<Record<"thread" | "below", ReadonlyArray<string>>>>> = {
  github: {
    thread: [
      "GET issues/1",
      "GET pulls/1/comments",
      "POST graphql",
      "POST pulls/comments/N/reactions",
      "GET pulls/1/comments",
      "POST pulls/1/comments/N/replies"
    ],
    below: [
      "GET issues/1",
      "GET issues/1/comments",
      "POST issues/comments/N/reactions",
      "GET issues/1/comments",
      "POST issues/1/comments"
    ]
  },
  gitea: {
    thread: [
      "GET issues/comments/N",
      "GET pulls/1/reviews",
      "GET pulls/1/reviews/N/comments",
      "GET issues/1",
      "POST issues/comments/N/reactions",
      "GET issues/1/comments",
      "GET pulls/1/reviews",
      "GET pulls/1/reviews/N/comments",
      "POST pulls/1/reviews"
    ],
    below: [
      "GET issues/comments/N",
      "GET issues/1",
      "GET issues/1/comments",
      "POST issues/comments/N/reactions",
      "GET issues/1/comments",
      "POST issues/1/comments"
    ]
  },
  forgejo: {
    thread: [
      "GET issues/comments/N",
      "GET pulls/1/reviews",
      "GET pulls/1/reviews/N/comments",
      "GET issues/1",
      "POST issues/comments/N/reactions",
      "GET issues/1/comments",
      "GET pulls/1/reviews",
      "GET pulls/1/reviews/N/comments",
      "POST pulls/1/reviews/N/comments"
    ],
    below: [
      "GET issues/comments/N",
      "GET issues/1",
      "GET issues/1/comments",
      "POST issues/comments/N/reactions",
      "GET issues/1/comments",
      "POST issues/1/comments"
    ]
  },
  gitlab: {
    thread: [
      "GET merge_requests/1/discussions/N",
      "GET merge_requests/1",
      "POST merge_requests/1/notes/N/award_emoji",
      "GET merge_requests/1/discussions/N",
      "POST merge_requests/1/discussions/N/notes"
    ],
    below: [
      "GET merge_requests/1/discussions/N",
      "GET merge_requests/1",
      "GET merge_requests/1/notes",
      "POST merge_requests/1/notes/N/award_emoji",
      "GET merge_requests/1/discussions/N",
      "POST merge_requests/1/discussions/N/notes"
    ]
  }
}

describe.each(ForgeKind.literals)("a reply at %s", (kind) => {
  it.each(["thread", "below"] as const)("costs exactly these requests: %s", async (where) => {
    await begin(kind)
    const place = where === "thread" ? replyOf(kind, await post("A finding"), "Why?") : below(kind, "@aicr why?")
    await run(host.client.self)
    const requests = await requestsOf(async () => {
      await read(place)
      const { react } = conversations()
      if (react !== undefined) await run(react(host.repo, target(), place, "eyes"))
      await findReply(place, "reply-7")
      await reply(place, "Because. reply-7")
    })
    const shown = requests.map((path) =>
      path
        .replace(/\/(?:api\/)?(?:repos\/team\/shop\/|projects\/team%2Fshop\/)?/, "")
        .replace(/(comments|reviews|discussions|notes)\/d?\d+/, "$1/N")
    )
    expect(shown).toEqual(replyRequests[kind][where])
  })
})

it.each(["gitea", "forgejo", "gitlab"] as const)("reads whether a thread of %s is resolved", async (kind) => {
  await begin(kind)
  const comment = await post("A finding")
  const place = replyOf(kind, comment, "Why?")
  expect((await read(place))?.isResolved).toBe(false)
  getThread(comment).resolver = dana
  expect((await read(place))?.isResolved).toBe(true)
})

it("reads whether a thread of github is resolved, where the credential permits it", async () => {
  await begin("github")
  const comment = await post("A finding")
  const place = replyOf("github", comment, "Why?")
  host.forge.fail("/api/graphql", fault.forbidden)
  expect((await read(place))?.isResolved).toBe(false)
  getThread(comment).resolver = dana
  expect((await read(place))?.isResolved).toBe(true)
})

it("replies to the text of a review below the change", async () => {
  await begin("github")
  const { forge, pull } = host
  const review = {
    id: forge.state.nextId(),
    user: dana,
    state: "COMMENT",
    commit: pull.head,
    createdAt: forge.state.now()
  }
  pull.reviews.push({ ...review, body: "@aicr is this all?", comments: [] })
  const place = { id: `review-${review.id}`, on: "pull_request", kind: "review" } as const
  expect((await read(place))?.comments).toMatchObject([{ id: place.id, body: "@aicr is this all?" }])
  await reply(place, "It is.")
  expect(pull.comments.map(({ body }) => body)).toEqual(["It is."])
  const { react } = conversations()
  if (react !== undefined) await run(react(host.repo, target(), place, "eyes"))
  expect(state().reactions).toEqual([])
})

it("talks about a commit at github", async () => {
  await begin("github")
  const { commitComments } = host.forge.issues(repoName)
  const { head } = host.pull
  commitComments.push({ id: 5, sha: head, body: "@aicr why?", user: dana })
  const place = { id: "commit-5", on: "commit", kind: "general" } as const
  const to = { number: undefined, head }
  const found = await run(conversations().read(host.repo, to, place))
  expect(found?.comments).toMatchObject([{ id: "commit-5", author: { username: "dana" } }])
  const { hostId } = await run(conversations().reply(host.repo, to, place, "Because. reply-5"))
  expect(hostId).toMatch(/^commit-\d+$/)
  expect(await run(conversations().findReply(host.repo, to, place, "reply-5"))).toMatchObject({
    body: "Because. reply-5"
  })
})

it("talks about a commit at gitlab", async () => {
  await begin("gitlab")
  const { head } = host.pull
  host.forge.issues(repoName).commitComments.push({ id: 5, sha: head, body: "@aicr why?", user: dana })
  const place = { id: "5", on: "commit", kind: "general" } as const
  const to = { number: undefined, head }
  expect((await run(conversations().read(host.repo, to, place)))?.comments).toMatchObject([{ id: "5" }])
  await run(conversations().reply(host.repo, to, place, "Because. reply-6"))
  expect(await run(conversations().findReply(host.repo, to, place, "reply-6"))).toMatchObject({
    body: "Because. reply-6"
  })
})

it("hides internal notes of gitlab from a conversation that everybody reads", async () => {
  await begin("gitlab")
  const inner = below("gitlab", "A secret of members")
  const open = below("gitlab", "@aicr tell me")
  state().internal.add(Number(inner.id))
  host.forge.fail(
    /\/notes$/,
    fault.answered(200, [
      {
        id: Number(inner.id),
        body: "A secret of members",
        author: { id: 3, username: "dana" },
        created_at: "2026-01-01T00:00:00Z",
        internal: true
      }
    ])
  )
  expect((await read(open))?.comments.map(({ body }) => body)).toEqual(["@aicr tell me"])
  expect((await read(inner))?.comments.map(({ body }) => body)).toContain("A secret of members")
})

describe.each(["gitea", "forgejo"] as const)("%s", (kind) => {
  it("replies below the change where a draft is pending or the line is refused", async () => {
    await begin(kind)
    const comment = await post("A finding")
    const place = replyOf(kind, comment, "Why?")
    host.forge.fail(/^POST .*reviews\/\d+\/comments$/, fault.missing, 2)
    const { pull } = host
    const pending = {
      id: 800,
      user: host.forge.user("aicr"),
      state: "PENDING",
      body: "",
      commit: pull.head,
      createdAt: ""
    }
    pull.pendingReviews.push({ ...pending, comments: [{ ...comment, id: 801, body: "of a person" }] })
    await reply(place, "Because.")
    expect(pull.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(/^http\S+#issuecomment-\d+\n\nBecause\.$/)
    ])
    expect(pull.pendingReviews).toHaveLength(1)
    pull.pendingReviews.length = 0
    host.forge.fail(/^POST .*reviews$/, fault.invalid)
    await reply(place, "Again.")
    expect(pull.comments).toHaveLength(2)
  })

  it("finds a reply to an old review, however often the account has replied since", async () => {
    await begin(kind)
    const comment = await post("A finding")
    const [first] = host.pull.reviews
    if (first === undefined) throw new Error("no review")
    for (let i = 0; i < 60; i++)
      host.pull.reviews.push({
        ...first,
        id: host.forge.state.nextId(),
        comments: [{ ...comment, id: host.forge.state.nextId(), body: `reply ${i}` }]
      })
    const place = replyOf(kind, comment, "And now?")
    const found = await read(place)
    expect(found?.comments.at(-1)).toMatchObject({ id: place.id, body: "And now?" })
    expect(found?.comments[0]).toMatchObject({ body: `A finding\n\n${mark}` })
  })

  it("finds a comment in a review of a person", async () => {
    await begin(kind)
    const comment = await post("A finding")
    const { forge, pull } = host
    const own = { ...comment, id: forge.state.nextId(), line: 19, body: "@aicr look here" }
    const review = {
      id: forge.state.nextId(),
      user: dana,
      state: "COMMENT",
      body: "",
      commit: pull.head,
      createdAt: forge.state.now()
    }
    pull.reviews.push({ ...review, comments: [own] })
    const found = await read({ id: String(own.id), on: "pull_request", kind: "general" })
    expect(found).toMatchObject({ line: 19, comments: [{ body: "@aicr look here", isOwn: false }] })
  })
})
