/**
 * A model server that takes its time like a real one, over OpenAI's chat completions, streamed and whole: a prompt phase, then
 * tokens at a steady rate; 429 above a number of concurrent calls; a prompt cache; random faults from a seed. What it replies is
 * decided in TimedModelReviewer.ts. Every call is on its log with begin, end, tokens and what became of it. `factor` scales all
 * times, so that suites are fast; times on the log are unscaled.
 */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { makeChance } from "../../eval/Chance.ts"
import { renderReply } from "./FakeModelWire.ts"
import { countPrompt, PromptCache } from "./PromptCache.ts"
import { joinText, chooseWork } from "./TimedModelReviewer.ts"
import type { ChatRequest, ModelWork, WorkKind } from "./TimedModelReviewer.ts"
import { closingEvents, streamEvents } from "./TimedModelWire.ts"
import type { TimedUsage } from "./TimedModelWire.ts"

/** Shares of calls, 0 to 1, that go wrong. */
export interface ModelTrouble {
  readonly seed: number
  readonly throttled: number
  readonly unavailable: number
  /** Calls whose response stops in the middle and never ends. */
  readonly stalled: number
}

export interface TimedModelOptions {
  /** Milliseconds of this machine per millisecond of the model. Default: 1. */
  readonly factor?: number
  /** Maximum number of concurrent calls; further ones get 429. Default: no limit. */
  readonly maxConcurrent?: number
  /** Whether a 429 names the seconds to wait. Default: every second one does. */
  readonly retryAfter?: "always" | "never" | "alternating"
  /** Silence before the first token, in which a reasoning model thinks. Default: 0. */
  readonly thinkingMillis?: number
  /** Length of a whole response; default: as the rate of tokens gives. */
  readonly responseMillis?: number
  readonly oneCallPerStep?: boolean
  readonly trouble?: ModelTrouble
}

/** `cut`: the model stalled and the client gave up; `aborted`: the client gave up on a response that was on its way. */
export type CallOutcome = "running" | "responded" | "throttled" | "unavailable" | "cut" | "aborted"

export interface TimedCall {
  readonly kind: WorkKind
  /** Milliseconds since the server started, of the model's own time. */
  readonly begin: number
  end: number
  outcome: CallOutcome
  readonly input: number
  readonly cached: number
  /** Tokens that were sent, all of them paid. */
  output: number
  /** The text that is counted and cached. */
  readonly prompt: string
  /** Hash of the whole request, equal for equal requests. */
  readonly hash: string
  /** `path:line` of the added lines that were shown for review. */
  readonly shown: ReadonlyArray<string>
  readonly isStreamed: boolean
}

export interface TimedModel extends AsyncDisposable {
  /** `http://127.0.0.1:port`, without `/v1`. */
  readonly url: string
  readonly calls: ReadonlyArray<TimedCall>
  /** Replaces options, except the factor, for calls to come. */
  readonly change: (options: Omit<TimedModelOptions, "factor">) => void
}

const firstTokenMillis = 1200
const tokensPerSecond = 60

export const startTimedModel = async (initial: TimedModelOptions = {}): Promise<TimedModel> => {
  const state = new Running(initial)
  const server = createServer((request, response) => {
    void receive(request).then((body) => {
      if (body === undefined) return
      if (!request.url?.endsWith("/chat/completions")) return sendJson(response, 200, { object: "list", data: [] })
      return state.serve(body, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no address")
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls: state.calls,
    change: (options) => {
      state.options = { ...options, factor: initial.factor ?? 1 }
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const receive = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Array<Buffer> = []
  try {
    for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  } catch {
    // The client disconnected while it sent, so there is no response to write.
    return undefined
  }
  return Buffer.concat(chunks).toString()
}

/** The text that a provider counts and caches: tools, then messages, the system's first. */
const promptOf = ({ tools, messages }: ChatRequest): string =>
  [
    JSON.stringify(tools ?? []),
    ...messages.map(
      ({ role, content, tool_calls }) => `${role}\n${joinText(content)}\n${JSON.stringify(tool_calls ?? [])}`
    )
  ].join("\n")

const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

/** A response with its times in milliseconds since the begin of its call. */
interface TimedReply {
  readonly calls: ModelWork["calls"]
  readonly text: string
  readonly usage: TimedUsage
  /** The part that is sent, after which the call stalls; 1 is all of it. */
  readonly share: number
  /** Time to the first token. */
  readonly silence: number
  /** Time to the last token. */
  readonly millis: number
  readonly shareAt: (elapsed: number) => number
  readonly tokensAt: (elapsed: number) => number
}

class Running {
  readonly calls: Array<TimedCall> = []
  options: TimedModelOptions
  readonly #cache = new PromptCache()
  readonly #began = performance.now()
  readonly #factor: number
  readonly #random: () => number
  #running = 0
  #refused = 0

  constructor(options: TimedModelOptions) {
    this.options = options
    this.#factor = options.factor ?? 1
    this.#random = makeChance(options.trouble?.seed ?? 1)
  }

  serve(body: string, response: ServerResponse): void {
    const request: ChatRequest = JSON.parse(body)
    const work = chooseWork(request, this.options.oneCallPerStep === true)
    const text = promptOf(request)
    const prompt = countPrompt(text)
    const call: TimedCall = {
      kind: work.kind,
      begin: this.#now(),
      end: Number.NaN,
      outcome: "running",
      input: prompt.tokens,
      cached: this.#cache.cached(prompt),
      output: 0,
      prompt: text,
      hash: createHash("sha256").update(body).digest("hex"),
      shown: work.shown.added,
      isStreamed: request.stream === true
    }
    this.calls.push(call)
    const { trouble, maxConcurrent = Number.POSITIVE_INFINITY } = this.options
    // A fixed number of draws per call keeps the sequence the same whatever the branches take.
    const [first, second] = [this.#random(), this.#random()]
    if (this.#running >= maxConcurrent || first < (trouble?.throttled ?? 0)) return this.#throttle(call, response)
    if (first > 1 - (trouble?.unavailable ?? 0)) {
      this.#end(call, "unavailable")
      sendJson(response, 503, { error: { message: "The engine is currently overloaded" } })
      return
    }
    const reply = this.#replyTo(work, call, second < (trouble?.stalled ?? 0) ? this.#random() : 1)
    this.#running++
    response.once("close", () => {
      this.#running--
      if (call.outcome !== "running") return
      call.output = reply.tokensAt(this.#now() - call.begin)
      this.#end(call, reply.share < 1 ? "cut" : "aborted")
    })
    this.#after(firstTokenMillis, () => {
      if (call.outcome === "running") this.#cache.keep(prompt)
    })
    if (call.isStreamed) this.#stream(call, reply, response)
    else this.#sendWhole(call, reply, response)
  }

  #now(): number {
    return (performance.now() - this.#began) / this.#factor
  }

  #after(millis: number, then: () => void): void {
    setTimeout(then, Math.ceil(millis * this.#factor))
  }

  #end(call: TimedCall, outcome: CallOutcome): void {
    call.outcome = outcome
    call.end = this.#now()
  }

  #throttle(call: TimedCall, response: ServerResponse): void {
    this.#end(call, "throttled")
    const { retryAfter = "alternating" } = this.options
    const isNamed = retryAfter === "always" || (retryAfter === "alternating" && this.#refused++ % 2 === 0)
    const body = { error: { message: "Rate limit reached", type: "rate_limit_error" } }
    sendJson(response, 429, body, isNamed ? { "retry-after": "1" } : {})
  }

  #replyTo({ calls }: ModelWork, { input, cached }: TimedCall, share: number): TimedReply {
    const text = calls.length === 0 ? "Nothing to add." : ""
    const tokens = countTokens(calls.map(({ name, input: given }) => name + JSON.stringify(given)).join("\n") + text)
    const { thinkingMillis = 0, responseMillis = (tokens / tokensPerSecond) * 1000 } = this.options
    const thought = Math.round((thinkingMillis / 1000) * tokensPerSecond)
    const silence = firstTokenMillis + thinkingMillis
    const shareAt = (elapsed: number): number => Math.min(share, Math.max(0, (elapsed - silence) / responseMillis))
    return {
      calls,
      text,
      usage: { input, cached, output: thought + tokens },
      share,
      silence,
      millis: silence + responseMillis * share,
      shareAt,
      tokensAt: (elapsed) =>
        Math.min(thought, Math.max(0, Math.floor(((elapsed - firstTokenMillis) / 1000) * tokensPerSecond))) +
        Math.floor(tokens * shareAt(elapsed))
    }
  }

  #responded(call: TimedCall, { usage }: TimedReply): void {
    call.output = usage.output
    this.#end(call, "responded")
  }

  #sendWhole(call: TimedCall, reply: TimedReply, response: ServerResponse): void {
    const number = this.calls.length
    this.#after(reply.millis, () => {
      if (call.outcome !== "running" || reply.share < 1) return
      this.#responded(call, reply)
      sendJson(response, 200, renderReply("chat", reply, number))
    })
  }

  #stream(call: TimedCall, reply: TimedReply, response: ServerResponse): void {
    const id = String(this.calls.length)
    const events = streamEvents(reply.calls, reply.text, id)
    let sent = 0
    const write = (): void => {
      if (call.outcome !== "running") return
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" })
      const share = reply.shareAt(this.#now() - call.begin)
      const due = Math.floor(events.length * share)
      if (due > sent) response.write(events.slice(sent, due).join(""))
      sent = due
      if (share === 1) {
        this.#responded(call, reply)
        response.end(closingEvents(reply.calls, reply.usage, id).join(""))
      } else if (share < reply.share) setTimeout(write, Math.max(5, 50 * this.#factor))
    }
    this.#after(reply.silence, write)
  }
}
