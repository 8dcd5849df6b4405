/** Conversations at the hosts: single comments, replies in threads, reactions, locks and visibility. Added to the dialects of the fake forge. */
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import { findRepository } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull, DemoRepository, DemoUser } from "../../demo/DemoForgeState.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { getIssues } from "./FakeIssues.ts"
import { commentNumbered, getThread, over } from "./FakeThreads.ts"
import type { FakeReply } from "./FakeThreads.ts"
import { field, isList, isNumber, isObject, isText } from "./Fields.ts"

interface FakeHostConversations {
  /** Numbers of changes and issues on which only members may comment. */
  readonly locked: Set<number>
  readonly reactions: Array<{ readonly comment: number; readonly content: string; readonly login: string }>
  visibility: "private" | "internal" | "public"
  /** Replies at GitLab to comments that are not at lines, by the id of the first one. */
  readonly replies: Map<number, Array<FakeReply>>
  /** Internal notes of GitLab. */
  readonly internal: Set<number>
}

const all = new WeakMap<DemoRepository, FakeHostConversations>()
export const getConversations = (repository: DemoRepository): FakeHostConversations => {
  const known: FakeHostConversations = all.get(repository) ?? {
    locked: new Set(),
    reactions: [],
    visibility: "private",
    replies: new Map(),
    internal: new Set()
  }
  all.set(repository, known)
  return known
}

const repositoryIn = (context: ApiContext): DemoRepository | undefined =>
  findRepository(context) ??
  [...context.state.repositories.values()].find(({ fullName, id }) =>
    [fullName, String(id)].includes(context.params["project"] ?? context.params["id"] ?? "")
  )

const on =
  (answer: (context: ApiContext, repository: DemoRepository) => ApiAnswer | Promise<ApiAnswer>): DemoRoute["answer"] =>
  (context) => {
    const repository = repositoryIn(context)
    return repository === undefined ? notFound : answer(context, repository)
  }

const notFound: ApiAnswer = { status: 404, body: { message: "Not Found" } }
const created = (body: unknown): ApiAnswer => ({ status: 201, body })
const at = "2026-01-01T00:00:00Z"

const toUser = ({ id, login, name }: DemoUser) => ({
  id,
  login,
  username: login,
  name,
  type: login.endsWith("[bot]") ? "Bot" : "User"
})

interface AnyNote {
  readonly id: number
  readonly kind: "general" | "line" | "review" | "commit"
  readonly body: string
  readonly user: DemoUser
  readonly createdAt: string
}

const notesOn = (repository: DemoRepository): ReadonlyArray<AnyNote> => [
  ...[...repository.pulls.values()].flatMap((pull) => [
    ...pull.comments.map((comment) => ({ ...comment, kind: "general" as const })),
    ...pull.reviews.map((review) => ({ ...review, kind: "review" as const })),
    ...pull.reviews.flatMap((review) =>
      review.comments.flatMap((comment) => [
        { ...comment, kind: "line" as const, user: review.user, createdAt: review.createdAt },
        ...getThread(comment).answers.map((reply, i) => ({
          ...reply,
          id: reply.id ?? comment.id * 1000 + i,
          createdAt: reply.createdAt ?? at,
          kind: "line" as const
        }))
      ])
    )
  ]),
  ...getIssues(repository).issues.flatMap(({ texts }) =>
    texts.map((text) => ({ ...text, createdAt: at, kind: "general" as const }))
  ),
  ...getIssues(repository).commitComments.map((one) => ({ ...one, createdAt: at, kind: "commit" as const }))
]

const findNote = (repository: DemoRepository, id: string | undefined, ...kinds: ReadonlyArray<AnyNote["kind"]>) =>
  notesOn(repository).find((note) => String(note.id) === id && kinds.includes(note.kind))

/** Adds a reaction, once, to a comment of these kinds. `again`: the response to a second one. */
const reaction = (name: "content" | "name", again: ApiAnswer, ...kinds: ReadonlyArray<AnyNote["kind"]>) =>
  on((context, repository) => {
    const content = field(context.request.body, name, isText)
    const id = context.params["comment"]
    const isReply = [...getConversations(repository).replies.values()].flat().some((one) => String(one.id) === id)
    if (content === undefined || (!isReply && findNote(repository, id, ...kinds) === undefined)) return notFound
    const { reactions } = getConversations(repository)
    const { login } = context.request.user
    const own = { comment: Number(id), content, login }
    if (reactions.some((one) => JSON.stringify(one) === JSON.stringify(own))) return again
    reactions.push(own)
    return created({ id: reactions.length, content, name: content })
  })

const pullNumbered = (context: ApiContext, repository: DemoRepository): DemoPull | undefined =>
  repository.pulls.get(Number(context.params["number"]))

/** Writes a reply to a comment at a line. */
const replyTo = (context: ApiContext, id: number): FakeReply & { readonly id: number } => {
  const comment = commentNumbered(context, id)
  const { state, request } = context
  const reply = {
    id: state.nextId(),
    user: request.user,
    body: field(request.body, "body", isText) ?? "",
    createdAt: state.now()
  }
  if (comment !== undefined) getThread(comment).answers.push(reply)
  state.version++
  return reply
}

const repo = "/repos/{owner}/{repo}"

/** The state of the conversation below a change or an issue. */
const lockable = (dialect: DemoDialect, name: "locked" | "is_locked"): DemoRoute => ({
  method: "GET",
  path: `${repo}/issues/{number}`,
  answer: on(async (context, repository) => {
    const locked = getConversations(repository).locked.has(Number(context.params["number"]))
    const pull = pullNumbered(context, repository)
    if (pull !== undefined) {
      const { comments, number, title } = pull
      return { status: 200, body: { number, title, state: pull.state, comments: comments.length, [name]: locked } }
    }
    const own = dialect.routes.find(({ method, path }) => method === "GET" && path === `${repo}/issues/{number}`)
    const answer = (await own?.answer(context)) ?? notFound
    return isObject(answer.body) ? { ...answer, body: { ...answer.body, [name]: locked } } : answer
  })
})

const readReview: DemoRoute = {
  method: "GET",
  path: `${repo}/pulls/{number}/reviews/{id}`,
  answer: on((context, repository) => {
    const review = pullNumbered(context, repository)?.reviews.find(({ id }) => String(id) === context.params["id"])
    if (review === undefined) return notFound
    const { body, createdAt, id, user } = review
    const html_url = `${context.url}/x#issuecomment-${id}`
    return { status: 200, body: { id, body, user: toUser(user), submitted_at: createdAt, html_url, state: "COMMENT" } }
  })
}

const github = (dialect: DemoDialect): ReadonlyArray<DemoRoute> => {
  const react = (path: string, ...kinds: ReadonlyArray<AnyNote["kind"]>): DemoRoute => ({
    method: "POST",
    path: `${repo}/${path}/{comment}/reactions`,
    answer: reaction("content", { status: 200, body: {} }, ...kinds)
  })
  return [
    lockable(dialect, "locked"),
    readReview,
    react("issues/comments", "general"),
    react("pulls/comments", "line"),
    react("comments", "commit"),
    {
      method: "GET",
      path: `${repo}/issues/comments/{comment}`,
      answer: on((context, repository) => {
        const note = findNote(repository, context.params["comment"], "general")
        return note === undefined ? notFound : { status: 200, body: noteJson(note) }
      })
    },
    {
      method: "POST",
      path: `${repo}/pulls/{number}/comments/{comment}/replies`,
      answer: on((context, repository) => {
        const id = Number(context.params["comment"])
        // Only the first comment of a thread takes replies.
        if (pullNumbered(context, repository) === undefined || commentNumbered(context, id) === undefined)
          return notFound
        const reply = replyTo(context, id)
        return created({ ...noteJson(reply), in_reply_to_id: id, html_url: `${context.url}/x#discussion_r${reply.id}` })
      })
    }
  ]
}

const noteJson = ({ body, createdAt, id, user }: FakeReply) => ({
  id,
  body,
  user: toUser(user),
  created_at: createdAt
})

const gitea = (dialect: DemoDialect, isForgejo: boolean): ReadonlyArray<DemoRoute> => [
  lockable(dialect, "is_locked"),
  readReview,
  {
    method: "GET",
    path: `${repo}/issues/comments/{comment}`,
    answer: on((context, repository) => {
      const { comment } = context.params
      const note = findNote(repository, comment, "general")
      if (note !== undefined) return { status: 200, body: noteJson(note) }
      // The server has it, but returns only comments that are not at lines.
      return findNote(repository, comment, "line", "review") === undefined ? notFound : { status: 204 }
    })
  },
  {
    method: "POST",
    path: `${repo}/issues/comments/{comment}/reactions`,
    answer: reaction("content", { status: 200, body: {} }, "general", "line", "review")
  },
  ...(isForgejo
    ? [
        {
          method: "POST",
          path: `${repo}/pulls/{number}/reviews/{id}/comments`,
          answer: on((context, repository) => {
            const { body, user } = context.request
            const reviews = pullNumbered(context, repository)?.reviews
            const review = reviews?.find(({ id }) => String(id) === context.params["id"])
            const line = field(body, "new_position", isNumber) || (field(body, "old_position", isNumber) ?? 0)
            const first = review?.comments.find((one) => one.path === field(body, "path", isText) && one.line === line)
            if (review === undefined || first === undefined || review.user.login !== user.login) return notFound
            const reply = replyTo(context, first.id)
            return created({
              ...noteJson(reply),
              path: first.path,
              html_url: `${context.url}/x#issuecomment-${reply.id}`
            })
          })
        }
      ]
    : [])
]

const projects = "/projects/{project}"
const subjects = ["merge_requests/{number}", "issues/{number}", "repository/commits/{sha}"]

/** Notes of one discussion, the first one of which has the number in the id of the discussion. */
const discussionJson = (context: ApiContext, repository: DemoRepository, id: number) => {
  const first = findNote(repository, String(id), "general", "line", "commit")
  if (first === undefined) return undefined
  const comment = commentNumbered(context, id)
  const { internal, replies } = getConversations(repository)
  const others = comment === undefined ? (replies.get(id) ?? []) : getThread(comment).answers
  const toNote = (reply: FakeReply, i: number) => ({
    id: reply.id ?? id * 1000 + i,
    body: reply.body,
    author: toUser(reply.user),
    created_at: reply.createdAt ?? at,
    system: false,
    internal: internal.has(id)
  })
  const thread = comment && getThread(comment)
  const line = comment?.side === "new" ? { new_line: comment.line } : { old_line: comment?.line }
  const position = comment && { new_path: comment.path, old_path: comment.path, ...line }
  const start = { ...toNote(first, 0), id, body: thread?.body ?? first.body }
  const notes = [{ ...start, position, resolved: thread?.resolver !== undefined }, ...others.map(toNote)]
  return { id: `d${id}`, individual_note: comment === undefined && others.length === 0, notes }
}

const discussionNumber = ({ params }: ApiContext): number => Number((params["discussion"] ?? "").slice(1))

const locking = (route: DemoRoute): DemoRoute =>
  over(route, (context, answer) => {
    const repository = repositoryIn(context)
    const number = Number(context.params["iid"] ?? context.params["number"])
    if (repository === undefined || !isObject(answer.body)) return answer
    return { ...answer, body: { ...answer.body, discussion_locked: getConversations(repository).locked.has(number) } }
  })

const gitlabRoutes: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: `${projects}/issues/{number}/notes`,
    answer: on((context, repository) => {
      const issue = getIssues(repository).issues.find(({ number }) => String(number) === context.params["number"])
      const notes = issue?.texts.map((text) => ({ ...text, author: toUser(text.user), created_at: at, system: false }))
      return notes === undefined ? notFound : { status: 200, body: notes.toReversed() }
    })
  },
  ...subjects.flatMap((subject): ReadonlyArray<DemoRoute> => [
    {
      method: "GET",
      path: `${projects}/${subject}/discussions/{discussion}`,
      answer: on((context, repository) => {
        const discussion = discussionJson(context, repository, discussionNumber(context))
        return discussion === undefined ? notFound : { status: 200, body: discussion }
      })
    },
    {
      method: "POST",
      path: `${projects}/${subject}/discussions/{discussion}/notes`,
      answer: on((context, repository) => {
        const id = discussionNumber(context)
        if (discussionJson(context, repository, id) === undefined) return notFound
        const reply = replyTo(context, id)
        const { replies } = getConversations(repository)
        if (commentNumbered(context, id) === undefined) replies.set(id, [...(replies.get(id) ?? []), reply])
        return created({ id: reply.id, body: reply.body, author: toUser(reply.user), type: "DiscussionNote" })
      })
    },
    {
      method: "POST",
      path: `${projects}/${subject}/notes/{comment}/award_emoji`,
      answer: reaction(
        "name",
        { status: 404, body: { message: "404 Award Emoji Name has already been taken Not Found" } },
        "general",
        "line"
      )
    }
  ]),
  ...["issues/{number}", "repository/commits/{sha}"].map((subject) => ({
    method: "GET",
    path: `${projects}/${subject}/discussions`,
    answer: on((context, repository) => {
      const notes =
        context.params["sha"] === undefined
          ? getIssues(repository).issues.find(({ number }) => String(number) === context.params["number"])?.texts
          : getIssues(repository).commitComments.filter(({ sha }) => sha === context.params["sha"])
      return { status: 200, body: (notes ?? []).map(({ id }) => discussionJson(context, repository, id)) }
    })
  }))
]

const gitlab = (route: DemoRoute): DemoRoute => {
  if (route.method !== "GET") return route
  if (/\/(?:merge_requests\/\{iid\}|issues\/\{number\})$/.test(route.path)) return locking(route)
  if (route.path.endsWith("/merge_requests/{iid}/discussions"))
    return over(route, (context, answer) => {
      const repository = repositoryIn(context)
      if (repository === undefined || !isList(answer.body)) return answer
      const body = answer.body.map((item) => {
        const id = Number((field(item, "id", isText) ?? "").slice(1))
        return (getConversations(repository).replies.get(id)?.length ?? 0) > 0
          ? discussionJson(context, repository, id)
          : item
      })
      return { ...answer, body }
    })
  return route
}

/** Adds the visibility to the repository. */
const visible = (route: DemoRoute): DemoRoute =>
  route.method !== "GET" || (route.path !== repo && route.path !== "/projects/{id}")
    ? route
    : over(route, (context, answer) => {
        const repository = repositoryIn(context)
        if (repository === undefined || !isObject(answer.body) || !("id" in answer.body)) return answer
        const { visibility } = getConversations(repository)
        const isGithub = context.request.headers["x-github-api-version"] !== undefined
        const own = { visibility, private: visibility === "private" || (isGithub && visibility === "internal") }
        return { ...answer, body: { ...answer.body, ...own, internal: visibility === "internal" } }
      })

export const withConversations = (kind: ForgeKind, dialect: DemoDialect): DemoDialect => {
  const own = {
    github: () => github(dialect),
    gitea: () => gitea(dialect, false),
    forgejo: () => gitea(dialect, true),
    gitlab: () => gitlabRoutes
  }[kind]()
  return { ...dialect, routes: [...own, ...dialect.routes.map((route) => visible(gitlab(route)))] }
}
