/** Contract of the connection to search providers. It belongs to the service: an agent never has a network or a credential of a provider. */
import { Context, Data } from "effect"
import type { Effect } from "effect"
import type { SearchCall } from "./SearchProviders.ts"

/** `cancelled`: the agent or the review ended first. */
export type SearchStatus =
  | "ok"
  | "cancelled"
  | "redirected"
  | "timeout"
  | "too_large"
  | "unreachable"
  | "unreadable"
  | `http_${number}`

export class SearchFailure extends Data.TaggedError("SearchFailure")<{ readonly status: SearchStatus }> {}

export class WebSearch extends Context.Service<
  WebSearch,
  {
    /** Returns the body of a successful response. Redirects are not followed. */
    readonly send: (call: SearchCall) => Effect.Effect<string, SearchFailure>
    /** Returns the text without what looks like a secret. */
    readonly scrub: (text: string) => string
  }
>()("aicr/agent/search/WebSearch") {}
