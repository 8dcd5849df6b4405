/**
 * The part of GitHub's GraphQL API that resolves review threads: requests are checked by operation and variables, and errors have
 * status 200, as at GitHub.
 */
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoReviewComment } from "../../demo/DemoForgeState.ts"
import { field, isNumber, isObject, isText } from "./Fields.ts"
import { getThread } from "./FakeThreads.ts"

/** A response with one error, as GitHub sends it. */
export const graphqlError = (type: string | undefined, message: string, headers: Record<string, string> = {}) => ({
  status: 200,
  headers,
  body: { data: null, errors: [{ ...(type === undefined ? {} : { type }), message }] }
})

const compact = (query: string): string => query.replace(/\s+/g, " ").trim()

const threadId = (comment: DemoReviewComment): string => `PRRT_${comment.id}`

const invalid = (what: string): ApiAnswer => graphqlError(undefined, `Variable or operation is invalid: ${what}`)

const namesOf = (variables: object): string => Object.keys(variables).toSorted().join()

/** Returns threads in pages of the size that the query requests. */
const list = (context: ApiContext, query: string, variables: object): ApiAnswer => {
  const [owner, repo] = [field(variables, "owner", isText), field(variables, "repo", isText)]
  const number = field(variables, "number", isNumber)
  const after = "after" in variables ? variables.after : undefined
  const isAfter = after === null || (typeof after === "string" && /^c\d+$/.test(after))
  const first = Number(/reviewThreads\(first: (\d+), after: \$after\)/.exec(query)?.[1])
  if (namesOf(variables) !== "after,number,owner,repo" || !isAfter) return invalid(JSON.stringify(variables))
  if (!query.startsWith("query ($owner: String!, $repo: String!, $number: Int!, $after: String)")) return invalid(query)
  if (!/comments\(first: 1\) \{ nodes \{ fullDatabaseId \} \}/.test(query) || !(first >= 1 && first <= 100)) {
    return invalid(query)
  }
  const repository = context.state.repositories.get(`${owner}/${repo}`.toLowerCase())
  const pull = number === undefined ? undefined : repository?.pulls.get(number)
  if (pull === undefined) return graphqlError("NOT_FOUND", `Could not resolve to a PullRequest ${number}`)
  const all = pull.reviews.flatMap((review) => review.comments)
  const from = after === null ? 0 : Number(after.slice(1))
  const nodes = all.slice(from, from + first).map((comment) => ({
    id: threadId(comment),
    isResolved: getThread(comment).resolver !== undefined,
    comments: { nodes: [{ fullDatabaseId: String(comment.id) }] }
  }))
  const hasNextPage = from + nodes.length < all.length
  const pageInfo = { hasNextPage, endCursor: nodes.length === 0 ? null : `c${from + nodes.length}` }
  return {
    status: 200,
    body: { data: { repository: { pullRequest: { reviewThreads: { pageInfo, nodes } } } } }
  }
}

/** Mutations of a thread. */
const mutations = { resolveReviewThread: true, unresolveReviewThread: false } as const

const change = (context: ApiContext, name: keyof typeof mutations, variables: object): ApiAnswer => {
  const id = field(variables, "threadId", isText)
  if (id === undefined || namesOf(variables) !== "threadId") return invalid(JSON.stringify(variables))
  const comment = [...context.state.repositories.values()]
    .flatMap(({ pulls }) => [...pulls.values()])
    .flatMap(({ reviews }) => reviews.flatMap(({ comments }) => comments))
    .find((candidate) => threadId(candidate) === id)
  if (comment === undefined)
    return graphqlError("NOT_FOUND", `Could not resolve to a node with the global id of '${id}'`)
  const thread = getThread(comment)
  const isResolved = mutations[name]
  thread.resolver = isResolved ? context.request.user : undefined
  if (isResolved) thread.timesResolved++
  return { status: 200, body: { data: { [name]: { thread: { id, isResolved } } } } }
}

const graphqlPath = "/api/graphql"

const route: DemoRoute = {
  method: "POST",
  path: graphqlPath,
  answer: (context) => {
    const { body } = context.request
    const query = compact(field(body, "query", isText) ?? "")
    const variables = field(body, "variables", isObject)
    if (variables === undefined) return invalid("no variables")
    if (query.includes("reviewThreads(")) return list(context, query, variables)
    const name = (["resolveReviewThread", "unresolveReviewThread"] as const).find(
      (one) =>
        query === `mutation ($threadId: ID!) { ${one}(input: { threadId: $threadId }) { thread { id isResolved } } }`
    )
    return name === undefined ? invalid(query) : change(context, name, variables)
  }
}

export const withGraphql = (dialect: DemoDialect): DemoDialect => ({
  ...dialect,
  graphqlPath,
  routes: [...dialect.routes, route]
})
