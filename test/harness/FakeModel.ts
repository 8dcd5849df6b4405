/**
 * A model server that replies from a script and records the requests. It implements the wire protocols of the
 * providers, selected by path, streamed or whole as the request wants it: OpenAI chat completions and Responses,
 * Anthropic messages (also as Vertex AI serves them), Gemini generateContent, Bedrock Converse with its signature
 * checked. It also serves the sign-ins of Copilot and Google.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Reply } from "./FakeModelReply.ts"
import { streamReply } from "./FakeModelStream.ts"
import { renderReply } from "./FakeModelWire.ts"
import type { Protocol } from "./FakeModelWire.ts"
import { signInAnswer } from "./FakeModelSignIn.ts"
import type { SignInRules } from "./FakeModelSignIn.ts"
import { signatureProblem } from "./FakeModelSigV4.ts"

export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly protocol: Protocol | undefined
  /** The parsed JSON body. */
  readonly body: unknown
  /** The body as text: what to search for things that must or must not be sent. */
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A script for the replies. A function may delay a reply: the request waits for its promise. */
export type Script = Reply | ReadonlyArray<Reply> | ((request: Recorded, number: number) => Reply | Promise<Reply>)

export interface FakeModel extends AsyncDisposable {
  /** `http://127.0.0.1:port`, without `/v1`. */
  readonly url: string
  /** Model requests, in the order they came. */
  readonly requests: ReadonlyArray<Recorded>
  /** Requests for tokens, in the order they came. */
  readonly signIns: ReadonlyArray<Recorded>
  /** Number of requests whose client disconnected before the response. */
  readonly aborted: () => number
  readonly script: (script: Script) => void
  readonly close: () => Promise<void>
}

/** The n-th request gets the n-th reply of a list, all later ones its last. */
export const startFakeModel = async (
  initial: Script = { text: "" },
  signInRules: SignInRules = {}
): Promise<FakeModel> => {
  let current = initial
  let aborted = 0
  const requests: Array<Recorded> = []
  const signIns: Array<Recorded> = []
  const server = createServer((request, response) => {
    const serve = async (recorded: Recorded | undefined) => {
      if (recorded === undefined) return
      const signIn = signInAnswer(recorded, signIns.length + 1, signInRules)
      if (signIn !== undefined) {
        signIns.push(recorded)
        response.writeHead(signIn.status, { "content-type": "application/json" }).end(JSON.stringify(signIn.body))
        return
      }
      if (recorded.protocol === undefined) {
        response.writeHead(recorded.path.endsWith("/models") ? 200 : 404, { "content-type": "application/json" })
        response.end(JSON.stringify({ object: "list", data: [] }))
        return
      }
      requests.push(recorded)
      response.once("close", () => {
        if (!response.writableFinished) aborted++
      })
      const number = requests.length - 1
      const reply = refusalOf(recorded) ?? (await replyOf(current, recorded, number))
      await send(response, recorded.protocol, reply, number, isStreamed(recorded))
    }
    receive(request)
      .then(serve)
      .catch((error: unknown) => {
        if (!(error instanceof Gone)) throw error
      })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no address")
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    signIns,
    aborted: () => aborted,
    script: (script) => {
      current = script
    },
    close,
    [Symbol.asyncDispose]: close
  }
}

/** A signed request is only served when its signature is right. */
const refusalOf = (recorded: Recorded): Reply | undefined => {
  if (recorded.protocol !== "bedrock" || recorded.headers.authorization?.startsWith("Bearer ")) return undefined
  const problem = signatureProblem(recorded)
  return problem === undefined ? undefined : { status: 403, body: JSON.stringify({ message: problem }) }
}

const replyOf = (script: Script, recorded: Recorded, number: number): Reply | Promise<Reply> => {
  if (typeof script === "function") return script(recorded, number)
  if (!isList(script)) return script
  const reply = script[Math.min(number, script.length - 1)]
  if (reply === undefined) throw new Error("an empty script answers nothing")
  return reply
}

const isList = (script: Script): script is ReadonlyArray<Reply> => Array.isArray(script)

const receive = async (request: IncomingMessage): Promise<Recorded | undefined> => {
  const chunks: Array<Buffer> = []
  try {
    for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  } catch {
    // The client disconnected while it sent, so there is no response to write.
    return undefined
  }
  const text = Buffer.concat(chunks).toString()
  const path = request.url ?? "/"
  return {
    method: request.method ?? "GET",
    path,
    headers: request.headers,
    protocol: protocolOf(path),
    body: request.headers["content-type"]?.includes("json") && text !== "" ? JSON.parse(text) : undefined,
    text,
    at: Date.now()
  }
}

const protocolOf = (path: string): Protocol | undefined => {
  const { pathname } = new URL(path, "http://fake")
  if (pathname.endsWith("/chat/completions")) return "chat"
  if (pathname.endsWith("/responses")) return "responses"
  if (pathname.endsWith("/messages") || pathname.endsWith("awPredict")) return "anthropic"
  if (pathname.endsWith("/converse") || pathname.endsWith("/converse-stream")) return "bedrock"
  return /:(g|streamG)enerateContent$/.test(pathname) ? "gemini" : undefined
}

const isStreamed = ({ body, path }: Recorded): boolean =>
  /:streamGenerateContent|:streamRawPredict|\/converse-stream/.test(path) ||
  (typeof body === "object" && body !== null && "stream" in body && body.stream === true)

const send = async (
  response: ServerResponse,
  protocol: Protocol,
  reply: Reply,
  number: number,
  streamed: boolean
): Promise<void> => {
  const json = { "content-type": "application/json" }
  if ("status" in reply) {
    const body = protocol === "bedrock" ? bedrockFault(reply.body ?? "") : (reply.body ?? "")
    response.writeHead(reply.status, { ...json, ...reply.headers }).end(body)
  } else if ("stall" in reply) {
    if (reply.stall === "headers") response.writeHead(200, json).flushHeaders()
  } else if ("cut" in reply) {
    response.writeHead(200, { ...json, "content-length": "4096" })
    response.write('{"id":"cut"')
    setImmediate(() => response.destroy())
  } else if ("invalidJson" in reply) {
    response.writeHead(200, json).end("<html>gateway page</html>")
  } else if ("stream" in reply) {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for await (const piece of reply.stream) await write(response, piece)
    response.end()
  } else {
    if (reply.delayMillis !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMillis))
    const headers = { ...json, ...reply.headers }
    if (!streamed) {
      return void response.writeHead(200, headers).end(JSON.stringify(renderReply(protocol, reply, number)))
    }
    const { contentType, events } = streamReply(protocol, reply, number)
    response.writeHead(200, { ...headers, "content-type": contentType }).flushHeaders()
    for (const [at, event] of events.entries()) {
      await reply.pace?.(at)
      await write(response, event)
    }
    response.end()
  }
}

/** Writes, and waits while the client does not read. Ends silently when it is gone. */
const write = (response: ServerResponse, piece: string | Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(new Gone())
    if (response.write(piece)) return resolve()
    const gone = () => reject(new Gone())
    response.once("close", gone)
    response.once("drain", () => {
      response.off("close", gone)
      resolve()
    })
  })

/** The client closed the connection. */
class Gone extends Error {}

/** AWS puts the message at the top. */
const bedrockFault = (body: string): string => {
  const parsed: unknown = body === "" ? undefined : JSON.parse(body)
  return (
    JSON.stringify(typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : parsed) ?? ""
  )
}

/** Faults in the words of the providers. */
export const faults = {
  unauthorized: (secret = "sk-wrong-key-1234567890"): Reply => ({
    status: 401,
    body: JSON.stringify({ error: { message: `Incorrect API key provided: ${secret}`, type: "invalid_request_error" } })
  }),
  rateLimited: (retryAfter?: string): Reply => ({
    status: 429,
    ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
    body: JSON.stringify({ error: { message: "Rate limit reached", type: "rate_limit_error" } })
  }),
  quota: {
    status: 429,
    body: JSON.stringify({ error: { message: "You exceeded your current quota", code: "insufficient_quota" } })
  },
  serverError: { status: 500, body: JSON.stringify({ error: { message: "internal error" } }) },
  overloaded: { status: 529, body: JSON.stringify({ error: { message: "Overloaded" } }) },
  overflow: {
    status: 400,
    body: JSON.stringify({
      error: { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" }
    })
  },
  badRequest: { status: 400, body: JSON.stringify({ error: { message: "unsupported parameter: foo" } }) },
  noSuchModel: { status: 404, body: JSON.stringify({ error: { message: "The model does not exist" } }) },
  refusal: { refused: true },
  silent: { stall: "silent" },
  stalledBody: { stall: "headers" },
  cutBody: { cut: true },
  invalidJson: { invalidJson: true }
} satisfies Record<string, Reply | ((text?: string) => Reply)>

/** A whole review in one reply. */
export const review = (problems: ReadonlyArray<unknown>, markdown = "Reviewed."): Reply => ({
  calls: [
    ...problems.map((input) => ({ name: "report_problem", input })),
    { name: "publish_summary", input: { markdown } }
  ]
})

/** Replies to a request to verify findings with the same verdict on each; undefined for other requests. */
export const verdictsOn = (
  text: string,
  verdict: Record<string, unknown> = { verdict: "confirm", reason: "it is so" }
) => {
  const numbers = [...text.matchAll(/\\"number\\": ?(\d+)/g)].map(([, number]) => Number(number))
  if (numbers.length === 0) return undefined
  return { calls: [{ name: "verdicts", input: { verdicts: numbers.map((number) => ({ number, ...verdict })) } }] }
}
