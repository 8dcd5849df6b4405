/**
 * Decides which search providers the passes of a mode call, in which order: those of `web_search.providers` and no others, without excluded
 * ones and those that cannot be called. Without a list, those that have a credential or an endpoint; if none has, those that need no account.
 * Pure.
 */
import { Redacted } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import type { AgentConfig } from "../../config/schema/Agent.ts"
import { findSearchProvider, isSearchId, searchIds } from "./SearchProviders.ts"
import type { SearchId } from "./SearchProviders.ts"

/** Providers that a mode may call. */
export interface SearchReach {
  readonly ids: ReadonlyArray<SearchId>
  /** Whether it calls only the first one. */
  readonly isSingle: boolean
}

export const everyProvider: SearchReach = { ids: searchIds, isSingle: false }

export interface SearchLink {
  readonly id: SearchId
  readonly key: string | undefined
}

/** Reason why a configured value has no effect. */
export type SearchGap =
  | { readonly _tag: "Unknown"; readonly field: "providers" | "exclude" | "credentials"; readonly id: string }
  | { readonly _tag: "OfOtherModes"; readonly id: SearchId; readonly reach: SearchReach }
  | { readonly _tag: "NotFirst"; readonly id: SearchId; readonly first: SearchId }
  | { readonly _tag: "Needs"; readonly id: SearchId; readonly needs: "credential" | "endpoint" }
  /** Fields of `searxng` are set, and it is not called. */
  | { readonly _tag: "SearxngUnused" }
  | { readonly _tag: "NoneLeft" }

interface SearchPlan {
  readonly chain: ReadonlyArray<SearchLink>
  readonly gaps: ReadonlyArray<SearchGap>
}

type WebSearchConfig = AgentConfig["web_search"]

const readKey = ({ credential }: Pick<Snapshot, "credential">, search: WebSearchConfig, id: string) => {
  const given = search.credentials[id]
  if (given === undefined) return undefined
  const key = typeof given === "string" ? credential({ key_env: given }, "key") : credential(given, "value")
  return key === undefined ? undefined : String(Redacted.value(key))
}

const unknownIds = ({ credentials, exclude, providers }: WebSearchConfig): ReadonlyArray<SearchGap> =>
  Object.entries({ providers, exclude, credentials: Object.keys(credentials) }).flatMap(([field, ids]) =>
    ids.flatMap((id): ReadonlyArray<SearchGap> => {
      const isField = field === "providers" || field === "exclude" || field === "credentials"
      return isField && !isSearchId(id) ? [{ _tag: "Unknown", field, id }] : []
    })
  )

/** Returns the listed providers that can be called, or those that stand for an empty list. */
const listCallable = (
  snapshot: Pick<Snapshot, "credential">,
  search: WebSearchConfig,
  reach: SearchReach
): SearchPlan => {
  const gaps: Array<SearchGap> = []
  const link = (id: SearchId): SearchLink => ({ id, key: readKey(snapshot, search, id) })
  const missing = ({ id, key }: SearchLink) => {
    const { needs } = findSearchProvider(id)
    if (needs === "endpoint") return search.searxng.endpoint === undefined ? needs : undefined
    return needs === "credential" && key === undefined ? needs : undefined
  }
  const isAllowed = (id: SearchId) => !search.exclude.includes(id)
  if (search.providers.length === 0) {
    const possible = searchIds.filter((id) => reach.ids.includes(id) && isAllowed(id)).map(link)
    const ready = possible.filter((one) => missing(one) === undefined)
    const configured = ready.filter(({ id, key }) => key !== undefined || findSearchProvider(id).needs === "endpoint")
    return { chain: configured.length === 0 ? ready : configured, gaps }
  }
  const chain = search.providers.filter(isSearchId).flatMap((id): ReadonlyArray<SearchLink> => {
    if (!isAllowed(id)) return []
    const one = link(id)
    const needs = missing(one)
    if (!reach.ids.includes(id)) gaps.push({ _tag: "OfOtherModes", id, reach })
    else if (needs === undefined) return [one]
    else gaps.push({ _tag: "Needs", id, needs })
    return []
  })
  return { chain, gaps }
}

export const planSearch = (
  snapshot: Pick<Snapshot, "credential">,
  search: WebSearchConfig,
  reach: SearchReach
): SearchPlan => {
  if (!search.enabled) return { chain: [], gaps: [] }
  const { chain: callable, gaps } = listCallable(snapshot, search, reach)
  const chain = reach.isSingle ? callable.slice(0, 1) : callable
  const [first] = chain
  const skipped = search.providers.length === 0 ? [] : callable.slice(chain.length)
  const hasSearxng = Object.values(search.searxng).some((value) => value !== undefined)
  return {
    chain,
    gaps: [
      ...unknownIds(search),
      ...gaps,
      ...skipped.flatMap(({ id }): ReadonlyArray<SearchGap> =>
        first === undefined ? [] : [{ _tag: "NotFirst", id, first: first.id }]
      ),
      ...(hasSearxng && !chain.some(({ id }) => id === "searxng") ? [{ _tag: "SearxngUnused" } as const] : []),
      ...(first === undefined ? [{ _tag: "NoneLeft" } as const] : [])
    ]
  }
}
