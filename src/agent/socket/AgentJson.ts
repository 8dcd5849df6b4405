/** Parses JSON of an agent. JSON that would exhaust the stack or the time of its readers is refused before. Pure. */
import { measureJson } from "../../domain/JsonShape.ts"

/** Has room for the history of a conversation of a million tokens, whose values are long texts. */
const limits = { depth: 200, values: 500_000 }

export type AgentJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }

export const parseAgentJson = (text: string): AgentJson => {
  if (measureJson(text, limits) === undefined)
    return {
      ok: false,
      error: `the body has at most ${limits.values} values, nested at most ${limits.depth} levels deep`
    }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false, error: "the body is not JSON" }
  }
}
