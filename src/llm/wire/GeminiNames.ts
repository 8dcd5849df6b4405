/**
 * Gemini accepts each field in two spellings: `generationConfig` and that of its protocol buffers, `generation_config`. Requests get the
 * first one, so that no restriction is avoided with the other. Pure.
 */
import { isJson } from "./WireJson.ts"

/** Fields whose content belongs to the agent and its tools. */
const opaque: ReadonlySet<string> = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema"
])

const toName = (name: string): string => name.replace(/_([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the value with the first spelling. The last of two spellings of one field remains. */
export const unifyNames = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unifyNames)
  if (!isJson(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([given, field]) => {
      const name = toName(given)
      return [name, opaque.has(name) ? field : unifyNames(field)]
    })
  )
}
