/**
 * A git host in one small server, for `npm run demo` and for tests: real repositories behind `git http-backend`, the part of a host's
 * REST API that a reviewer needs, signed webhooks, and pages on which people read the pull request and its comments. Everything
 * is on loopback and in the folder it is given.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { commitOf, createPull, createRepository, diffOf, makeState, push, refreshPulls } from "./DemoForgeState.ts"
import type { DemoPull, DemoRepository, DemoState, DemoUser, NewPull, Permission } from "./DemoForgeState.ts"
import { httpBackend } from "./DemoForgeGit.ts"
import type { NewCommit } from "./DemoForgeGit.ts"
import { dispatch } from "./DemoForgeDialect.ts"
import type { ApiAnswer, ApiRequest, DemoEvent, Dialect } from "./DemoForgeDialect.ts"
import { giteaDialect } from "./DemoForgeGitea.ts"
import { commitPage, indexPage, pullPage } from "./DemoForgePage.ts"

/** What goes wrong with one request instead of, or after, its work. */
export type Fault =
  | { readonly kind: "answer"; readonly answer: ApiAnswer }
  /** Cut before anything is done. */
  | { readonly kind: "cut" }
  /** Done, and the connection cut instead of an answer. */
  | { readonly kind: "lost" }
  /** Done, and never answered. */
  | { readonly kind: "hung" }
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
  readonly dialect?: Dialect | undefined
  /** Further accounts: token to login. */
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** Sees every request of the REST API before it is answered. */
  readonly onRequest?: ((request: ApiRequest) => Fault | undefined) | undefined
  /** Sees every answer of the REST API. */
  readonly onAnswer?: ((request: ApiRequest, answer: ApiAnswer) => void) | undefined
}

export interface Delivery {
  readonly url: string
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface DemoForge {
  /** Web address, without trailing slash: `base_url` of the trigger. */
  readonly url: string
  readonly state: DemoState
  /** `owner/name`, empty; the first push makes its branches. */
  readonly createRepository: (fullName: string) => Promise<DemoRepository>
  readonly repository: (fullName: string) => DemoRepository
  /** Commits to a branch and moves the pull requests that are open from it. */
  readonly push: (fullName: string, change: NewCommit) => Promise<string>
  readonly createPull: (fullName: string, pull: NewPull) => Promise<DemoPull>
  readonly pull: (fullName: string, number: number) => DemoPull
  readonly close: (pull: DemoPull, merged: boolean) => void
  readonly setLabels: (pull: DemoPull, labels: ReadonlyArray<string>) => void
  readonly setPermission: (fullName: string, login: string, permission: Permission) => void
  /** Web page of a pull request. */
  readonly pageOf: (pull: DemoPull) => string
  readonly user: (login: string) => DemoUser
  /** A signed delivery, to be sent once or often. */
  readonly delivery: (event: DemoEvent, options?: { readonly id?: string; readonly secret?: string }) => Delivery
  readonly send: (delivery: Delivery) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Makes and sends the delivery for something that happened to a pull request. */
  readonly notify: (
    pull: DemoPull,
    action: "opened" | "synchronized" | "closed" | "reopened" | "label_updated",
    sender?: string
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  readonly setWebhookUrl: (url: string) => void
  readonly stop: () => Promise<void>
}

const largestBody = 8 * 1024 * 1024

const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestBody) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

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

export const startDemoForge = async (options: DemoForgeOptions): Promise<DemoForge> => {
  const dialect = options.dialect ?? giteaDialect
  const state = makeState()
  const accounts = new Map([[options.token, "aicr"], ...Object.entries(options.accounts ?? {})])
  let webhookUrl = options.webhookUrl
  let url = ""

  const account = (request: IncomingMessage): DemoUser | undefined => {
    const login = tokensOf(request)
      .map((token) => accounts.get(token))
      .find((found) => found !== undefined)
    return login === undefined ? undefined : state.user(login)
  }

  const answerApi = async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> => {
    const user = account(request)
    if (user === undefined) return writeJson(response, { status: 401, body: dialect.error("token is required") })
    const bytes = await readBody(request)
    if (bytes === undefined) return writeJson(response, { status: 413, body: dialect.error("body too large") })
    let body: unknown
    try {
      body = bytes.length === 0 ? undefined : JSON.parse(bytes.toString("utf8"))
    } catch {
      return writeJson(response, { status: 400, body: dialect.error("body is not JSON") })
    }
    const asked: ApiRequest = {
      method: request.method ?? "GET",
      path: target.pathname.slice(dialect.apiPath.length),
      query: target.searchParams,
      headers: request.headers,
      body,
      user
    }
    const fault = options.onRequest?.(asked)
    if (fault?.kind === "cut") return void response.destroy()
    if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.millis))
    const answer = fault?.kind === "answer" ? fault.answer : await dispatch(dialect, { state, request: asked, url })
    options.onAnswer?.(asked, answer)
    if (fault?.kind === "lost") return void response.destroy()
    if (fault?.kind === "hung") return
    writeJson(response, answer)
  }

  const answerGit = async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> => {
    const [, owner, name, rest] = /^\/([^/]+)\/([^/]+?)(?:\.git)?(\/.*)$/.exec(decodeURI(target.pathname)) ?? []
    const repository = state.repositories.get(`${owner}/${name}`.toLowerCase())
    const user = account(request)
    if (user === undefined) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="Gitea"' }).end("Unauthorized\n")
      return
    }
    if (repository === undefined) return void response.writeHead(404).end("not found\n")
    const pathInfo = `/${repository.fullName.toLowerCase()}.git${rest ?? ""}`
    const query = target.search.slice(1)
    const before = rest === "/git-receive-pack" ? () => refreshPulls(state, repository) : () => Promise.resolve()
    await httpBackend(request, response, { root: options.directory, pathInfo, query, user: user.login, before })
  }

  const answerPage = async (response: ServerResponse, target: URL): Promise<void> => {
    if (target.pathname === "/version") return writeJson(response, { status: 200, body: { version: state.version } })
    const [, owner, name, number] = /^\/([^/]+)\/([^/]+)\/pulls?\/(\d+)$/.exec(target.pathname) ?? []
    const pull = state.repositories.get(`${owner}/${name}`.toLowerCase())?.pulls.get(Number(number))
    if (pull !== undefined) {
      return writeHtml(response, 200, pullPage(pull, await diffOf(pull), state.version))
    }
    const [, home, project, id] = /^\/([^/]+)\/([^/]+)\/commit\/([0-9a-f]+)$/.exec(target.pathname) ?? []
    const repository = state.repositories.get(`${home}/${project}`.toLowerCase())
    const shown = repository === undefined || id === undefined ? undefined : await commitOf(repository, id)
    if (repository !== undefined && shown !== undefined) {
      return writeHtml(response, 200, commitPage(repository, shown.commit, shown.files, state.version))
    }
    if (target.pathname === "/")
      return writeHtml(response, 200, indexPage([...state.repositories.values()], state.version))
    writeHtml(
      response,
      404,
      "<!doctype html><title>Not found</title><p>There is no such page. <a href='/'>All pull requests</a>"
    )
  }

  const server = createServer((request, response) => {
    const target = new URL(request.url ?? "/", "http://forge")
    const work = target.pathname.startsWith(`${dialect.apiPath}/`)
      ? answerApi(request, response, target)
      : /\/(info\/refs|git-upload-pack|git-receive-pack)$/.test(target.pathname)
        ? answerGit(request, response, target)
        : answerPage(response, target)
    work.catch((cause: unknown) => {
      if (response.headersSent) response.destroy()
      else writeJson(response, { status: 500, body: dialect.error(String(cause)) })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the demo forge has no port")
  url = `http://127.0.0.1:${address.port}`

  const repository = (fullName: string): DemoRepository => {
    const found = state.repositories.get(fullName.toLowerCase())
    if (found === undefined) throw new Error(`no repository ${fullName}`)
    return found
  }
  const delivery: DemoForge["delivery"] = (event, { id = randomUUID(), secret = options.secret } = {}) => {
    if (webhookUrl === undefined) throw new Error("the demo forge has no webhook URL yet")
    const { headers, payload } = dialect.payload(event, url, state)
    const body = Buffer.from(JSON.stringify(payload, undefined, 2))
    return {
      url: webhookUrl,
      id,
      headers: { "content-type": "application/json", ...headers, ...dialect.sign(body, secret, id) },
      body
    }
  }
  const send: DemoForge["send"] = async (made) => {
    const answer = await fetch(made.url, { method: "POST", headers: made.headers, body: new Uint8Array(made.body) })
    const text = await answer.text()
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) }
  }

  return {
    url,
    state,
    repository,
    createRepository: (fullName) => createRepository(state, options.directory, fullName),
    push: (fullName, change) => push(state, repository(fullName), change),
    createPull: (fullName, pull) => createPull(state, repository(fullName), pull),
    pull: (fullName, number) => {
      const found = repository(fullName).pulls.get(number)
      if (found === undefined) throw new Error(`no pull request ${fullName}#${number}`)
      return found
    },
    close: (pull, merged) => {
      pull.state = "closed"
      pull.merged = merged
      state.version++
    },
    setLabels: (pull, labels) => {
      pull.labels = labels.map(state.label)
      state.version++
    },
    setPermission: (fullName, login, permission) => void repository(fullName).permissions.set(login, permission),
    pageOf: (pull) => `${url}/${pull.repository.fullName}/pulls/${pull.number}`,
    user: state.user,
    delivery,
    send,
    notify: (pull, action, sender = "dana") =>
      send(delivery({ kind: "pull", pull, action, sender: state.user(sender) })),
    setWebhookUrl: (next) => {
      webhookUrl = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const writeJson = (response: ServerResponse, answer: ApiAnswer): void => {
  response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...answer.headers })
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body))
}

const writeHtml = (response: ServerResponse, status: number, html: string): void => {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
  })
  response.end(html)
}
