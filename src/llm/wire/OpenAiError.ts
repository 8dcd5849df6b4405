/** Errors in the form of OpenAI's APIs, which both of its formats have in common. */
import { sse } from "../WireRow.ts"
import type { WireFailureKind, WireFormatRow } from "../WireRow.ts"

/** Agents repeat requests after 408, 409, 429 and 5xx, so that only transient failures have these. */
const errors: Record<WireFailureKind, readonly [status: number, type: string, code: string | null]> = {
  not_configured: [400, "invalid_request_error", "model_not_available"],
  unauthorized: [400, "invalid_request_error", "model_not_available"],
  rate_limited: [429, "rate_limit_error", "rate_limit_exceeded"],
  unavailable: [503, "server_error", null],
  timeout: [504, "server_error", null],
  overflow: [400, "invalid_request_error", "context_length_exceeded"],
  refused: [400, "invalid_request_error", "content_policy_violation"],
  invalid: [400, "invalid_request_error", null],
  budget: [402, "insufficient_quota", "insufficient_quota"],
  unpriced: [402, "insufficient_quota", "insufficient_quota"],
  limit: [402, "insufficient_quota", "insufficient_quota"],
  unauthorized_agent: [401, "authentication_error", "invalid_api_key"],
  not_found: [404, "invalid_request_error", "unknown_url"],
  too_large: [413, "invalid_request_error", null],
  busy: [429, "rate_limit_error", "rate_limit_exceeded"]
}

const toBody = (kind: WireFailureKind, message: string) => {
  const [, type, code] = errors[kind]
  return { error: { message, type, param: null, code } }
}

export const openAiError: WireFormatRow["error"] = (kind, message) => ({
  status: errors[kind][0],
  body: toBody(kind, message)
})

export const openAiErrorEvent: WireFormatRow["errorEvent"] = (kind, message) => sse(toBody(kind, message))
