/** Schema of `llm`: providers, model groups, retry, budgets and the model catalog. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, kinds, nodeCredential, optional, required } from "../Field.ts"
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
} from "../Scalars.ts"

const bedrock = { when: kinds("bedrock") }
const vertex = { when: kinds("vertex_ai") }
const keyFile = {
  because: "names a file of the nodes",
  applies: (value: unknown) => typeof value !== "string" || !value.trim().startsWith("{")
}
const anthropic = { when: kinds("anthropic") }

export const LlmProvider = Schema.Struct({
  id: required(
    matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "an identifier of letters, digits, dots, underscores and hyphens"),
    "Identifier referenced from model_chain. Unique."
  ),
  kind: required(named("providerKind"), "LLM provider kind."),
  base_url: optional(Url, "Provider API base URL.", {
    requiredWhen: kinds("azure_openai"),
    destination: true
  }),
  api_key_env: optional(EnvName, "Environment variable that holds the API key."),
  api_key: optional(Secret, "Literal API key. Sealed when published to the database.", {
    winsOver: "api_key_env"
  }),
  subscription: optional(
    Flag,
    "Whether the key is the token of a subscription instead of an API key: of Claude (claude setup-token) with kind anthropic, of a ChatGPT workspace (Codex access token) with kind openai_compatible. Only the agent of its maker may use it, through agent.auth.",
    { when: kinds("anthropic", "openai_compatible"), destination: true }
  ),
  api_version: optional(Text, "API version, for providers that need one."),
  catalog_provider: optional(Text, "Overrides the catalog's provider id used for metadata."),
  catalog_id: optional(Text, "Overrides the catalog's `<provider>/<model>` id."),
  reasoning_effort: optional(
    choice("minimal", "low", "medium", "high", "max"),
    "Reasoning effort, passed through to the provider."
  ),
  thinking_level: optional(
    choice("off", "minimal", "low", "medium", "high", "max"),
    "Thinking level, passed through to the provider."
  ),
  thinking_budget_tokens: optional(int(), "Explicit thinking budget in tokens, passed through to the provider."),
  organization: optional(Text, "Organization id sent with each request."),
  extra_headers: optional(
    map(LongText),
    "HTTP headers added to each request. Not a place for secrets: values are shown in the configuration.",
    { destination: true }
  ),
  extra_body: optional(map(Schema.Unknown), "Fields added to each request body."),
  http_proxy: optional(Url, "HTTP proxy for requests to this provider.", { destination: true }),
  timeout_ms: optional(
    PositiveInt,
    "Longest silence in milliseconds: between two pieces of a response, and before its first piece, for which Ollama and servers on private addresses have 12 times as long. Default: 5 minutes between pieces, 15 minutes before the first."
  ),
  context_window: optional(PositiveInt, "Context window in tokens; takes precedence over the catalog."),
  max_output_tokens: optional(
    PositiveInt,
    "Maximum response length in tokens. Default: that of the catalog, else 16384, reduced to the room in the context window."
  ),
  aws_region: optional(Text, "AWS region.", bedrock),
  aws_profile: optional(Text, "AWS profile of the shared credentials file.", { ...bedrock, fileOnly: nodeCredential }),
  aws_access_key_env: optional(EnvName, "Environment variable that holds the AWS access key id.", bedrock),
  aws_access_key: optional(Secret, "Literal AWS access key id.", {
    ...bedrock,
    exclusive: ["aws_access_key_env"]
  }),
  aws_secret_key_env: optional(EnvName, "Environment variable that holds the AWS secret key.", bedrock),
  aws_secret_key: optional(Secret, "Literal AWS secret key.", {
    ...bedrock,
    exclusive: ["aws_secret_key_env"]
  }),
  aws_session_token_env: optional(EnvName, "Environment variable that holds the AWS session token.", bedrock),
  aws_session_token: optional(Secret, "Literal AWS session token.", {
    ...bedrock,
    exclusive: ["aws_session_token_env"]
  }),
  vertex_project: optional(Text, "Google Cloud project.", vertex),
  vertex_location: optional(Text, "Google Cloud location.", vertex),
  google_application_credentials_env: optional(
    EnvName,
    "Environment variable that holds the service account key (JSON, or the path of its file).",
    vertex
  ),
  google_application_credentials: optional(Secret, "Literal service account key, or the path of its file.", {
    ...vertex,
    exclusive: ["google_application_credentials_env"],
    fileOnly: keyFile
  }),
  anthropic_version: optional(Text, "Value of the anthropic-version header.", anthropic),
  anthropic_beta: optional(list(Text), "Values of the anthropic-beta header.", anthropic),
  cache_control: optional(choice("ephemeral", "off"), "Prompt caching.", anthropic)
})
export type LlmProvider = Resolved<typeof LlmProvider>

export const ModelEntry = Schema.Struct({
  provider: required(Text, "Id of a provider in llm.providers.", { refers: "provider" }),
  model: required(Text, "Model name as the provider knows it."),
  role: defaulted(choice("light", "heavy", "any"), "any", "Which stages may use the model.")
})
export type ModelEntry = Resolved<typeof ModelEntry>

/** Delay between attempts. Used by llm.retry (no defaults) and queue.retry (with defaults). */
export const Backoff = Schema.Struct({
  kind: optional(choice("exponential", "linear", "constant"), "How the wait grows."),
  base_ms: optional(int(0), "First wait in milliseconds. At most max_ms."),
  max_ms: optional(int(0), "Longest wait in milliseconds."),
  jitter: optional(Flag, "Randomise each wait.")
})
export type Backoff = Resolved<typeof Backoff>

const CatalogOverride = Schema.StructWithRest(
  Schema.Struct({
    supported_reasoning_efforts: optional(list(Text), "Reasoning efforts that the model takes."),
    default_reasoning_effort: optional(Text, "Reasoning effort used when none is configured.")
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

export const ModelCatalogConfig = Schema.Struct({
  enabled: defaulted(Flag, false, "Look up model metadata in a catalog."),
  source_url: defaulted(Url, "https://models.dev/api.json", "Catalog source."),
  refresh_interval_hours: defaulted(PositiveInt, 24, "Hours between refreshes."),
  fetch_timeout_ms: defaulted(PositiveInt, 10_000, "Deadline of a fetch in milliseconds."),
  offline: defaulted(Flag, false, "Never use the network: cache and bundled snapshot only."),
  apply_to_model_spec: defaulted(Flag, true, "Merge catalog metadata into the resolved model."),
  cache: group(
    {
      backend: defaulted(
        named("catalogCache"),
        "sqlite",
        "Where refreshed data is kept. `redis` needs storage.cache.kind `redis` and storage.cache.redis.url_env."
      )
    },
    "Cache of the catalog."
  ),
  overrides: defaulted(
    map(CatalogOverride, { keys: /^[^/]+\/.+$/, expected: "a map with keys of the form <provider>/<model>" }),
    {},
    "Metadata of models by `<provider>/<model>`, in the form of the catalog's records, over which they take precedence."
  )
})
export type ModelCatalogConfig = Resolved<typeof ModelCatalogConfig>

export const LlmConfig = Schema.Struct({
  providers: defaulted(list(LlmProvider), [], "Provider connections."),
  model_chain: defaulted(
    map(list(ModelEntry, { minItems: 1 })),
    {},
    "Model groups: name to ordered list. The first entry is primary, later ones are tried in order."
  ),
  default_model_chain: defaulted(
    Text,
    "default",
    "Model group that is used unless a workspace or a route names another one. Must exist when groups are configured."
  ),
  triage_model_chain: optional(Text, "Group for lifecycle analysis. Default: the workspace's main group.", {
    refers: "chain",
    defaultText: "inherit"
  }),
  author_resolution_model_chain: optional(
    Text,
    "Group for directory identity analysis. Default: llm.default_model_chain.",
    { refers: "chain", defaultText: "inherit" }
  ),
  retry: group(
    {
      max_attempts: optional(PositiveInt, "Most attempts per LLM call."),
      respect_retry_after: optional(Flag, "Honour Retry-After headers."),
      backoff: optional(Backoff, "Waiting between attempts."),
      give_up_after_seconds: optional(PositiveNumber, "Hard wall-clock limit of a call with all its attempts.")
    },
    "Retry of LLM calls."
  ),
  budget: group(
    {
      per_run_usd: optional(UsdAmount, "Most US dollars per run."),
      per_repo_daily_usd: optional(UsdAmount, "Most US dollars per repository and UTC day."),
      per_author_daily_usd: optional(
        UsdAmount,
        "Maximum cost in US dollars per author of changes and UTC day, over all repositories of a trigger."
      )
    },
    "Caps on spend."
  ),
  per_provider_overrides: optional(
    map(
      Schema.Struct({
        max_attempts: optional(PositiveInt, "Most attempts per LLM call."),
        give_up_after_seconds: optional(PositiveNumber, "Hard wall-clock limit of a call with all its attempts.")
      })
    ),
    "Retry limits per provider id."
  ),
  model_catalog: group(ModelCatalogConfig.fields, "Model metadata from a catalog.")
})
export type LlmConfig = Resolved<typeof LlmConfig>
