import { describe, expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import { noticeKinds } from "../../../src/domain/Notice.ts"
import type { NoticeFactsBy, NoticeFacts, NoticeKind } from "../../../src/domain/Notice.ts"
import { noticeKey, noticeSeverity, renderNotice } from "../../../src/outputs/chat/NoticeKinds.ts"
import { safeTexts } from "../../../src/outputs/SafeText.ts"

const subject = {
  workspace: "shop",
  repository: "team/shop",
  number: 7,
  head: "a".repeat(40),
  url: "https://git.example/team/shop/pulls/7",
  author: "dana",
  eventId: "event-1",
  events: 1
}

const samples: { readonly [Kind in NoticeKind]: NoticeFactsBy<Kind> } = {
  queue_expired: { _tag: "queue_expired", ...subject, reason: verbatimReason("queued_timeout"), hours: 72 },
  review_failed: {
    _tag: "review_failed",
    ...subject,
    events: 3,
    reason: verbatimReason("no model responded"),
    runId: "run-1",
    runUrl: "https://aicr.example/dashboard/runs/run-1"
  },
  budget_threshold: {
    _tag: "budget_threshold",
    scope: "author",
    name: "dana",
    day: "2026-01-31",
    percent: 75,
    spentUsd: 7.5,
    capUsd: 10
  },
  config_refused: {
    _tag: "config_refused",
    source: "file",
    name: "/etc/aicr/config.yaml",
    digest: "d1",
    errors: 2,
    line: 9,
    node: "node-1"
  },
  webhook_silent: { _tag: "webhook_silent", trigger: "main", lastAt: Date.UTC(2026, 0, 31, 9, 30), hours: 24 },
  webhook_broken: {
    _tag: "webhook_broken",
    trigger: "main",
    count: 2,
    hooks: [{ name: "team/shop", problem: { _tag: "WebhookInactive" } }],
    since: Date.UTC(2026, 0, 31, 11)
  },
  found_without_delivery: {
    _tag: "found_without_delivery",
    trigger: "main",
    found: 3,
    skipped: 0,
    since: Date.UTC(2026, 0, 31, 9, 30),
    foundAt: Date.UTC(2026, 0, 31, 11),
    occasion: "start"
  },
  repository_renamed: { _tag: "repository_renamed", trigger: "main", before: "team/old", repository: "team/new" },
  credential_refused: {
    _tag: "credential_refused",
    trigger: "main",
    day: "2026-01-31",
    reason: verbatimReason("401 Bad credentials")
  },
  rule_muted: {
    _tag: "rule_muted",
    repository: "main:team/shop",
    rule: "no-floating",
    digest: "d1",
    owner: "@platform",
    judged: 12,
    accepted: 1,
    floor: 0.3
  }
}

const render = (facts: NoticeFacts, language: "en" | "zh" = "en") => renderNotice(facts, safeTexts.feishu, language, {})

/** Pages of the dashboard that notices link to. */
const pages: Readonly<Record<NoticeKind, string>> = {
  queue_expired: "/dashboard/deliveries/event-1",
  review_failed: "/dashboard/runs/run-1",
  budget_threshold: "/dashboard/",
  config_refused: "/dashboard/configuration?tab=revisions",
  webhook_silent: "/dashboard/setup",
  webhook_broken: "/dashboard/setup",
  found_without_delivery: "/dashboard/setup",
  repository_renamed: "/dashboard/configuration",
  credential_refused: "/dashboard/setup",
  rule_muted: "/dashboard/rules"
}

describe("the text of a notice", () => {
  it("of a muted rule names the rule, its owner and how few findings were accepted", () => {
    const { body, title } = render(samples.rule_muted)
    expect(title).toBe("Rule muted · no-floating · main:team/shop")
    expect(body.replaceAll("\u200b", "")).toContain("Owner: @platform")
    expect(body).toContain("1 of 12 findings were repaired, below its floor of 30 %")
  })

  it("of an expired entry names repository, number, author and reason", () => {
    const { body, title } = render(samples.queue_expired)
    expect(title).toBe("Not reviewed · team/shop")
    expect(body.replaceAll("\u200b", "")).toContain("7 @ aaaaaaaaaaaa](https://git.example/team/shop/pulls/7)")
    expect(body).toContain("Author: dana")
    expect(body).toMatch(/Reason: it waited longer than 72 hours \(queued_timeout\)/)
  })

  it("of a failed review has the reason, the link to the run and the event", () => {
    const { body, title } = render(samples.review_failed)
    expect(title).toBe("Review failed · team/shop")
    expect(body).toContain("Reason: no model responded")
    expect(body).toContain("](https://aicr.example/dashboard/runs/run-1)")
    expect(body).toContain("event-1")
    expect(body).toContain("and 2 more")
  })

  it("of a budget has the amounts, the limit and the day", () => {
    const { body, title } = render(samples.budget_threshold)
    expect(title).toBe("Budget · 75 % · dana")
    expect(body).toMatch(/7\.50 of 10\.00 USD/)
    expect(body).not.toContain("refused until")
    expect(render({ ...samples.budget_threshold, percent: 100 }).body).toContain("refused until the day ends")
  })

  it("of a refused configuration has the file, the line and the node", () => {
    const { body } = render(samples.config_refused)
    for (const part of ["config.yaml", "2, the first at line 9", "node"]) expect(body).toContain(part)
    expect(render({ ...samples.config_refused, source: "revision", name: "12" }).body).toContain("revision 12")
  })

  it("of a silent webhook has the trigger and the time of the last delivery", () => {
    expect(render(samples.webhook_silent).title).toBe("No webhooks · main")
    expect(render(samples.webhook_silent).body).toContain("09:30 UTC")
  })

  it("of broken webhooks has their number, and the first ones with their problem", () => {
    const { body, title } = render(samples.webhook_broken)
    expect(title).toBe("Webhooks broken · main")
    expect(body).toContain("Reason: 2 webhooks are missing or broken\n")
    expect(body.replaceAll("\u200b", "")).toMatch(/Details: team\/shop \(the webhook is not active.*\); …/)
    expect(render({ ...samples.webhook_broken, count: 1 }).body).toContain("1 webhook is missing or broken")
  })

  it("of changes without a delivery has their number and the gap", () => {
    const found = samples.found_without_delivery
    expect(render(found).title).toBe("Changes without a delivery · main")
    expect(render(found).body).toContain("Reason: Found 3 changes that no delivery reported\n")
    expect(render(found).body).toContain("Between: 2026-01-31 09:30 UTC – 2026-01-31 11:00 UTC")
    const { since: _first, ...first } = { ...found, found: 1, skipped: 2 }
    expect(render(first).body).toContain("Found 1 change that no delivery reported; 2 more are too old")
    expect(render(found).body).toContain("Source: found without a delivery (search at the start of a node)")
    expect(render(first).body).not.toContain("Between")
    expect(render(first, "zh").body).toContain("找到 1 个没有投递的变更；另有 2 个")
  })

  it("of a renamed repository has both names", () => {
    expect(render(samples.repository_renamed).title).toBe("Repository renamed · team/new")
    expect(render(samples.repository_renamed).body).toContain("Configured as: team/old")
  })

  it.each(noticeKinds)("has a link to its page if the service has a public address: %s", (kind) => {
    const server = { base_url: "https://aicr.example" }
    for (const safe of [safeTexts.feishu, safeTexts.wecom])
      expect(renderNotice(samples[kind], safe, "en", server).body).toContain(`](https://aicr.example${pages[kind]})`)
    const { runUrl: _stored, ...failed } = samples.review_failed
    const facts = kind === "review_failed" ? failed : samples[kind]
    expect(render(facts).body).not.toContain("/dashboard")
  })

  it("of a failed review without a run links to its delivery", () => {
    const facts = { ...samples.review_failed, runId: undefined, runUrl: undefined }
    const server = { base_url: "https://aicr.example/", path_prefix: "/aicr" }
    expect(renderNotice(facts, safeTexts.feishu, "en", server).body).toContain(
      "](https://aicr.example/aicr/dashboard/deliveries/event-1)"
    )
  })

  it.each(noticeKinds)("is in Chinese too, and never empty: %s", (kind) => {
    const [en, zh] = [render(samples[kind]), render(samples[kind], "zh")]
    expect(zh.title).toMatch(/\p{Script=Han}/u)
    expect(zh.body).not.toBe(en.body)
    expect(zh.body.split("\n").every((line) => /^\p{Script=Han}+: ./u.test(line))).toBe(true)
    expect(zh.body.split("\n").length).toBe(en.body.split("\n").length)
  })
})

const hostile = [
  "<at id=all></at>",
  "@all",
  "[click](https://evil.example)",
  "![x](https://evil.example/a.png)",
  "line\n\n# heading",
  "<font color='red'>x</font>"
]

describe.each(["feishu", "wecom"] as const)("text of outsiders for %s", (platform) => {
  it.each(hostile)("is inert: %s", (text) => {
    const facts: NoticeFacts = {
      ...samples.review_failed,
      repository: text,
      author: text,
      reason: verbatimReason(text),
      number: undefined,
      branch: text,
      url: "javascript:alert(1)",
      runUrl: undefined
    } as unknown as NoticeFacts
    const { body } = renderNotice(facts, safeTexts[platform], "en", {})
    expect(body).not.toMatch(/<at |<font|!?\]\(https:\/\/evil|javascript:/)
    expect(body).not.toContain("\n#")
    const clean = renderNotice(
      { ...samples.review_failed, url: undefined } as NoticeFacts,
      safeTexts[platform],
      "en",
      {}
    )
    expect(body.split("\n").length).toBe(clean.body.split("\n").length)
  })
})

it("a long reason is cut, and has the language of the notice", () => {
  const textOf = (reason: Reason, language: "en" | "zh") =>
    renderNotice({ ...samples.review_failed, reason }, safeTexts.wecom, language, {}).body
  expect(
    textOf(verbatimReason("x".repeat(5000)), "en")
      .match(/x+/g)
      ?.map(({ length }) => length)
  ).toContain(300)
  expect(textOf({ _tag: "NoReasonRecorded" }, "en")).toContain("no reason was recorded")
  expect(textOf({ _tag: "NoReasonRecorded" }, "zh")).toContain("没有记录原因")
})

describe("the key of a notice", () => {
  it("is the same for a repeated fact, and another for another one", () => {
    const { budget_threshold: budget, config_refused: refused, webhook_silent: silent } = samples
    const keys = [
      samples.queue_expired,
      samples.review_failed,
      budget,
      { ...budget, percent: 90 },
      { ...budget, day: "2026-02-01" },
      { ...budget, scope: "repository" as const },
      { ...budget, name: "ann" },
      refused,
      { ...refused, digest: "d2" },
      silent,
      { ...silent, lastAt: silent.lastAt + 1 },
      samples.webhook_broken,
      { ...samples.webhook_broken, since: 1 },
      samples.repository_renamed,
      { ...samples.repository_renamed, repository: "team/newer" },
      samples.rule_muted,
      { ...samples.rule_muted, digest: "d2" }
    ].map(noticeKey)
    expect(new Set(keys).size).toBe(keys.length)
    expect(noticeKey({ ...budget, spentUsd: 8 })).toBe(noticeKey(budget))
    expect(noticeKey({ ...refused, node: "node-2" })).toBe(noticeKey(refused))
    expect(noticeKey({ ...samples.review_failed, reason: verbatimReason("other"), runId: "run-2" })).toBe(
      noticeKey(samples.review_failed)
    )
  })

  it("is bounded", () => {
    const long = { ...samples.budget_threshold, name: "x".repeat(2000) }
    expect(noticeKey(long).length).toBeLessThan(100)
    expect(noticeKey({ ...long, name: `${long.name}y` })).not.toBe(noticeKey(long))
  })
})

it("the severity of a budget grows with its threshold", () => {
  const severities = [50, 75, 90, 100].map((percent) => noticeSeverity({ ...samples.budget_threshold, percent }))
  expect(severities).toEqual(["info", "low", "medium", "high"])
})
