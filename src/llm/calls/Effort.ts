/**
 * Determines the reasoning effort of a request: the provider's own setting, else the model's default. If the model's record lists
 * supported values, the nearest one that is not higher is used, else the lowest.
 */
import type { LlmProvider } from "../../config/schema/Llm.ts"
import type { ModelSpec } from "../catalog/ModelRecord.ts"

type Effort = NonNullable<LlmProvider["reasoning_effort"]>
const scale: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high", "max"]
const isEffort = (value: string): value is Effort => scale.some((effort) => effort === value)

export const effortFor = (
  config: Pick<LlmProvider, "reasoning_effort" | "thinking_level">,
  { supportedEfforts, defaultEffort }: Pick<ModelSpec, "supportedEfforts" | "defaultEffort">
): Effort | undefined => {
  const fallback = config.thinking_level === undefined ? defaultEffort : undefined
  const wanted = config.reasoning_effort ?? (fallback !== undefined && isEffort(fallback) ? fallback : undefined)
  const taken = supportedEfforts?.filter(isEffort) ?? []
  if (wanted === undefined || taken.length === 0) return wanted
  const known = scale.filter((effort) => taken.includes(effort))
  return known.findLast((effort) => scale.indexOf(effort) <= scale.indexOf(wanted)) ?? known[0]
}
