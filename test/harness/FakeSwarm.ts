/**
 * A Swarm (P4 Code Review) server with the part of version 9 of its API that the service uses. It reproduces the guide of Swarm and
 * its sources: failures with status 200, transitions of task states, contexts that need a file of the review, and pages. Requests
 * are checked against the parameters that the guide lists.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Fault } from "../../demo/DemoForge.ts"
import { checkAgainst } from "./OpenApi.ts"

export interface FakeSwarmComment {
  readonly id: number
  readonly topic: string
  readonly user: string
  body: string
  taskState: string
  flags: ReadonlyArray<string>
  readonly context: Readonly<Record<string, unknown>> | undefined
  /** Seconds since the epoch. */
  readonly time: number
  /** E-mail messages that the last write requested. */
  notification: "delayed" | "immediate" | "none"
  edits: number
}

export interface FakeSwarmReview {
  readonly id: number
  changes: ReadonlyArray<number>
  commits: ReadonlyArray<number>
  state: string
  versions: ReadonlyArray<{ readonly change: number; readonly archiveChange?: number; readonly pending: boolean }>
  /** Depot files; undefined: any. */
  files?: ReadonlyArray<string>
}

export interface SwarmRequest {
  readonly method: string
  /** Below `/api/v9`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly authorization: string | undefined
}

export interface FakeSwarm {
  readonly url: string
  readonly user: string
  readonly ticket: string
  readonly reviews: Array<FakeSwarmReview>
  readonly comments: Array<FakeSwarmComment>
  readonly requests: Array<SwarmRequest>
  /** Decides on each request; called before it is executed. */
  decide: (request: SwarmRequest) => Fault | undefined
  /** True: lists of comments are maps, as in the guide. */
  keyed: boolean
  /** Adds a comment of a person to a review; `to`: the comment to which it replies. Returns its id. */
  readonly say: (user: string, review: number, body: string, to?: number) => number
  /** Throws if a request did not follow the API description. */
  readonly expectContract: () => void
  readonly stop: () => Promise<void>
}

const integers = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, in: "query", schema: { type: "integer" } }))
const texts = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, in: "query", schema: { type: "string" } }))
const id = { name: "id", in: "path", required: true, schema: { type: "integer" } }
const text = { type: "string" }
const flag = { type: "string", enum: ["true", "false"] }
const bodyOf = (properties: Readonly<Record<string, unknown>>, required: ReadonlyArray<string>) => ({
  required: true,
  content: { "application/json": { schema: { type: "object", properties, required: [...required] } } }
})
const context = {
  type: "object",
  properties: {
    comment: { type: "integer", minimum: 1 },
    file: { ...text, pattern: "^//" },
    leftLine: { type: "integer", minimum: 1 },
    rightLine: { type: "integer", minimum: 1 },
    content: { type: "array", items: text },
    version: { type: "integer", minimum: 1 }
  }
}
const edits = {
  topic: text,
  body: text,
  flags: { type: "array", items: { type: "string", enum: ["closed"] } },
  silenceNotification: flag,
  delayNotification: flag
}

/** Parameters of "Comments: Swarm Comments" and "Reviews: Swarm Reviews" of the Helix Swarm Guide. */
const description = () => ({
  paths: {
    "/version": { get: {} },
    "/reviews": { get: { parameters: [...integers("max", "after", "change[]"), ...texts("fields", "state[]")] } },
    "/reviews/{id}": { get: { parameters: [id, ...texts("fields")] } },
    "/comments": {
      get: { parameters: [...integers("max", "after"), ...texts("topic", "fields", "ignoreArchived", "tasksOnly")] },
      post: {
        requestBody: bodyOf({ ...edits, taskState: { type: "string", enum: ["comment", "open"] }, context }, [
          "topic",
          "body"
        ])
      }
    },
    "/comments/{id}": {
      patch: {
        parameters: [id],
        requestBody: bodyOf(
          { ...edits, taskState: { type: "string", enum: ["comment", "open", "addressed", "verified"] } },
          []
        )
      }
    }
  }
})

const transitions: Readonly<Record<string, ReadonlyArray<string>>> = {
  comment: ["open"],
  open: ["addressed", "comment"],
  addressed: ["verified", "verified:archive", "open"],
  verified: ["open"]
}

interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

const invalid = (details: Readonly<Record<string, string>>): Reply => ({
  status: 400,
  body: { error: "Bad Request", isValid: false, details }
})
const missing: Reply = { status: 404, body: { error: "Not Found" } }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const notificationOf = (body: Readonly<Record<string, unknown>>): FakeSwarmComment["notification"] =>
  body["silenceNotification"] === "true" ? "none" : body["delayNotification"] === "true" ? "delayed" : "immediate"

export const startFakeSwarm = async (): Promise<FakeSwarm> => {
  const check = checkAgainst("swarm", description())
  const violations: Array<string> = []

  const listReviews = (query: URLSearchParams): Reply => {
    const change = Number(query.get("change[]"))
    const found = query.has("change[]")
      ? swarm.reviews.filter(({ changes, commits }) => changes.includes(change) || commits.includes(change))
      : swarm.reviews
    const reviews = found
      .toSorted((a, b) => b.id - a.id)
      .slice(0, Number(query.get("max") ?? 1000))
      .map(({ changes, commits, id: number, state }) => {
        const own = swarm.comments.filter(({ topic }) => topic === `reviews/${number}`)
        const archived = own.filter(({ flags }) => flags.includes("closed")).length
        return { id: number, changes, commits, state, comments: [own.length - archived, archived] }
      })
    return { status: 200, body: { lastSeen: reviews.at(-1)?.id ?? null, reviews, totalCount: null } }
  }

  const toJson = ({ edits: count, context: where, ...comment }: FakeSwarmComment) => ({
    ...comment,
    attachments: [],
    context: where ?? [],
    edited: count === 0 ? null : 1,
    notification: undefined,
    likes: []
  })

  const listComments = (query: URLSearchParams): Reply => {
    const after = Number(query.get("after") ?? 0)
    const page = swarm.comments
      .filter(({ id: number, topic }) => topic === (query.get("topic") ?? topic) && number > after)
      .slice(0, Number(query.get("max") ?? 100))
      .map(toJson)
    const comments = swarm.keyed && page.length > 0 ? Object.fromEntries(page.map((one) => [one.id, one])) : page
    return { status: 200, body: { topic: query.get("topic"), comments, lastSeen: page.at(-1)?.id ?? null } }
  }

  const checkContext = (topic: string, where: unknown): string | undefined => {
    if (where === undefined) return undefined
    const review = swarm.reviews.find(({ id: number }) => topic === `reviews/${number}`)
    const file = isRecord(where) ? where["file"] : undefined
    const above = isRecord(where) ? where["comment"] : undefined
    if (above !== undefined && !swarm.comments.some((one) => one.id === above && one.topic === topic))
      return "The comment to which this replies was not found."
    if (above !== undefined && file === undefined) return undefined
    const version = isRecord(where) ? Number(where["version"] ?? 1) : 1
    if (review === undefined || typeof file !== "string")
      return "File path is required when specifying inline comment context."
    if (version > Math.max(1, review.versions.length)) return "Specified version was not found in this review."
    return review.files === undefined || review.files.includes(file)
      ? undefined
      : "File path not found in specified review/change."
  }

  const createComment = (body: Readonly<Record<string, unknown>>): Reply => {
    const topic = String(body["topic"])
    if (typeof body["body"] !== "string" || body["body"].trim() === "")
      return invalid({ body: "Value is required and can't be empty" })
    const wrong = checkContext(topic, body["context"])
    if (wrong !== undefined)
      return { status: 400, body: { error: "Provided context could not be filtered.", details: { context: wrong } } }
    const comment = add(swarm.user, topic, body["body"], {
      taskState: String(body["taskState"] ?? "comment"),
      context: isRecord(body["context"]) ? body["context"] : undefined,
      notification: notificationOf(body)
    })
    return { status: 200, body: { comment: toJson(comment) } }
  }

  const add = (
    user: string,
    topic: string,
    body: string,
    more: Pick<FakeSwarmComment, "context" | "notification" | "taskState">
  ): FakeSwarmComment => {
    const number = Math.max(0, ...swarm.comments.map((one) => one.id)) + 1
    const time = Math.floor(Date.now() / 1000)
    const comment: FakeSwarmComment = { id: number, topic, user, body, flags: [], time, edits: 0, ...more }
    swarm.comments.push(comment)
    return comment
  }

  const editComment = (number: number, body: Readonly<Record<string, unknown>>): Reply => {
    const comment = swarm.comments.find((one) => one.id === number)
    if (comment === undefined) return missing
    const { body: content, flags, taskState } = body
    if (content !== undefined && comment.user !== swarm.user) return { status: 403, body: { error: "Forbidden" } }
    const allowed = transitions[comment.taskState] ?? []
    if (typeof taskState === "string" && !allowed.includes(taskState))
      return invalid({
        taskState: `Invalid task state transition specified. Valid transitions are: ${allowed.join(", ")}`
      })
    if (typeof content === "string") comment.body = content
    if (typeof taskState === "string") comment.taskState = taskState
    if (Array.isArray(flags)) comment.flags = flags.map(String)
    comment.notification = notificationOf(body)
    comment.edits++
    return { status: 200, body: { comment: toJson(comment) } }
  }

  const execute = ({ authorization, body, method, path, query }: SwarmRequest): Reply => {
    const login = Buffer.from(`${swarm.user}:${swarm.ticket}`).toString("base64")
    if (path === "/version")
      return { status: 200, body: { apiVersions: [9, 10, 11], version: "SWARM/2025.2", year: "2025" } }
    if (authorization !== `Basic ${login}`) return { status: 200, body: { error: "Unauthorized" } }
    const given = isRecord(body) ? body : {}
    const [, collection, number] = path.split("/")
    if (method === "GET" && path === "/reviews") return listReviews(query)
    if (method === "GET" && collection === "reviews") {
      const review = swarm.reviews.find((one) => one.id === Number(number))
      return review === undefined
        ? missing
        : { status: 200, body: { review: { id: review.id, versions: review.versions } } }
    }
    if (method === "GET" && path === "/comments") return listComments(query)
    if (method === "POST" && path === "/comments") return createComment(given)
    if (method === "PATCH" && collection === "comments") return editComment(Number(number), given)
    return { status: 200, body: { error: "Method Not Allowed" } }
  }

  const respond = (response: ServerResponse, { body, headers, status }: Reply) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

  const handle = (request: IncomingMessage, response: ServerResponse, content: string) => {
    const url = new URL(request.url ?? "/", "http://swarm")
    const seen: SwarmRequest = {
      method: request.method ?? "GET",
      path: url.pathname.replace(/^\/api\/v9/, ""),
      query: url.searchParams,
      body: content === "" ? undefined : JSON.parse(content),
      authorization: request.headers.authorization
    }
    swarm.requests.push(seen)
    violations.push(...check(seen))
    const fault = swarm.decide(seen)
    if (fault?.kind === "cut") return void request.socket.destroy()
    if (fault?.kind === "answer") return respond(response, fault.answer)
    const reply = execute(seen)
    if (fault?.kind === "lost") return void request.socket.destroy()
    if (fault?.kind === "hung") return
    respond(response, reply)
  }

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => handle(request, response, Buffer.concat(chunks).toString("utf8")))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const swarm: FakeSwarm = {
    url: `http://127.0.0.1:${port}`,
    user: "reviewer",
    ticket: "6D1F0C2B9A8E47D3AA11BB22CC33DD44",
    reviews: [],
    comments: [],
    requests: [],
    decide: () => undefined,
    keyed: false,
    say: (user, review, body, to) => {
      const above = swarm.comments.find((one) => one.id === to)
      const where = to === undefined ? undefined : { ...above?.context, comment: to }
      return add(user, `reviews/${review}`, body, { taskState: "comment", context: where, notification: "delayed" }).id
    },
    expectContract: () => {
      if (violations.length > 0) throw new Error(`requests against the API description:\n${violations.join("\n")}`)
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return swarm
}
