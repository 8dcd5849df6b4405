/** Length of a request, without a tokenizer. */
import type { GatewayRequest } from "../Gateway.ts"

/** Lower bound of characters per token, over all tokenizers, for a whole prompt: a longer prompt cannot fit. */
const maxCharactersPerToken = 8

/** Returns the characters of the system text, the messages and the tools. */
export const promptCharacters = (request: GatewayRequest): number =>
  request.messages.reduce(
    (sum, message) =>
      sum +
      (message.role === "tool"
        ? message.results.reduce((all, { output }) => all + output.length, 0)
        : message.text.length + (message.role === "user" ? (message.common?.length ?? 0) : 0)),
    request.system.length + (request.tools.length === 0 ? 0 : JSON.stringify(request.tools).length)
  )

/** Returns false only for a prompt that is too long with every tokenizer. */
export const mayFit = (request: GatewayRequest, window: number | undefined): boolean =>
  window === undefined || promptCharacters(request) <= window * maxCharactersPerToken
