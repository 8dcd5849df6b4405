/** Mistakes in a document that would cost a service later: each is reported before it starts. */
import { describe, expect, it } from "vitest"
import { formatIssue } from "../../../src/config/ConfigIssue.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { rolesProblem } from "../../../src/cli/Roles.ts"
import { roles } from "../../../src/domain/Role.ts"
import type { Role } from "../../../src/domain/Role.ts"
import { channelProblems } from "../../../src/outputs/channels/ChannelProblems.ts"
import { inEnglish } from "../../../src/text/en.ts"

const triggers = [
  { name: "t", kind: "github", webhook_secret_env: "S" },
  { name: "p4", kind: "perforce" }
]
const errors = (tree: object): ReadonlyArray<string> =>
  readDocument({ triggers, ...tree }, { S: "x" })
    .issues.filter(({ severity }) => severity === "error")
    .map(formatIssue)
const bound = (repo: string, more: object = {}, trigger = "t") => ({ source_repo: { trigger, repo }, ...more })

describe("two workspaces of one repository", () => {
  it.each([["team/app"], ["Team/App"], ["/team/app/"]])("%s after team/app", (repo) => {
    const found = errors({ workspaces: { instances: { one: bound("team/app"), two: bound(repo) } } })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(
      /^workspaces\.instances\.two\.source_repo\.repo: workspace one has repository .* of trigger t already/
    )
  })
  it("are no error where one is disabled, or where their triggers differ", () => {
    expect(errors({ workspaces: { instances: { one: bound("a/b"), two: bound("a/b", { enabled: false }) } } })).toEqual(
      []
    )
    expect(errors({ workspaces: { instances: { one: bound("a/b"), two: bound("a/b", {}, "p4") } } })).toEqual([])
  })
})

describe("a URL for a repository's name", () => {
  it.each([
    ["https://github.com/team/app.git", "team/app"],
    ["https://github.com/team/app/", "team/app"],
    ["ssh://git@host:22/team/app", "team/app"],
    ["git@github.com:team/app.git", "team/app"]
  ])("%s", (repo, name) => {
    expect(errors({ workspaces: { instances: { w: bound(repo) } } })).toEqual([
      expect.stringContaining(
        `expected a repository as the host names it, such as owner/name, found a URL; write "${name}"`
      )
    ])
    const scheduled = { name: "s", kind: "scheduled", cron: "0 3 * * *", repositories: [{ repo }] }
    expect(errors({ triggers: [...triggers, scheduled] })).toEqual([expect.stringContaining(`write "${name}"`)])
  })
  it("is no error for a depot", () => {
    expect(errors({ workspaces: { instances: { w: bound("//depot/main", {}, "p4") } } })).toEqual([])
  })
})

describe("native-llm without a model group", () => {
  const native = { agent: { default: "native-llm" } }
  it.each([
    ["globally", { ...native, workspaces: { instances: { w: bound("a/b") } } }],
    ["in the defaults", { workspaces: { defaults: native, instances: { w: bound("a/b") } } }],
    ["in the workspace", { workspaces: { instances: { w: bound("a/b", native) } } }]
  ])("is an error, set %s", (_, tree) => {
    expect(errors(tree)).toEqual([
      expect.stringContaining("llm.model_chain: missing; workspace w uses agent mode native-llm")
    ])
  })
  it("is none where it is not used", () => {
    expect(errors({ ...native, workspaces: { instances: { w: bound("a/b", { enabled: false }) } } })).toEqual([])
    expect(
      errors({ ...native, workspaces: { instances: { w: bound("a/b", { agent: { default: "kilo" } }) } } })
    ).toEqual([])
  })
})

describe("a credential in the place of a variable's name", () => {
  const found = (name: string, env: Record<string, string> = {}) =>
    readDocument({ triggers: [{ name: "t", kind: "github", token_env: name }] }, env, { unset: "warnings" })
      .issues.filter(({ severity }) => severity === "error")
      .map(formatIssue)
  it.each([
    "ghp_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d",
    "github_pat_11ABCDEFG0abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY",
    "d41d8cd98f00b204e9800998ecf8427e"
  ])("%s", (token) => {
    expect(found(token)).toEqual([expect.stringContaining("found what looks like a credential")])
    expect(found(token).join()).not.toContain(token)
    expect(found(token, { [token]: "value" })).toEqual([])
  })
  it.each(["GITHUB_TOKEN", "SVC_GITHOST_C_APP_PRIVATE_KEY", "token2", "my_second_github_token_2", "API_KEY_2026"])(
    "%s is a name",
    (name) => {
      expect(found(name)).toEqual([])
    }
  )
})

describe("fields that a kind of channel has no use for", () => {
  const warnings = (channel: object) => {
    const { snapshot } = readDocument(
      {
        triggers,
        outputs: { channels: [{ name: "c", ...channel }], templates: { t: "x" } },
        workspaces: { instances: { w: bound("a/b") } }
      },
      { S: "x", HOOK: "https://x" }
    )
    if (snapshot === undefined) throw new Error("not valid")
    return channelProblems(snapshot).map(({ path, reason }) => `${path} ${inEnglish(reason)}`)
  }
  const issues = { kind: "github_problem_issue" }
  it.each([
    ["mention_author", { ...issues, mention_author: true }],
    ["mention_fallback", { ...issues, mention_fallback: "all" }],
    ["mention_fallback", { kind: "github_pr_review", mention_fallback: "all" }],
    ["no_problems", { ...issues, no_problems: { action: "publish" } }],
    ["templates.summary", { ...issues, templates: { summary: "t" } }],
    ["templates.problem", { kind: "feishu_bot", webhook_url_env: "HOOK", templates: { problem: "t" } }]
  ])("%s is warned about", (field, channel) => {
    expect(warnings(channel)).toEqual([
      expect.stringMatching(new RegExp(`^outputs\\.channels\\.c\\.${field.replace(".", "\\.")} without effect`))
    ])
  })
  it("fields in use are not reported", () => {
    const templates = { summary: "t", problem: "t" }
    const used = { mention_author: true, mention_fallback: "all", no_problems: { action: "publish" }, templates }
    expect(warnings({ kind: "github_pr_review", ...used })).toEqual([])
  })
})

it("a node of a cluster may have any role alone; without NATS the roles that work together are one process", () => {
  for (const role of roles) expect([role, rolesProblem(new Set([role]), true)]).toEqual([role, undefined])
  expect(rolesProblem(new Set(["chat", "dashboard"]), true)).toBeUndefined()
  for (const held of [["ingress"], ["dashboard"], ["ingress", "dashboard"], roles] as const)
    expect(rolesProblem(new Set<Role>(held), false)).toBeUndefined()
  for (const held of [["chat"], ["ingress", "chat"], ["actors", "executor", "publisher"], ["executor"]] as const)
    expect(rolesProblem(new Set<Role>(held), false)).toMatch(/without NATS.*chat work in one process/)
})

it("fields with an effect are not reported", () => {
  const { issues } = readDocument(
    {
      outputs: { channels: [{ name: "c", kind: "gitlab_problem_issue", project_id: 7 }] },
      config_sources: { database: { namespace: "n" }, runtime: { refresh_interval_seconds: 9 } }
    },
    {}
  )
  expect(issues.map(({ path }) => path)).toEqual([])
})
