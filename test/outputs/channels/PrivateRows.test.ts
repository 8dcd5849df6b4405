/** The publications of a review with a finding that only maintainers get. */
import { describe, expect, it } from "vitest"
import { buildStatement } from "../../../src/domain/BuildStatement.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { privateDigest } from "../../../src/domain/PrivateDigest.ts"
import { planVerdict } from "../../../src/outputs/PlannedVerdict.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { planRows, statusRows } from "../../../src/outputs/channels/PlanRows.ts"
import { statusDetails } from "../../../src/outputs/review/StatusDetails.ts"
import { signing, makeStatementKey } from "../../harness/StatementKeys.ts"
import { snapshotFrom } from "../FromDocument.ts"
import { analysis, change, finding, input } from "../Fixtures.ts"

const kinds = new Map(Object.entries(channelTable(() => 60_000)))
const hook = "https://chat.test/hook"
const secretText = "The token of every session is in this line"
const secret = finding(3, { severity: "critical", category: "security", title: "Leaky session", message: secretText })
const delivered = { finding: secret, salt: "5a17" }
const other = finding(5, { severity: "low", title: "Plain" })
const { pem } = makeStatementKey()

const workspaceFor = (host: string, channel: object, review: object = {}) => {
  const snapshot = snapshotFrom(
    {
      server: signing,
      triggers: [{ name: "host", kind: host, base_url: "https://git.test", token: "t", webhook_secret: "s" }],
      review: { output_language: "en", private: { channel: "ops" }, ...review },
      outputs: {
        channels: [
          { name: "ops", webhook_url: hook, ...channel },
          { name: "review", kind: host === "github" ? "github_pr_review" : "gitea_pr_review" },
          { name: "issues", kind: `${host}_problem_issue` },
          { name: "group", kind: "wecom_bot", webhook_url: hook }
        ],
        routes: { default: { line_comments: ["review"], summary: ["review", "issues", "group"] } }
      },
      im: { connections: { s: { kind: "slack_app", app_token: "a", bot_token: "b" } } },
      workspaces: { instances: { shop: { source_repo: { trigger: "host", repo: "team/shop" } } } }
    },
    { TEST_STATEMENT_KEY: pem }
  )
  const workspace = snapshot.workspaces.get("shop")
  if (workspace === undefined) throw new Error("no workspace")
  return workspace
}

const planFor = (host: "gitea" | "github", channel: object, found: Analysis) => {
  const workspace = workspaceFor(host, channel)
  const given = input([], { analysis: found, workspace, change: { ...change, provider: host } })
  const plan = planRows(kinds, given)
  const verdict = planVerdict(workspace, given.change, found, plan)
  return { plan, verdict, status: statusRows(given, verdict.state, verdict.description, { analysis: found, plan }) }
}
const chat = { kind: "feishu_bot" }
const separated = (findings: Analysis["findings"]) =>
  analysis(findings, {
    private: [delivered],
    summary: "",
    inputs: { mergeBase: "b", prompts: "p", rules: [] },
    notices: [{ _tag: "DeliveredPrivately", count: 1 }]
  })

describe("a finding for maintainers only", () => {
  for (const host of ["gitea", "github"] as const)
    for (const findings of [[other], []])
      it(`${host}: is planned first and on its channel only, with ${findings.length} others`, () => {
        const { plan, status, verdict } = planFor(host, chat, separated(findings))
        const [first, ...rows] = plan
        expect(first).toMatchObject({ channel: "ops", position: 0, operation: { _tag: "Chat", severity: "critical" } })
        expect(JSON.stringify(first)).toContain(secretText)
        expect(JSON.stringify(first)).toContain(privateDigest(delivered))
        expect(JSON.stringify(first)).toContain(`/aicr dismiss ${privateDigest(delivered).slice(0, 12)}`)
        const others = JSON.stringify([rows, status, verdict])
        for (const word of ["session", "Leaky", "5a17"]) expect(others).not.toContain(word)
        for (const row of rows) expect(row.channel).not.toBe("ops")
        const bodies = rows.map(({ operation }) => JSON.stringify(operation)).join("\n")
        expect(bodies).toContain("1 problem was delivered to the maintainers only. It counts like others.")
        expect(bodies).not.toContain('"No problems found.')
        expect(verdict).toMatchObject({ isClean: false, description: { _tag: "ProblemsFound" } })
      })

  it.each([
    { kind: "slack_webhook" },
    { kind: "teams_webhook" },
    {
      kind: "email",
      webhook_url: undefined,
      smtp_url: "smtp://mail.test",
      from: "aicr@mail.test",
      to: ["ops@mail.test"]
    }
  ])("is a message of $kind", (sent) => {
    const [first, ...rows] = planFor("github", sent, separated([other])).plan
    expect(first).toMatchObject({ channel: "ops", operation: { _tag: "Chat" } })
    expect(JSON.stringify(first)).toContain(secretText)
    expect(JSON.stringify(rows)).not.toContain("session")
  })

  it("never becomes a direct message to the author", () => {
    const app = { kind: "slack_app", webhook_url: undefined, connection: "s", conversation: "C1" }
    const direct = { ...app, direct_message: true, user_mappings: { dana: "U1" } }
    const { plan } = planFor("github", direct, separated([other]))
    expect(plan.map(({ operation }) => operation._tag)).not.toContain("DirectMessage")
    expect(plan[0]).toMatchObject({ channel: "ops", operation: { _tag: "Chat" } })
  })

  it("of a merge group is delivered unless a review of its pull request did, and nothing else is planned", () => {
    const group = { kind: "merge_group", number: 7, branch: "gh-readonly-queue/main/pr-7-b" } as const
    const workspace = workspaceFor("github", chat, { status_fail_on: "critical" })
    const given = (found: Analysis) =>
      input([], { analysis: found, workspace, change: { ...change, provider: "github", target: group } })
    const planWith = (found: Analysis) => planRows(kinds, given(found))
    const known = { finding: { ...secret, round: { kind: "carried", since: 1 } as const }, salt: "5a17" }
    const plan = planWith(separated([other]))
    expect(plan).toMatchObject([{ channel: "ops", operation: { _tag: "Chat" } }])
    expect(JSON.stringify(plan)).toContain(secretText)
    expect(planWith({ ...separated([other]), private: [known] })).toEqual([])
    expect(planWith(analysis([other]))).toEqual([])
    // Only one that a review of the pull request reported can be dismissed there.
    const command = `/aicr dismiss ${privateDigest(delivered).slice(0, 12)}`
    expect(JSON.stringify(plan)).not.toContain("/aicr dismiss")
    const later = { finding: { ...secret, fingerprint: "later" }, salt: "5a17" }
    const both = JSON.stringify(planWith({ ...separated([other]), private: [known, later] }))
    expect(both.match(/\/aicr dismiss [0-9a-f]+/g)).toEqual([command])

    // The check of the group counts it, and has a remark for the other one alone.
    const found = separated([other])
    const verdict = planVerdict(workspace, given(found).change, found, plan)
    const details = statusDetails({ analysis: found, plan }, "en", group)
    expect(verdict).toMatchObject({ state: "failure", description: { _tag: "ProblemsFound" } })
    expect(details.annotations).toMatchObject([{ title: "Plain" }])
    for (const word of ["session", "Leaky", "5a17"]) expect(JSON.stringify([verdict, details])).not.toContain(word)
  })

  it("is an issue of the private repository, which later reviews without it resolve", () => {
    const issue = { kind: "gitea_problem_issue", owner: "team", repo: "private", webhook_url: undefined }
    const [first] = planFor("gitea", issue, separated([])).plan
    expect(first).toMatchObject({ channel: "ops", operation: { _tag: "Issues", problems: [{ severity: "critical" }] } })
    const [later] = planFor("gitea", issue, analysis([])).plan
    expect(later).toMatchObject({ channel: "ops", operation: { _tag: "Issues", problems: [] } })
    // On another host it fails for a finding, and does nothing without one.
    const elsewhere = { ...issue, kind: "github_problem_issue" }
    expect(planFor("gitea", elsewhere, separated([])).plan[0]).toMatchObject({ channel: "ops" })
    expect(planFor("gitea", elsewhere, analysis([])).plan.map(({ channel }) => channel)).not.toContain("ops")
    const { plan } = planFor("gitea", chat, analysis([]))
    expect(plan.map(({ channel }) => channel)).not.toContain("ops")
  })

  it.each([
    [undefined, "failure", "private"],
    [[secret.fingerprint], "success", "privateWithdrawn"]
  ] as const)("is in the statement as a salted digest, with %s dismissed", (dismissed, outcome, name) => {
    const text = buildStatement(
      {
        runId: "r",
        change,
        head: "a".repeat(40),
        base: undefined,
        configHash: "c",
        analysis: { ...separated([other]), dismissed },
        review: { unread: "neutral", status_fail_on: "critical" }
      },
      "2026-01-01T00:00:00.000Z"
    )
    const { predicate } = JSON.parse(text ?? "")
    expect(predicate).toMatchObject({ outcome, [name]: [{ sha256: privateDigest(delivered) }] })
    expect("private" in predicate).toBe(name === "private")
    for (const word of ["session", "5a17", secret.fingerprint]) expect(text).not.toContain(word)
  })
})
