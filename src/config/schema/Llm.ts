/** Schema of `llm`: providers, model groups, retry, budgets and the model catalog. */
import { Schema } from "effect"
import type { FileOnly, Resolved } from "../fields/Field.ts"
import { defaulted, group, kinds, nodeCredential, optional, required } from "../fields/Field.ts"
import {
  choice,
  EnvName,
  Flag,
  int,
  list,
  LongText,
  map,
  matching,
  named,
  PositiveInt,
  PositiveNumber,
  Secret,
  Text,
  Url,
  UsdAmount
} from "../fields/Scalars.ts"

const bedrock = { when: kinds("bedrock") }
const vertex = { when: kinds("vertex_ai") }
const keyFile: FileOnly = {
  because: { _tag: "NamesCredentialFile" },
  applies: (value: unknown) => typeof value !== "string" || !value.trim().startsWith("{")
}
const anthropic = { when: kinds("anthropic") }

/** Fields of requests in OpenAI's formats without which a request can be sent. `system`: messages of this role. */
export const optionalFields = [
  "tool_choice",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "system",
  "temperature",
  "top_p",
  "stream_options",
  "parallel_tool_calls",
  "prompt_cache_key",
  "reasoning_effort",
  "thinking",
  "store"
] as const

export const LlmProvider = Schema.Struct({
  id: required(matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { _tag: "ProviderId" }), "llm.providers[].id"),
  kind: required(named("providerKind"), "llm.providers[].kind"),
  base_url: optional(Url, "llm.providers[].base_url", {
    requiredWhen: kinds("azure_openai"),
    destination: true
  }),
  api_key_env: optional(EnvName, "llm.providers[].api_key_env"),
  api_key: optional(Secret, "llm.providers[].api_key", {
    winsOver: "api_key_env"
  }),
  subscription: optional(Flag, "llm.providers[].subscription", {
    when: kinds("anthropic", "openai_compatible"),
    destination: true
  }),
  api_version: optional(Text, "llm.providers[].api_version"),
  catalog_provider: optional(Text, "llm.providers[].catalog_provider"),
  catalog_id: optional(Text, "llm.providers[].catalog_id"),
  reasoning_effort: optional(choice("minimal", "low", "medium", "high", "max"), "llm.providers[].reasoning_effort"),
  thinking_level: optional(choice("off", "minimal", "low", "medium", "high", "max"), "llm.providers[].thinking_level"),
  thinking_budget_tokens: optional(int(), "llm.providers[].thinking_budget_tokens"),
  organization: optional(Text, "llm.providers[].organization"),
  extra_headers: optional(map(LongText), "llm.providers[].extra_headers", { destination: true }),
  extra_body: optional(map(Schema.Unknown), "llm.providers[].extra_body"),
  refused_fields: optional(list(choice(...optionalFields), { unique: true }), "llm.providers[].refused_fields", {
    when: kinds("openai_compatible", "azure_openai", "ollama", "copilot")
  }),
  http_proxy: optional(Url, "llm.providers[].http_proxy", { destination: true }),
  timeout_ms: optional(PositiveInt, "llm.providers[].timeout_ms"),
  context_window: optional(PositiveInt, "llm.providers[].context_window"),
  max_output_tokens: optional(PositiveInt, "llm.providers[].max_output_tokens"),
  aws_region: optional(Text, "llm.providers[].aws_region", bedrock),
  aws_profile: optional(Text, "llm.providers[].aws_profile", { ...bedrock, fileOnly: nodeCredential }),
  aws_access_key_env: optional(EnvName, "llm.providers[].aws_access_key_env", bedrock),
  aws_access_key: optional(Secret, "llm.providers[].aws_access_key", {
    ...bedrock,
    exclusive: ["aws_access_key_env"]
  }),
  aws_secret_key_env: optional(EnvName, "llm.providers[].aws_secret_key_env", bedrock),
  aws_secret_key: optional(Secret, "llm.providers[].aws_secret_key", {
    ...bedrock,
    exclusive: ["aws_secret_key_env"]
  }),
  aws_session_token_env: optional(EnvName, "llm.providers[].aws_session_token_env", bedrock),
  aws_session_token: optional(Secret, "llm.providers[].aws_session_token", {
    ...bedrock,
    exclusive: ["aws_session_token_env"]
  }),
  vertex_project: optional(Text, "llm.providers[].vertex_project", vertex),
  vertex_location: optional(Text, "llm.providers[].vertex_location", vertex),
  google_application_credentials_env: optional(EnvName, "llm.providers[].google_application_credentials_env", vertex),
  google_application_credentials: optional(Secret, "llm.providers[].google_application_credentials", {
    ...vertex,
    exclusive: ["google_application_credentials_env"],
    fileOnly: keyFile
  }),
  anthropic_version: optional(Text, "llm.providers[].anthropic_version", anthropic),
  anthropic_beta: optional(list(Text), "llm.providers[].anthropic_beta", anthropic),
  cache_control: optional(choice("ephemeral", "off"), "llm.providers[].cache_control", anthropic)
})
export type LlmProvider = Resolved<typeof LlmProvider>

export const ModelEntry = Schema.Struct({
  provider: required(Text, "llm.model_chain.<id>[].provider", { refers: "provider" }),
  model: required(Text, "llm.model_chain.<id>[].model"),
  role: defaulted(choice("light", "heavy", "any"), "any", "llm.model_chain.<id>[].role")
})
export type ModelEntry = Resolved<typeof ModelEntry>

/** Applies where `llm.retry` has no value. */
export const retryDefaults = {
  max_attempts: 3,
  respect_retry_after: true,
  backoff: { kind: "exponential", base_ms: 1_000, max_ms: 30_000, jitter: true }
} as const
const backoffDefaults = retryDefaults.backoff

/** Delay between attempts. Used by llm.retry (defaults at run time) and queue.retry (with defaults). */
export const Backoff = Schema.Struct({
  kind: optional(choice("exponential", "linear", "constant"), "llm.retry.backoff.kind", {
    runtimeDefault: backoffDefaults.kind
  }),
  base_ms: optional(int(0), "llm.retry.backoff.base_ms", { runtimeDefault: backoffDefaults.base_ms }),
  max_ms: optional(int(0), "llm.retry.backoff.max_ms", { runtimeDefault: backoffDefaults.max_ms }),
  jitter: optional(Flag, "llm.retry.backoff.jitter", { runtimeDefault: backoffDefaults.jitter })
})
export type Backoff = Resolved<typeof Backoff>

const CatalogOverride = Schema.StructWithRest(
  Schema.Struct({
    supported_reasoning_efforts: optional(list(Text), "llm.model_catalog.overrides.<id>.supported_reasoning_efforts"),
    default_reasoning_effort: optional(Text, "llm.model_catalog.overrides.<id>.default_reasoning_effort")
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

export const ModelCatalogConfig = Schema.Struct({
  enabled: defaulted(Flag, false, "llm.model_catalog.enabled"),
  source_url: defaulted(Url, "https://models.dev/api.json", "llm.model_catalog.source_url"),
  refresh_interval_hours: defaulted(PositiveInt, 24, "llm.model_catalog.refresh_interval_hours"),
  fetch_timeout_ms: defaulted(PositiveInt, 10_000, "llm.model_catalog.fetch_timeout_ms"),
  offline: defaulted(Flag, false, "llm.model_catalog.offline"),
  apply_to_model_spec: defaulted(Flag, true, "llm.model_catalog.apply_to_model_spec"),
  cache: group(
    {
      backend: defaulted(named("catalogCache"), "sqlite", "llm.model_catalog.cache.backend")
    },
    "llm.model_catalog.cache"
  ),
  overrides: defaulted(
    map(CatalogOverride, { keys: /^[^/]+\/.+$/, expected: { _tag: "KeysOfModels" } }),
    {},
    "llm.model_catalog.overrides"
  )
})
export type ModelCatalogConfig = Resolved<typeof ModelCatalogConfig>

export const LlmConfig = Schema.Struct({
  providers: defaulted(list(LlmProvider), [], "llm.providers"),
  model_chain: defaulted(map(list(ModelEntry, { minItems: 1 })), {}, "llm.model_chain"),
  default_model_chain: defaulted(Text, "default", "llm.default_model_chain", { refers: "chain" }),
  triage_model_chain: optional(Text, "llm.triage_model_chain", {
    refers: "chain",
    defaultText: "inherit"
  }),
  author_resolution_model_chain: optional(Text, "llm.author_resolution_model_chain", {
    refers: "chain",
    defaultText: "inherit"
  }),
  retry: group(
    {
      max_attempts: optional(PositiveInt, "llm.retry.max_attempts", { runtimeDefault: retryDefaults.max_attempts }),
      respect_retry_after: optional(Flag, "llm.retry.respect_retry_after", {
        runtimeDefault: retryDefaults.respect_retry_after
      }),
      backoff: optional(Backoff, "llm.retry.backoff"),
      give_up_after_seconds: optional(PositiveNumber, "llm.retry.give_up_after_seconds")
    },
    "llm.retry"
  ),
  budget: group(
    {
      per_run_usd: optional(UsdAmount, "llm.budget.per_run_usd"),
      per_repo_daily_usd: optional(UsdAmount, "llm.budget.per_repo_daily_usd"),
      per_author_daily_usd: optional(UsdAmount, "llm.budget.per_author_daily_usd"),
      per_team_daily_usd: optional(UsdAmount, "llm.budget.per_team_daily_usd"),
      team_daily_usd: optional(map(UsdAmount), "llm.budget.team_daily_usd")
    },
    "llm.budget"
  ),
  per_provider_overrides: optional(
    map(
      Schema.Struct({
        max_attempts: optional(PositiveInt, "llm.per_provider_overrides.<id>.max_attempts"),
        give_up_after_seconds: optional(PositiveNumber, "llm.per_provider_overrides.<id>.give_up_after_seconds")
      })
    ),
    "llm.per_provider_overrides",
    { refers: "provider" }
  ),
  model_catalog: group(ModelCatalogConfig.fields, "llm.model_catalog")
})
export type LlmConfig = Resolved<typeof LlmConfig>
