/** Every provider kind, each pointed at a fake server by its own wire protocol and signed in by each of its ways. */
import { generateKeyPairSync } from "node:crypto"
import { Redacted } from "effect"
import type { LlmProviderKind } from "../../src/llm/providers/Providers.ts"
import { awsKeys } from "../harness/FakeModelSigV4.ts"

export interface ProtocolCase {
  readonly name: string
  readonly kind: LlmProviderKind
  readonly settings: (url: string) => Record<string, unknown>
  /** Default: `m`. */
  readonly model?: string
  /** Path of a model call. */
  readonly path: string
  /** Header that carries the key, and its value for the key `test-key-123456` or what it was exchanged for. */
  readonly key: readonly [string, RegExp]
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
})
export { publicKey }

/** A service account that signs in at the fake server. */
export const serviceAccount = (url: string) =>
  JSON.stringify({
    type: "service_account",
    client_email: "reviews@project-1.example",
    private_key: privateKey,
    private_key_id: "key-1",
    project_id: "project-1",
    token_uri: `${url}/token`
  })

const bearer = ["authorization", /^Bearer test-key-123456$/] as const

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
    key: ["api-key", /^test-key-123456$/]
  },
  {
    name: "azure_openai by deployment",
    kind: "azure_openai",
    settings: (url) => ({ base_url: `${url}/openai`, api_version: "2024-10-21" }),
    path: "/openai/deployments/m/chat/completions?api-version=2024-10-21",
    key: ["api-key", /^test-key-123456$/]
  },
  {
    name: "anthropic",
    kind: "anthropic",
    settings: (url) => ({ base_url: url }),
    path: "/v1/messages",
    key: ["x-api-key", /^test-key-123456$/]
  },
  {
    name: "google_ai_studio",
    kind: "google_ai_studio",
    settings: (url) => ({ base_url: url }),
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    key: ["x-goog-api-key", /^test-key-123456$/]
  },
  {
    name: "ollama",
    kind: "ollama",
    settings: (url) => ({ base_url: url }),
    path: "/v1/chat/completions",
    key: bearer
  },
  {
    name: "vertex_ai with an API key",
    kind: "vertex_ai",
    settings: (url) => ({ base_url: url }),
    path: "/v1/publishers/google/models/m:streamGenerateContent?alt=sse",
    key: ["x-goog-api-key", /^test-key-123456$/]
  },
  {
    name: "vertex_ai with a service account",
    kind: "vertex_ai",
    settings: (url) => ({ base_url: url, google_application_credentials: Redacted.make(serviceAccount(url)) }),
    path: "/v1beta1/projects/project-1/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse",
    key: ["authorization", /^Bearer google-token-1$/]
  },
  {
    name: "Claude on vertex_ai",
    kind: "vertex_ai",
    model: "claude-m",
    settings: (url) => ({
      base_url: url,
      vertex_project: "project-2",
      vertex_location: "europe-west1",
      google_application_credentials: Redacted.make(serviceAccount(url))
    }),
    path: "/v1/projects/project-2/locations/europe-west1/publishers/anthropic/models/claude-m:streamRawPredict",
    key: ["authorization", /^Bearer google-token-1$/]
  },
  {
    name: "bedrock with keys",
    kind: "bedrock",
    model: "eu.anthropic.claude-m-v1:0",
    settings: (url) => ({
      base_url: url,
      api_key_env: undefined,
      aws_region: "eu-west-1",
      aws_access_key: Redacted.make(awsKeys.id),
      aws_secret_key_env: "TEST_AWS_SECRET",
      aws_session_token: Redacted.make("test-session-token")
    }),
    path: "/model/eu.anthropic.claude-m-v1%3A0/converse-stream",
    key: [
      "authorization",
      /^AWS4-HMAC-SHA256 Credential=AKIATESTTESTTESTTEST\/\d{8}\/eu-west-1\/bedrock\/.*x-amz-security-token/
    ]
  },
  {
    name: "bedrock with an API key",
    kind: "bedrock",
    settings: (url) => ({ base_url: url, aws_region: "eu-west-1" }),
    path: "/model/m/converse-stream",
    key: bearer
  },
  {
    name: "copilot",
    kind: "copilot",
    settings: (url) => ({ base_url: url }),
    path: "/chat/completions",
    key: ["authorization", /^Bearer copilot-token-1$/]
  }
]

/** One model of this kind behind the fake server, alone in the group `default`. */
export const documentFor = (
  { kind, settings, model = "m" }: ProtocolCase,
  url: string,
  more: { readonly llm?: Record<string, unknown>; readonly provider?: Record<string, unknown> } = {}
) => ({
  llm: {
    providers: [given({ id: "p", kind, api_key_env: "TEST_KEY", ...settings(url), ...more.provider })],
    model_chain: { default: [{ provider: "p", model }] },
    retry: { max_attempts: 2, backoff: { kind: "constant", base_ms: 1, max_ms: 1, jitter: false } },
    ...more.llm
  }
})

const given = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export const env = { TEST_KEY: "test-key-123456", TEST_AWS_SECRET: awsKeys.secret }
