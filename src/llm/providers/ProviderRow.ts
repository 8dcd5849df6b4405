/** Row of the provider table. Each kind of provider is one row; Bedrock, Vertex and Copilot have files of their own. */
import { Redacted } from "effect"
import { inEnglish } from "../../text/en.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { LanguageModel } from "ai"
import type { FetchFunction, ProviderOptions } from "@ai-sdk/provider-utils"
import type { ProviderSettings } from "./ProviderSettings.ts"

/** Connection to a provider: returns a model by name, and the options of a call for a run, by the id of the run. */
export interface ProviderConnection {
  readonly model: (name: string) => Exclude<LanguageModel, string>
  readonly options: (runId: string) => ProviderOptions
  /** Marks the end of a cacheable prefix, for providers that do not find it themselves. */
  readonly cacheMark?: (name: string) => ProviderOptions | undefined
}

export interface Http {
  /** Transport of requests to models, with the provider's `extra_body`. */
  readonly fetch: FetchFunction
  /** Transport of sign-in requests, and of models with signed bodies: without additions. */
  readonly plain: FetchFunction
}

export interface ProviderRow {
  /** True if a call requires `api_key`. */
  readonly needsKey: boolean
  readonly needsBaseUrl: boolean
  /** Returns what else is missing; undefined if nothing is. */
  readonly problem?: (settings: ProviderSettings) => Reason | undefined
  readonly connect: (settings: ProviderSettings, http: Http) => Promise<ProviderConnection>
}

/** Thrown while signing in or connecting: the configuration must be changed, and retries do not help. */
export class NotConfigured extends Error {
  readonly why: Reason
  constructor(why: Reason) {
    super(inEnglish(why))
    this.why = why
  }
}

export const requireKey = (settings: ProviderSettings): string =>
  settings.key === undefined ? "" : Redacted.value(settings.key)

export const toHeaders = (settings: ProviderSettings): Record<string, string> => ({ ...settings.config.extra_headers })
