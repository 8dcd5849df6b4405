/**
 * Resolves review threads of GitHub, opens them again, and reads which are resolved; only its GraphQL API supports that. A token without the permission, or an outage of that
 * API alone, has no further effect, because the text of the comment is updated as well.
 */
import { Clock, Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Rest } from "../http/Http.ts"
import { DuringOutage } from "../HostHealth.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Writing } from "../WriteOwner.ts"
import { ChangedThread, ReviewThreads } from "./Responses.ts"

/** `fullDatabaseId` is the id of the REST API; `databaseId` holds 32 bits only. */
const listQuery = `query ($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } }
      }
    }
  }
}`

const mutation = (name: "resolveReviewThread" | "unresolveReviewThread"): string => `mutation ($threadId: ID!) {
  ${name}(input: { threadId: $threadId }) { thread { id isResolved } }
}`

const path = "/graphql"
/** Limits a listing to 5,000 threads of a pull request; further ones remain unresolved. */
const maxPages = 50
/** The publications of one review follow each other closely and share a listing. */
const listingMaxAgeMillis = 60_000
/** Pull requests whose reviews are published at the same time. */
const maxListings = 64

interface Thread {
  readonly id: string
  isResolved: boolean
}

interface Listing {
  readonly at: number
  /** Threads by the id of their first comment; undefined for a comment that a new listing did not contain. */
  readonly threads: Map<string, Thread | undefined>
}

const listThreads = Effect.fnUntraced(function* (
  graphql: Rest,
  repo: Repo,
  number: number
): Effect.fn.Return<Map<string, Thread | undefined>, ForgeError> {
  const threads = new Map<string, Thread | undefined>()
  let after: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const variables: object = { ...ownerAndName(repo), number, after }
    const { data }: typeof ReviewThreads.Type = yield* graphql.query(
      { path, body: { query: listQuery, variables } },
      ReviewThreads
    )
    const { nodes, pageInfo } = data.repository.pullRequest.reviewThreads
    for (const { id, isResolved, comments } of nodes) {
      const comment = comments.nodes[0]?.fullDatabaseId
      if (comment !== undefined && comment !== null) threads.set(String(comment), { id, isResolved })
    }
    if (!pageInfo.hasNextPage || pageInfo.endCursor === null) break
    after = pageInfo.endCursor
  }
  return threads
})

const isTransient = ({ reason }: ForgeError): boolean => reason === "unavailable" || reason === "unknown_outcome"

/**
 * Consecutive failures for which the publication is retried. From the next one on, threads stay open for now: the comment was just
 * edited, so the host responds and only this API fails, and the rest of the review must not wait for it.
 */
const maxFailures = 3

/** Triggers whose refusal this process has logged. */
const warned = new Set<string>()

const warnOnce = (trigger: string, { message }: ForgeError) => {
  if (warned.has(trigger)) return Effect.void
  warned.add(trigger)
  return Effect.logWarning("review threads cannot be resolved, their comments are annotated only").pipe(
    Effect.annotateLogs({ trigger, reason: message })
  )
}

export interface ReviewThreadState {
  /** Resolves the thread that a comment started, or opens it again. Idempotent: a thread in this state is skipped. */
  readonly setResolved: (
    repo: Repo,
    number: number,
    commentId: string,
    isResolved: boolean
  ) => Effect.Effect<void, ForgeError, Writing>
  /** Returns whether the thread that a comment started is resolved; false where that cannot be read. */
  readonly isResolved: (repo: Repo, number: number, commentId: string) => Effect.Effect<boolean>
}

export const makeReviewThreadState = (trigger: string, graphql: (repo: Repo) => Rest): ReviewThreadState => {
  const listings = new Map<string, Listing>()
  let failures = 0
  const isTolerated = (error: ForgeError): boolean =>
    isTransient(error) ? failures > maxFailures : error.reason !== "rate_limited"

  const findThread = Effect.fnUntraced(function* (repo: Repo, number: number, commentId: string) {
    const key = JSON.stringify([repo.fullName, number])
    const now = yield* Clock.currentTimeMillis
    const entry = listings.get(key)
    if (entry !== undefined && now - entry.at < listingMaxAgeMillis && entry.threads.has(commentId)) {
      return entry.threads.get(commentId)
    }
    const threads = yield* listThreads(graphql(repo), repo, number)
    if (!threads.has(commentId)) threads.set(commentId, undefined)
    for (const [other, { at }] of listings)
      if (now - at >= listingMaxAgeMillis || listings.size >= maxListings) listings.delete(other)
    listings.set(key, { at: now, threads })
    return threads.get(commentId)
  })

  const change = Effect.fnUntraced(function* (repo: Repo, number: number, commentId: string, isResolved: boolean) {
    const thread = yield* findThread(repo, number, commentId)
    if (thread !== undefined && thread.isResolved !== isResolved) {
      const query = mutation(isResolved ? "resolveReviewThread" : "unresolveReviewThread")
      const body = { query, variables: { threadId: thread.id } }
      yield* graphql(repo).write({ method: "POST", path, body, content: true }, ChangedThread)
      thread.isResolved = isResolved
    }
    failures = 0
  })

  return {
    setResolved: (repo, number, commentId, isResolved) =>
      change(repo, number, commentId, isResolved).pipe(
        Effect.provideService(DuringOutage, "fail"),
        Effect.tapError((error) =>
          Effect.sync(() => {
            // The state after a failure is unknown, so the listing is read again.
            listings.delete(JSON.stringify([repo.fullName, number]))
            if (isTransient(error)) failures++
          })
        ),
        Effect.catchIf(isTolerated, (error) => warnOnce(trigger, error))
      ),
    isResolved: (repo, number, commentId) =>
      findThread(repo, number, commentId).pipe(
        Effect.provideService(DuringOutage, "fail"),
        Effect.map((thread) => thread?.isResolved === true),
        Effect.orElseSucceed(() => false)
      )
  }
}
