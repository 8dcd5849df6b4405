/** Hooks over the typed client: one value, a list that is read page by page, an action. Keys begin with the name of the endpoint. */
import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient
} from "@tanstack/react-query"
import { call } from "./Call.ts"
import type { Endpoint, Input, Item, Output } from "./Endpoints.ts"
import { Problem } from "./Problem.ts"

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

export const useApi = <E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  options: { readonly enabled?: boolean; readonly refetchInterval?: number } = {}
) =>
  useQuery({
    queryKey: [endpoint, input],
    queryFn: ({ signal }): Promise<Output<E>> => call(endpoint, input, { signal }),
    placeholderData: keepPreviousData,
    ...options
  })

interface Page {
  readonly items: ReadonlyArray<unknown>
  readonly next_cursor: string | null
}

const isPage = (value: unknown): value is Page =>
  typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items)

/** Pages that are kept. A list that is longer is filtered, not scrolled. */
const pageSize = 100

/** A list: its items so far, and how to get more. */
export const usePages = <E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  options: { readonly enabled?: boolean } = {}
) => {
  const query = useInfiniteQuery({
    queryKey: [endpoint, input, "pages"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }): Promise<unknown> =>
      call<Endpoint>(
        endpoint,
        {
          ...input,
          query: { ...input.query, limit: pageSize, ...(pageParam === "" ? undefined : { cursor: pageParam }) }
        } as Input<Endpoint>,
        { signal }
      ),
    getNextPageParam: (last) => (isPage(last) ? (last.next_cursor ?? undefined) : undefined),
    placeholderData: keepPreviousData,
    ...options
  })
  // Pages of this endpoint hold its items.
  const items = (query.data?.pages ?? []).flatMap((page) => (isPage(page) ? page.items : [])) as ReadonlyArray<Item<E>>
  const [first] = query.data?.pages ?? []
  return { ...query, items, first: first as Output<E> | undefined }
}

/** A write. `refreshes` names the endpoints whose values it changes. */
export const useAction = <E extends Endpoint>(endpoint: E, refreshes: ReadonlyArray<Endpoint> = []) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input<E>): Promise<Output<E>> => call(endpoint, input),
    onSettled: () => Promise.all(refreshes.map((queryKey) => client.invalidateQueries({ queryKey: [queryKey] })))
  })
}
