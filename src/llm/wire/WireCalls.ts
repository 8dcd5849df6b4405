/** Executes calls of agents over the chain of the gateway: restricts the request, decodes it, and selects for each model how it is sent. */
import { Effect, Exit, Schedule } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { GatewayServices, SendToModel } from "../calls/AttemptModel.ts"
import { callChain } from "../calls/CallChain.ts"
import type { Catalog } from "../Catalog.ts"
import { candidates, modelKey } from "../calls/Chain.ts"
import { GatewayError } from "../Gateway.ts"
import type { GatewayRequest, GatewayResponse, Message } from "../Gateway.ts"
import { promptCharacters } from "../calls/PromptSize.ts"
import { receivedUsage } from "../calls/Spending.ts"
import type { Transport } from "../providers/Transport.ts"
import type { WireCall, WireMemory, WireModels } from "../WireGateway.ts"
import { passThrough } from "./PassThrough.ts"
import { ResponseProgress } from "./ResponseProgress.ts"
import { describeRefusal } from "./shape/RefusedField.ts"
import { findUpstream } from "./Upstream.ts"
import { restoreBytes, WireBytes } from "./WireBytes.ts"
import { wireFormat } from "../WireFormats.ts"
import type { WireJson } from "./WireJson.ts"
import type { WireRequest, WireEncoder } from "../WireRow.ts"
import type { Reason } from "../../domain/Reason.ts"
import { failure } from "../calls/Failure.ts"
import { sendRequest } from "../calls/ModelRequest.ts"
import type { Connect } from "../calls/ModelRequest.ts"

/** Sends the request of an agent to a provider with another API: over the AI SDK, with the response in the format of the agent. */

const pingInterval = "15 seconds"

/** Begins the stream, before its first event. */
const beginStream = (progress: ResponseProgress, encoder: WireEncoder): void => {
  if (progress.hasBegun) return
  progress.begin("text/event-stream")
  void progress.write(encoder.begin())
}

const translate =
  (
    connect: Connect,
    call: WireCall,
    body: WireJson,
    { searchTools, unsupported }: Pick<WireRequest, "searchTools" | "unsupported">,
    progress: ResponseProgress
  ): SendToModel =>
  (request, model, runId, receipt) =>
    Effect.gen(function* () {
      if (unsupported.length > 0) return yield* Effect.fail(failure("invalid", untranslatable(unsupported)))
      if (searchTools.length > 0) call.onRemoved("not_translatable", searchTools)
      const row = wireFormat(call.format)
      const encoder = row.encoder(call.model, body)
      const write = (text: string) => {
        beginStream(progress, encoder)
        void progress.write(text)
      }
      if (call.streams && encoder.ping !== "") {
        // Reasoning is not part of the translated response, which would be silent.
        const pings = Effect.repeat(
          Effect.sync(() => write(encoder.ping)),
          Schedule.spaced(pingInterval)
        )
        yield* Effect.forkScoped(receipt.begun.pipe(Effect.andThen(Effect.sleep(pingInterval)), Effect.andThen(pings)))
      }
      const response = yield* sendRequest(
        connect,
        call.streams
          ? {
              ...request,
              onText: writeText(write, encoder),
              onToolCall: (called) => Effect.sync(() => write(encoder.call(called)))
            }
          : request,
        model,
        runId,
        receipt
      )
      call.memory.add(response.calls, response.native)
      const end = { usage: response.usage, isCutOff: response.isCutOff === true }
      if (call.streams) write(encoder.end(end))
      else {
        progress.begin("application/json")
        const { calls, text } = response
        void progress.write(JSON.stringify(row.whole(call.model, body, { ...end, calls, text })))
      }
      return response
    }).pipe(Effect.scoped)

const writeText = (write: (text: string) => void, encoder: WireEncoder) => (delta: string) => {
  if (delta !== "") write(encoder.text(delta))
}

const untranslatable = (unsupported: ReadonlyArray<string>): Reason => ({
  _tag: "Untranslatable",
  parts: unsupported.slice(0, 5)
})

/** Providers refuse empty texts. */
const defaultSystem = "Follow the instructions of the user."

const toMessages = (messages: ReadonlyArray<Message>, memory: WireMemory): ReadonlyArray<Message> =>
  messages.flatMap((message): ReadonlyArray<Message> => {
    if (message.role === "user") return message.text.trim() === "" ? [] : [message]
    if (message.role === "tool") return [message]
    if (message.calls.length === 0) return message.text.trim() === "" ? [] : [message]
    return [{ ...message, native: memory.find(message.calls) }]
  })

const toRequest = (call: WireCall, { messages, system, toolChoice, tools }: WireRequest): GatewayRequest => ({
  snapshot: call.snapshot,
  group: call.group,
  role: call.role,
  system: system.trim() === "" ? defaultSystem : system,
  messages: toMessages(messages, call.memory),
  tools,
  toolChoice,
  continues: true,
  isOfAgent: true,
  deadlineMillis: call.deadlineMillis,
  prefer: call.prefer
})

/**
 * Recorded responses in the form that the agent requests. One without calls ended the conversation of a pass without a result, and another
 * attempt needs another end.
 */
const reusableFor = ({ reusable }: GatewayServices, { format, streams }: WireCall): GatewayServices["reusable"] => ({
  take: (run, model, request) =>
    Effect.map(reusable.take(run, model, request), (recorded) => {
      if (recorded === undefined || recorded.calls.length === 0) return undefined
      const bytes = restoreBytes(recorded.native)
      const isSameForm = bytes?.format === format && bytes.streams === streams && bytes.text !== undefined
      return bytes === undefined || isSameForm ? recorded : undefined
    })
})

/** Writes the recorded response of an earlier attempt. */
const repeat = (
  call: WireCall,
  body: WireJson,
  response: Omit<GatewayResponse, "fallbacks">,
  progress: ResponseProgress
) =>
  Effect.promise(async () => {
    const { calls, isCutOff = false, native, text, usage } = response
    progress.begin(call.streams ? "text/event-stream" : "application/json")
    if (native instanceof WireBytes) return progress.write(native.text ?? "")
    call.memory.add(calls, native)
    const row = wireFormat(call.format)
    if (!call.streams)
      return progress.write(JSON.stringify(row.whole(call.model, body, { calls, isCutOff, text, usage })))
    const encoder = row.encoder(call.model, body)
    const parts = [encoder.begin(), text === "" ? "" : encoder.text(text), ...calls.map((one) => encoder.call(one))]
    return progress.write([...parts, encoder.end({ isCutOff, usage })].join(""))
  })

export const callWire = Effect.fnUntraced(function* (
  services: GatewayServices,
  transport: Transport["Service"],
  catalog: Catalog["Service"],
  call: WireCall
) {
  const row = wireFormat(call.format)
  const { body, refused, removed } = row.restrict(call.body, call.webSearch)
  if (removed.length > 0) call.onRemoved("not_permitted", removed)
  if (refused !== undefined)
    return yield* new GatewayError({ reason: "invalid", why: verbatimReason(describeRefusal(call.format, refused)) })
  const decoded = row.decode(body)
  const progress = new ResponseProgress(call.sink)
  const send: SendToModel = (request, model, runId, receipt) => {
    const name = modelKey(model.entry)
    const upstream = findUpstream(model.settings, model.entry.model, call)
    const sent =
      upstream === undefined
        ? translate(services.connect, call, body, decoded, progress)
        : passThrough(transport, call, body, upstream, progress)
    return sent(request, model, runId, receipt).pipe(
      Effect.mapError((failed) => progress.toFailure(failed)),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          const usage = Exit.isSuccess(exit)
            ? exit.value.usage
            : receivedUsage(receipt, model.spec, promptCharacters(request))
          if (usage !== undefined) call.onUsage(name, usage)
        })
      )
    )
  }
  const response = yield* callChain(
    { ...services, reusable: reusableFor(services, call), send },
    catalog,
    toRequest(call, decoded)
  )
  if (!progress.hasBegun) yield* repeat(call, body, response, progress)
  return response
})

/** Returns the models of the chain and their smallest limits. */
export const listWireModels = Effect.fnUntraced(function* (
  catalog: Catalog["Service"],
  request: Pick<WireCall, "snapshot" | "group" | "role">
) {
  const { llm } = request.snapshot.document
  const chain = candidates(llm, request)
  if (chain.length === 0)
    return yield* new GatewayError({
      reason: "not_configured",
      why: { _tag: "GroupUnknown", group: request.group }
    })
  const specs = yield* Effect.forEach(chain, ({ model, provider }) => {
    const config = llm.providers.find(({ id }) => id === provider)
    return config === undefined ? Effect.succeed(undefined) : catalog.spec(llm, config, model)
  })
  const smallest = (limits: ReadonlyArray<number | undefined>): number | undefined => {
    const known = limits.filter((limit) => limit !== undefined)
    return known.length < limits.length ? undefined : Math.min(...known)
  }
  const models: WireModels = {
    models: chain.map(modelKey),
    contextWindow: smallest(specs.map((spec) => spec?.contextWindow)),
    maxOutputTokens: smallest(specs.map((spec) => spec?.maxOutputTokens))
  }
  return models
})
