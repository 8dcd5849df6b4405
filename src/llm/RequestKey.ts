/**
 * Key of a request to a model: equal for two requests with the same provider, model, tools and texts. Every prompt fences its
 * data with a random word, which is ignored where it marks a fence.
 */
import { createHash } from "node:crypto"
import { keptText, messageText } from "./evidence/KeptText.ts"
import type { GatewayRequest } from "./Gateway.ts"

type KeyedRequest = Pick<GatewayRequest, "system" | "messages" | "tools" | "group" | "role" | "isOfAgent">

/** The closing fence contains the word. */
const closing = /<\/[\w-]+ ([0-9a-f]{24})>/g

/** Times that agents add to their prompts and to results of tools. */
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?|Wall time: \d{1,9}(\.\d{1,9})? seconds/g

/** Returns a hex digest of `model` (`provider/model`) and the request, with its texts in the form of evidence. */
export const requestKey = (model: string, request: KeyedRequest): string => {
  const parts = [
    model,
    request.group,
    request.role,
    keptText(request.system),
    JSON.stringify(request.tools),
    ...request.messages.map(messageText)
  ]
  const fences = new Set(parts.flatMap((part) => [...part.matchAll(closing)].map(([, word = ""]) => word)))
  const digest = createHash("sha256")
  for (const part of parts) {
    const unfenced = [...fences].reduce((all, word) => all.replaceAll(word, "fence"), part)
    const text = request.isOfAgent === true ? unfenced.replace(times, "time") : unfenced
    digest.update(`${text.length}:`).update(text)
  }
  return digest.digest("hex")
}
