/**
 * Dialect of the demo forge: the REST API of a host and its webhooks. The server, git and the state are the same for every
 * dialect.
 */
import type { DemoPull, DemoRepository, DemoState, DemoUser } from "./DemoForgeState.ts"

export interface ApiRequest {
  readonly method: string
  /** Below the API's root, decoded per segment by the route. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: unknown
  /** The account behind the credential. */
  readonly user: DemoUser
  /** Number of transactions after which a request fails that has several; undefined: it does not fail. */
  readonly transactions?: number | undefined
}

export interface ApiAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface ApiContext {
  readonly state: DemoState
  readonly request: ApiRequest
  readonly params: Readonly<Record<string, string>>
  /** Web address of the forge. */
  readonly url: string
}

export interface DemoRoute {
  readonly method: string
  /** Path template such as `/repos/{owner}/{repo}/pulls/{index}`. */
  readonly path: string
  readonly answer: (context: ApiContext) => ApiAnswer | Promise<ApiAnswer>
}

export type DemoEvent =
  | {
      readonly kind: "pull"
      readonly pull: DemoPull
      /** `edited`: the base branch was changed. */
      readonly action: "opened" | "synchronized" | "closed" | "reopened" | "label_updated" | "edited"
      readonly sender: DemoUser
    }
  | {
      readonly kind: "comment"
      readonly pull: DemoPull
      readonly body: string
      readonly sender: DemoUser
      /** Id of the comment, where it is one of the pull request. */
      readonly id?: number
    }
  | {
      readonly kind: "push"
      readonly repository: DemoRepository
      readonly branch: string
      readonly before: string
      readonly after: string
      readonly sender: DemoUser
    }

export interface DemoDialect {
  readonly name: string
  /** REST root below the forge's web address. */
  readonly apiPath: string
  /** Path of a GraphQL API. Its one route has this path, not one below `apiPath`. */
  readonly graphqlPath?: string
  readonly routes: ReadonlyArray<DemoRoute>
  /** Whether responses have an ETag, and conditional requests get the status 304. */
  readonly hasEtags?: boolean
  /** Body of an error response. */
  readonly error: (message: string) => unknown
  /** An unsigned delivery: the payload and its event headers. */
  readonly payload: (
    event: DemoEvent,
    url: string,
    state: DemoState
  ) => { readonly headers: Readonly<Record<string, string>>; readonly payload: unknown }
  /** Signature and delivery headers. */
  readonly sign: (body: Buffer, secret: string, deliveryId: string) => Readonly<Record<string, string>>
}

/** Handles a request with the matching route that has the fewest parameters, the first of several. */
export const dispatch = async (dialect: DemoDialect, context: Omit<ApiContext, "params">): Promise<ApiAnswer> => {
  const matching = dialect.routes.flatMap((route) => {
    const params = matches(route.path, context.request.path)
    return params === undefined ? [] : [{ route, params, count: Object.keys(params).length }]
  })
  const [chosen] = matching
    .filter(({ route }) => route.method === context.request.method)
    .toSorted((a, b) => a.count - b.count)
  if (chosen !== undefined) return chosen.route.answer({ ...context, params: chosen.params })
  return matching.length > 0
    ? { status: 405, body: dialect.error("method not allowed") }
    : { status: 404, body: dialect.error("not found") }
}

const matches = (template: string, path: string): Record<string, string> | undefined => {
  const wanted = template.split("/")
  const parts = path.split("/")
  // The last parameter of a template may be the rest of a path: {...path}.
  const hasRest = wanted.at(-1)?.startsWith("{...") === true && parts.length >= wanted.length
  const given = hasRest ? [...parts.slice(0, wanted.length - 1), parts.slice(wanted.length - 1).join("/")] : parts
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ""
    if (part.startsWith("{")) params[part.replace(/^\{(?:\.{3})?|\}$/g, "")] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return params
}

export const findRepository = ({ state, params }: ApiContext): DemoRepository | undefined =>
  state.repositories.get(`${params["owner"]}/${params["repo"]}`.toLowerCase())

/** One page of a list, with the headers by which clients find the next one. */
export const page = <A>(
  context: ApiContext,
  items: ReadonlyArray<A>,
  size: { readonly name: string; readonly standard: number; readonly most: number }
): { readonly items: ReadonlyArray<A>; readonly headers: Record<string, string> } => {
  const { query, path } = context.request
  const per = Math.min(
    size.most,
    context.state.pageLimit ?? size.most,
    Math.max(1, Number(query.get(size.name)) || size.standard)
  )
  const number = Math.max(1, Number(query.get("page")) || 1)
  const headers: Record<string, string> = { "x-total-count": String(items.length) }
  if (number * per < items.length) {
    headers["link"] = `<${context.url}${path}?page=${number + 1}&${size.name}=${per}>; rel="next"`
  }
  return { items: items.slice((number - 1) * per, number * per), headers }
}
