/**
 * Limits of silence: how long a provider may send nothing before its response counts as lost. The duration of a response has no
 * limit here, because a model may need many minutes for a response that it streams.
 *
 * | `timeout_ms` | before the first byte | between two bytes |
 * |---|---|---|
 * | not set | 15 minutes, local servers 60 minutes | 5 minutes |
 * | set | `timeout_ms`, local servers 12 times as long | `timeout_ms` |
 *
 * Cloud models that think may send nothing before the first token. A local server (Ollama, or a `base_url` on a loopback or
 * private address) accepts a connection and is silent while it loads a model or works through its queue; before the first byte
 * only the time counts in which it sends nothing to other calls either (SilenceWatch.ts).
 */
import { isIP } from "node:net"
import { inEnglish } from "../../text/en.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { LlmProvider } from "../../config/schema/Llm.ts"

const betweenMillis = 5 * 60_000
const firstMillis = 15 * 60_000
const localFactor = 12

export interface SilenceLimits {
  readonly firstMillis: number
  readonly betweenMillis: number
}

/** Returns the limits for requests to this provider. */
export const silenceLimits = (config: Pick<LlmProvider, "kind" | "base_url" | "timeout_ms">): SilenceLimits => {
  const { timeout_ms: timeout } = config
  return {
    firstMillis: isLocalServer(config) ? localFactor * (timeout ?? betweenMillis) : (timeout ?? firstMillis),
    betweenMillis: timeout ?? betweenMillis
  }
}

/** True if the provider is Ollama, or a server on a loopback or private address. */
export const isLocalServer = ({ base_url, kind }: Pick<LlmProvider, "kind" | "base_url">): boolean =>
  kind === "ollama" || (kind === "openai_compatible" && base_url !== undefined && isPrivateHost(base_url))

const isPrivateHost = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "")
  if (isIP(host) === 6) return host === "::1" || /^(fc|fd|fe80)/.test(host)
  if (isIP(host) === 4) return /^(127|10)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\./.test(host)
  return host === "localhost" || host.endsWith(".local") || host.endsWith(".internal") || !host.includes(".")
}

/** The provider sent nothing for longer than its limit. */
export class SilentProvider extends Error {
  readonly why: Reason

  constructor(millis: number) {
    const why = { _tag: "ProviderSilent", millis } as const
    super(inEnglish(why))
    this.why = why
  }
}

/** The provider sent more than the maximum response size. */
export class ResponseTooLarge extends Error {
  readonly why: Reason

  constructor(limit: string) {
    const why = { _tag: "ResponseTooLarge", limit } as const
    super(inEnglish(why))
    this.why = why
  }
}
