/** Conversations at the demo forge, as Gitea has them: single comments and reviews, whether an issue is locked, and reactions. */
import { commentJson, issueJson, reviewJson } from "./DemoForgeGiteaJson.ts"
import { findRepository } from "./DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoRoute } from "./DemoForgeDialect.ts"
import { reviewsFor } from "./DemoForgeState.ts"

const repo = "/repos/{owner}/{repo}"

/** The server has comments at lines too, but returns only others. */
const readComment = (context: ApiContext): ApiAnswer | undefined => {
  const id = Number(context.params["id"])
  for (const pull of findRepository(context)?.pulls.values() ?? []) {
    const comment = pull.comments.find((one) => one.id === id)
    if (comment !== undefined) return { status: 200, body: commentJson(comment, pull, context.url) }
    if (pull.reviews.some(({ comments }) => comments.some((one) => one.id === id))) return { status: 204 }
  }
  return undefined
}

/** Adds a reaction, once for each account and content. */
const react = (context: ApiContext): ApiAnswer | undefined => {
  const { body, user } = context.request
  const content = typeof body === "object" && body !== null && "content" in body ? String(body.content) : ""
  const id = Number(context.params["id"])
  for (const { comments, reviews } of findRepository(context)?.pulls.values() ?? []) {
    const comment = [...comments, ...reviews.flatMap((review) => review.comments)].find((one) => one.id === id)
    if (comment === undefined) continue
    const others = (comment.reactions ?? []).filter((one) => one.login !== user.login || one.content !== content)
    comment.reactions = [...others, { login: user.login, content }]
    context.state.version++
    return { status: 201, body: { content } }
  }
  return undefined
}

const findPull = (context: ApiContext) => findRepository(context)?.pulls.get(Number(context.params["index"]))

const readIssue = (context: ApiContext): ApiAnswer | undefined => {
  const pull = findPull(context)
  return pull && { status: 200, body: { ...issueJson(pull, context.url), is_locked: false } }
}

const readReview = (context: ApiContext): ApiAnswer | undefined => {
  const pull = findPull(context)
  const review = pull && reviewsFor(pull, context.request.user).find(({ id }) => id === Number(context.params["id"]))
  return pull && review && { status: 200, body: reviewJson(review, pull, context.url) }
}

export const talkRoutes = (notFound: ApiAnswer): ReadonlyArray<DemoRoute> => {
  const or404 =
    (answer: (context: ApiContext) => ApiAnswer | undefined): DemoRoute["answer"] =>
    (context) =>
      answer(context) ?? notFound
  return [
    { method: "GET", path: `${repo}/issues/comments/{id}`, answer: or404(readComment) },
    { method: "POST", path: `${repo}/issues/comments/{id}/reactions`, answer: or404(react) },
    { method: "GET", path: `${repo}/issues/{index}`, answer: or404(readIssue) },
    { method: "GET", path: `${repo}/pulls/{index}/reviews/{id}`, answer: or404(readReview) }
  ]
}
