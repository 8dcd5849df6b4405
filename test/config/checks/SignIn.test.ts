import { describe, expect, it } from "vitest"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const llm = {
  providers: [
    { id: "plan", kind: "anthropic", subscription: true, api_key: "token" },
    { id: "key", kind: "anthropic", api_key: "key" },
    { id: "chat", kind: "openai_compatible", base_url: "https://models.example.com/v1", api_key: "key" },
    { id: "hub", kind: "copilot", api_key: "key" }
  ],
  model_chain: {
    default: [{ provider: "key", model: "m" }],
    claude: [
      { provider: "plan", model: "m" },
      { provider: "key", model: "m" }
    ],
    chat: [{ provider: "chat", model: "m" }],
    hub: [{ provider: "hub", model: "m" }]
  }
}

const errors = (document: object): ReadonlyArray<string> =>
  readDocument({ llm, ...document }, {}, { baseDir: "/base", unset: "warnings" })
    .issues.filter(({ severity }) => severity === "error")
    .map(({ path, reason }) => `${path}: ${inEnglish(reason)}`)

const instance = (more: object) => ({
  triggers: [{ name: "hub", kind: "github", webhook_secret: "s" }],
  workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: "acme/app" }, ...more } } }
})

const refused = "has a provider with subscription: true, which only the agent of its maker may use"

describe("agent.auth", () => {
  it("takes groups with the providers of the maker, in every layer", () => {
    expect(errors({ agent: { auth: { "claude-code": "claude", codex: "chat", "copilot-cli": "hub" } } })).toEqual([])
    expect(errors(instance({ agent: { auth: { "claude-code": "claude" } } }))).toEqual([])
  })

  it.each(["copilot-cli", "codex", "gemini-cli"])("refuses the subscription of another maker for %s", (mode) => {
    const refusal = "may not use the subscription of the provider plan"
    expect(errors({ agent: { auth: { [mode]: "claude" } } }).join("\n")).toContain(refusal)
    expect(errors(instance({ agent: { auth: { [mode]: "claude" } } })).join("\n")).toContain(
      `workspaces.instances.app.agent.auth.${mode}: ${mode} ${refusal}`
    )
  })

  it("refuses a group that does not exist, and modes without a sign-in", () => {
    expect(errors({ agent: { auth: { codex: "chta" } } }).join("\n")).toContain('"chta" does not exist')
    expect(errors({ agent: { auth: { kilo: "chat" } } }).join("\n")).toContain("agent.auth.kilo")
  })
})

describe("a group with a subscription", () => {
  it.each([
    ["llm.default_model_chain", { llm: { ...llm, default_model_chain: "claude" } }],
    ["llm.triage_model_chain", { llm: { ...llm, triage_model_chain: "claude" } }],
    ["llm.author_resolution_model_chain", { llm: { ...llm, author_resolution_model_chain: "claude" } }],
    ["workspaces.instances.app.model_chain", instance({ model_chain: "claude" })],
    ["workspaces.instances.app.triage_model_chain", instance({ triage_model_chain: "claude" })],
    ["workspaces.instances.app.author_resolution_model_chain", instance({ author_resolution_model_chain: "claude" })],
    [
      "workspaces.defaults.model_chain",
      {
        workspaces: { ...instance({}).workspaces, defaults: { model_chain: "claude" } },
        triggers: instance({}).triggers
      }
    ],
    [
      "outputs.routes.rules[0].analysis.model_chain",
      {
        ...instance({}),
        outputs: { routes: { rules: [{ match: { trigger: "hub" }, analysis: { model_chain: "claude" } }] } }
      }
    ]
  ])("is refused as %s", (path, document) => {
    expect(errors(document).find((text) => text.startsWith(`${path}: `))).toContain(refused)
  })

  it("needs no default group", () => {
    const { claude } = llm.model_chain
    expect(errors({ llm: { ...llm, model_chain: { claude } }, agent: { auth: { "claude-code": "claude" } } })).toEqual(
      []
    )
  })
})
