/**
 * Amazon Bedrock over the Converse API, signed with keys (`aws_access_key`, `aws_secret_key`, `aws_session_token`), with the
 * keys of `aws_profile`, or with a Bedrock API key (`api_key`). Bodies are signed by the SDK, so `extra_body` goes in through
 * its options and not behind it.
 */
import { Redacted } from "effect"
import type { JSONValue } from "ai"
import { readAwsProfile } from "./AwsProfile.ts"
import { toHeaders, requireKey, NotConfigured } from "./ProviderRow.ts"
import type { ProviderRow } from "./ProviderRow.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { bedrockReasoning } from "./Thinking.ts"

export const bedrockRow: ProviderRow = {
  needsKey: false,
  needsBaseUrl: false,
  problem: ({ config, key, credentials }) => {
    const id = credentials.aws_access_key !== undefined
    const secret = credentials.aws_secret_key !== undefined
    if (id !== secret) return { _tag: "AwsKeyIncomplete", field: id ? "aws_access_key" : "aws_secret_key" }
    if (!id && config.aws_profile === undefined && key === undefined) {
      return { _tag: "AwsCredentialsUnset" }
    }
    if (config.aws_region === undefined)
      return id || config.aws_profile === undefined ? { _tag: "AwsRegionUnset" } : undefined
    return isRegion(config.aws_region)
      ? undefined
      : { _tag: "AwsRegionInvalid", field: "aws_region", region: config.aws_region }
  },
  connect: async (settings, http) => {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock")
    const { config } = settings
    const region = config.aws_region ?? (await profileRegion(config.aws_profile))
    if (!isRegion(region)) throw new NotConfigured({ _tag: "AwsRegionInvalid", field: "region", region })
    const provider = createAmazonBedrock({
      region,
      baseURL: config.base_url ?? `https://bedrock-runtime.${region}.${dnsSuffix(region)}`,
      // Empty instead of absent, because the SDK would otherwise read the environment.
      apiKey: requireKey(settings),
      credentialProvider: () => toKeys(settings),
      headers: toHeaders(settings),
      fetch: http.plain
    })
    const reasoning = bedrockReasoning(config)
    return {
      model: (name) => provider.languageModel(name),
      options: () => ({
        amazonBedrock: {
          ...jsonFields(config.extra_body),
          ...(Object.keys(reasoning).length === 0 ? {} : { reasoningConfig: reasoning })
        }
      }),
      cacheMark: (name) => (cachesPrompts(name) ? { amazonBedrock: { cachePoint: { type: "default" } } } : undefined)
    }
  }
}

const toKeys = async ({ config, credentials }: ProviderSettings) => {
  const { aws_access_key: id, aws_secret_key: secret, aws_session_token: session } = credentials
  if (id !== undefined && secret !== undefined) {
    return {
      accessKeyId: Redacted.value(id),
      secretAccessKey: Redacted.value(secret),
      ...(session === undefined ? {} : { sessionToken: Redacted.value(session) })
    }
  }
  const { accessKeyId, secretAccessKey, sessionToken } = await readAwsProfile(config.aws_profile ?? "default")
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

const profileRegion = async (profile: string | undefined): Promise<string> => {
  const region = (await readAwsProfile(profile ?? "default")).region
  if (region === undefined) throw new NotConfigured({ _tag: "AwsProfileWithoutRegion", profile: profile ?? "default" })
  return region
}

/** The region is part of the host name: any other character could send credentials to another host. */
const isRegion = (region: string): boolean => /^[a-z0-9-]+$/.test(region)

const dnsSuffix = (region: string): string => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com")

/** Model families that support cache points; others refuse a request with one. */
export const cachesPrompts = (model: string): boolean =>
  /anthropic\.claude-(?:3-7|3-5-haiku|[a-z]+-[4-9])|amazon\.nova/.test(model)

const jsonFields = (fields: Readonly<Record<string, unknown>> | undefined): Record<string, JSONValue> =>
  Object.fromEntries(Object.entries(fields ?? {}).flatMap(([name, value]) => (isJson(value) ? [[name, value]] : [])))

/** Values of a YAML document are JSON or dates. */
const isJson = (value: unknown): value is JSONValue => value !== undefined && !(value instanceof Date)
