/** Messages that continue a conversation after a response that is not the one call of a tool that was requested. */
import type { GatewayResponse, Message } from "../llm/Gateway.ts"

const maxRepeatedCalls = 5
const maxRepeatedText = 20_000

/**
 * Returns the response and the reason why it is not accepted. The response keeps its own form (`native`): thinking models refuse a
 * conversation without the reasoning of its earlier messages.
 */
export const refusedResponse = (
  { calls, native, text }: GatewayResponse,
  tool: string,
  reason: string
): ReadonlyArray<Message> => {
  const output = `error: not accepted. ${reason}`
  // Some providers refuse names outside their alphabet.
  const repeated = calls
    .slice(0, maxRepeatedCalls)
    .map((call) => (call.name === tool ? call : { ...call, name: "unknown_tool" }))
  const said: Message = { role: "assistant", text: text.slice(0, maxRepeatedText), calls: repeated, native }
  if (repeated.length > 0) {
    return [said, { role: "tool", results: repeated.map(({ id, name }) => ({ id, name, output })) }]
  }
  return [...(text.trim() === "" ? [] : [said]), { role: "user", text: output }]
}
