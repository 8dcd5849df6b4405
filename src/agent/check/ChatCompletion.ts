/** Responses of a small model server in the form of OpenAI's chat completions, whole or streamed. Shared by the demo and `aicr agent check`. */
import type { ServerResponse } from "node:http"

export interface ChatReply {
  readonly model: string
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: unknown }>
  readonly usage: { readonly input: number; readonly output: number }
}

const toolCalls = ({ calls }: ChatReply) =>
  calls.map(({ input, name }, index) => ({
    id: `call_${crypto.randomUUID().slice(0, 8)}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) }
  }))

const toUsage = ({ usage: { input, output } }: ChatReply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output
})

const finish = ({ calls }: ChatReply): string => (calls.length > 0 ? "tool_calls" : "stop")

const writeWhole = (response: ServerResponse, reply: ChatReply, common: object): void => {
  const calls = toolCalls(reply)
  const message = {
    role: "assistant",
    content: reply.text === "" ? null : reply.text,
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
  response.writeHead(200, { "content-type": "application/json" })
  response.end(
    JSON.stringify({
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: finish(reply), message }],
      usage: toUsage(reply)
    })
  )
}

const writeStream = (response: ServerResponse, reply: ChatReply, common: object): void => {
  const send = (more: object) =>
    response.write(`data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", ...more })}\n\n`)
  const delta = (part: object, reason: string | null = null) =>
    send({ choices: [{ index: 0, delta: part, finish_reason: reason }] })
  response.writeHead(200, { "content-type": "text/event-stream" })
  delta({ role: "assistant", content: reply.text })
  const calls = toolCalls(reply)
  if (calls.length > 0) delta({ tool_calls: calls.map((call, index) => ({ index, ...call })) })
  delta({}, finish(reply))
  send({ choices: [], usage: toUsage(reply) })
  response.end("data: [DONE]\n\n")
}

export const writeChatReply = (response: ServerResponse, reply: ChatReply, isStreamed: boolean): void => {
  const { model } = reply
  const common = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model }
  if (isStreamed) writeStream(response, reply, common)
  else writeWhole(response, reply, common)
}

/** Returns the offered tool of this name, which agents put a prefix before. */
export const offeredTool = (tools: ReadonlyArray<string>, name: string): string | undefined =>
  tools.find((offered) => offered === name) ?? tools.find((offered) => offered.endsWith(name))
