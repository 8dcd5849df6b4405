/** How long a request is, before any tokenizer. */
import type { GatewayRequest } from "./Gateway.ts"

/** Fewest characters per token that any tokenizer reaches on a whole prompt: a longer prompt cannot fit. */
const maxCharactersPerToken = 8

/** Characters of the system text, the messages and the tools. */
export const promptCharacters = (request: GatewayRequest): number =>
  request.messages.reduce(
    (sum, message) =>
      sum +
      (message.role === "tool"
        ? message.results.reduce((all, { output }) => all + output.length, 0)
        : message.text.length),
    request.system.length + (request.tools.length === 0 ? 0 : JSON.stringify(request.tools).length)
  )

/** False only for a prompt that is too long by any tokenizer. */
export const mayFit = (request: GatewayRequest, window: number | undefined): boolean =>
  window === undefined || promptCharacters(request) <= window * maxCharactersPerToken
