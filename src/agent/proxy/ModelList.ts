/** The list of models that an agent sees: one for the whole chain, in the form of its API. Pure. */
import type { WireFormat } from "../../llm/WireGateway.ts"

export interface ListedModel {
  readonly name: string
  readonly contextWindow: number | undefined
  readonly maxOutputTokens: number | undefined
}

const describe = (format: WireFormat, { contextWindow, maxOutputTokens, name }: ListedModel) => {
  switch (format) {
    case "anthropic-messages":
      return { type: "model", id: name, display_name: name, created_at: "2025-01-01T00:00:00Z" }
    case "gemini":
      return {
        name: `models/${name}`,
        displayName: name,
        version: "1",
        ...(contextWindow === undefined ? {} : { inputTokenLimit: contextWindow }),
        ...(maxOutputTokens === undefined ? {} : { outputTokenLimit: maxOutputTokens }),
        supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"]
      }
    default:
      return { id: name, object: "model", created: 1_735_689_600, owned_by: "aicr" }
  }
}

export const listModels = (format: WireFormat, model: ListedModel): unknown => {
  const data = [describe(format, model)]
  if (format === "gemini") return { models: data }
  if (format === "anthropic-messages") return { data, has_more: false, first_id: model.name, last_id: model.name }
  return { object: "list", data }
}

export const getModel = (format: WireFormat, model: ListedModel): unknown => describe(format, model)
