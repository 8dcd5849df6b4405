/**
 * The paths of a provider's API that an agent may call: one to generate, one to count tokens, and the list of models. Only exact paths
 * exist, and none of them leads to files, batches or stored responses of the provider. Pure.
 */
import type { WireFormat } from "../../llm/WireGateway.ts"

export type ProxyOperation =
  | { readonly _tag: "Generate"; readonly streams: boolean | undefined }
  | { readonly _tag: "CountTokens" }
  | { readonly _tag: "ListModels" }
  | { readonly _tag: "GetModel" }
  | { readonly _tag: "NotFound" }
  /** Streams of Gemini exist as events only. */
  | { readonly _tag: "NotEvents" }

const notFound: ProxyOperation = { _tag: "NotFound" }
const generate: ProxyOperation = { _tag: "Generate", streams: undefined }

const posts: Readonly<Record<Exclude<WireFormat, "gemini">, Readonly<Record<string, ProxyOperation>>>> = {
  "openai-chat": { "/chat/completions": generate },
  "openai-responses": { "/responses": generate },
  "anthropic-messages": { "/messages": generate, "/messages/count_tokens": { _tag: "CountTokens" } }
}

const modelPrefix = "/models/"
const maxNameLength = 300

/** Names of models contain slashes and colons, and agents encode them in different ways. They are not used: the chain decides. */
const findGemini = (path: string, query: URLSearchParams): ProxyOperation => {
  const at = path.lastIndexOf(":")
  if (!path.startsWith(modelPrefix) || at > maxNameLength) return notFound
  switch (path.slice(at + 1)) {
    case "generateContent":
      return { _tag: "Generate", streams: false }
    case "streamGenerateContent":
      return query.get("alt") === "sse" ? { _tag: "Generate", streams: true } : { _tag: "NotEvents" }
    case "countTokens":
      return { _tag: "CountTokens" }
    default:
      return notFound
  }
}

/** Agents send paths with or without the version. */
export const findOperation = (
  format: WireFormat,
  method: string,
  path: string,
  query: URLSearchParams
): ProxyOperation => {
  const rest = path.replace(/^\/v1(beta)?(?=\/)/, "")
  if (rest.includes("..") || rest.includes("//")) return notFound
  if (method === "GET" || method === "HEAD")
    return rest === "/models"
      ? { _tag: "ListModels" }
      : rest.startsWith(modelPrefix) && rest.length < maxNameLength
        ? { _tag: "GetModel" }
        : notFound
  if (method !== "POST") return notFound
  if (format === "gemini") return findGemini(rest, query)
  return Object.hasOwn(posts[format], rest) ? (posts[format][rest] ?? notFound) : notFound
}
