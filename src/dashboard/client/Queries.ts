/** Hooks over the typed client: one value, a list that is read page by page, an action. Keys begin with the name of the endpoint. */
import {
  hashKey,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient
} from "@tanstack/react-query"
import { useEffect, useMemo } from "react"
import { call } from "./Call.ts"
import type { Endpoint, Input, Item, Output } from "./Endpoints.ts"
import { isItemPage } from "./MergePages.ts"
import { Problem } from "./Problem.ts"
import { forgetView, isPages, isShort, readPage, refreshEndpoints, refreshPages, watchView } from "./RefreshPages.ts"

const isTransient = (error: unknown): boolean =>
  error instanceof Problem && (error.isUnreachable || error.status >= 502)

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Events tell when something changed; the interval covers lost events.
      staleTime: 15_000,
      gcTime: 60_000,
      refetchOnWindowFocus: true,
      retry: (count, error) => isTransient(error) && count < 5,
      retryDelay: (count) => Math.min(500 * 2 ** count, 8000)
    },
    mutations: { retry: false }
  }
})

/** While a value is read for another filter, the one before is shown. A record is never shown in place of another one. */
const keepsPrevious = (endpoint: Endpoint): boolean => !endpoint.includes("/:") && endpoint !== "GET /story"

export const useApi = <E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  options: { readonly enabled?: boolean; readonly refetchInterval?: number; readonly staleTime?: number } = {}
) =>
  useQuery({
    queryKey: [endpoint, input],
    queryFn: ({ signal }): Promise<Output<E>> => call(endpoint, input, { signal }),
    ...(keepsPrevious(endpoint) ? { placeholderData: keepPreviousData } : undefined),
    ...options
  })

/** Time for which the rows of a list that is no longer shown are kept, so that going back returns to its place. */
const listGcTime = 600_000

/** A list: its items so far, and how to get more. `view` names the rows that are shown, which are kept current. */
export const usePages = <E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  options: { readonly enabled?: boolean } = {}
) => {
  const queryKey = [endpoint, input, "pages"]
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }): Promise<unknown> =>
      readPage(endpoint, input as Input<Endpoint>, pageParam, { signal }),
    getNextPageParam: (last) => (isItemPage(last) ? (last.next_cursor ?? undefined) : undefined),
    placeholderData: keepPreviousData,
    // Reading every page again is what `refreshPages` avoids.
    refetchOnMount: ({ state }) => isShort(state.data),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: listGcTime,
    ...options
  })
  const hash = hashKey(queryKey)
  useEffect(() => {
    const cached = queryClient.getQueryCache().get(hash)
    if (cached !== undefined && !isShort(cached.state.data)) void refreshPages(cached)
    return () => forgetView(hash)
  }, [hash])
  const view = (first: number, last: number): void => {
    if (!watchView(hash, { first, last })) return
    const cached = queryClient.getQueryCache().get(hash)
    if (cached !== undefined && isPages(cached.state.data)) void refreshPages(cached)
  }
  const pages = query.data?.pages
  // Pages of this endpoint hold its items.
  const items = useMemo(
    () => (pages ?? []).flatMap((page) => (isItemPage(page) ? page.items : [])) as ReadonlyArray<Item<E>>,
    [pages]
  )
  const [first] = pages ?? []
  return {
    ...query,
    items,
    first: first as Output<E> | undefined,
    /** Number of rows that precede the shown ones. */
    newer: (isItemPage(first) ? first.newer : undefined) ?? 0,
    view
  }
}

/** A write. `refreshes` names the endpoints whose values it changes. */
export const useAction = <E extends Endpoint>(endpoint: E, refreshes: ReadonlyArray<Endpoint> = []) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input<E>): Promise<Output<E>> => call(endpoint, input),
    onSettled: () => refreshEndpoints(client, new Set(refreshes))
  })
}
