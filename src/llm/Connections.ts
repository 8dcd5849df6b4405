/** Connections to providers, made when first used and kept as long as the configuration they were made for. */
import type { LlmProvider } from "../config/schema/Llm.ts"
import type { ProviderConnection } from "./ProviderRow.ts"
import { providerRow } from "./Providers.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import type { Transport } from "./Transport.ts"

type Effort = LlmProvider["reasoning_effort"]

export const makeConnections = (transport: Transport["Service"]) => {
  const connections = new WeakMap<LlmProvider, Map<Effort, Promise<ProviderConnection>>>()
  /** `effort` in place of the provider's own: models differ in what they take. */
  return (settings: ProviderSettings, effort: Effort): Promise<ProviderConnection> => {
    const { config } = settings
    const known = connections.get(config) ?? new Map<Effort, Promise<ProviderConnection>>()
    connections.set(config, known)
    const held = known.get(effort)
    if (held !== undefined) return held
    const adjusted = effort === undefined ? settings : { ...settings, config: { ...config, reasoning_effort: effort } }
    const made = providerRow(config.kind).connect(adjusted, transport.httpFor(settings)).then(keepingModels)
    known.set(effort, made)
    // What is mended outside the configuration, such as a key file, counts with the next call.
    made.catch(() => known.delete(effort))
    return made
  }
}

/** The SDKs build the schemas of all answers with each model, which costs more than the request. */
const keepingModels = (connection: ProviderConnection): ProviderConnection => {
  const models = new Map<string, ReturnType<ProviderConnection["model"]>>()
  return {
    ...connection,
    model: (name) => {
      const model = models.get(name) ?? connection.model(name)
      models.set(name, model)
      return model
    }
  }
}
