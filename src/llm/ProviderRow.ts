/** What a row of the provider table is. Each kind of provider is one row; rows of their own files are Bedrock, Vertex, Copilot. */
import { Redacted } from "effect"
import type { LanguageModel } from "ai"
import type { FetchFunction, ProviderOptions } from "@ai-sdk/provider-utils"
import type { ProviderSettings } from "./ProviderSettings.ts"

/** What a row gives back: a model by name, and the options that go with every call to it. */
export interface ProviderConnection {
  readonly model: (name: string) => Exclude<LanguageModel, string>
  readonly options: ProviderOptions
  /** Marks the end of what is worth caching: put on the system text and on the last message. */
  readonly cacheMark?: (name: string) => ProviderOptions | undefined
}

export interface Http {
  /** Requests to models, with the provider's `extra_body`. */
  readonly fetch: FetchFunction
  /** Requests that sign in, and models whose bodies are signed: nothing is added. */
  readonly plain: FetchFunction
}

export interface ProviderRow {
  /** A call without `api_key` cannot succeed. */
  readonly needsKey: boolean
  readonly needsBaseUrl: boolean
  /** What else is missing, in words for the operator; undefined when nothing is. */
  readonly problem?: (settings: ProviderSettings) => string | undefined
  readonly connect: (settings: ProviderSettings, http: Http) => Promise<ProviderConnection>
}

/** Thrown while signing in or connecting: somebody must change the configuration, trying again does not help. */
export class NotConfigured extends Error {}

export const keyOf = (settings: ProviderSettings): string =>
  settings.key === undefined ? "" : Redacted.value(settings.key)

export const headersOf = (settings: ProviderSettings): Record<string, string> => ({ ...settings.config.extra_headers })
