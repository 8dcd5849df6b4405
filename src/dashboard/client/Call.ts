/** Sends requests to the admin API. A refused session suspends the request until the user has logged in again; then it is repeated. */
import type { Endpoint, Input, Output } from "./Endpoints.ts"
import { Problem, toRecord } from "./Problem.ts"
import { renewSession, sessionState } from "./Session.ts"

const meta = (name: string): string => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? ""

/** `server.path_prefix`, normalised. */
export const prefix = meta("aicr-prefix").startsWith("/") ? meta("aicr-prefix") : ""

interface AnyInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly payload?: unknown
}

/** Returns method and URL of a request. */
export const toRequest = (endpoint: string, { params, query }: AnyInput): readonly [string, string] => {
  const [method = "GET", path = "/"] = endpoint.split(" ")
  const values = toRecord(params)
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(toRecord(query)))
    if (value !== undefined && value !== "") search.set(name, String(value))
  const text = search.toString()
  return [method, `${prefix}/api/admin${filled}${text === "" ? "" : `?${text}`}`]
}

const currentToken = (): string | undefined => {
  const state = sessionState()
  return state._tag === "SignedIn" || state._tag === "Expired" ? state.session.token : undefined
}

/** Sends a request with the token of the session, and again with that of the next session if it is refused. */
export const send = async (url: string, init: RequestInit): Promise<Response> => {
  const token = currentToken()
  const response = await fetch(url, {
    ...init,
    headers: { ...init.headers, ...(token === undefined ? undefined : { authorization: `Bearer ${token}` }) }
  }).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error
    throw new Problem(0, { detail: String(error) })
  })
  if (response.status !== 401 || token === undefined) return response
  return (await renewSession(token)) === undefined ? response : send(url, init)
}

const read = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return undefined
  const text = await response.text()
  if (!(response.headers.get("content-type") ?? "").includes("json")) return text
  return JSON.parse(text)
}

export const call = async <E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  options: { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> } = {}
): Promise<Output<E>> => {
  const [method, url] = toRequest(endpoint, input)
  const body = input.payload === undefined ? undefined : JSON.stringify(input.payload)
  const response = await send(url, {
    method,
    ...(options.signal === undefined ? undefined : { signal: options.signal }),
    headers: { ...options.headers, ...(body === undefined ? undefined : { "content-type": "application/json" }) },
    ...(body === undefined ? undefined : { body })
  })
  const content = await read(response)
  if (!response.ok) throw new Problem(response.status, toRecord(content))
  // The service encodes responses with the schemas that this type is derived from.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return content as Output<E>
}
