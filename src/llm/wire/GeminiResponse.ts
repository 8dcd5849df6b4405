/** Responses of Gemini's API: reads those of a provider, writes those of the gateway. */
import type { GatewayUsage, ToolCall } from "../Gateway.ts"
import { toJson, toList, toNumber, toText } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import { newWireId } from "./WireIds.ts"
import { sse } from "../WireRow.ts"
import type { WireEncoder, WireFailureKind, WireFormatRow, WireReader, WireUsage } from "../WireRow.ts"

const readUsage = (usage: WireJson): WireUsage => {
  const reasoningTokens = toNumber(usage["thoughtsTokenCount"]) ?? 0
  return {
    inputTokens: (toNumber(usage["promptTokenCount"]) ?? 0) + (toNumber(usage["toolUsePromptTokenCount"]) ?? 0),
    outputTokens: (toNumber(usage["candidatesTokenCount"]) ?? 0) + reasoningTokens,
    cachedTokens: toNumber(usage["cachedContentTokenCount"]) ?? 0,
    reasoningTokens
  }
}

export const geminiReader = (): WireReader => {
  const text: Array<string> = []
  const calls: Array<ToolCall> = []
  let characters = 0
  let usage: WireUsage = {}
  let finish: unknown
  let isBlocked = false
  let error: WireJson | undefined
  return {
    read: (piece) => {
      if (piece["error"] !== undefined) error = toJson(piece["error"])
      if (piece["usageMetadata"] !== undefined) usage = readUsage(toJson(piece["usageMetadata"]))
      isBlocked ||= toJson(piece["promptFeedback"])["blockReason"] !== undefined
      const [candidate] = toList(piece["candidates"])
      if (candidate === undefined) return
      finish = candidate["finishReason"] ?? finish
      for (const part of toList(toJson(candidate["content"])["parts"])) {
        const said = toText(part["text"])
        characters += said.length
        if (part["thought"] !== true) text.push(said)
        const { args, id, name } = toJson(part["functionCall"])
        if (name === undefined) continue
        calls.push({ id: toText(id) || `call_${calls.length + 1}`, name: toText(name), input: args ?? {} })
        characters += JSON.stringify(args ?? {}).length
      }
    },
    text: () => text.join(""),
    calls: () => calls,
    characters: () => characters,
    usage: () => usage,
    isComplete: () => typeof finish === "string" || isBlocked,
    isCutOff: () => finish === "MAX_TOKENS",
    error: () => {
      if (error === undefined) return undefined
      const status = toNumber(error["code"]) ?? 500
      return { status: status >= 400 && status <= 599 ? status : 500, message: toText(error["message"]) }
    }
  }
}

const writeUsage = ({ cachedTokens, inputTokens, outputTokens, reasoningTokens }: GatewayUsage) => ({
  promptTokenCount: inputTokens,
  candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
  thoughtsTokenCount: reasoningTokens,
  cachedContentTokenCount: cachedTokens,
  totalTokenCount: inputTokens + outputTokens
})

const writeCall = ({ id, input, name }: ToolCall) => ({
  functionCall: { id, name, args: typeof input === "object" ? (input ?? {}) : {} }
})

const finishReason = (isCutOff: boolean): string => (isCutOff ? "MAX_TOKENS" : "STOP")

export const geminiEncoder = (model: string): WireEncoder => {
  const responseId = newWireId("response")
  const chunk = (parts: ReadonlyArray<unknown>, more: object = {}, top: object = {}) =>
    sse({
      candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
      modelVersion: model,
      responseId,
      ...top
    })
  return {
    begin: () => "",
    text: (text) => chunk([{ text }]),
    call: (call) => chunk([writeCall(call)]),
    end: ({ isCutOff, usage }) =>
      chunk([{ text: "" }], { finishReason: finishReason(isCutOff) }, { usageMetadata: writeUsage(usage) }),
    ping: ""
  }
}

export const wholeGemini: WireFormatRow["whole"] = (model, _, { calls, isCutOff, text, usage }) => ({
  candidates: [
    {
      content: { role: "model", parts: [...(text === "" ? [] : [{ text }]), ...calls.map(writeCall)] },
      finishReason: finishReason(isCutOff),
      index: 0
    }
  ],
  usageMetadata: writeUsage(usage),
  modelVersion: model,
  responseId: newWireId("response")
})

const errors: Record<WireFailureKind, readonly [status: number, name: string]> = {
  not_configured: [400, "FAILED_PRECONDITION"],
  unauthorized: [400, "FAILED_PRECONDITION"],
  rate_limited: [429, "RESOURCE_EXHAUSTED"],
  unavailable: [503, "UNAVAILABLE"],
  timeout: [504, "DEADLINE_EXCEEDED"],
  overflow: [400, "INVALID_ARGUMENT"],
  refused: [400, "INVALID_ARGUMENT"],
  invalid: [400, "INVALID_ARGUMENT"],
  budget: [400, "FAILED_PRECONDITION"],
  unpriced: [400, "FAILED_PRECONDITION"],
  limit: [400, "FAILED_PRECONDITION"],
  unauthorized_agent: [401, "UNAUTHENTICATED"],
  not_found: [404, "NOT_FOUND"],
  too_large: [413, "INVALID_ARGUMENT"],
  busy: [429, "RESOURCE_EXHAUSTED"]
}

const errorBody = (kind: WireFailureKind, message: string) => {
  const [code, status] = errors[kind]
  return { error: { code, message, status } }
}

export const geminiError: WireFormatRow["error"] = (kind, message) => ({
  status: errors[kind][0],
  body: errorBody(kind, message)
})

export const geminiErrorEvent: WireFormatRow["errorEvent"] = (kind, message) => sse(errorBody(kind, message))
