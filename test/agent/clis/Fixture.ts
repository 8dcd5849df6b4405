/** A review by an agent CLI: a brief, a scripted model that reports one problem, and the services of a pass. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Brief } from "../../../src/agent/Agent.ts"
import * as ProgramFolder from "../../../src/agent/clis/ProgramFolder.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { AgentConfig } from "../../../src/config/schema/Agent.ts"
import { sandboxesLayer } from "../../../src/sandbox/SandboxesLayer.ts"
import { agentFolder } from "../../harness/AgentClis.ts"
import type { Recorded } from "../../harness/FakeModel.ts"
import type { Reply } from "../../harness/FakeModelReply.ts"
import { provide } from "../../harness/Provide.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"

export const problem = {
  file: "src/a.ts",
  severity: "high",
  category: "bug",
  message: "The length is not checked.",
  quote: "const x = list[0]"
} as const

interface BriefOptions {
  readonly env?: Record<string, string>
  /** The agent block of the workspace. */
  readonly own?: object
  /** Modes that rules of routes name. */
  readonly rules?: ReadonlyArray<string>
  /** Fields of the provider. */
  readonly provider?: object
  /** Address of a model server. */
  readonly url?: string
}

/** Removes fields that are undefined. */
const without = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export const makeBrief = (
  mode: AgentConfig["default"],
  agent: object = {},
  { env = {}, own = {}, provider = {}, rules = [], url = "http://127.0.0.1:9" }: BriefOptions = {}
) =>
  Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        agent: { default: mode, timeout_seconds: 120, ...agent },
        outputs: { routes: { rules: rules.map((name) => ({ match: { trigger: "hub" }, analysis: { agent: name } })) } },
        triggers: [{ name: "hub", kind: "github", webhook_secret: "s" }],
        llm: {
          providers: [without({ id: "p", kind: "openai_compatible", base_url: `${url}/v1`, ...provider })],
          model_chain: { default: [{ provider: "p", model: "m" }], plan: [{ provider: "p", model: "plan" }] }
        },
        workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: "acme/app" }, agent: own } } }
      },
      env
    )
    const workspace = snapshot.workspaces.get("app")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const brief: Brief = {
      snapshot,
      workspace,
      system: "You review changes. Report with report_problems, and end with publish_summary.",
      common: "Title: Read the first item",
      prompt: "src/a.ts\n+const x = list[0]",
      checkout: fakeCheckout({ "src/a.ts": "const x = list[0]\n" }),
      code: fakeCode
    }
    return brief
  })

export const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "aicr-clis-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const nativeSandboxes = (root: string) =>
  sandboxesLayer(root, { PATH: `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}` })

export const installedPrograms = ProgramFolder.layer(agentFolder)

/** Returns the names of the tools in the body of a request, in the form of any provider. Groups are listed by their members. */
export const offeredTools = (body: unknown): ReadonlyArray<string> => {
  const tools = field(body, "tools")
  const names = (tool: unknown): ReadonlyArray<string> => {
    const members = field(tool, "functionDeclarations") ?? field(tool, "tools")
    if (Array.isArray(members)) return members.flatMap(names)
    const name = field(field(tool, "function") ?? tool, "name") ?? field(tool, "type")
    return typeof name === "string" ? [name] : []
  }
  return Array.isArray(tools) ? tools.flatMap(names) : []
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && name in value
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

/** Codex offers the tools of a server as a group. */
const groupOf = (text: string) => (text.includes('"type":"namespace"') ? { namespace: "mcp__review" } : {})

/** Reports one problem, then ends. Requests without the tools, for a title for example, get prose. */
export const reportOnce = () => {
  let step = 0
  return ({ body, text }: Recorded): Reply => {
    const tools = offeredTools(body)
    const report = tools.find((name) => name.endsWith("report_problems"))
    const end = tools.find((name) => name.endsWith("publish_summary"))
    if (report === undefined || end === undefined) return { text: "A title" }
    step++
    if (step === 1) return { calls: [{ name: report, ...groupOf(text), input: { problems: [problem] } }] }
    if (step === 2) return { calls: [{ name: end, ...groupOf(text), input: { markdown: "One problem." } }] }
    return { text: "Done." }
  }
}
