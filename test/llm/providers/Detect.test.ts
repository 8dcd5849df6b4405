import { assert, describe, it } from "@effect/vitest"
import { detectModel, detectVariables } from "../../../src/llm/providers/Detect.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"

const cases: ReadonlyArray<readonly [string, Record<string, string>, string | undefined]> = [
  ["nothing set", {}, undefined],
  ["an empty key is none", { OPENAI_API_KEY: "" }, undefined],
  ["AICR_MODEL alone is no provider", { AICR_MODEL: "gpt-6-astra" }, undefined],
  ["anthropic", { ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5"],
  ["the order of the table decides", { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5"],
  ["a plain model name", { OPENAI_API_KEY: "k", AICR_MODEL: "gpt-x" }, "openai/gpt-x"],
  ["provider/model", { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", AICR_MODEL: "openai/gpt-x" }, "openai/gpt-x"],
  ["a name with a slash", { OPENROUTER_API_KEY: "k", AICR_MODEL: "openai/gpt-x" }, "openrouter/openai/gpt-x"],
  ["ollama", { OLLAMA_HOST: "box" }, "ollama/gpt-oss:20b"],
  ["a host that is none", { OLLAMA_HOST: "http://" }, undefined]
]

describe("detectModel", () => {
  it.each(cases)("%s", (_, env, expected) => {
    const found = detectModel(env)
    assert.strictEqual(found && `${found.provider.id}/${found.model}`, expected)
  })

  it("every key leads to a provider that the configuration accepts, without the key in it", () => {
    for (const variable of detectVariables) {
      const found = detectModel({ [variable]: "secret-value-1" })
      assert.isDefined(found, variable)
      if (variable !== "OLLAMA_HOST") assert.notInclude(JSON.stringify(found), "secret-value-1")
      testSnapshot({
        llm: {
          providers: [found?.provider],
          model_chain: { default: [{ provider: found?.provider.id, model: found?.model }] }
        }
      })
    }
  })

  it.each([
    ["127.0.0.1:11434", "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["http://box:8080/", "http://box:8080"],
    ["https://ollama.example", "https://ollama.example"]
  ])("OLLAMA_HOST %s", (host, expected) => {
    assert.strictEqual(detectModel({ OLLAMA_HOST: host })?.provider["base_url"], expected)
  })

  it("OPENAI_BASE_URL moves the provider", () => {
    const found = detectModel({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:8000/v1" })
    assert.strictEqual(found?.provider["base_url"], "http://127.0.0.1:8000/v1")
  })
})
