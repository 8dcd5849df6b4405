/** The channels that a change goes to. */
import { describe, expect, it } from "vitest"
import { route } from "../../../src/outputs/channels/Routing.ts"
import type { TargetKind, TriggerKind } from "../../../src/domain/Kinds.ts"
import { workspace } from "../Fixtures.ts"

const channels = [
  { name: "host", kind: "gitea_pr_review" },
  { name: "chat", kind: "feishu_bot" }
] as const

const routes = {
  rules: [
    { match: { trigger: "hub", target_kind: "pull_request" }, line_comments: ["host"], summary: ["chat"] },
    { match: { target_kind: "push" }, summary: ["chat"] },
    { match: { trigger: "quiet" } }
  ],
  default: { line_comments: ["host"], summary: ["host", "chat"] }
} as const

const names = (
  outputs: Parameters<typeof workspace>[0],
  trigger: string,
  kind: TargetKind,
  provider: TriggerKind = "gitea"
): ReadonlyArray<string> =>
  route(workspace(outputs).outputs, { trigger, provider, target: { kind, number: 1 } }).map(
    ({ channel, parts }) => `${channel.name}${parts.lineComments ? " lines" : ""}${parts.summary ? " summary" : ""}`
  )

describe("routing", () => {
  it.each<readonly [trigger: string, kind: TargetKind, ReadonlyArray<string>]>([
    ["hub", "pull_request", ["host lines", "chat summary"]],
    ["hub", "push", ["chat summary"]],
    ["other", "pull_request", ["host lines summary", "chat summary"]],
    ["quiet", "pull_request", []],
    ["quiet", "push", ["chat summary"]]
  ])("trigger %s, %s", (trigger, kind, expected) => {
    expect(names({ channels, routes }, trigger, kind)).toEqual(expected)
  })

  it.each<readonly [TriggerKind, ReadonlyArray<string>]>([
    ["gitea", ["gitea_pr_review lines summary"]],
    ["forgejo", ["forgejo_pr_review lines summary"]],
    ["github", ["github_pr_review lines summary"]],
    ["gitlab", ["gitlab_mr_review lines summary"]],
    ["perforce", []],
    ["manual", []]
  ])("without routes, %s publishes on the change itself", (provider, expected) => {
    expect(names({}, "any", "pull_request", provider)).toEqual(expected)
  })

  it("takes rules without a default to mean: nothing else", () => {
    expect(names({ channels, routes: { rules: routes.rules } }, "other", "issue")).toEqual([])
  })

  it("finds the host's own channel by name, and a configured one of that name first", () => {
    const plain = { routes: { default: { summary: ["gitea_pr_review"] } } }
    expect(names(plain, "any", "pull_request")).toEqual(["gitea_pr_review summary"])
    const own = { ...plain, channels: [{ name: "gitea_pr_review", kind: "gitea_pr_review", max_comments: 3 }] as const }
    const found = route(workspace(own).outputs, { trigger: "any", provider: "gitea", target: { kind: "pull_request" } })
    expect(found[0]?.channel.max_comments).toBe(3)
  })
})
