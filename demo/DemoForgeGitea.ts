/** Gitea as the demo forge speaks it: the operations a reviewer needs, with Gitea's refusals and page sizes, and its signatures. */
import { createHmac } from "node:crypto"
import { git, hasCommit, logCommits } from "./DemoForgeGit.ts"
import { addComment, computeDiff, removePending, reviewsFor } from "./DemoForgeState.ts"
import type { DemoComment, DemoPull, DemoReview } from "./DemoForgeState.ts"
import { changeRoutes } from "./DemoForgeGiteaChanges.ts"
import { delivered } from "./DemoForgeGiteaEvents.ts"
import { talkRoutes } from "./DemoForgeGiteaTalk.ts"
import {
  commentJson,
  pullJson,
  repositoryJson,
  reviewCommentsJson,
  reviewJson,
  statusJson,
  userJson
} from "./DemoForgeGiteaJson.ts"
import { lineAt } from "./DemoForgeDiff.ts"
import { page, findRepository } from "./DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "./DemoForgeDialect.ts"

const refusal = (status: number, message: string): ApiAnswer => ({ status, body: error(message) })
const error = (message: string) => ({ message, url: "/api/swagger" })
const notFound = refusal(404, "The target couldn't be found.")
const pages = { name: "limit", standard: 30, most: 50 }

/** A field of a JSON body that is there with the type it should have. */
const field = <A>(body: unknown, name: string, is: (value: unknown) => value is A): A | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const value = new Map<string, unknown>(Object.entries(body)).get(name)
  return is(value) ? value : undefined
}
const isText = (value: unknown): value is string => typeof value === "string"
const isNumber = (value: unknown): value is number => typeof value === "number"
const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

const onPull =
  (
    param: string,
    answer: (context: ApiContext, pull: DemoPull) => ApiAnswer | Promise<ApiAnswer>
  ): DemoRoute["answer"] =>
  (context) => {
    const pull = findRepository(context)?.pulls.get(Number(context.params[param]))
    return pull === undefined ? notFound : answer(context, pull)
  }

const verdicts: Readonly<Record<string, string>> = {
  COMMENT: "COMMENT",
  APPROVED: "APPROVED",
  REQUEST_CHANGES: "REQUEST_CHANGES"
}

const createReview = async ({ state, request, url }: ApiContext, pull: DemoPull): Promise<ApiAnswer> => {
  const event = field(request.body, "event", isText) ?? ""
  const verdict = verdicts[event]
  if (verdict === undefined) return refusal(422, `review event "${event}" is not known`)
  const body = field(request.body, "body", isText) ?? ""
  const comments = field(request.body, "comments", isList) ?? []
  if (body.trim() === "" && comments.length === 0 && verdict !== "APPROVED") {
    return refusal(422, `review event ${event} requires a body or a comment`)
  }
  if (verdict !== "COMMENT" && request.user.login === pull.author.login) {
    return refusal(422, "approve or reject your own pull is not allowed")
  }
  const commit = field(request.body, "commit_id", isText) || pull.head
  const known = commit === pull.head || (await hasCommit(pull.repository.directory, commit))
  if (!known) return refusal(404, `commit ${commit} does not exist`)
  const files = await computeDiff(pull)
  const placed = comments.map((comment) => {
    const path = field(comment, "path", isText) ?? ""
    const oldLine = field(comment, "old_position", isNumber) ?? 0
    const newLine = field(comment, "new_position", isNumber) ?? 0
    const side = oldLine > 0 ? ("old" as const) : ("new" as const)
    const line = side === "old" ? oldLine : newLine
    const extra = field(comment, "extra_lines_count", isNumber) ?? 0
    const at = lineAt(files, path, side, line + extra)
    return {
      path,
      side,
      line: line + extra,
      startLine: extra > 0 ? line : undefined,
      at,
      body: field(comment, "body", isText) ?? ""
    }
  })
  const wrong = placed.find((comment) => comment.at === undefined)
  if (wrong !== undefined) return refusal(422, `line ${wrong.line} of ${wrong.path} is not part of the diff`)
  // As the server does: the comments are written one by one into the pending review of the account, which may exist already and
  // have other comments, and all of them are submitted with this commit.
  let transactions = request.transactions ?? Number.POSITIVE_INFINITY
  let pending = pull.pendingReviews.find(({ user }) => user.login === request.user.login)
  for (const { at, ...comment } of placed) {
    if (transactions-- <= 0) return refusal(500, "the server ended")
    if (pending === undefined) {
      const { user } = request
      pending = { id: state.nextId(), user, state: "PENDING", body: "", commit, createdAt: state.now(), comments: [] }
      pull.pendingReviews.push(pending)
    }
    pending.comments.push({ id: state.nextId(), hunk: at?.text ?? "", ...comment })
  }
  if (transactions <= 0) return refusal(500, "the server ended")
  if (pending !== undefined) removePending(pull, pending)
  const submitted = { state: verdict, body, commit, createdAt: state.now() }
  const review: DemoReview = {
    ...(pending ?? { id: state.nextId(), user: request.user, comments: [] }),
    ...submitted
  }
  pull.reviews.push(review)
  state.version++
  return { status: 200, body: reviewJson(review, pull, url) }
}

const deleteReview = ({ params, request }: ApiContext, pull: DemoPull): ApiAnswer => {
  const review = reviewsFor(pull, request.user).find(({ id }) => id === Number(params["id"]))
  if (review === undefined) return notFound
  if (review.state === "PENDING") removePending(pull, review)
  else pull.reviews.splice(pull.reviews.indexOf(review), 1)
  return { status: 204 }
}

const editComment = (context: ApiContext): ApiAnswer => {
  const id = Number(context.params["id"])
  for (const pull of findRepository(context)?.pulls.values() ?? []) {
    const comment = pull.comments.find((candidate) => candidate.id === id)
    if (comment === undefined) continue
    if (comment.user.login !== context.request.user.login) return refusal(403, "user should be the comment's author")
    comment.body = field(context.request.body, "body", isText) ?? comment.body
    comment.updatedAt = context.state.now()
    context.state.version++
    return { status: 200, body: commentJson(comment, pull, context.url) }
  }
  return editLineComment(context, id)
}

/** Comments at lines are edited like comments of the pull request. */
const editLineComment = (context: ApiContext, id: number): ApiAnswer => {
  for (const pull of findRepository(context)?.pulls.values() ?? [])
    for (const review of pull.reviews) {
      const comment = review.comments.find((candidate) => candidate.id === id)
      if (comment === undefined) continue
      const { login } = comment.reply?.user ?? review.user
      if (login !== context.request.user.login) return refusal(403, "user should be the comment's author")
      comment.body = field(context.request.body, "body", isText) ?? comment.body
      context.state.version++
      return { status: 200, body: reviewCommentsJson(review, pull, context.url).find((one) => one.id === id) }
    }
  return notFound
}

const createStatus = async (context: ApiContext): Promise<ApiAnswer> => {
  const repository = findRepository(context)
  const sha = context.params["sha"] ?? ""
  if (repository === undefined) return notFound
  const state = field(context.request.body, "state", isText) ?? ""
  if (!["pending", "success", "error", "failure", "warning"].includes(state)) return refusal(422, `state "${state}"`)
  const status = {
    id: context.state.nextId(),
    context: field(context.request.body, "context", isText) ?? "default",
    state,
    description: field(context.request.body, "description", isText) ?? "",
    targetUrl: field(context.request.body, "target_url", isText) ?? "",
    user: context.request.user,
    createdAt: context.state.now()
  }
  repository.statuses.set(sha, [...(repository.statuses.get(sha) ?? []), status])
  context.state.version++
  return {
    status: 201,
    body: statusJson(status, repository, sha, context.url)
  }
}

const commits = async (context: ApiContext): Promise<ApiAnswer> => {
  const repository = findRepository(context)
  if (repository === undefined) return notFound
  const ref = context.request.query.get("sha") ?? repository.defaultBranch
  const most = Math.min(50, Number(context.request.query.get("limit")) || 30)
  const other = context.request.query.get("not")
  const range = ["--end-of-options", ref, ...(other === null ? [] : [`^${other}`])]
  const skipped = most * (Number(context.request.query.get("page") ?? 1) - 1)
  const log = await logCommits(repository.directory, [`--max-count=${most}`, `--skip=${skipped}`, ...range])
  if (log === undefined) return notFound
  const total = other === null ? undefined : await git(repository.directory, ["rev-list", "--count", ...range])
  return {
    status: 200,
    headers: total === undefined ? {} : { "x-total-count": total.trim() },
    body: log.map(({ committedAt, email, id, message, name }) => ({
      sha: id,
      created: committedAt,
      author: null,
      commit: { message, author: { name, email } }
    }))
  }
}

const branch = async (context: ApiContext): Promise<ApiAnswer> => {
  const repository = findRepository(context)
  const name = context.params["branch"] ?? ""
  if (repository === undefined) return notFound
  const id = await git(repository.directory, ["rev-parse", "--verify", `refs/heads/${name}^{commit}`]).catch(() => "")
  if (id === "") return notFound
  const isProtected = repository.protectedBranches.has(name)
  return { status: 200, body: { name, protected: isProtected, commit: { id: id.trim() } } }
}

const permission = (context: ApiContext): ApiAnswer => {
  const repository = findRepository(context)
  const login = context.params["collaborator"] ?? ""
  if (repository === undefined) return notFound
  const own = repository.permissions.get(context.request.user.login)
  if (own !== "admin" && own !== "owner" && login !== context.request.user.login) {
    return refusal(
      403,
      "Only admins can query all permissions, repo admins can query all repo permissions, users can query only their permissions"
    )
  }
  const granted = repository.permissions.get(login) ?? "read"
  const user = userJson(context.state.user(login), context.url)
  return { status: 200, body: { permission: granted, role_name: granted, user } }
}

/** Both limits are inclusive, in whole seconds. */
const isUpdatedWithin = (query: URLSearchParams) => {
  const toSeconds = (time: string) => Math.floor(Date.parse(time) / 1000)
  const since = toSeconds(query.get("since") ?? "1970-01-01")
  const before = toSeconds(query.get("before") ?? "9999-01-01")
  return ({ updatedAt }: DemoComment): boolean => toSeconds(updatedAt) >= since && toSeconds(updatedAt) <= before
}

const repo = "/repos/{owner}/{repo}"
const routes: ReadonlyArray<DemoRoute> = [
  { method: "GET", path: "/version", answer: () => ({ status: 200, body: { version: "1.27.0+demo" } }) },
  {
    method: "GET",
    path: "/user",
    answer: ({ request, url }) => ({ status: 200, body: userJson(request.user, url) })
  },
  {
    method: "GET",
    path: repo,
    answer: (context) => {
      const found = findRepository(context)
      return found === undefined ? notFound : { status: 200, body: repositoryJson(found, context.url, context.state) }
    }
  },
  { method: "GET", path: `${repo}/commits`, answer: commits },
  { method: "GET", path: `${repo}/branches/{branch}`, answer: branch },
  { method: "GET", path: `${repo}/collaborators/{collaborator}/permission`, answer: permission },
  {
    method: "GET",
    path: `${repo}/teams`,
    answer: () => refusal(405, "repo is not owned by an organization")
  },
  {
    method: "GET",
    path: `${repo}/pulls`,
    answer: (context) => {
      const found = findRepository(context)
      if (found === undefined) return notFound
      const wanted = context.request.query.get("state") ?? "open"
      const pulls = [...found.pulls.values()].filter(({ state }) => wanted === "all" || state === wanted)
      const { items, headers } = page(context, pulls.toReversed(), pages)
      return { status: 200, headers, body: items.map((pull) => pullJson(pull, context.url, context.state)) }
    }
  },
  {
    method: "GET",
    path: `${repo}/pulls/{index}`,
    answer: onPull("index", ({ url, state }, pull) => ({ status: 200, body: pullJson(pull, url, state) }))
  },
  {
    method: "PATCH",
    path: `${repo}/pulls/{index}`,
    answer: onPull("index", ({ request, state, url }, pull) => {
      pull.description = field(request.body, "body", isText) ?? pull.description
      state.version++
      return { status: 201, body: pullJson(pull, url, state) }
    })
  },
  {
    method: "GET",
    path: `${repo}/pulls/{index}/reviews`,
    answer: onPull("index", (context, pull) => {
      const { items, headers } = page(context, reviewsFor(pull, context.request.user), pages)
      return { status: 200, headers, body: items.map((review) => reviewJson(review, pull, context.url)) }
    })
  },
  { method: "POST", path: `${repo}/pulls/{index}/reviews`, answer: onPull("index", createReview) },
  { method: "DELETE", path: `${repo}/pulls/{index}/reviews/{id}`, answer: onPull("index", deleteReview) },
  {
    method: "GET",
    path: `${repo}/pulls/{index}/reviews/{id}/comments`,
    answer: onPull("index", ({ params, request, url }, pull) => {
      const review = reviewsFor(pull, request.user).find((candidate) => candidate.id === Number(params["id"]))
      return review === undefined ? notFound : { status: 200, body: reviewCommentsJson(review, pull, url) }
    })
  },
  {
    method: "GET",
    path: `${repo}/issues/{index}/comments`,
    answer: onPull("index", ({ request, url }, pull) => ({
      status: 200,
      body: pull.comments.filter(isUpdatedWithin(request.query)).map((comment) => commentJson(comment, pull, url))
    }))
  },
  {
    method: "POST",
    path: `${repo}/issues/{index}/comments`,
    answer: onPull("index", ({ state, request, url }, pull) => {
      const body = field(request.body, "body", isText) ?? ""
      if (body.trim() === "") return refusal(422, "[Body]: Required")
      return { status: 201, body: commentJson(addComment(state, pull, request.user, body), pull, url) }
    })
  },
  { method: "PATCH", path: `${repo}/issues/comments/{id}`, answer: editComment },
  { method: "POST", path: `${repo}/statuses/{sha}`, answer: createStatus }
]

export const giteaDialect: DemoDialect = {
  name: "gitea",
  apiPath: "/api/v1",
  routes: [...routes, ...talkRoutes(notFound), ...changeRoutes],
  error,
  payload: (event, url, state) => {
    const made = delivered(event, url, state)
    const names: Record<string, string> = {}
    for (const prefix of ["x-gitea", "x-gogs", "x-github"]) {
      names[`${prefix}-event`] = made.event
      names[`${prefix}-event-type`] = made.type
    }
    names["x-gitea-hook-installation-target-type"] = "repository"
    return { headers: names, payload: made.payload }
  },
  sign: (body, secret, deliveryId) => {
    const sha256 = createHmac("sha256", secret).update(body).digest("hex")
    const sha1 = createHmac("sha1", secret).update(body).digest("hex")
    return {
      "x-gitea-delivery": deliveryId,
      "x-gogs-delivery": deliveryId,
      "x-github-delivery": deliveryId,
      "x-gitea-signature": sha256,
      "x-gogs-signature": sha256,
      "x-hub-signature": `sha1=${sha1}`,
      "x-hub-signature-256": `sha256=${sha256}`
    }
  }
}
