/**
 * One provider of the configuration with its credential looked up: what a row of the provider table works with. The credential
 * stays `Redacted` until the row hands it to its SDK.
 */
import { Redacted } from "effect"
import type { LlmProvider } from "../config/schema/Llm.ts"
import type { Snapshot } from "../config/Snapshot.ts"

export interface ProviderSettings {
  readonly config: LlmProvider
  readonly key: Redacted.Redacted | undefined
  /** Set when the configuration names a variable that is unset or empty: nothing is sent without the key that was meant. */
  readonly missingKey: string | undefined
}

export const providerSettings = (config: LlmProvider, snapshot: Pick<Snapshot, "credential">): ProviderSettings => {
  const key = snapshot.credential(config, "api_key")
  return { config, key, missingKey: key === undefined ? config.api_key_env : undefined }
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
