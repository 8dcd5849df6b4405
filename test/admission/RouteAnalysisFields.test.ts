/** The analysis that rules of outputs.routes set. */
import { describe, expect, it } from "vitest"
import { withRouteAnalysis } from "../../src/admission/RouteAnalysis.ts"
import { TargetKind } from "../../src/domain/Kinds.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"

const rules = [
  { match: { trigger: "hub", target_kind: "pull_request" }, analysis: { agent: "codex" } },
  { match: { target_kind: "pull_request" }, analysis: { model_chain: "cheap" } },
  { match: { trigger: "hub" } }
]

const workspace = { ...testWorkspace({ agent: { default: "native-llm" } }), modelChain: "main" }
const outputs = {
  ...workspace.outputs,
  routes: testSnapshot({ outputs: { routes: { rules } } }).document.outputs.routes
}

const analysisOf = (trigger: string, kind: typeof TargetKind.Type) => {
  const { agent, modelChain } = withRouteAnalysis({ ...workspace, outputs }, { trigger, target: { kind } })
  return { mode: agent.default, chain: modelChain }
}

describe("the analysis of the first matching rule", () => {
  it("outputs.routes.rules[].analysis.agent goes before the mode of the workspace", () => {
    expect(analysisOf("hub", "pull_request")).toEqual({ mode: "codex", chain: "main" })
  })
  it("outputs.routes.rules[].analysis.model_chain goes before the group of the workspace", () => {
    expect(analysisOf("lab", "pull_request")).toEqual({ mode: "native-llm", chain: "cheap" })
  })
  it("leaves the workspace as configured if the rule has none, or none matches", () => {
    expect(analysisOf("hub", "push")).toEqual({ mode: "native-llm", chain: "main" })
    expect(analysisOf("lab", "push")).toEqual({ mode: "native-llm", chain: "main" })
  })
})
