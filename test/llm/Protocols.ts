/** The provider kinds that this build has, each pointed at a fake server by its own wire protocol. */
import type { LlmProviderKind } from "../../src/llm/Providers.ts"

export interface ProtocolCase {
  readonly name: string
  readonly kind: LlmProviderKind
  readonly settings: (url: string) => Record<string, unknown>
  /** Path of a model call for the model `m`. */
  readonly path: string
  /** Header that carries the key, and its value for the key `test-key-123456`. */
  readonly key: readonly [string, string]
}

const bearer = ["authorization", "Bearer test-key-123456"] as const

export const protocols: ReadonlyArray<ProtocolCase> = [
  {
    name: "openai_compatible",
    kind: "openai_compatible",
    settings: (url) => ({ base_url: `${url}/v1` }),
    path: "/v1/chat/completions",
    key: bearer
  },
  {
    name: "azure_openai v1",
    kind: "azure_openai",
    settings: (url) => ({ base_url: url }),
    path: "/openai/v1/chat/completions",
    key: ["api-key", "test-key-123456"]
  },
  {
    name: "azure_openai by deployment",
    kind: "azure_openai",
    settings: (url) => ({ base_url: `${url}/openai`, api_version: "2024-10-21" }),
    path: "/openai/deployments/m/chat/completions?api-version=2024-10-21",
    key: ["api-key", "test-key-123456"]
  },
  {
    name: "anthropic",
    kind: "anthropic",
    settings: (url) => ({ base_url: url }),
    path: "/v1/messages",
    key: ["x-api-key", "test-key-123456"]
  },
  {
    name: "google_ai_studio",
    kind: "google_ai_studio",
    settings: (url) => ({ base_url: url }),
    path: "/v1beta/models/m:generateContent",
    key: ["x-goog-api-key", "test-key-123456"]
  },
  {
    name: "ollama",
    kind: "ollama",
    settings: (url) => ({ base_url: url }),
    path: "/v1/chat/completions",
    key: bearer
  }
]

/** One model `m` of this kind behind the fake server, alone in the group `default`. */
export const documentFor = (
  { kind, settings }: ProtocolCase,
  url: string,
  more: { readonly llm?: Record<string, unknown>; readonly provider?: Record<string, unknown> } = {}
) => ({
  llm: {
    providers: [{ id: "p", kind, api_key_env: "TEST_KEY", ...settings(url), ...more.provider }],
    model_chain: { default: [{ provider: "p", model: "m" }] },
    retry: { max_attempts: 2, backoff: { kind: "constant", base_ms: 1, max_ms: 1, jitter: false } },
    ...more.llm
  }
})

export const env = { TEST_KEY: "test-key-123456" }
