/** The tools that a pass is offered, with the web search where the service searches for its CLI. */
import { Effect } from "effect"
import type { SearchRecord } from "../../domain/AgentPass.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Brief } from "../Agent.ts"
import { openPassSearch, searchSeconds } from "../search/PassSearch.ts"
import { planSearch } from "../search/SearchChain.ts"
import { searchToolName } from "../tools/SearchTool.ts"
import { toolNames } from "../tools/Tools.ts"
import type { AgentCli } from "./Cli.ts"

/** Time of a call of a tool, as the CLI is configured. */
const callSeconds = 120

interface SearchUse {
  /** Queries of earlier attempts. */
  readonly used: number
  readonly record: (record: SearchRecord) => Effect.Effect<void>
}

export const openCliSearch = Effect.fnUntraced(function* (
  { support: { webSearch } }: AgentCli,
  { snapshot, workspace: { agent } }: Brief,
  { record, used }: SearchUse
) {
  const without = { names: toolNames, search: undefined, callSeconds, notices: [] }
  const { enabled, max_queries: maxQueries, searxng, timeout_seconds: timeoutSeconds } = agent.web_search
  if (!enabled || webSearch.by !== "service") return without
  const { chain } = planSearch(snapshot, agent.web_search, webSearch.reach)
  if (chain.length === 0) return { ...without, notices: [{ _tag: "SearchWithoutProvider" } satisfies Reason] }
  const request = { chain, searxng, timeoutSeconds, maxQueries, used, record }
  return {
    names: [...toolNames, searchToolName],
    search: yield* openPassSearch(request),
    // The CLI waits longer than the search takes.
    callSeconds: Math.max(callSeconds, searchSeconds(request) + 10),
    notices: []
  }
})
