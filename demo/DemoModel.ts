/**
 * The bundled demo model: an OpenAI-compatible server on loopback that applies static rules to the diff of a request, so that the
 * demo runs without any key. Its name, its comments and its summary state that it is not a language model.
 */
import { Effect, Schema } from "effect"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Scope } from "effect"
import { offeredTool, writeChatReply } from "../src/agent/check/ChatCompletion.ts"
import type { ChatReply } from "../src/agent/check/ChatCompletion.ts"
import { parseHunks } from "./DemoDiff.ts"
import { writeDemoReply } from "./DemoReply.ts"
import type { CodeHunk } from "./DemoDiff.ts"
import { readBody } from "./ReadBody.ts"
import type { ReportedProblem } from "../src/domain/Problem.ts"
import { swallowedInGo, swallowedInPython, swallowedInScript } from "./rules/Errors.ts"
import { shellFromStrings, sqlFromStrings } from "./rules/Injection.ts"
import { assignmentInCondition, lockNotReleased, missingAwait, offByOne, sharedDefault } from "./rules/Loops.ts"
import { maybeUndefined, unclosedInGo, unclosedInPython, usedBeforeCheck } from "./rules/Resources.ts"
import type { Rule } from "./rules/Rule.ts"
import { secretInSource, tlsUnchecked } from "./rules/Secrets.ts"

/**
 * The rules of the demo model. Their only input is the text of a diff, without file names and line numbers, and they are not
 * specific to the bundled change. They detect a few well-known faults, so that the demo shows a review without a model.
 */
export const demoRules: ReadonlyArray<Rule> = [
  sqlFromStrings,
  shellFromStrings,
  secretInSource,
  tlsUnchecked,
  missingAwait,
  offByOne,
  maybeUndefined,
  usedBeforeCheck,
  lockNotReleased,
  assignmentInCondition,
  swallowedInScript,
  swallowedInPython,
  swallowedInGo,
  unclosedInPython,
  unclosedInGo,
  sharedDefault
]

/** Maximum number of problems in one response. */
const maxProblems = 200

export const findProblems = (hunks: ReadonlyArray<CodeHunk>): ReadonlyArray<ReportedProblem> =>
  hunks
    .flatMap((hunk) =>
      demoRules
        .filter(({ extensions }) => extensions.includes(hunk.extension))
        .flatMap((rule) =>
          rule.find(hunk).map(({ from, to, message, suggestion }): ReportedProblem => {
            const lines = hunk.lines.slice(from, to + 1)
            return {
              file: hunk.path,
              line: lines[0]?.number ?? 1,
              ...(to > from ? { end_line: lines.at(-1)?.number } : {}),
              severity: rule.severity,
              category: rule.category,
              title: rule.title,
              message: `${message}\n\n_Found by the static demo rule \`${rule.id}\`, not by a language model._`,
              quote: lines.map(({ text }) => text).join("\n"),
              ...(suggestion === undefined ? {} : { suggestion })
            }
          })
        )
    )
    .slice(0, maxProblems)

export const demoModelName = "aicr-demo-rules"

const maxBodyBytes = 64 * 1024 * 1024

const Request = Schema.Struct({
  stream: Schema.optional(Schema.Boolean),
  messages: Schema.Array(
    Schema.Struct({
      role: Schema.String,
      content: Schema.optional(
        Schema.Union([
          Schema.String,
          Schema.Null,
          Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.optional(Schema.String) }))
        ])
      )
    })
  ),
  tools: Schema.optional(Schema.Array(Schema.Struct({ function: Schema.Struct({ name: Schema.String }) })))
})
type Request = typeof Request.Type
const decodeRequest = Schema.decodeUnknownResult(Schema.fromJsonString(Request))

/** Serves until the scope closes. Returns the base URL, `http://127.0.0.1:<port>/v1`. */
export const startDemoModel: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        respond(request, response).catch((cause: unknown) => {
          if (response.headersSent) response.destroy()
          else write(response, 500, failure(String(cause)))
        })
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
  if (address === null || typeof address === "string") return yield* Effect.die("the demo model has no port")
  return `http://127.0.0.1:${address.port}/v1`
})

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { pathname } = new URL(request.url ?? "/", "http://demo")
  if (request.method === "GET" && pathname === "/v1/models") {
    return write(response, 200, { object: "list", data: [{ id: demoModelName, object: "model", owned_by: "aicr" }] })
  }
  if (request.method !== "POST" || pathname !== "/v1/chat/completions") {
    return write(response, 404, failure("there are POST /v1/chat/completions and GET /v1/models"))
  }
  const body = (await readBody(request, maxBodyBytes))?.toString("utf8")
  if (body === undefined) return write(response, 413, failure("the body is too large"))
  const decoded = decodeRequest(body)
  if (decoded._tag === "Failure") return write(response, 400, failure("the body is not a chat completion request"))
  writeChatReply(response, completion(decoded.success), decoded.success.stream === true)
}

type Call = ChatReply["calls"][number]

const completion = (request: Request): ChatReply => {
  const prompts = request.messages.filter(({ role }) => role === "user").map(({ content }) => toText(content))
  const tools = request.tools?.map((tool) => tool.function.name) ?? []
  // An agent sends the results of its calls. The rules have nothing to add to them.
  const isOver = request.messages.some(({ role }) => role === "tool")
  const calls = isOver ? [] : callsFor(prompts, tools)
  const input = Math.ceil(request.messages.reduce((sum, { content }) => sum + toText(content).length, 0) / 4)
  const output = Math.ceil(JSON.stringify(calls).length / 4)
  const text = isOver
    ? "The review is done."
    : "This is the demo model, a set of static rules: it can only review a diff and reply to comments about it."
  return { model: demoModelName, text: calls.length > 0 ? "" : text, calls, usage: { input, output } }
}

/** Returns no calls for requests other than reviews, verifications and replies. */
const callsFor = (prompts: ReadonlyArray<string>, tools: ReadonlyArray<string>): ReadonlyArray<Call> => {
  const hunks = prompts.flatMap(parseHunks)
  const claims = claimsIn(prompts.at(-1) ?? "")
  if (claims !== undefined) return judge(claims, hunks)
  const reply = offeredTool(tools, "reply")
  if (reply !== undefined) return [{ name: reply, input: writeDemoReply(prompts.at(-1) ?? "", findProblems) }]
  const report = offeredTool(tools, "report_problems")
  const end = offeredTool(tools, "publish_summary")
  if (report === undefined || end === undefined || hunks.length === 0) return []
  const problems = findProblems(hunks)
  return [
    ...(problems.length === 0 ? [] : [{ name: report, input: { problems } }]),
    { name: end, input: { markdown: summary(hunks) } }
  ]
}

const Claims = Schema.Array(Schema.Struct({ number: Schema.Int, file: Schema.String, title: Schema.String }))
const decodeClaims = Schema.decodeUnknownOption(Schema.fromJsonString(Claims))

/** Returns the findings that a prompt wants to have checked; undefined for other prompts. */
const claimsIn = (prompt: string): typeof Claims.Type | undefined => {
  const claims = decodeClaims(/^<findings (\S+)>\n([\s\S]*?)\n<\/findings \1>$/m.exec(prompt)?.[2] ?? "")
  return claims._tag === "Some" ? claims.value : undefined
}

/** Confirms the findings that the rules make again at the same place. */
const judge = (claims: typeof Claims.Type, hunks: ReadonlyArray<CodeHunk>): ReadonlyArray<Call> => {
  const found = findProblems(hunks)
  const verdicts = claims
    .filter((claim) => found.some(({ file, title }) => file === claim.file && title === claim.title))
    .map(({ number }) => ({ number, verdict: "confirm", reason: "The static demo rule matches this place again." }))
  return verdicts.length === 0 ? [] : [{ name: "verdicts", input: { verdicts } }]
}

const summary = (hunks: ReadonlyArray<CodeHunk>): string => {
  const files = new Set(hunks.map(({ path }) => path)).size
  const added = hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.added).length, 0)
  return `**Demo model \`${demoModelName}\`: a set of ${demoRules.length} static rules, not a language model.** It read ${counted(added, "added line")} in ${counted(files, "file")}, without their purpose. Put a provider's key into the environment for a real review.`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const toText = (content: Request["messages"][number]["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n")

const failure = (message: string) => ({ error: { message, type: "invalid_request_error" } })

const write = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}
