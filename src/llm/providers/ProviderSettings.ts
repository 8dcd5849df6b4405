/**
 * Settings of one provider with resolved credentials, the input of a row of the provider table. Credentials stay `Redacted` until
 * the row passes them to its SDK.
 */
import { Redacted } from "effect"
import { resolve } from "node:path"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import type { Snapshot } from "../../config/Snapshot.ts"

const further = ["aws_access_key", "aws_secret_key", "aws_session_token", "google_application_credentials"] as const
type FurtherCredential = (typeof further)[number]

export interface ProviderSettings {
  readonly config: LlmProvider
  readonly key: Redacted.Redacted | undefined
  /** Credentials of some kinds only. */
  readonly credentials: Readonly<Partial<Record<FurtherCredential, Redacted.Redacted>>>
  /** Fields that name an unset or empty variable: no request is sent without the intended credential. */
  readonly missing: ReadonlyArray<{ readonly field: string; readonly variable: string }>
}

export const providerSettings = (
  config: LlmProvider,
  snapshot: Pick<Snapshot, "baseDir" | "credential">
): ProviderSettings => {
  const found = (["api_key", ...further] as const).map((field) => ({
    field,
    value: located(field, snapshot.credential(config, field), snapshot.baseDir),
    variable: config[`${field}_env`]
  }))
  return {
    config,
    key: found.find(({ field }) => field === "api_key")?.value,
    credentials: Object.fromEntries(
      found.flatMap(({ field, value }) => (field === "api_key" || value === undefined ? [] : [[field, value]]))
    ),
    missing: found.flatMap(({ field, value, variable }) =>
      value === undefined && variable !== undefined ? [{ field: `${field}_env`, variable }] : []
    )
  }
}

/** A key may be the path of its file, relative to the configuration document. */
const located = (field: string, value: Redacted.Redacted | undefined, baseDir: string) => {
  if (field !== "google_application_credentials" || value === undefined) return value
  const text = Redacted.value(value).trim()
  return text.startsWith("{") || text === "" ? value : Redacted.make(resolve(baseDir, text))
}

/** Values that must not appear in a message about this provider. */
export const listSecrets = (settings: ProviderSettings): ReadonlyArray<string> => [
  ...(settings.key === undefined ? [] : [Redacted.value(settings.key)]),
  ...Object.values(settings.credentials).map((held) => Redacted.value(held)),
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
  const base = baseUrl.replace(/(?<!\/)\/+$/, "")
  return /\/v\d[a-z0-9]*$/.test(base) ? base : `${base}${suffix}`
}
