/** Connections to providers, created on first use and kept as long as their configuration. */
import type { LlmProvider } from "../../config/schema/Llm.ts"
import { NotConfigured } from "./ProviderRow.ts"
import type { ProviderConnection } from "./ProviderRow.ts"
import { providerRow } from "./Providers.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import type { Transport } from "./Transport.ts"

type Effort = LlmProvider["reasoning_effort"]

export const makeConnections = (transport: Transport["Service"]) => {
  const connections = new WeakMap<LlmProvider, Map<Effort, Promise<ProviderConnection>>>()
  /** `effort` replaces the provider's own, because models support different values. */
  return (settings: ProviderSettings, effort: Effort): Promise<ProviderConnection> => {
    const { config } = settings
    const known = connections.get(config) ?? new Map<Effort, Promise<ProviderConnection>>()
    connections.set(config, known)
    const held = known.get(effort)
    if (held !== undefined) return held
    if (config.subscription === true) return Promise.reject(new NotConfigured({ _tag: "SubscriptionOfAgent" }))
    const adjusted = effort === undefined ? settings : { ...settings, config: { ...config, reasoning_effort: effort } }
    const made = providerRow(config.kind).connect(adjusted, transport.httpFor(settings)).then(keepingModels)
    known.set(effort, made)
    // Failures are not cached, so that repairs outside of the configuration, such as a key file, take effect with the next call.
    made.catch(() => known.delete(effort))
    return made
  }
}

/** The SDKs build all response schemas for each model, which costs more than the request, so models are cached. */
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
