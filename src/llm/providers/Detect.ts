/**
 * Selects a model without configuration: the first supported provider with a key in the environment, with its default model. Used
 * by `npm run demo` and `aicr review`. `AICR_MODEL` names another model, as `model` or `provider/model`.
 */
export type Environment = Readonly<Record<string, string | undefined>>

export interface DetectedModel {
  /** An entry of llm.providers. The key itself stays in the environment. */
  readonly provider: Readonly<Record<string, unknown>> & { readonly id: string }
  readonly model: string
}

interface KnownProvider {
  readonly id: string
  readonly kind: string
  /** Variables with the key, the most common one first. */
  readonly keys: ReadonlyArray<string>
  readonly baseUrl?: string
  /** Variable that moves the provider to another address. */
  readonly baseUrlVariable?: string
  readonly model: string
}

// Aliases that providers keep current are preferred to dated names.
const known: ReadonlyArray<KnownProvider> = [
  {
    id: "anthropic",
    kind: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-5-5"
  },
  {
    id: "openai",
    kind: "openai_compatible",
    keys: ["OPENAI_API_KEY"],
    baseUrlVariable: "OPENAI_BASE_URL",
    model: "gpt-6-astra"
  },
  {
    id: "google",
    kind: "google_ai_studio",
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    model: "gemini-flash-latest"
  },
  {
    id: "openrouter",
    kind: "openai_compatible",
    keys: ["OPENROUTER_API_KEY"],
    baseUrl: "https://openrouter.ai/api/v1",
    model: "anthropic/claude-sonnet-5.5"
  },
  {
    id: "mistral",
    kind: "openai_compatible",
    keys: ["MISTRAL_API_KEY"],
    baseUrl: "https://api.mistral.ai/v1",
    model: "mistral-medium-latest"
  },
  {
    id: "deepseek",
    kind: "openai_compatible",
    keys: ["DEEPSEEK_API_KEY"],
    baseUrl: "https://api.deepseek.com/v1",
    model: "deepseek-v4-pro"
  },
  {
    id: "groq",
    kind: "openai_compatible",
    keys: ["GROQ_API_KEY"],
    baseUrl: "https://api.groq.com/openai/v1",
    model: "openai/gpt-oss-120b"
  },
  {
    id: "xai",
    kind: "openai_compatible",
    keys: ["XAI_API_KEY"],
    baseUrl: "https://api.x.ai/v1",
    model: "grok-4.7"
  }
]

const ollamaModel = "gpt-oss:20b"

/** The variables in order of precedence. */
export const detectVariables: ReadonlyArray<string> = [...known.flatMap(({ keys }) => keys), "OLLAMA_HOST"]

export const detectModel = (env: Environment): DetectedModel | undefined => {
  const available = known.flatMap((entry) => {
    const key = entry.keys.find((name) => isSet(env[name]))
    return key === undefined ? [] : [findProvider(entry, key, env)]
  })
  const ollama = findOllama(env["OLLAMA_HOST"])
  if (ollama !== undefined) available.push(ollama)
  const wanted = env["AICR_MODEL"]
  const [first] = available
  if (wanted === undefined || wanted === "" || first === undefined) return first
  const named = available.find(({ provider }) => wanted.startsWith(`${provider.id}/`))
  return named === undefined
    ? { ...first, model: wanted }
    : { ...named, model: wanted.slice(named.provider.id.length + 1) }
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ""

const findProvider = (
  { id, kind, baseUrl, baseUrlVariable, model }: KnownProvider,
  key: string,
  env: Environment
): DetectedModel => {
  const moved = baseUrlVariable === undefined ? undefined : env[baseUrlVariable]
  const base_url = isSet(moved) ? moved : baseUrl
  return { provider: { id, kind, api_key_env: key, ...(base_url === undefined ? {} : { base_url }) }, model }
}

/** Parses `host`, `host:port` or a URL like the ollama program; 0.0.0.0 is a listening address and is replaced. */
const findOllama = (host: string | undefined): DetectedModel | undefined => {
  if (host === undefined || host === "") return undefined
  const text = /^https?:\/\//.test(host) ? host : `http://${host}`
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.port === "" && !/^https?:\/\//.test(host)) url.port = "11434"
  return {
    provider: { id: "ollama", kind: "ollama", base_url: url.href.replace(/(?<!\/)\/+$/, "") },
    model: ollamaModel
  }
}
