/**
 * Amazon Bedrock over the Converse API, signed with keys (`aws_access_key`, `aws_secret_key`, `aws_session_token`), with the
 * keys of `aws_profile`, or with a Bedrock API key (`api_key`). Bodies are signed by the SDK, so `extra_body` goes in through
 * its options and not behind it.
 */
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import type { JSONValue } from "ai"
import { NotConfigured, requireKey, toHeaders } from "./ProviderRow.ts"
import type { ProviderRow } from "./ProviderRow.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { bedrockReasoning } from "./Thinking.ts"

/**
 * A profile of the shared AWS files: keys from `~/.aws/credentials`, the region from `~/.aws/config` (or where
 * AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE say). Read for every request, so that keys which another program renews there
 * are the ones in use. Profiles that sign in by other means (SSO, roles, programs) are named as such.
 */

interface AwsProfile {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  readonly region: string | undefined
}

export const readAwsProfile = async (name: string, env: NodeJS.ProcessEnv = process.env): Promise<AwsProfile> => {
  const files = [
    env["AWS_SHARED_CREDENTIALS_FILE"] ?? join(homedir(), ".aws", "credentials"),
    env["AWS_CONFIG_FILE"] ?? join(homedir(), ".aws", "config")
  ] as const
  const [credentials, config] = await Promise.all(files.map(readText))
  const section = { ...findSection(config ?? "", [`profile ${name}`, name]), ...findSection(credentials ?? "", [name]) }
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session, region } = section
  if (id !== undefined && secret !== undefined) {
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: session, region }
  }
  const other = ["credential_process", "sso_session", "sso_start_url", "role_arn"].find((field) => field in section)
  throw new NotConfigured(
    other === undefined
      ? { _tag: "AwsProfileWithoutKeys", profile: name, path: files[0] }
      : { _tag: "AwsProfileSignIn", profile: name, method: other }
  )
}

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8")
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return ""
    throw new NotConfigured({ _tag: "AwsFileUnreadable", path })
  }
}

/** The fields of the first of these sections that the file has. */
export const findSection = (
  text: string,
  names: ReadonlyArray<string>
): Readonly<Record<string, string | undefined>> => {
  const sections = new Map<string, Record<string, string>>()
  let current: Record<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1]
    if (header !== undefined) {
      current = sections.get(header) ?? {}
      sections.set(header, current)
      continue
    }
    const field = /^([A-Za-z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line)
    if (current !== undefined && field?.[1] !== undefined && field[2] !== undefined) current[field[1]] = field[2]
  }
  return names.map((name) => sections.get(name)).find((found) => found !== undefined) ?? {}
}

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
