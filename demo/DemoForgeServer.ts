/** The HTTP server of the demo's git host: its REST API, git, and the pages on which people read pull requests. */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { dispatch } from "./DemoForgeDialect.ts"
import type { ApiAnswer, ApiRequest, DemoDialect, DemoEvent } from "./DemoForgeDialect.ts"
import { httpBackend } from "./DemoForgeGit.ts"
import { commitPage, filePage, indexPage, pullPage } from "./DemoForgePage.ts"
import { findCommit, computeDiff, readText, refreshPulls } from "./DemoForgeState.ts"
import type { DemoState, DemoUser } from "./DemoForgeState.ts"
import { executeVisitorAction, parseVisitorAction } from "./DemoForgeVisitor.ts"
import type { VisitorAction } from "./DemoForgeVisitor.ts"
import { readBody } from "./ReadBody.ts"

/** Injected fault of one request. */
export type Fault =
  | { readonly kind: "answer"; readonly answer: ApiAnswer }
  /** Closes the connection before the request is executed. */
  | { readonly kind: "cut" }
  /** Executes the request and closes the connection instead of responding. */
  | { readonly kind: "lost" }
  /** Executes this number of transactions of the request and closes the connection, as a server that ends. */
  | { readonly kind: "partial"; readonly transactions: number }
  /** Executes the request without responding. */
  | { readonly kind: "hung" }
  /** Executes the request and closes the connection after half of the response. */
  | { readonly kind: "half" }
  | { readonly kind: "slow"; readonly millis: number }

export interface DemoForgeOptions {
  /** Existing folder for the repositories. */
  readonly directory: string
  /** Token of the reviewer's account `aicr`. */
  readonly token: string
  /** Secret of the webhooks. */
  readonly secret: string
  readonly webhookUrl?: string | undefined
  readonly port?: number | undefined
  readonly dialect?: DemoDialect | undefined
  /** Further accounts: token to login. */
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** Returns the login of a token that is in no list. */
  readonly loginOf?: ((token: string) => string | undefined) | undefined
  /** Login of the person who reads the pages and may comment there. Without one the pages have no forms. */
  readonly visitor?: string | undefined
  /** Gets events of people: pushes over HTTP that move a pull request, and comments on the pages. */
  readonly onEvent?: ((event: DemoEvent) => void) | undefined
  /** Gets every request of the REST API before its response. */
  readonly onRequest?: ((request: ApiRequest) => Fault | undefined) | undefined
  /** Gets every response of the REST API. */
  readonly onAnswer?: ((request: ApiRequest, sent: ApiAnswer) => void) | undefined
}

/** State that the routes of the server share. */
export interface ForgeServer {
  readonly options: DemoForgeOptions
  readonly dialect: DemoDialect
  readonly state: DemoState
  /** Token to login. */
  readonly accounts: ReadonlyMap<string, string>
  /** Web address; empty until the server listens. */
  url: string
}

const maxBodyBytes = 8 * 1024 * 1024

/** The token in any form that hosts take: `token x`, `Bearer x`, Basic with it on either side, GitLab's header. */
const tokensOf = (request: IncomingMessage): ReadonlyArray<string> => {
  const gitlab = request.headers["private-token"]
  if (typeof gitlab === "string") return [gitlab]
  const [scheme, value] = (request.headers.authorization ?? "").split(" ")
  if (value === undefined) return []
  if (scheme?.toLowerCase() !== "basic") return [value]
  const [username, ...password] = Buffer.from(value, "base64").toString("utf8").split(":")
  return [password.join(":"), username ?? ""]
}

const account = ({ accounts, options, state }: ForgeServer, request: IncomingMessage): DemoUser | undefined => {
  const login = tokensOf(request)
    .map((token) => accounts.get(token) ?? options.loginOf?.(token))
    .find((name) => name !== undefined)
  return login === undefined ? undefined : state.user(login)
}

const respondToApi = async (
  forge: ForgeServer,
  request: IncomingMessage,
  response: ServerResponse,
  target: URL
): Promise<void> => {
  const { dialect, options, state, url } = forge
  const user = account(forge, request)
  if (user === undefined) return writeJson(response, { status: 401, body: dialect.error("token is required") })
  const bytes = await readBody(request, maxBodyBytes)
  if (bytes === undefined) return writeJson(response, { status: 413, body: dialect.error("body too large") })
  let body: unknown
  try {
    body = bytes.length === 0 ? undefined : JSON.parse(bytes.toString("utf8"))
  } catch {
    return writeJson(response, { status: 400, body: dialect.error("body is not JSON") })
  }
  const call: ApiRequest = {
    method: request.method ?? "GET",
    path: target.pathname === dialect.graphqlPath ? target.pathname : target.pathname.slice(dialect.apiPath.length),
    query: target.searchParams,
    headers: request.headers,
    body,
    user
  }
  const fault = options.onRequest?.(call)
  if (fault?.kind === "cut") return void response.destroy()
  if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.millis))
  const transactions = fault?.kind === "partial" ? fault.transactions : undefined
  const executed = { state, request: { ...call, transactions }, url }
  const made = fault?.kind === "answer" ? fault.answer : await dispatch(dialect, executed)
  const sent = dialect.hasEtags === true && call.method === "GET" ? tag(made, call) : made
  options.onAnswer?.(call, sent)
  if (fault?.kind === "lost" || fault?.kind === "partial") return void response.destroy()
  if (fault?.kind === "hung") return
  if (fault?.kind === "half") return writeHalf(response, sent)
  writeJson(response, sent)
}

const respondToGit = async (
  forge: ForgeServer,
  request: IncomingMessage,
  response: ServerResponse,
  target: URL
): Promise<void> => {
  const { options, state } = forge
  const [, owner, name, rest] = /^\/([^/]+)\/([^/]+?)(?:\.git)?(\/.*)$/.exec(decodeURI(target.pathname)) ?? []
  const repository = state.repositories.get(`${owner}/${name}`.toLowerCase())
  const user = account(forge, request)
  if (user === undefined) {
    response.writeHead(401, { "www-authenticate": 'Basic realm="Gitea"' }).end("Unauthorized\n")
    return
  }
  if (repository === undefined) return void response.writeHead(404).end("not found\n")
  const pathInfo = `/${repository.fullName.toLowerCase()}.git${rest ?? ""}`
  const query = target.search.slice(1)
  const refresh = async (): Promise<void> => {
    for (const pull of await refreshPulls(state, repository))
      options.onEvent?.({ kind: "pull", pull, action: "synchronized", sender: user })
  }
  const before = rest === "/git-receive-pack" ? refresh : () => Promise.resolve()
  await httpBackend(request, response, { root: options.directory, pathInfo, query, user: user.login, before })
}

const respondToVisitor = async (
  { options, state, url }: ForgeServer,
  login: string,
  action: VisitorAction,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> => {
  const { status, event } = await executeVisitorAction(state, state.user(login), action, request, url)
  const { pull } = action
  response.writeHead(status, { location: `/${pull.repository.fullName}/pulls/${pull.number}` }).end()
  if (event !== undefined) options.onEvent?.(event)
}

/** Decodes a path; one that is not encoded properly names nothing. */
const decodePath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return ""
  }
}

const respondWithPage = async (
  { options, state }: ForgeServer,
  response: ServerResponse,
  target: URL
): Promise<void> => {
  if (target.pathname === "/version") return writeJson(response, { status: 200, body: { version: state.version } })
  const [, owner, name, number] = /^\/([^/]+)\/([^/]+)\/pulls?\/(\d+)(?:\/files)?$/.exec(target.pathname) ?? []
  const pull = state.repositories.get(`${owner}/${name}`.toLowerCase())?.pulls.get(Number(number))
  if (pull !== undefined) {
    return writeHtml(response, 200, pullPage(pull, await computeDiff(pull), state.version, options.visitor))
  }
  const [, home, project, id] = /^\/([^/]+)\/([^/]+)\/commit\/([0-9a-f]+)$/.exec(target.pathname) ?? []
  const repository = state.repositories.get(`${home}/${project}`.toLowerCase())
  const shown = repository === undefined || id === undefined ? undefined : await findCommit(repository, id)
  if (repository !== undefined && shown !== undefined) {
    return writeHtml(response, 200, commitPage(repository, shown.commit, shown.files, state.version))
  }
  const [, host, part, commit = "", path = ""] =
    /^\/([^/]+)\/([^/]+)\/src\/commit\/([0-9a-f]{7,64})\/(.+)$/.exec(decodePath(target.pathname)) ?? []
  const source = state.repositories.get(`${host}/${part}`.toLowerCase())
  const text = source === undefined ? undefined : await readText(source, commit, path)
  if (source !== undefined && text !== undefined)
    return writeHtml(response, 200, filePage(source, { id: commit, path, text }, state.version))
  if (target.pathname === "/")
    return writeHtml(response, 200, indexPage([...state.repositories.values()], state.version))
  writeHtml(
    response,
    404,
    "<!doctype html><title>Not found</title><p>Page not found. <a href='/'>All pull requests</a>"
  )
}

const respond = (forge: ForgeServer, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { dialect } = forge
  const target = new URL(request.url ?? "/", "http://forge")
  const isApi = target.pathname.startsWith(`${dialect.apiPath}/`) || target.pathname === dialect.graphqlPath
  if (isApi) return respondToApi(forge, request, response, target)
  const action = parseVisitorAction(forge.state, request, target)
  const { visitor } = forge.options
  if (action !== undefined && visitor !== undefined) return respondToVisitor(forge, visitor, action, request, response)
  return /\/(info\/refs|git-upload-pack|git-receive-pack)$/.test(target.pathname)
    ? respondToGit(forge, request, response, target)
    : respondWithPage(forge, response, target)
}

/** Listens on loopback and sets the address of the forge. */
export const listen = async (forge: ForgeServer): Promise<Server> => {
  const server = createServer((request, response) => {
    respond(forge, request, response).catch((cause: unknown) => {
      if (response.headersSent) response.destroy()
      else writeJson(response, { status: 500, body: forge.dialect.error(String(cause)) })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(forge.options.port ?? 0, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the demo forge has no port")
  forge.url = `http://127.0.0.1:${address.port}`
  return server
}

/** Adds an ETag, or leaves out the body that the client has. */
const tag = (made: ApiAnswer, { headers }: ApiRequest): ApiAnswer => {
  if (made.status !== 200) return made
  const etag = `W/"${createHash("sha256").update(JSON.stringify(made.body)).digest("hex").slice(0, 32)}"`
  const tagged = { ...made.headers, etag }
  return headers["if-none-match"] === etag ? { status: 304, headers: tagged } : { ...made, headers: tagged }
}

const writeJson = (response: ServerResponse, sent: ApiAnswer): void => {
  response.writeHead(sent.status, { "content-type": "application/json; charset=utf-8", ...sent.headers })
  response.end(sent.body === undefined ? undefined : JSON.stringify(sent.body))
}

const writeHalf = (response: ServerResponse, sent: ApiAnswer): void => {
  const text = JSON.stringify(sent.body)
  response.writeHead(sent.status, { "content-type": "application/json", "content-length": text.length })
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

const writeHtml = (response: ServerResponse, status: number, html: string): void => {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
  })
  response.end(html)
}
