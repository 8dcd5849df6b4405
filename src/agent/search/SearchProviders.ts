/**
 * The table of search providers: the one request of each that searches, and where its response has the results. No row fetches pages: the
 * other paths of these APIs (contents, extract, scrape) are not here, and options that read whole pages are off.
 */
import type { AgentConfig } from "../../config/schema/Agent.ts"

export type SearxngConfig = AgentConfig["web_search"]["searxng"]

export interface SearchCall {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

interface SearchSetup {
  readonly key: string | undefined
  readonly searxng: SearxngConfig
}

interface SearchProvider {
  /** The setting that a call requires. */
  readonly needs: "credential" | "endpoint" | "nothing"
  readonly call: (query: string, setup: SearchSetup) => SearchCall
  /** Path of the list of results in the response. */
  readonly results: ReadonlyArray<string>
}

export const maxResults = 8
/** Characters of the text of one result. */
export const maxSnippet = 600

const get = (
  url: string,
  query: Readonly<Record<string, string | number | undefined>>,
  headers: Readonly<Record<string, string>>
): SearchCall => {
  const target = new URL(url)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value))
  return { method: "GET", url: target.href, headers, body: undefined }
}

const post = (url: string, body: object, headers: Readonly<Record<string, string>>): SearchCall => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body)
})

const bearer = (key = "") => ({ authorization: `Bearer ${key}` })

/** A call of a tool of a public MCP server, which needs no account. */
const mcp = (url: string, name: string, input: object): SearchCall =>
  post(
    url,
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } },
    { accept: "application/json, text/event-stream" }
  )

const exaBody = (query: string) => ({
  query,
  type: "auto",
  numResults: maxResults,
  contents: { highlights: true }
})

/** A provider with a bearer key, a JSON body and `results`. */
const keyed = (
  url: string,
  body: (query: string) => object,
  results: ReadonlyArray<string> = ["results"]
): SearchProvider => ({
  needs: "credential",
  call: (query, { key }) => post(url, body(query), bearer(key)),
  results
})

/** Removes marks that select engines: SearXNG searches with external ones after `!!`. */
const withoutBangs = (query: string): string => query.replaceAll(/(^|\s)!+/g, "$1")

/** The rows, in the order of preference where `web_search.providers` is empty. */
const searchProviders = {
  searxng: {
    needs: "endpoint",
    call: (query, { key, searxng: { categories, endpoint = "", engines, language, safesearch } }) =>
      get(
        new URL("search", endpoint.endsWith("/") ? endpoint : `${endpoint}/`).href,
        { q: withoutBangs(query), format: "json", categories, engines, language, safesearch },
        key === undefined ? {} : bearer(key)
      ),
    results: ["results"]
  },
  exa: {
    needs: "nothing",
    call: (query, { key }) =>
      key === undefined
        ? mcp("https://mcp.exa.ai/mcp", "web_search_exa", { query, numResults: maxResults })
        : post("https://api.exa.ai/search", exaBody(query), { "x-api-key": key }),
    results: ["results"]
  },
  parallel: {
    needs: "nothing",
    call: (query, { key }) => {
      const searched = { objective: query, search_queries: [query] }
      return key === undefined
        ? mcp("https://search.parallel.ai/mcp", "web_search", searched)
        : post(
            "https://api.parallel.ai/v1beta/search",
            { ...searched, max_results: maxResults, excerpts: { max_chars_per_result: maxSnippet } },
            { "x-api-key": key, "parallel-beta": "search-extract-2025-10-10" }
          )
    },
    results: ["results"]
  },
  "kilo-exa": keyed("https://api.kilo.ai/api/exa/search", exaBody),
  brave: {
    needs: "credential",
    call: (q, { key = "" }) =>
      get(
        "https://api.search.brave.com/res/v1/web/search",
        { q, count: maxResults, text_decorations: "false" },
        { "x-subscription-token": key }
      ),
    results: ["web", "results"]
  },
  tavily: keyed("https://api.tavily.com/search", (query) => ({
    query,
    search_depth: "basic",
    max_results: maxResults,
    include_raw_content: false
  })),
  perplexity: keyed("https://api.perplexity.ai/search", (query) => ({ query, max_results: maxResults })),
  kagi: keyed("https://kagi.com/api/v1/search", (query) => ({ query, limit: maxResults }), ["data", "search"]),
  jina: {
    needs: "credential",
    call: (q, { key }) =>
      get("https://s.jina.ai/", { q, count: maxResults }, { ...bearer(key), "x-respond-with": "no-content" }),
    results: ["data"]
  },
  firecrawl: keyed(
    "https://api.firecrawl.dev/v2/search",
    (query) => ({ query, limit: maxResults, sources: [{ type: "web" }] }),
    ["data", "web"]
  ),
  tinyfish: {
    needs: "credential",
    call: (query, { key = "" }) =>
      get("https://api.search.tinyfish.ai/", { query, num_results: maxResults }, { "x-api-key": key }),
    results: ["results"]
  },
  zai: keyed(
    "https://api.z.ai/api/paas/v4/web_search",
    (query) => ({ search_engine: "search-prime", search_query: query, count: maxResults }),
    ["search_result"]
  ),
  kimi: keyed(
    "https://api.kimi.com/coding/v1/search",
    (query) => ({ text_query: query, limit: maxResults, enable_page_crawling: false }),
    ["search_results"]
  ),
  synthetic: keyed("https://api.synthetic.new/v2/search", (query) => ({ query })),
  ollama: keyed("https://ollama.com/api/web_search", (query) => ({ query, max_results: maxResults }))
} satisfies Record<string, SearchProvider>

export type SearchId = keyof typeof searchProviders

export const isSearchId = (id: string): id is SearchId => Object.hasOwn(searchProviders, id)

export const searchIds: ReadonlyArray<SearchId> = Object.keys(searchProviders).filter(isSearchId)

export const findSearchProvider = (id: SearchId): SearchProvider => searchProviders[id]
