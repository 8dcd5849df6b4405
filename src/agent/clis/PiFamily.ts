/** Parts that pi and omp have in common: the list of models and the events. */
import type { CliEvent, CliNews, CliSetup } from "./Cli.ts"
import { assumedOutput, assumedWindow, at, modelUrl, textAt } from "./Cli.ts"

export const piProvider = "aicr"
export const modelVariable = "AICR_MODEL_TOKEN"

/** The models file, as an object. `apiKey` names a variable, in the notation of the CLI. */
export const piModels = (setup: CliSetup, apiKey: string) => ({
  providers: {
    [piProvider]: {
      baseUrl: `${modelUrl(setup)}/v1`,
      apiKey,
      api: "openai-completions",
      models: [
        {
          id: setup.model.name,
          name: setup.model.name,
          contextWindow: setup.model.contextWindow ?? assumedWindow,
          maxTokens: setup.model.maxOutputTokens ?? assumedOutput,
          input: ["text"],
          reasoning: false,
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
        }
      ]
    }
  }
})

/** Failures of the model are in the last message of the assistant; the exit code is 0. */
export const readPiEvent = (event: CliEvent): CliNews | undefined => {
  if (event["type"] !== "message_end" || textAt(event, "message", "role") !== "assistant") return undefined
  if (textAt(event, "message", "stopReason") === "error")
    return { error: textAt(event, "message", "errorMessage") ?? "unknown error" }
  const content = at(event, "message", "content")
  const texts = Array.isArray(content) ? content.flatMap((part: unknown) => textAt(part, "text") ?? []) : []
  return texts.length === 0 ? undefined : { text: texts.join("\n") }
}
