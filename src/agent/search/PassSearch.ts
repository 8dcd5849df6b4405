/**
 * The web search of one pass. The service searches, not the agent: order, exclusions, timeout and credentials are those of
 * `agent.web_search`, every query that leaves is counted and recorded, and the agent gets titles, addresses and short texts, never a page.
 */
import { Clock, Duration, Effect, Exit } from "effect"
import { searchTimeoutSeconds } from "../../config/schema/Agent.ts"
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import type { SearchRecord } from "../../domain/AgentPass.ts"
import { refusedText } from "../tools/Tool.ts"
import type { SearchLink } from "./SearchChain.ts"
import { findSearchProvider } from "./SearchProviders.ts"
import type { SearxngConfig } from "./SearchProviders.ts"
import { readResults, writeResults } from "./SearchResults.ts"
import type { SearchResult } from "./SearchResults.ts"
import { SearchFailure, WebSearch } from "./WebSearch.ts"
import type { SearchStatus } from "./WebSearch.ts"

/** Checks the text of a query, which leaves this machine and which an agent wrote that may follow instructions of the change. Pure. */

const maxQueryLength = 400

/** Controls, invisible and direction characters, halves of surrogate pairs, private use: no query needs them, and data hides in them. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{DI}\p{Zl}\p{Zp}]/u

/** Returns why a query is refused; undefined if it may be sent. */
const refuseQuery = (query: string): string | undefined => {
  if (query.trim() === "") return "the query is empty"
  if (query.length > maxQueryLength) return `a query has at most ${maxQueryLength} characters; name fewer words`
  if (hidden.test(query)) return "a query is one line without control or invisible characters"
  return undefined
}

const maxCallSeconds = 600

interface PassSearchRequest {
  /** Providers in their order, at least one. */
  readonly chain: ReadonlyArray<SearchLink>
  readonly searxng: SearxngConfig
  readonly timeoutSeconds: number | undefined
  readonly maxQueries: number
  /** Queries of earlier attempts. */
  readonly used: number
  readonly record: (record: SearchRecord) => Effect.Effect<void>
}

/** Maximum time of one call of the tool: the timeouts of its providers together. */
export const searchSeconds = ({
  chain,
  timeoutSeconds = searchTimeoutSeconds
}: Pick<PassSearchRequest, "chain" | "timeoutSeconds">): number =>
  Math.min(maxCallSeconds, chain.length * timeoutSeconds)

/** Returns the function behind the tool: it takes a query and returns the text of the reply. */
export const openPassSearch = Effect.fnUntraced(function* (request: PassSearchRequest) {
  const context = yield* Effect.context<WebSearch>()
  const web = yield* WebSearch
  const { chain, maxQueries, searxng, timeoutSeconds = searchTimeoutSeconds } = request
  const keys = chain.flatMap(({ key }) => key ?? [])
  let used = request.used

  const queryProvider = ({ id, key }: SearchLink, query: string) => {
    const { call, results } = findSearchProvider(id)
    return web.send(call(query, { key, searxng })).pipe(
      Effect.timeoutOrElse({
        duration: Duration.seconds(timeoutSeconds),
        orElse: () => Effect.fail(new SearchFailure({ status: "timeout" }))
      }),
      Effect.flatMap((body) => {
        const found = readResults(body, results)
        return found === undefined ? Effect.fail(new SearchFailure({ status: "unreadable" })) : Effect.succeed(found)
      })
    )
  }

  /** A query that was sent is on record, also if the agent disconnects before its response. */
  const recorded = Effect.fnUntraced(function* (link: SearchLink, query: string) {
    const start = yield* Clock.currentTimeMillis
    return yield* queryProvider(link, query).pipe(
      Effect.result,
      Effect.onExit((exit) =>
        Effect.gen(function* () {
          const found = Exit.isSuccess(exit) ? exit.value : undefined
          const status: SearchStatus =
            found === undefined ? "cancelled" : found._tag === "Success" ? "ok" : found.failure.status
          const millis = (yield* Clock.currentTimeMillis) - start
          const results = found?._tag === "Success" ? found.success.length : 0
          yield* Effect.logInfo("web search", { provider: link.id, query, status, results, millis })
          yield* request.record({ query, provider: link.id, status })
        })
      )
    )
  })

  const searchChain = Effect.fnUntraced(function* (query: string) {
    const failures: Array<string> = []
    for (const link of chain) {
      if (used >= maxQueries)
        return refusedText([`the limit of ${maxQueries} searches of this review is reached`, ...failures].join("; "))
      used++
      const result = yield* recorded(link, query)
      if (result._tag === "Success") return reply(link, result.success)
      failures.push(`${link.id}: ${result.failure.status}`)
    }
    return `not available: ${failures.join("; ")}`
  })

  const reply = ({ id }: SearchLink, results: ReadonlyArray<SearchResult>): string =>
    redactCredentials(writeResults(id, results), keys)

  return (given: string): Effect.Effect<string> =>
    Effect.suspend(() => {
      const refusal = refuseQuery(given)
      if (refusal !== undefined) return Effect.succeed(refusedText(refusal))
      return Effect.timeoutOrElse(searchChain(redactCredentials(web.scrub(given.trim()), keys)), {
        duration: Duration.seconds(searchSeconds(request)),
        orElse: () => Effect.succeed("not available: timeout")
      })
      // The caller is a server of its own, without the log of the review.
    }).pipe(Effect.provideContext(context))
})
