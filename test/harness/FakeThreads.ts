/** State of inline comments at the hosts: edits, replies, resolution, reactions. Added to the dialects of the fake forge. */
import { findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull, DemoReviewComment, DemoUser } from "../../demo/DemoForgeState.ts"
import { field, isList, isNumber, isObject, isText } from "./Fields.ts"

export interface FakeReply {
  readonly user: DemoUser
  readonly body: string
  /** Replies that were written over the API have an id and a time. */
  readonly id?: number
  readonly createdAt?: string
}

export interface FakeThread {
  /** Text after an edit. */
  body: string | undefined
  resolver: DemoUser | undefined
  /** Requests that resolved it. */
  timesResolved: number
  answers: Array<FakeReply>
  readonly thumbsDown: Array<DemoUser>
}

const threads = new WeakMap<DemoReviewComment, FakeThread>()
export const getThread = (comment: DemoReviewComment): FakeThread => {
  const known = threads.get(comment) ?? {
    body: undefined,
    resolver: undefined,
    timesResolved: 0,
    answers: [],
    thumbsDown: []
  }
  threads.set(comment, known)
  return known
}

const inlineOf = (pull: DemoPull) =>
  pull.reviews.flatMap((review) => review.comments.map((comment) => ({ comment, review })))

const pullsOf = (context: ApiContext): ReadonlyArray<DemoPull> => [
  ...(findRepository(context)?.pulls.values() ??
    [...context.state.repositories.values()].flatMap((repository) => [...repository.pulls.values()]))
]

export const commentNumbered = (context: ApiContext, id: number): DemoReviewComment | undefined =>
  pullsOf(context)
    .flatMap(inlineOf)
    .find(({ comment }) => comment.id === id)?.comment

/** Adds the state of the comment to every item of a list with the same id. */
const enriched = (
  context: ApiContext,
  answer: ApiAnswer,
  add: (comment: DemoReviewComment, thread: FakeThread) => object
) => {
  if (!isList(answer.body)) return answer
  const body = answer.body.flatMap((item) => {
    const id = field(item, "id", isNumber)
    const comment = id === undefined ? undefined : commentNumbered(context, id)
    return isObject(item) && comment !== undefined ? [{ ...item, ...add(comment, getThread(comment)) }] : [item]
  })
  return { ...answer, body }
}

export const over = (route: DemoRoute, change: (context: ApiContext, answer: ApiAnswer) => ApiAnswer): DemoRoute => ({
  ...route,
  answer: async (context) => change(context, await route.answer(context))
})

const edit = (context: ApiContext): ApiAnswer | undefined => {
  const id = Number(context.params["id"])
  const comment = commentNumbered(context, id)
  const body = field(context.request.body, "body", isText)
  if (comment === undefined || body === undefined) return undefined
  getThread(comment).body = body
  const { login } = context.request.user
  return {
    status: 200,
    body: {
      id,
      body,
      user: { id: context.request.user.id, login },
      author: { id: context.request.user.id, username: login }
    }
  }
}

/** Replies of people: on GitHub replies, on Gitea further comments of the review that they reply to. */
const answersTo = (comment: DemoReviewComment, thread: FakeThread) =>
  thread.answers.map(({ user, body, createdAt, id }, i) => ({
    id: id ?? comment.id * 1000 + i,
    body,
    created_at: createdAt ?? "2026-01-01T00:00:00Z",
    path: comment.path,
    position: comment.side === "new" ? comment.line : 0,
    original_position: comment.side === "old" ? comment.line : 0,
    in_reply_to_id: comment.id,
    user: { id: user.id, login: user.login, type: user.login.endsWith("[bot]") ? "Bot" : "User" },
    resolver: null
  }))

const withAnswers = (context: ApiContext, answer: ApiAnswer): ApiAnswer => {
  if (!isList(answer.body)) return answer
  const isDescending = context.request.query.get("direction") === "desc"
  const answers = answer.body.flatMap((item) => {
    const comment = commentNumbered(context, field(item, "id", isNumber) ?? 0)
    return comment === undefined ? [] : answersTo(comment, getThread(comment))
  })
  const body = [...answer.body, ...answers]
  return { ...answer, body: isDescending ? body.toReversed() : body }
}

const gitea = (route: DemoRoute): DemoRoute => {
  if (route.method === "GET" && route.path.endsWith("/pulls/{index}/reviews")) {
    return over(route, (context, answer) => {
      const pulls = pullsOf(context)
      const ids = new Set(pulls.flatMap((pull) => [...(dismissedReviews.get(pull) ?? [])]))
      const reviews = new Map(pulls.flatMap((pull) => pull.reviews.map((review) => [review.id, review] as const)))
      const withReplies = (one: object) => {
        const id = field(one, "id", isNumber) ?? 0
        const comments = reviews.get(id)?.comments
        const count = comments?.reduce((sum, comment) => sum + 1 + getThread(comment).answers.length, 0)
        return { ...one, dismissed: ids.has(id), ...(count === undefined ? {} : { comments_count: count }) }
      }
      const body = isList(answer.body)
        ? answer.body.map((one) => (isObject(one) ? withReplies(one) : one))
        : answer.body
      return { ...answer, body }
    })
  }
  if (route.method === "GET" && route.path.endsWith("/reviews/{id}/comments")) {
    return over(route, (context, answer) =>
      withAnswers(
        context,
        enriched(context, answer, (comment, { body, resolver }) => ({
          body: body ?? comment.body,
          resolver: resolver === undefined ? null : { id: resolver.id, login: resolver.login }
        }))
      )
    )
  }
  if (route.method !== "PATCH" || !route.path.endsWith("/issues/comments/{id}")) return route
  return { ...route, answer: (context) => edit(context) ?? route.answer(context) }
}

const github = (route: DemoRoute): DemoRoute =>
  route.method === "GET" && route.path.endsWith("/pulls/{number}/comments")
    ? over(route, (context, answer) =>
        withAnswers(
          context,
          enriched(context, answer, (comment, { body, thumbsDown }) => ({
            body: body ?? comment.body,
            reactions: { "+1": 0, "-1": thumbsDown.length }
          }))
        )
      )
    : route

const gitlab = (route: DemoRoute): DemoRoute => {
  if (route.method === "PUT" && route.path.endsWith("/notes/{note}"))
    return {
      ...route,
      answer: (context) =>
        edit({ ...context, params: { ...context.params, id: context.params["note"] ?? "" } }) ?? route.answer(context)
    }
  if (route.method !== "GET" || !route.path.endsWith("/discussions")) return route
  return over(route, (context, answer) => {
    if (!isList(answer.body)) return answer
    const body = answer.body.map((item) => {
      const id = Number((field(item, "id", isText) ?? "").slice(1))
      const comment = commentNumbered(context, id)
      const [note] = field(item, "notes", isList) ?? []
      if (comment === undefined || !isObject(note)) return item
      const { answers, body: edited, resolver } = getThread(comment)
      const line = comment.side === "new" ? { new_line: comment.line } : { old_line: comment.line }
      const position = { new_path: comment.path, old_path: comment.path, ...line }
      const resolved =
        resolver === undefined
          ? { resolved: false }
          : { resolved: true, resolved_by: { id: resolver.id, username: resolver.login } }
      const others = answers.map((reply, i) => ({
        id: reply.id ?? comment.id * 1000 + i,
        created_at: reply.createdAt ?? "2026-01-01T00:00:00Z",
        body: reply.body,
        author: { id: reply.user.id, username: reply.user.login },
        system: false
      }))
      return { id: `d${id}`, notes: [{ ...note, body: edited ?? comment.body, position, ...resolved }, ...others] }
    })
    return { ...answer, body }
  })
}

/** One comment on a pull request. */
const readComment = (context: ApiContext, param: string): ApiAnswer | undefined => {
  const id = Number(context.params[param])
  const comment = pullsOf(context)
    .flatMap(({ comments }) => comments)
    .find((one) => one.id === id)
  if (comment === undefined) return undefined
  const { login } = comment.user
  const user = { id: comment.user.id, login, username: login }
  return { status: 200, body: { id, body: comment.body, user, author: user, created_at: comment.createdAt } }
}

const reactions = (context: ApiContext): ApiAnswer | undefined => {
  const comment = commentNumbered(context, Number(context.params["id"]))
  if (comment === undefined) return undefined
  const body = getThread(comment).thumbsDown.map(({ id, login }) => ({ id, content: "-1", user: { id, login } }))
  return { status: 200, body }
}

const dismissedReviews = new WeakMap<DemoPull, Set<number>>()

/** A dismissed review: on GitHub another state, on Gitea a mark. */
const dismissal = (context: ApiContext, field_: "number" | "index", state: string): ApiAnswer | undefined => {
  const pull = findRepository(context)?.pulls.get(Number(context.params[field_]))
  const at = pull?.reviews.findIndex(({ id }) => id === Number(context.params["id"])) ?? -1
  const review = pull?.reviews[at]
  if (pull === undefined || review === undefined || field(context.request.body, "message", isText) === undefined) {
    return undefined
  }
  pull.reviews[at] = { ...review, state }
  dismissedReviews.set(pull, (dismissedReviews.get(pull) ?? new Set()).add(review.id))
  return { status: 200, body: { id: review.id, state, body: review.body, dismissed: true } }
}

const kinds = { gitea, github, gitlab } as const

export const withThreads = (kind: keyof typeof kinds, dialect: DemoDialect): DemoDialect => {
  const notFound: ApiAnswer = { status: 404, body: dialect.error("Not Found") }
  const singleComment: DemoRoute = {
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    answer: (context) => readComment(context, "id") ?? notFound
  }
  const more: ReadonlyArray<DemoRoute> =
    kind === "github"
      ? [
          {
            method: "PATCH",
            path: "/repos/{owner}/{repo}/pulls/comments/{id}",
            answer: (context) => edit(context) ?? notFound
          },
          singleComment,
          {
            method: "PUT",
            path: "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals",
            answer: (context) => dismissal(context, "number", "DISMISSED") ?? notFound
          },
          {
            method: "GET",
            path: "/repos/{owner}/{repo}/pulls/comments/{id}/reactions",
            answer: (context) => reactions(context) ?? notFound
          }
        ]
      : kind === "gitlab"
        ? [
            {
              method: "GET",
              path: "/projects/{project}/merge_requests/{iid}/notes/{note}",
              answer: (context) => readComment(context, "note") ?? notFound
            },
            {
              method: "PUT",
              path: "/projects/{project}/merge_requests/{iid}/discussions/{discussion}",
              answer: (context) => {
                const comment = commentNumbered(context, Number((context.params["discussion"] ?? "").slice(1)))
                if (comment === undefined) return notFound
                const isResolved = field(context.request.body, "resolved", (value) => value === true) === true
                getThread(comment).resolver = isResolved ? context.request.user : undefined
                if (isResolved) getThread(comment).timesResolved++
                return { status: 200, body: {} }
              }
            }
          ]
        : [
            singleComment,
            {
              method: "POST",
              path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals",
              answer: (context) => dismissal(context, "index", "REQUEST_CHANGES") ?? notFound
            }
          ]
  const description: DemoRoute = {
    method: "PATCH",
    path: "/repos/{owner}/{repo}/pulls/{number}",
    answer: (context) => {
      const pull = pullsOf(context).find(({ number }) => number === Number(context.params["number"]))
      const text = field(context.request.body, "body", isText)
      if (pull === undefined || text === undefined) return notFound
      pull.description = text
      return { status: 200, body: {} }
    }
  }
  // The others have it.
  const missing = kind === "github" ? [description] : []
  return { ...dialect, routes: [...dialect.routes.map(kinds[kind]), ...more, ...missing] }
}
