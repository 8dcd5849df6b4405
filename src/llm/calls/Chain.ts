/**
 * Determines the order in which the models of a group are tried. Models of the matching role come first, in the order of the
 * configuration; models of the other role are the last resort, because a review by a light model is better than none.
 */
import type { ModelEntry, LlmConfig } from "../../config/schema/Llm.ts"
import type { GatewayRequest } from "../Gateway.ts"

/** `provider/model`, as shown in records. */
export const modelKey = (entry: Pick<ModelEntry, "provider" | "model">): string => `${entry.provider}/${entry.model}`

/**
 * Returns the models; empty if the group does not exist or has no remaining entries. `prefer` moves the model of the conversation
 * to the front; `avoid` excludes models.
 */
export const candidates = (
  llm: LlmConfig,
  request: Pick<GatewayRequest, "group" | "role" | "prefer" | "avoid">
): ReadonlyArray<ModelEntry> => {
  const entries = llm.model_chain[request.group] ?? []
  const fits = (entry: ModelEntry): boolean => {
    const { role } = entry
    return request.role === "any" || role === "any" || role === request.role
  }
  const ordered = [...entries.filter(fits), ...entries.filter((entry) => !fits(entry))]
  const unique = ordered.filter((entry, at) => ordered.findIndex((other) => modelKey(other) === modelKey(entry)) === at)
  const left = unique.filter((entry) => !request.avoid?.includes(modelKey(entry)))
  const preferred = left.filter((entry) => modelKey(entry) === request.prefer)
  return [...preferred, ...left.filter((entry) => modelKey(entry) !== request.prefer)]
}
