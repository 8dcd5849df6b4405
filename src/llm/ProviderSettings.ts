/**
 * One provider of the configuration with its credential looked up: what a row of the provider table works with. Only this file
 * reads credentials; they stay `Redacted` until the row hands them to its SDK.
 */
import { Redacted } from "effect"
import type { LlmProvider } from "../config/schema/Llm.ts"

export type Environment = Readonly<Record<string, string | undefined>>

export interface ProviderSettings {
  readonly config: LlmProvider
  /** Literal wins over the variable (specification, llm.providers). */
  readonly key: Redacted.Redacted | undefined
  /** Set when the configuration names a variable that is unset or empty: nothing is sent without the key that was meant. */
  readonly missingKey: string | undefined
}

export const providerSettings = (config: LlmProvider, env: Environment): ProviderSettings => {
  if (config.api_key !== undefined) return { config, key: config.api_key, missingKey: undefined }
  if (config.api_key_env === undefined) return { config, key: undefined, missingKey: undefined }
  const value = env[config.api_key_env]
  return value === undefined || value === ""
    ? { config, key: undefined, missingKey: config.api_key_env }
    : { config, key: Redacted.make(value), missingKey: undefined }
}

/** Everything that must not appear in a message about this provider. */
export const secretsOf = (settings: ProviderSettings): ReadonlyArray<string> => [
  ...(settings.key === undefined ? [] : [Redacted.value(settings.key)]),
  ...Object.values(settings.config.extra_headers ?? {}).filter((value) => value.length >= 8),
  ...proxyPassword(settings.config.http_proxy)
]

const proxyPassword = (proxy: string | undefined): ReadonlyArray<string> => {
  if (proxy === undefined || !URL.canParse(proxy)) return []
  const { password } = new URL(proxy)
  return password === "" ? [] : [password, decodeURIComponent(password)]
}

/** Appends `suffix` (`/v1`) unless the path already ends in a version. No trailing slash. */
export const versioned = (baseUrl: string, suffix: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  return /\/v\d+[a-z0-9]*$/.test(base) ? base : `${base}${suffix}`
}
