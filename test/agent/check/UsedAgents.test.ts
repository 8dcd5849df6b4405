import { Effect } from "effect"
import { expect, it } from "vitest"
import { listUsedAgents } from "../../../src/agent/check/UsedAgents.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"

const instance = (repo: string, more: object = {}) => ({ source_repo: { trigger: "local", repo }, ...more })

it("lists the modes of enabled workspaces and of their routes, each once per sandbox", async () => {
  const document = {
    triggers: [{ name: "local", kind: "manual" }],
    agent: { default: "native-llm" },
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
      model_chain: { default: [{ provider: "p", model: "m" }] }
    },
    workspaces: {
      instances: {
        plain: instance("plain"),
        app: instance("app", { agent: { default: "codex" } }),
        lib: instance("lib", { agent: { default: "codex" } }),
        strict: instance("strict", { agent: { default: "codex", sandbox: { limits: { processes: 99 } } } }),
        off: instance("off", { enabled: false, agent: { default: "kilo" } }),
        routed: instance("routed", {
          outputs: { routes: { rules: [{ match: { target_kind: "push" }, analysis: { agent: "pi" } }] } }
        })
      }
    }
  }
  const { workspaces } = await Effect.runPromise(toSnapshot(document, {}, { baseDir: "/" }))
  expect(listUsedAgents(workspaces.values()).map(({ mode, workspaces: ids }) => [mode, ids])).toEqual([
    ["codex", ["app", "lib"]],
    ["codex", ["strict"]],
    ["pi", ["routed"]]
  ])
})
