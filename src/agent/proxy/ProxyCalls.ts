/** Handles the requests of one agent: selects the operation, calls the gateway, and writes refusals in the form of the agent's API. */
import { Effect } from "effect"
import type { GatewayError } from "../../llm/Gateway.ts"
import { WireGateway, WireMemory } from "../../llm/WireGateway.ts"
import { wireFormat } from "../../llm/WireFormats.ts"
import type { WireFailureKind } from "../../llm/WireRow.ts"
import { AgentError } from "../Agent.ts"
import { callMillis } from "../native/CallLimits.ts"
import { parseAgentJson } from "../socket/AgentJson.ts"
import type { AgentJson } from "../socket/AgentJson.ts"
import { respondJson } from "../socket/PassServer.ts"
import type { PassExchange } from "../socket/PassServer.ts"
import { AwaitTools, withoutTools } from "./AwaitTools.ts"
import type { ModelProxyReport, ModelProxyRequest } from "./ModelProxy.ts"
import type { CallRecord } from "./CallRecord.ts"
import { findOperation } from "./ProxyPaths.ts"
import type { ProxyOperation } from "./ProxyPaths.ts"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import type { WireSink, WireFormat } from "../../llm/WireGateway.ts"

/** The list of models that an agent sees: one for the whole chain, in the form of its API. Pure. */
interface ListedModel {
  readonly name: string
  readonly contextWindow: number | undefined
  readonly maxOutputTokens: number | undefined
}

const describe = (format: WireFormat, { contextWindow, maxOutputTokens, name }: ListedModel) => {
  switch (format) {
    case "anthropic-messages":
      return { type: "model", id: name, display_name: name, created_at: "2025-01-01T00:00:00Z" }
    case "gemini":
      return {
        name: `models/${name}`,
        displayName: name,
        version: "1",
        ...(contextWindow === undefined ? {} : { inputTokenLimit: contextWindow }),
        ...(maxOutputTokens === undefined ? {} : { outputTokenLimit: maxOutputTokens }),
        supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"]
      }
    default:
      return { id: name, object: "model", created: 1_735_689_600, owned_by: "aicr" }
  }
}

const listModels = (format: WireFormat, model: ListedModel): unknown => {
  const data = [describe(format, model)]
  if (format === "gemini") return { models: data }
  if (format === "anthropic-messages") return { data, has_more: false, first_id: model.name, last_id: model.name }
  return { object: "list", data }
}

const getModel = (format: WireFormat, model: ListedModel): unknown => describe(format, model)

/** Writes a response to the agent, as fast as it reads. */

/** Settles when the agent can take more, or is gone: what it does not read ends with its request. */
const write = async (response: ServerResponse, bytes: Uint8Array | string): Promise<void> => {
  if (response.destroyed || response.write(bytes)) return
  const closed = new AbortController()
  await Promise.race([
    once(response, "drain", { signal: closed.signal }).catch(() => {}),
    once(response, "close", { signal: closed.signal }).catch(() => undefined)
  ])
  closed.abort()
}

const makeSink = (response: ServerResponse): WireSink => ({
  begin: (contentType) => {
    if (response.headersSent || response.destroyed) return
    response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache" })
  },
  write: (bytes) => write(response, bytes)
})

/** Characters per token, a conservative estimate for code. */
const charsPerToken = 3

/** Failures of the request itself, whose message helps the agent; other messages are about the provider. */
const explained: ReadonlySet<GatewayError["reason"]> = new Set(["invalid", "overflow", "refused", "budget"])

const messages: Record<GatewayError["reason"], string> = {
  not_configured: "the model is not configured correctly",
  unauthorized: "the model is not configured correctly",
  rate_limited: "the provider limits the rate of requests",
  unavailable: "the model is unavailable",
  timeout: "the model did not respond in time",
  overflow: "the prompt is longer than the context window",
  refused: "the model refused the request",
  invalid: "the model does not accept the request",
  budget: "the budget of the review is exhausted",
  unpriced: "the price of the model is unknown, and the review has a budget"
}

/** Headers of an agent that are passed on to a provider with the same API. */
const passedHeaders = ["anthropic-beta"]

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Another attempt may have them: it depends on how busy the machine is. */
const withoutToolsError = new AgentError({
  reason: "retryable",
  why: { _tag: "ToolsMissing" }
})

type Generate = Extract<ProxyOperation, { readonly _tag: "Generate" }>

export class ProxyCalls {
  readonly #request: ModelProxyRequest
  readonly #record: CallRecord
  readonly #model: ListedModel
  readonly #memory = new WireMemory()
  readonly #tools: AwaitTools

  constructor(request: ModelProxyRequest, record: CallRecord, model: ListedModel) {
    this.#request = request
    this.#record = record
    this.#model = model
    this.#tools = new AwaitTools(request.awaitedTools)
  }

  /** Returns the report of the calls so far. */
  get report(): ModelProxyReport {
    const { report } = this.#record
    // A failed call explains more.
    return this.#tools.areMissing ? { ...report, failure: report.failure ?? withoutToolsError } : report
  }

  handle(exchange: PassExchange) {
    const { body, method, path, query, response } = exchange
    const { format } = this.#request
    const operation = findOperation(format, method, path, query)
    switch (operation._tag) {
      case "ListModels":
        return Effect.sync(() => respondJson(response, 200, listModels(format, this.#model)))
      case "GetModel":
        return Effect.sync(() => respondJson(response, 200, getModel(format, this.#model)))
      case "CountTokens":
        return Effect.sync(() => this.#countTokens(exchange))
      case "Generate":
        return this.#generate(exchange, operation, parseAgentJson(body.toString("utf8")))
      case "NotEvents":
        return this.#refuse(exchange, "invalid", "streams exist as events only; add alt=sse")
      case "NotFound":
        this.#record.note({ _tag: "UnneededPath" })
        return this.#refuse(exchange, "not_found", "this path does not exist")
    }
  }

  #refuse({ response }: PassExchange, kind: WireFailureKind, message: string, retryAfterMillis?: number) {
    return Effect.sync(() => {
      const row = wireFormat(this.#request.format)
      if (response.headersSent) {
        response.end(row.errorEvent(kind, message))
        return
      }
      const { body, status } = row.error(kind, message)
      if (retryAfterMillis !== undefined) response.setHeader("retry-after", Math.ceil(retryAfterMillis / 1000))
      respondJson(response, status, body)
    })
  }

  /** An estimate, because counting is not part of every provider's API. It is free. */
  #countTokens({ body, response }: PassExchange): void {
    const tokens = Math.ceil(body.length / charsPerToken)
    const counted = this.#request.format === "gemini" ? { totalTokens: tokens } : { input_tokens: tokens }
    respondJson(response, 200, counted)
  }

  #generate(exchange: PassExchange, operation: Generate, json: AgentJson) {
    if (!json.ok) return this.#refuse(exchange, "invalid", json.error)
    const body = json.value
    if (!isObject(body)) return this.#refuse(exchange, "invalid", "the body is not a JSON object")
    return Effect.flatMap(this.#tools.refuses(body), (isRefused) =>
      isRefused
        ? this.#repeat(exchange, operation.streams ?? body["stream"] === true)
        : this.#call(exchange, operation, body)
    )
  }

  /** An error within a stream is for the agent; its client of HTTP repeats others with the same body. */
  #repeat(exchange: PassExchange, streams: boolean) {
    if (streams) exchange.response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
    return this.#refuse(exchange, "unavailable", withoutTools)
  }

  #call(exchange: PassExchange, operation: Generate, body: Readonly<Record<string, unknown>>) {
    const record = this.#record
    if (++record.calls > this.#request.maxCalls) {
      record.stop({ _tag: "CallsEndedReview", count: this.#request.maxCalls })
      return this.#refuse(exchange, "limit", "the number of calls of this review is used up")
    }
    const { format, group, role, snapshot, webSearch } = this.#request
    const { headers, response } = exchange
    const memory = this.#memory
    const handled = Effect.gen({ self: this }, function* () {
      const gateway = yield* WireGateway
      const { fallbacks, model } = yield* gateway.call({
        snapshot,
        group,
        role,
        format,
        body,
        streams: operation.streams ?? body["stream"] === true,
        model: typeof body["model"] === "string" ? body["model"].slice(0, 200) : this.#model.name,
        headers: Object.fromEntries(
          passedHeaders.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : []))
        ),
        webSearch,
        deadlineMillis: callMillis,
        prefer: record.last,
        memory,
        sink: makeSink(response),
        onUsage: (name, usage) => record.addUsage(name, usage),
        onRemoved: (reason, names) => record.removed(reason, names)
      })
      record.succeeded(model, fallbacks)
      response.end()
    })
    return Effect.catch(handled, (error) => {
      record.failed(error)
      const message = explained.has(error.reason)
        ? `${messages[error.reason]}: ${error.message}`
        : messages[error.reason]
      return Effect.andThen(
        Effect.logWarning("model call of an agent failed", { kind: error.reason, reason: error.why }),
        this.#refuse(exchange, error.reason, message, error.retryAfterMillis)
      )
    })
  }
}
