/**
 * Translates `reasoning_effort`, `thinking_level` and `thinking_budget_tokens` for each family of providers. A provider's own
 * field takes precedence over a translated one; a value outside of the provider's scale becomes the nearest one. A budget in
 * tokens is sent to chat completions servers as `thinking: {type, budget_tokens}`; OpenAI itself has no budget.
 */
import type { LlmProvider } from "../../config/schema/Llm.ts"

export type Thinking = Pick<LlmProvider, "reasoning_effort" | "thinking_level" | "thinking_budget_tokens">

/** Chat completions and Responses: `reasoning_effort`, passed through unchanged. */
export const openaiEffort = (config: Thinking): string | undefined =>
  config.reasoning_effort ?? (config.thinking_level === "off" ? "none" : config.thinking_level)

export const anthropicThinking = (config: Thinking) => {
  const level = config.reasoning_effort ?? config.thinking_level
  const effort = level === undefined || level === "off" ? undefined : level === "minimal" ? "low" : level
  const thinking =
    config.thinking_budget_tokens !== undefined
      ? { type: "enabled", budgetTokens: config.thinking_budget_tokens }
      : config.thinking_level === "off"
        ? { type: "disabled" }
        : config.thinking_level !== undefined
          ? { type: "adaptive" }
          : undefined
  return { ...(effort === undefined ? {} : { effort }), ...(thinking === undefined ? {} : { thinking }) }
}

/** Bedrock's own names for the same three fields. */
export const bedrockReasoning = (config: Thinking) => {
  const { effort, thinking } = anthropicThinking(config)
  return { ...thinking, ...(effort === undefined ? {} : { maxReasoningEffort: effort }) }
}

export const googleThinking = (config: Thinking) => {
  const level = config.thinking_level ?? config.reasoning_effort
  const budget = config.thinking_budget_tokens ?? (level === "off" ? 0 : undefined)
  if (budget !== undefined) return { thinkingConfig: { thinkingBudget: budget } }
  if (level === undefined || level === "off") return {}
  return { thinkingConfig: { thinkingLevel: level === "max" ? "high" : level } }
}
