/** Agents that sign in with the subscription of their maker: the token stays in the service, and no other call gets it. */
import { generateText } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { WireFormat } from "../../../src/llm/WireGateway.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel } from "../../harness/FakeModel.ts"
import { makeClient, withProxy } from "./ProxyFixture.ts"

let fake: FakeModel
beforeAll(async () => {
  fake = await startFakeModel()
})
afterAll(() => fake.close())

/** Two of the three models have a known price and no room in the budget. */
const document = (kind: string, more: object = {}) => ({
  llm: {
    providers: [{ id: "plan", kind, base_url: fake.url, api_key_env: "TEST_KEY", subscription: true, ...more }],
    model_chain: { plan: [{ provider: "plan", model: "m" }] },
    budget: { per_run_usd: 0.000001 },
    retry: { max_attempts: 1 }
  }
})

interface Maker {
  readonly format: WireFormat
  readonly kind: string
  readonly more?: object
  /** Headers that the maker of the agent gets; null: none of this name. */
  readonly expected: Readonly<Record<string, string | null>>
}

const makers: ReadonlyArray<Maker> = [
  {
    format: "anthropic-messages",
    kind: "anthropic",
    expected: {
      authorization: "Bearer test-key-123456",
      "x-api-key": null,
      "anthropic-beta": "oauth-2025-04-20"
    }
  },
  {
    format: "openai-responses",
    kind: "openai_compatible",
    more: { organization: "workspace-1" },
    expected: {
      authorization: "Bearer test-key-123456",
      "chatgpt-account-id": "workspace-1",
      "openai-organization": null
    }
  }
]

describe("a subscription", () => {
  it.each(makers)(
    "of kind $kind is sent by the service, and costs nothing",
    async ({ expected, format, kind, more }) => {
      fake.script({ text: "reviewed", usage: { input: 300, output: 50, cached: 0 } })
      const before = fake.requests.length
      await withProxy(document(kind, more), { format, group: "plan" }, async (fixture) => {
        const { text } = await generateText({ model: makeClient(format, fixture), prompt: "the diff", maxRetries: 0 })
        expect(text).toBe("reviewed")
        const { notices, usage } = await fixture.report()
        expect({ notices, requests: usage.requests, costUsd: usage.costUsd }).toEqual({
          notices: [],
          requests: 1,
          costUsd: 0
        })
      })
      const [request] = fake.requests.slice(before)
      const names = Object.keys(expected)
      expect(Object.fromEntries(names.map((name) => [name, request?.headers[name] ?? null]))).toEqual(expected)
      expect(request?.path).toMatch(kind === "anthropic" ? /^\/v1\/messages/ : /^\/responses/)
      expect(request?.body).not.toHaveProperty("max_output_tokens")
    }
  )

  it.each([
    ["openai-chat", "anthropic"],
    ["gemini", "anthropic"],
    ["openai-chat", "openai_compatible"]
  ] as const)("is not sent for an agent of another maker: %s over %s", async (format, kind) => {
    const before = fake.requests.length
    await withProxy(document(kind), { format, group: "plan" }, async (fixture) => {
      await expect(
        generateText({ model: makeClient(format, fixture), prompt: "the diff", maxRetries: 0 })
      ).rejects.toThrow(/subscription|refused|not/)
      expect((await fixture.report()).failure?.message).toContain("only the agent of its maker may use")
    })
    expect(fake.requests.length).toBe(before)
  })
})
