/** GitHub dialect of the fake forge (Enterprise paths): responses, refusals, pages and signed webhooks. */
import { createHmac } from "node:crypto"
import { git, gitOnce, hasCommit, listTips } from "../../demo/DemoForgeGit.ts"
import { newestFirst, readTip } from "./FakeCommits.ts"
import { lineAt } from "../../demo/DemoForgeDiff.ts"
import { page, findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import {
  addComment,
  computeDiff,
  countLineComments,
  removePending,
  reviewsFor,
  updatedAt
} from "../../demo/DemoForgeState.ts"
import type { DemoComment, DemoPull, DemoRepository, DemoUser } from "../../demo/DemoForgeState.ts"
import { githubChangeRoutes, isSince } from "./FakeGithubChanges.ts"
import { field, isList, isNumber, isText } from "./Fields.ts"

const error = (message: string, errors: ReadonlyArray<unknown> = []) => ({
  message,
  ...(errors.length > 0 ? { errors } : {}),
  documentation_url: "https://docs.github.com/rest"
})
const refusal = (status: number, message: string, errors?: ReadonlyArray<unknown>): ApiAnswer => ({
  status,
  body: error(message, errors)
})
const notFound = refusal(404, "Not Found")
const pages = { name: "per_page", standard: 30, most: 100 }

const userJson = (user: DemoUser, url: string) => ({
  login: user.login,
  id: user.id,
  node_id: `U_${user.id}`,
  avatar_url: `${url}/avatars/${user.login}`,
  html_url: `${url}/${user.login}`,
  type: "User",
  site_admin: false,
  name: user.name
})

const repositoryJson = (repository: DemoRepository, url: string) => ({
  id: repository.id,
  node_id: `R_${repository.id}`,
  name: repository.name,
  full_name: repository.fullName,
  private: false,
  owner: { login: repository.owner, id: 1, type: "User" },
  html_url: `${url}/${repository.fullName}`,
  clone_url: `${url}/${repository.fullName}.git`,
  default_branch: repository.defaultBranch,
  fork: false
})

const webOf = (pull: DemoPull, url: string) => `${url}/${pull.repository.fullName}/pull/${pull.number}`

const pullJson = (pull: DemoPull, url: string) => ({
  id: pull.id,
  node_id: `PR_${pull.id}`,
  number: pull.number,
  state: pull.state,
  draft: pull.draft,
  merged: pull.merged,
  merge_commit_sha: pull.mergeCommit ?? null,
  merged_by: pull.mergedBy === undefined ? null : userJson(pull.mergedBy, url),
  comments: pull.comments.length,
  review_comments: countLineComments(pull),
  title: pull.title,
  body: pull.description === "" ? null : pull.description,
  html_url: webOf(pull, url),
  user: userJson(pull.author, url),
  labels: pull.labels.map((label) => ({ id: label.id, name: label.name, color: "0e8a16", default: false })),
  head: {
    label: `${pull.repository.owner}:${pull.headBranch}`,
    ref: pull.headBranch,
    sha: pull.head,
    repo: pull.headRepository === null ? null : repositoryJson({ ...pull.repository, ...pull.headRepository }, url)
  },
  base: {
    label: `${pull.repository.owner}:${pull.baseBranch}`,
    ref: pull.baseBranch,
    sha: pull.base,
    repo: repositoryJson(pull.repository, url)
  },
  created_at: pull.createdAt,
  updated_at: updatedAt(pull)
})

const commentJson = (comment: DemoComment, pull: DemoPull, url: string) => ({
  id: comment.id,
  html_url: `${webOf(pull, url)}#issuecomment-${comment.id}`,
  body: comment.body,
  user: userJson(comment.user, url),
  created_at: comment.createdAt,
  updated_at: comment.updatedAt
})

const onPull =
  (
    param: string,
    answer: (context: ApiContext, pull: DemoPull) => ApiAnswer | Promise<ApiAnswer>
  ): DemoRoute["answer"] =>
  (context) => {
    const pull = findRepository(context)?.pulls.get(Number(context.params[param]))
    return pull === undefined ? notFound : answer(context, pull)
  }

const states: Readonly<Record<string, string>> = {
  COMMENT: "COMMENTED",
  APPROVE: "APPROVED",
  REQUEST_CHANGES: "CHANGES_REQUESTED"
}

const reviewJson = (review: DemoPull["reviews"][number], pull: DemoPull, url: string) => ({
  id: review.id,
  user: userJson(review.user, url),
  body: review.body,
  state: states[review.state] ?? review.state,
  html_url: `${webOf(pull, url)}#pullrequestreview-${review.id}`,
  commit_id: review.commit,
  submitted_at: review.createdAt
})

const createReview = async ({ state, request, url }: ApiContext, pull: DemoPull): Promise<ApiAnswer> => {
  const event = field(request.body, "event", isText) ?? ""
  if (states[event] === undefined)
    return refusal(422, "Validation Failed", [{ resource: "PullRequestReview", field: "event" }])
  const comments = field(request.body, "comments", isList) ?? []
  const body = field(request.body, "body", isText) ?? ""
  if (body === "" && comments.length === 0) return refusal(422, "Unprocessable Entity", ["Body can't be blank"])
  if (event !== "COMMENT" && request.user.login === pull.author.login) {
    return refusal(422, "Unprocessable Entity", ["Can not request changes on your own pull request"])
  }
  const commit = field(request.body, "commit_id", isText) ?? pull.head
  const known = await gitOnce(pull.repository.directory, ["merge-base", "--is-ancestor", commit, pull.head]).then(
    () => true,
    () => false
  )
  if (!known) return refusal(422, "Unprocessable Entity", ["Commit is not part of the pull request"])
  const files = await computeDiff(pull)
  const placed = comments.map((comment) => {
    const path = field(comment, "path", isText) ?? ""
    const line = field(comment, "line", isNumber) ?? 0
    const startLine = field(comment, "start_line", isNumber)
    const side = field(comment, "side", isText) === "LEFT" ? ("old" as const) : ("new" as const)
    const at = lineAt(files, path, side, line)
    const fits =
      at !== undefined && (startLine === undefined || (startLine < line && lineAt(files, path, side, startLine)))
    return {
      fits,
      comment: { path, side, line, startLine, body: field(comment, "body", isText) ?? "", hunk: at?.text ?? "" }
    }
  })
  if (placed.some(({ fits }) => !fits)) {
    return refusal(422, "Unprocessable Entity", ["Pull request review thread line must be part of the diff"])
  }
  if (pull.pendingReviews.some(({ user }) => user.login === request.user.login)) {
    return refusal(422, "Unprocessable Entity", ["User can only have one pending review per pull request"])
  }
  const review = {
    id: state.nextId(),
    user: request.user,
    state: event,
    body,
    commit,
    createdAt: state.now(),
    comments: placed.map(({ comment }) => ({ id: state.nextId(), ...comment }))
  }
  pull.reviews.push(review)
  state.version++
  return { status: 200, body: reviewJson(review, pull, url) }
}

const repo = "/repos/{owner}/{repo}"
const commitJson = async ({ directory }: DemoRepository, sha: string) => {
  const [parents = "", ...message] = (await git(directory, ["log", "-1", "--format=%P%n%B", sha])).split("\n")
  return {
    sha,
    parents: parents === "" ? [] : parents.split(" ").map((parent) => ({ sha: parent })),
    commit: { message: message.join("\n").trim() }
  }
}

const routes: ReadonlyArray<DemoRoute> = [
  { method: "GET", path: "/user", answer: ({ request, url }) => ({ status: 200, body: userJson(request.user, url) }) },
  {
    method: "GET",
    path: `${repo}/pulls/{number}`,
    answer: onPull("number", ({ url }, pull) => ({ status: 200, body: pullJson(pull, url) }))
  },
  {
    method: "GET",
    path: `${repo}/commits/{sha}/pulls`,
    answer: async (context) => {
      const repository = findRepository(context)
      const sha = context.params["sha"] ?? ""
      if (repository === undefined) return notFound
      if (!(await hasCommit(repository.directory, sha))) return refusal(422, `No commit found for SHA: ${sha}`)
      // The host names every pull request that holds the commit.
      return { status: 200, body: [...repository.pulls.values()].map((pull) => pullJson(pull, context.url)) }
    }
  },
  {
    method: "GET",
    path: `${repo}/commits`,
    answer: async (context) => {
      const repository = findRepository(context)
      const { query } = context.request
      if (repository === undefined) return notFound
      const found = await newestFirst(repository, query.get("sha"), query.get("until"))
      return found === undefined
        ? notFound
        : { status: 200, body: await Promise.all(found.map((sha) => commitJson(repository, sha))) }
    }
  },
  {
    method: "GET",
    path: `${repo}/git/matching-refs/{ref}`,
    answer: async (context) => {
      const repository = findRepository(context)
      if (repository === undefined) return notFound
      const prefix = (context.params["ref"] ?? "").replace(/^heads\//, "")
      const tips = (await listTips(repository.directory)).filter(({ name }) => name.startsWith(prefix))
      const body = tips.map(({ id, name }) => ({ ref: `refs/heads/${name}`, object: { type: "commit", sha: id } }))
      return { status: 200, body }
    }
  },
  {
    method: "GET",
    path: `${repo}/branches/{branch}`,
    answer: async (context) => {
      const repository = findRepository(context)
      const name = context.params["branch"] ?? ""
      const sha = repository && (await readTip(repository, name))
      return sha === undefined
        ? notFound
        : { status: 200, body: { name, protected: repository?.protectedBranches.has(name), commit: { sha } } }
    }
  },
  {
    method: "GET",
    path: `${repo}/commits/{ref}`,
    answer: async (context) => {
      const repository = findRepository(context)
      const ref = (context.params["ref"] ?? "").replace(/^heads\//, "refs/heads/")
      if (repository === undefined) return notFound
      const sha = await git(repository.directory, ["rev-parse", "--verify", `${ref}^{commit}`]).catch(() => "")
      return sha === "" ? refusal(422, `No commit found for SHA: ${ref}`) : { status: 200, body: { sha: sha.trim() } }
    }
  },
  {
    method: "GET",
    path: `${repo}/collaborators`,
    answer: (context) => {
      const least = context.request.query.get("permission") === "push" ? ["write", "admin", "owner"] : undefined
      const people = [...(findRepository(context)?.permissions ?? [])]
        .filter(([, granted]) => least === undefined || least.includes(granted))
        .map(([login]) => ({
          ...userJson(context.state.user(login), context.url),
          permissions: { pull: true, push: true }
        }))
      const { items, headers } = page(context, people, pages)
      return { status: 200, headers, body: items }
    }
  },
  {
    method: "GET",
    path: `${repo}/collaborators/{username}/permission`,
    answer: (context) => {
      const granted = findRepository(context)?.permissions.get(context.params["username"] ?? "") ?? "read"
      const permission = granted === "owner" ? "admin" : granted
      const user = userJson(context.state.user(context.params["username"] ?? ""), context.url)
      return { status: 200, body: { permission, role_name: permission, user } }
    }
  },
  {
    method: "GET",
    path: `${repo}/pulls/{number}/reviews`,
    answer: onPull("number", (context, pull) => {
      const { items, headers } = page(context, reviewsFor(pull, context.request.user), pages)
      return { status: 200, headers, body: items.map((review) => reviewJson(review, pull, context.url)) }
    })
  },
  { method: "POST", path: `${repo}/pulls/{number}/reviews`, answer: onPull("number", createReview) },
  {
    method: "PUT",
    path: `${repo}/pulls/{number}/reviews/{id}`,
    answer: onPull("number", ({ params, request, state, url }, pull) => {
      const at = pull.reviews.findIndex(({ id }) => id === Number(params["id"]))
      const review = pull.reviews[at]
      const body = field(request.body, "body", isText) ?? ""
      if (review === undefined) return notFound
      if (review.user.login !== request.user.login) return refusal(403, "Resource not accessible by integration")
      if (body.trim() === "") return refusal(422, "Unprocessable Entity", ["Body can't be blank"])
      const edited = { ...review, body }
      pull.reviews[at] = edited
      state.version++
      return { status: 200, body: reviewJson(edited, pull, url) }
    })
  },
  {
    method: "GET",
    path: `${repo}/pulls/{number}/reviews/{id}/comments`,
    answer: onPull("number", (context, pull) => {
      const { params, request } = context
      const review = reviewsFor(pull, request.user).find(({ id }) => id === Number(params["id"]))
      if (review === undefined) return notFound
      const { items, headers } = page(context, review.comments, pages)
      const user = userJson(review.user, context.url)
      return { status: 200, headers, body: items.map(({ id, body, path }) => ({ id, body, path, user })) }
    })
  },
  {
    method: "DELETE",
    path: `${repo}/pulls/{number}/reviews/{id}`,
    answer: onPull("number", ({ params, request, url }, pull) => {
      const review = reviewsFor(pull, request.user).find(({ id }) => id === Number(params["id"]))
      if (review === undefined) return notFound
      if (review.state !== "PENDING") return refusal(422, "Can not delete a non-pending pull request review")
      removePending(pull, review)
      return { status: 200, body: reviewJson(review, pull, url) }
    })
  },
  {
    method: "GET",
    path: `${repo}/pulls/{number}/comments`,
    answer: onPull("number", (context, pull) => {
      const all = pull.reviews
        .filter(({ createdAt }) => isSince(context, createdAt))
        .flatMap((review) => review.comments.map((comment) => ({ comment, review })))
      const { items, headers } = page(context, all, pages)
      const body = items.map(({ comment, review }) => ({
        id: comment.id,
        pull_request_review_id: review.id,
        user: userJson(review.user, context.url),
        body: comment.body,
        path: comment.path,
        line: comment.line,
        start_line: comment.startLine ?? null,
        side: comment.side === "new" ? "RIGHT" : "LEFT",
        commit_id: review.commit,
        created_at: review.createdAt,
        html_url: `${webOf(pull, context.url)}#discussion_r${comment.id}`
      }))
      return { status: 200, headers, body }
    })
  },
  {
    method: "GET",
    path: `${repo}/issues/{number}/comments`,
    answer: onPull("number", (context, pull) => {
      const written = pull.comments.filter((comment) => isSince(context, comment.updatedAt))
      const { items, headers } = page(context, written, pages)
      return { status: 200, headers, body: items.map((comment) => commentJson(comment, pull, context.url)) }
    })
  },
  {
    method: "POST",
    path: `${repo}/issues/{number}/comments`,
    answer: onPull("number", ({ state, request, url }, pull) => {
      const body = field(request.body, "body", isText) ?? ""
      if (body.trim() === "") return refusal(422, "Validation Failed", [{ resource: "IssueComment", field: "body" }])
      return { status: 201, body: commentJson(addComment(state, pull, request.user, body), pull, url) }
    })
  },
  {
    method: "PATCH",
    path: `${repo}/issues/comments/{id}`,
    answer: (context) => {
      for (const pull of findRepository(context)?.pulls.values() ?? []) {
        const comment = pull.comments.find((candidate) => candidate.id === Number(context.params["id"]))
        if (comment === undefined) continue
        comment.body = field(context.request.body, "body", isText) ?? comment.body
        comment.updatedAt = context.state.now()
        context.state.version++
        return { status: 200, body: commentJson(comment, pull, context.url) }
      }
      return notFound
    }
  },
  {
    method: "POST",
    path: `${repo}/statuses/{sha}`,
    answer: (context) => {
      const repository = findRepository(context)
      const sha = context.params["sha"] ?? ""
      if (repository === undefined) return notFound
      const status = {
        id: context.state.nextId(),
        context: field(context.request.body, "context", isText) ?? "default",
        state: field(context.request.body, "state", isText) ?? "",
        description: field(context.request.body, "description", isText) ?? "",
        targetUrl: field(context.request.body, "target_url", isText) ?? "",
        user: context.request.user,
        createdAt: context.state.now()
      }
      repository.statuses.set(sha, [...(repository.statuses.get(sha) ?? []), status])
      context.state.version++
      return { status: 201, body: { id: status.id, state: status.state, url: `${context.url}/status/${status.id}` } }
    }
  }
]

export const githubDialect: DemoDialect = {
  name: "github",
  apiPath: "/api/v3",
  hasEtags: true,
  routes: [...routes, ...githubChangeRoutes(pullJson)],
  error,
  payload: (event, url, state) => {
    const sender = userJson(event.sender, url)
    switch (event.kind) {
      case "pull": {
        const names: Readonly<Record<string, string>> = { synchronized: "synchronize", label_updated: "labeled" }
        const repository = repositoryJson(event.pull.repository, url)
        const action = names[event.action] ?? event.action
        const payload = {
          action,
          ...(action === "edited" ? { changes: { base: { ref: { from: "main" }, sha: { from: "" } } } } : {}),
          number: event.pull.number,
          pull_request: pullJson(event.pull, url),
          repository,
          sender
        }
        return { headers: { "x-github-event": "pull_request" }, payload }
      }
      case "comment": {
        const now = state.now()
        const comment = {
          id: event.id ?? state.nextId(),
          user: event.sender,
          createdAt: now,
          updatedAt: now,
          body: event.body
        }
        const web = webOf(event.pull, url)
        const issue = {
          number: event.pull.number,
          title: event.pull.title,
          html_url: web,
          state: event.pull.state,
          user: userJson(event.pull.author, url),
          pull_request: { html_url: web }
        }
        const repository = repositoryJson(event.pull.repository, url)
        const payload = { action: "created", issue, comment: commentJson(comment, event.pull, url), repository, sender }
        return { headers: { "x-github-event": "issue_comment" }, payload }
      }
      case "push": {
        const zero = "0".repeat(40)
        const payload = {
          ref: `refs/heads/${event.branch}`,
          before: event.before,
          after: event.after,
          created: event.before === zero,
          deleted: event.after === zero,
          forced: false,
          commits: [],
          repository: repositoryJson(event.repository, url),
          pusher: { name: event.sender.login },
          sender
        }
        return { headers: { "x-github-event": "push" }, payload }
      }
    }
  },
  sign: (body, secret, deliveryId) => ({
    "x-github-delivery": deliveryId,
    "x-github-hook-id": "1",
    "x-hub-signature": `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
  })
}
