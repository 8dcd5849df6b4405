/** The commands `aicr route test` and `aicr template render`. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runAicr } from "../harness/RunAicr.ts"

const document = `
llm: {providers: [{id: main, kind: openai_compatible, base_url: "http://localhost:1/v1"}], model_chain: {default: [{provider: main, model: m}]}}
triggers: [{name: git, kind: gitea, base_url: "http://localhost:2"}, {name: hub, kind: github}]
workspaces: {instances: {shop: {source_repo: {trigger: git, repo: team/shop}, review: {output_language: en}, outputs: {notifications: {routes: [{kinds: [queue_expired], channels: [ops]}, {kinds: [review_failed], channels: [ops, team]}]}}}}}
outputs:
  templates: {good: "Found {{problems.length}} by {{event.provider}}", bad: "{{nothing \\"here\\"}}"}
  channels:
    - {name: reviews, kind: gitea_pr_review, templates: {summary: good}}
    - {name: issues, kind: gitea_problem_issue, templates: {problem: bad}}
    - {name: mirror, kind: github_pr_review, trigger: hub}
    - {name: ops, kind: feishu_bot, webhook_url: "https://chat.example/hook/key"}
    - {name: team, kind: wecom_bot, webhook_url: "https://chat.example/hook/other"}
  notifications: {routes: [{kinds: [webhook_silent], channels: [team]}]}
  routes:
    rules: [{match: {target_kind: push}, summary: [issues]}, {match: {target_kind: scheduled}, summary: [reviews]}, {match: {target_kind: manual}, summary: [mirror]}]
    default: {line_comments: [reviews], summary: [reviews]}
`

/** The workspace has its own routes of notices about its reviews. */
const notices = `notices to operators:
  queue_expired: ops (outputs.notifications.routes[0])
  review_failed: ops, team (outputs.notifications.routes[1])
  budget_threshold: none, no matching route
  config_refused: none, no matching route
  webhook_silent: team (outputs.notifications.routes[0])
  webhook_broken: none, no matching route
  found_without_delivery: none, no matching route
  repository_renamed: none, no matching route
  credential_refused: none, no matching route
  rule_muted: none, no matching route`

describe("aicr route and template", () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "aicr-cli-"))
    await writeFile(join(directory, "config.yaml"), document)
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const aicr = async (...args: ReadonlyArray<string>) => {
    const { code, err, out } = await runAicr([...args, "--config", join(directory, "config.yaml")])
    return { code, out: out.trim(), error: err }
  }

  it.each([
    [
      [],
      "pull_request of trigger git in workspace shop: outputs.routes.default\n  reviews (gitea_pr_review): line comments and summary"
    ],
    [
      ["--target-kind", "push"],
      "push of trigger git in workspace shop: outputs.routes.rules[0]\n  issues (gitea_problem_issue): summary"
    ],
    [
      ["--target-kind", "scheduled"],
      "scheduled of trigger git in workspace shop: outputs.routes.rules[1]\n  reviews (gitea_pr_review): nothing: kind gitea_pr_review does not support scheduled targets\n  nothing is published, so nothing is reviewed"
    ],
    [
      ["--target-kind", "manual"],
      "manual of trigger git in workspace shop: outputs.routes.rules[2]\n  mirror (github_pr_review): nothing: it writes to the host of trigger hub, and the change is on the host of trigger git; to publish it there, set repo or project_id of the channel\n  nothing is published, so nothing is reviewed"
    ]
  ])("routes %j", async (args, text) => {
    const { code, out } = await aicr("route", "test", "-w", "shop", "--trigger", "git", ...args)
    expect([code, out]).toEqual([0, `${text}\n${notices}`])
  })

  it("lists routes of notices for programs", async () => {
    const { out } = await aicr("route", "test", "-w", "shop", "--trigger", "git", "--json")
    expect(JSON.parse(out).notices).toContainEqual({
      kind: "review_failed",
      routes: ["outputs.notifications.routes[1]"],
      channels: ["ops", "team"]
    })
  })

  it("names what does not exist", async () => {
    const missing = await aicr("route", "test", "-w", "shop", "--trigger", "other")
    expect([missing.code, missing.error]).toEqual([2, expect.stringContaining('has no trigger "other"; it has: git')])
    expect((await aicr("route", "test", "-w", "x", "--trigger", "git")).code).toBe(2)
    expect((await aicr("template", "render", "-w", "shop", "--channel", "x")).error).toContain(
      "it has: reviews, issues, mirror, ops, team"
    )
  })

  it("renders a channel's template and the built-in one", async () => {
    expect((await aicr("template", "render", "-w", "shop", "--channel", "reviews")).out).toBe("Found 2 by gitea")
    const builtIn = await aicr("template", "render", "-w", "shop", "--part", "problem")
    expect(builtIn.out).toContain("Missing bounds check")
  })

  it("explains why a template fails, and so does doctor", async () => {
    const bad = await aicr("template", "render", "-w", "shop", "--channel", "issues", "--part", "problem")
    expect(bad.code).toBe(2)
    expect(bad.error).toContain("the problem template does not work")
    const doctor = await aicr("doctor", "--offline")
    expect(doctor.out + doctor.error).toContain("is invalid as the problem of channel issues")
  })
})
