/**
 * The model of `aicr agent check`: a server on loopback that reports one problem and ends the review, by the position in the conversation.
 * It needs no network and no key, but gets one, so that the check can search for it inside of the sandbox.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Schema } from "effect"
import type { Scope } from "effect"
import { offeredTool, writeChatReply } from "./ChatCompletion.ts"
import type { ChatReply } from "./ChatCompletion.ts"

export const scriptedModelName = "aicr-scripted"
const maxBodyBytes = 16 * 1_048_576

export const scriptedProblem = {
  file: "check.txt",
  severity: "low",
  category: "check",
  message: "The scripted model of aicr agent check reports this problem.",
  quote: "checked line"
} as const

const Request = Schema.Struct({
  stream: Schema.optional(Schema.Boolean),
  messages: Schema.Array(Schema.Struct({ role: Schema.String })),
  tools: Schema.optional(Schema.Array(Schema.Struct({ function: Schema.Struct({ name: Schema.String }) })))
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Request))

const usage = { input: 1_000, output: 20 }

/** Decides on the reply: a report, then the summary, then the end of the conversation. */
const replyTo = ({ messages, tools = [] }: typeof Request.Type): ChatReply => {
  const names = tools.map((tool) => tool.function.name)
  const report = offeredTool(names, "report_problems")
  const end = offeredTool(names, "publish_summary")
  const results = messages.filter(({ role }) => role === "tool").length
  const reply = { model: scriptedModelName, text: "", calls: [], usage }
  if (report === undefined || end === undefined || results > 1) return { ...reply, text: "Done." }
  return results === 0
    ? { ...reply, calls: [{ name: report, input: { problems: [scriptedProblem] } }] }
    : { ...reply, calls: [{ name: end, input: { markdown: "Checked." } }] }
}

export interface ScriptedModel {
  /** `http://127.0.0.1:<port>/v1`. */
  readonly url: string
  readonly port: number
  readonly requests: () => number
}

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > maxBodyBytes) return ""
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const decoded = decode(await readText(request))
  if (decoded._tag === "None") {
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"invalid request"}}')
    return
  }
  writeChatReply(response, replyTo(decoded.value), decoded.value.stream === true)
}

/** Serves until the scope closes. A silent model never responds. */
export const startScriptedModel = (
  behaviour: "responds" | "silent"
): Effect.Effect<ScriptedModel, never, Scope.Scope> =>
  Effect.gen(function* () {
    let requests = 0
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const made = createServer((request, response) => {
          requests++
          if (behaviour === "silent") return
          void respond(request, response).catch(() => response.destroy())
        })
        made.once("error", (cause) => resume(Effect.die(cause)))
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.callback<void>((resume) => {
          made.close(() => resume(Effect.void))
          made.closeAllConnections()
        })
    )
    const address = server.address()
    if (address === null || typeof address === "string") return yield* Effect.die("the scripted model has no port")
    return { url: `http://127.0.0.1:${address.port}/v1`, port: address.port, requests: () => requests }
  })
