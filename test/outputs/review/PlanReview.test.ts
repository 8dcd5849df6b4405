/** The operations for an analysis: the bodies as people see them, and their distribution over operations. */
import { describe, expect, it } from "vitest"
import { noUsage } from "../../../src/domain/Analysis.ts"
import type { Coverage } from "../../../src/domain/Coverage.ts"
import { noMoney, Usd } from "../../../src/domain/Money.ts"
import type { Operation } from "../../../src/domain/Publication.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMarkers } from "../../../src/outputs/Marker.ts"
import { fillAlone } from "../../../src/outputs/text/FillSummary.ts"
import { mentionSlot } from "../../../src/outputs/text/Mention.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const table = channelTable(() => 65_000)
const kind = table.gitea_pr_review
const both = { lineComments: true, summary: true }

const whole = (given = input([finding(1)]), settings = channel(), parts = both) => kind.plan(given, settings, parts)
/** Operations that write; the settling of earlier comments has a test of its own. */
const plan = (...args: Parameters<typeof whole>) =>
  whole(...args).filter(({ operation }) => operation._tag !== "Threads")
const operations = (...args: Parameters<typeof plan>): ReadonlyArray<Operation> =>
  plan(...args).map(({ operation }) => operation)
const summaryOf = (list: ReadonlyArray<Operation>, language = "en"): string => {
  const found = list.find((operation) => operation._tag === "Summary")
  if (found?._tag !== "Summary") return ""
  const style = { language, limit: 65_000, hasHtml: true }
  return found.problems === undefined ? found.body : fillAlone(found.body, found.problems, style)
}
const reviewsOf = (list: ReadonlyArray<Operation>) =>
  list.flatMap((operation) => (operation._tag === "Review" ? [operation] : []))
const bodiesOf = (operation: Operation): ReadonlyArray<string> => {
  if (operation._tag !== "Summary" && operation._tag !== "Review") return []
  return [operation.body, ...(operation._tag === "Review" ? operation.comments.map(({ body }) => body) : [])]
}
const visible = (body: string): string =>
  body
    .replace(/<!--.*?-->/g, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

describe("plan", () => {
  it("writes a problem as people read it", () => {
    const one = finding(
      7,
      { severity: "high", suggestion: "if (x === 1) {" },
      { path: "src/a.ts", side: "new", line: 7, start: 6 }
    )
    const [review] = reviewsOf(operations(input([one])))
    expect(visible(review?.comments[0]?.body ?? "")).toMatchInlineSnapshot(`
      "🔴 **High** · Title 7 · \`bug\`

      Message 7

      \`\`\`diff
      +if (x === 1) {
      \`\`\`

      <details>
      <summary>For coding agents</summary>

      \`\`\`text
      File: src/a.ts
      Lines: 6-7
      Problem (high, bug): Title 7
      Message 7
      Suggested replacement of these lines:
      if (x === 1) {
      Task: check this problem in the code as it is now. If it exists, repair it with the smallest change, and change nothing else.
      \`\`\`

      </details>"
    `)
    expect(review?.comments[0]).toMatchObject({ path: "src/a.ts", side: "new", line: 7, start: 6 })
    const gitlab = table.gitlab_mr_review.plan(input([one]), channel(), both)
    expect(JSON.stringify(gitlab)).toContain("```suggestion:-1+0")
  })

  it.each([
    [100, "```suggestion:-100+0"],
    [101, "```text\\nx\\n```"]
  ])("lets GitLab commit a suggestion %s lines up, and shows a longer one as code", (above, expected) => {
    const long = finding(200, { suggestion: "x" }, { path: "a", side: "new", start: 200 - above, line: 200 })
    expect(JSON.stringify(table.gitlab_mr_review.plan(input([long]), channel(), both))).toContain(expected)
  })

  it("shows a suggestion for a removed line as code, since it cannot be committed there", () => {
    const [review] = reviewsOf(
      operations(input([finding(3, { suggestion: "x" }, { path: "a", side: "old", line: 3 })]))
    )
    expect(review?.comments[0]?.body).toContain("```text\nx\n```")
  })

  it("writes the summary as people read it", () => {
    const given = input(
      [finding(1, { severity: "critical" }), finding(2), finding(3), finding(4, { severity: "low" }, null)],
      { runUrl: "http://dash.test/runs/1" }
    )
    const withNotice = { ...given, analysis: { ...given.analysis, notices: [verbatimReason("The budget ran out.")] } }
    expect(visible(summaryOf(operations(withNotice)))).toMatchInlineSnapshot(`
      "## Code review

      **4 problems found: 1 critical, 2 medium, 1 low**

      - **1** 🛑 Critical · [Title 1](http://forge.test/team/shop/src/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/a.ts#L1) · \`src/a.ts\`:1
      - **2** 🟠 Medium · [Title 2](http://forge.test/team/shop/src/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/a.ts#L2) · \`src/a.ts\`:2
      - **3** 🟠 Medium · [Title 3](http://forge.test/team/shop/src/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/a.ts#L3) · \`src/a.ts\`:3

      <details>
      <summary>Less important: 1 low</summary>

      - **4** 🟡 Low · Title 4 · \`src/a.ts\`

        Message 4

      </details>

      <details>
      <summary>What changes (as of <code>aaaaaaaaaaaa</code>)</summary>

      What the change does.

      </details>

      ### Notes

      - The budget ran out.

      <details>
      <summary>Coverage: 1 file and 12 changed lines read, 1 skipped</summary>

      **Read**: \`src/a.ts\`

      **Not read, or not in full**

      - \`yarn.lock\`: excluded by configuration

      </details>

      <sub>aicr · Model \`demo/rules\` · commit [\`aaaaaaaaaaaa\`](http://forge.test/team/shop/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) · 15 tokens · [run details](http://dash.test/runs/1)</sub>

      <sub>dismiss a finding: resolve its conversation · ask or object: reply to its comment · review again: \`/aicr review\`</sub>"
    `)
  })

  it("only updates a summary when nothing was found", () => {
    const list = operations(input([]))
    expect(list).toMatchObject([{ _tag: "Summary", onlyUpdate: true }])
    expect(visible(summaryOf(list))).toContain("No problems found.")
    const found = operations(input([finding(1)]))
    expect(found[0]).not.toHaveProperty("onlyUpdate")
  })

  it("writes a summary where files could not be reviewed, though nothing was found", () => {
    const list = operations(input([], { analysis: analysis([], { partial: true }) }))
    expect(list.map((one) => [one._tag, "onlyUpdate" in one])).toEqual([["Summary", false]])
  })

  it("writes a summary that names lost reports, though nothing was found", () => {
    const notices = [{ _tag: "ReportsUnreadable", count: 1, paths: ["src/a.ts"] } as const]
    const skipped = [{ path: "src/a.ts", reason: "unusable", unread: true, read: 3, changed: 3 }] as const
    const coverage = {
      reviewed: [],
      skipped,
      lines: 3,
      changed: 3,
      unusable: [{ reason: "report" as const, count: 1 }]
    }
    const body = visible(
      summaryOf(operations(input([], { analysis: analysis([], { coverage, notices, partial: true }) })))
    )
    expect(body).toContain("No problems found in what could be used.")
    expect(body).toContain("1 report of the model could not be read")
    expect(body).toContain("not everything that the model reported could be used")
  })

  it("writes only a summary if the budget refused the first model call", () => {
    const coverage: Coverage = {
      reviewed: [],
      skipped: [{ path: "a.ts", reason: "budget", unread: true, read: 0, changed: 1 }],
      lines: 0,
      changed: 1
    }
    const refused = analysis([], { summary: "Not reviewed, over budget.", coverage, usage: noUsage, partial: true })
    const settings = workspace({}, { output_language: "en", skip_lgtm: false })
    const given = { ...input([]), workspace: settings, analysis: refused }
    for (const review_event of ["COMMENT", "REQUEST_CHANGES"] as const) {
      const planned = operations(given, channel({ review_event }))
      expect(reviewsOf(planned)).toEqual([])
      expect(summaryOf(planned)).toContain("Not reviewed, over budget.")
      expect(summaryOf(planned)).not.toContain("No problems found")
    }
  })

  it("states once that there are no problems where skip_lgtm is off: in the summary, else in a review", () => {
    const settings = workspace({}, { output_language: "en", skip_lgtm: false })
    const clean = (parts: typeof both) => operations(input([], { workspace: settings }), channel(), parts)
    expect(clean(both).map(({ _tag }) => _tag)).toEqual(["Summary"])
    expect(summaryOf(clean(both))).toContain("**No problems found.**")
    const alone = clean({ lineComments: true, summary: false })
    expect(alone).toMatchObject([{ _tag: "Review", event: "COMMENT", comments: [] }])
    expect(alone.flatMap(bodiesOf).map(visible)).toEqual(["No problems found."])
  })

  it("refers to the summary in a review that requests changes without comments", () => {
    const settings = channel({ review_event: "REQUEST_CHANGES" })
    const minor = input([finding(1, { severity: "low" })])
    const delivered = input([], {
      analysis: analysis([], {
        private: [{ finding: finding(2), salt: "5a17" }],
        notices: [{ _tag: "DeliveredPrivately", count: 1 }]
      })
    })
    const texts = (given: typeof minor, parts = both) =>
      reviewsOf(operations(given, settings, parts)).map(({ body, event }) => [event, visible(body)])
    const referring = [["REQUEST_CHANGES", "Changes requested, for the reasons in the summary."]]
    expect([texts(minor), texts(delivered)]).toEqual([referring, referring])
    const [[, text] = []] = texts(delivered, { lineComments: true, summary: false })
    expect(text).toContain("1 problem was delivered to the maintainers only. It counts like others. No other problems")
  })

  it("names ways to dismiss and to ask that exist: by number without comments, none without findings", () => {
    const last = (found: ReadonlyArray<ReturnType<typeof finding>>, review = {}) =>
      /<sub>([^<]*)<\/sub>$/.exec(
        visible(
          summaryOf(
            operations(
              input(found, { workspace: workspace({}, { output_language: "en", skip_lgtm: false, ...review }) })
            )
          )
        )
      )?.[1]
    const others = "ask: `/aicr ask` and the question · review again: `/aicr review`"
    expect(last([])).toBe(others)
    expect(last([finding(1, { severity: "low" })])).toBe(
      `dismiss a finding: \`/aicr dismiss\` and its number · ${others}`
    )
    expect(last([finding(1, { severity: "low" })], { comment_commands: false })).not.toContain("/aicr")
  })

  it.each([
    ["publish", undefined, "text", true, "publish"],
    ["suppress", undefined, "text", false, "suppress"],
    ["publish_if_summary", undefined, "text", true, "publish"],
    ["publish_if_summary", undefined, " ", true, "suppress"],
    ["suppress", "publish", "text", true, "publish"],
    [undefined, "suppress", "text", false, "suppress"],
    [undefined, undefined, "", true, "update"],
    [undefined, undefined, "", false, "publish"]
  ] as const)(
    "no problems: workspace %s, channel %s, summary '%s', skip_lgtm %s: %s",
    (general, own, summary, skip, policy) => {
      const outputs = workspace(general === undefined ? {} : { no_problems: { action: general } }, {
        output_language: "en",
        skip_lgtm: skip
      })
      const settings = channel(own === undefined ? {} : { no_problems: { action: own } })
      const given = input([], { workspace: outputs, analysis: analysis([], { summary }) })
      const summaries = operations(given, settings).filter(({ _tag }) => _tag === "Summary")
      expect(summaries.map((one) => ("onlyUpdate" in one ? "update" : "publish"))).toEqual(
        policy === "suppress" ? [] : [policy]
      )
      expect(plan(input([finding(1)], { workspace: outputs }), settings)).toHaveLength(2)
    }
  )

  it("puts at most 30 comments into one review", () => {
    const list = operations(input(Array.from({ length: 65 }, (_, i) => finding(i + 1))), channel({ max_comments: 100 }))
    expect(reviewsOf(list).map(({ comments }) => comments.length)).toEqual([30, 30, 5])
  })

  it("hides problems below the channel's severity, and counts them", () => {
    const list = operations(
      input([finding(1, { severity: "high" }), finding(2, { severity: "low" })]),
      channel({ min_severity: "medium" })
    )
    expect(reviewsOf(list)[0]?.comments).toHaveLength(1)
    expect(summaryOf(list)).toContain("1 more below the minimum severity")
    expect(summaryOf(list)).not.toContain("Title 2")
  })

  it("does not call a change clean when it only hides what was found", () => {
    const list = operations(input([finding(1, { severity: "low" })]), channel({ min_severity: "medium" }))
    expect(list.map(({ _tag }) => _tag)).toEqual(["Summary"])
    expect(summaryOf(list)).toContain("1 more below the minimum severity")
    expect(summaryOf(list)).not.toContain("No problems found")
  })

  it("moves what is over max_comments to the summary, the worst stay at their lines", () => {
    const list = operations(input([finding(1), finding(2, { severity: "high" })]), channel({ max_comments: 1 }))
    expect(reviewsOf(list)[0]?.comments.map(({ line }) => line)).toEqual([2])
    expect(summaryOf(list)).not.toMatch(/Message [12]/)
    expect(summaryOf(list)).toContain("- **1** 🔴 High · [Title 2](http://forge.test/team/shop/src/commit/")
    expect(summaryOf(list)).toContain("- **2** 🟠 Medium · [Title 1](http://forge.test/team/shop/src/commit/")
  })

  it("lists the measured costs of the review in the summary", () => {
    const given = input([finding(1)], { seconds: 34 })
    const usage = { ...given.analysis.usage, inputTokens: 12_000, outputTokens: 345, costUsd: Usd.make(0.1234) }
    expect(summaryOf(operations({ ...given, analysis: { ...given.analysis, usage } }))).toContain(
      " · 12,345 tokens · 34 s · 0.12 USD</sub>"
    )
    const none = { ...usage, inputTokens: 0, outputTokens: 0, costUsd: noMoney }
    const { seconds: _seconds, ...unknown } = given
    expect(summaryOf(operations({ ...unknown, analysis: { ...given.analysis, usage: none } }))).not.toMatch(
      /tokens| s<|USD/
    )
  })

  it("has ten comments at lines without max_comments, the worst ones", () => {
    const severity = (n: number) => (n > 5 ? ("high" as const) : ("medium" as const))
    const list = operations(
      input(Array.from({ length: 15 }, (_, at) => finding(at + 1, { severity: severity(at + 1) })))
    )
    expect(reviewsOf(list).flatMap(({ comments }) => comments.map(({ line }) => line))).toEqual([
      6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ])
    expect(summaryOf(list).match(/^- \*\*\d+\*\* /gm)).toHaveLength(15)
  })

  it("keeps problems below inline_min_severity off the lines, folded in the summary", () => {
    const found = [finding(1, { severity: "high" }), finding(2, { severity: "low" }), finding(3, { severity: "info" })]
    const list = operations(input(found), channel({ inline_min_severity: "low" }))
    expect(reviewsOf(list).flatMap(({ comments }) => comments.map(({ line }) => line))).toEqual([1, 2])
    const fold = /<details>\n<summary>Less important: 1 info<\/summary>([\s\S]*?)<\/details>/.exec(summaryOf(list))?.[1]
    expect(fold).toContain("Message 3")
    const byDefault = operations(input(found))
    expect(reviewsOf(byDefault).flatMap(({ comments }) => comments.map(({ line }) => line))).toEqual([1])
    expect(summaryOf(byDefault)).toContain("<summary>Less important: 1 low, 1 info</summary>")
  })

  it("shows what the change does as walkthrough demands", () => {
    const facts = {
      files: 2,
      additions: 9,
      deletions: 3,
      riskiest: ["src/a.ts"],
      tests: 0,
      names: [{ path: "src/a.ts", name: "sum" }]
    }
    const text = (walkthrough: "folded" | "open" | "off") =>
      visible(
        summaryOf(
          operations(
            input([finding(1)], {
              workspace: workspace({}, { output_language: "en", walkthrough }),
              analysis: analysis([finding(1)], { facts })
            })
          )
        )
      )
    const body = [
      "What the change does.",
      "",
      "- Size: 2 files, +9 −3; riskiest: `src/a.ts`",
      "- Tests: none changed",
      "- Public names changed or removed: `sum`"
    ].join("\n")
    const commit = "aaaaaaaaaaaa"
    expect(text("folded")).toContain(
      `<details>\n<summary>What changes (as of <code>${commit}</code>)</summary>\n\n${body}\n\n</details>`
    )
    expect(text("open")).toContain(`\n\n**What changes (as of \`${commit}\`)**\n\n${body}\n\n<details>`)
    expect(text("off")).not.toMatch(/What/)
  })

  it("lists at most sixty titles", () => {
    const list = operations(input(Array.from({ length: 65 }, (_, i) => finding(i + 1))))
    expect(summaryOf(list).match(/^- .*\[Title/gm)).toHaveLength(60)
    expect(summaryOf(list)).toContain("- and 5 more")
  })

  it("lists everything in the summary where there are no line comments", () => {
    for (const list of [
      operations(input([finding(1)]), channel({ review_mode: "comment" })),
      operations(input([finding(1)]), channel(), { lineComments: false, summary: true })
    ]) {
      expect(list.map(({ _tag }) => _tag)).toEqual(["Summary"])
      expect(summaryOf(list)).toContain("Title 1")
    }
  })

  it("requests changes where configured, and only over problems", () => {
    const settings = channel({ review_event: "REQUEST_CHANGES" })
    expect(reviewsOf(operations(input([finding(1)]), settings))[0]?.event).toBe("REQUEST_CHANGES")
  })

  it("settles earlier comments at lines whatever else it publishes, unless the review publishes nothing", () => {
    const tags = (...args: Parameters<typeof whole>) => whole(...args).map(({ operation }) => operation._tag)
    expect(tags()).toEqual(["Summary", "Review", "Threads"])
    expect(tags(input([]), channel({ no_problems: { action: "suppress" } }))).toEqual(["Threads"])
    expect(tags(input([]), channel({ review_mode: "comment" }))).toEqual(["Summary"])
    expect(tags(input([], { analysis: analysis([], { skipped: verbatimReason("no") }) }))).toEqual(["Summary"])
    const full = workspace({}, { output_language: "en", max_problems: 1 })
    const last = whole(input([finding(1)], { workspace: full })).at(-1)
    expect(last?.operation).toMatchObject({ _tag: "Threads", analysed: [], changed: [] })
  })

  it("mentions the author where configured", () => {
    expect(summaryOf(operations(input([finding(1)]), channel({ mention_author: true })))).toContain(mentionSlot)
    expect(summaryOf(operations(input([finding(1)])))).not.toContain(mentionSlot)
  })

  it("speaks Chinese where the output language is Chinese", () => {
    const settings = workspace({}, { output_language: "zh-CN" })
    const found = [finding(1), finding(2)]
    const dismissed = analysis(found, { dismissed: [finding(2).fingerprint] })
    const summary = summaryOf(operations(input(found, { workspace: settings, analysis: dismissed })), "zh-CN")
    expect(summary).toContain("**发现 1 个问题：中 1 个** · 已驳回 1 个\n")
    expect(summary).toContain("**已读**：`src/a.ts`")
  })

  it("names the same operation the same, and another head, run on request or channel otherwise", () => {
    const ids = (given = input([finding(1)]), settings = channel()) =>
      plan(given, settings).map(({ operationId }) => operationId)
    expect(ids()).toEqual(ids())
    expect(new Set(ids()).size).toBe(2)
    expect(ids(input([finding(1)], { runId: "run-2" }))).toEqual(ids())
    const again = ids(input([finding(1)], { runId: "run-2", isRepeated: true }))
    expect(ids().filter((id) => again.includes(id))).toEqual([])
    const others = [
      ids(input([finding(1)], { head: "b".repeat(40) })),
      ids(input([finding(1)], { change: { ...change, requestedBy: "dana" } })),
      ids(input([finding(1)]), channel({ name: "other" }))
    ]
    for (const other of others) expect(ids().some((id) => other.includes(id))).toBe(false)
  })

  it("marks everything it writes", () => {
    const planned = plan(input([finding(1), finding(2)]))
    const marked = planned.map(({ operation }) => bodiesOf(operation).flatMap(parseMarkers))
    const [summary = "", review = ""] = planned.map(({ operationId }) => operationId)
    expect(marked.map((list) => list.map(({ op }) => op))).toEqual([[summary], [review, review, review]])
    const problems = [finding(1).fingerprint, finding(2).fingerprint]
    expect(marked.map((list) => list.map(({ fp }) => fp))).toEqual([["summary"], [undefined, ...problems]])
  })

  it("cuts a body to the host's limit", () => {
    const small = channelTable(() => 900).gitea_pr_review
    const given = input([finding(1, { message: "long ".repeat(2000) })], {
      analysis: analysis([finding(1, { message: "long ".repeat(2000) })], { summary: "very ".repeat(2000) })
    })
    const bodies = small.plan(given, channel(), both).flatMap(({ operation }) => bodiesOf(operation))
    expect(bodies).toHaveLength(3)
    for (const body of bodies) {
      expect(body.length).toBeLessThanOrEqual(900)
      expect(parseMarkers(body)).toHaveLength(1)
    }
  })
})

describe("templates of the configuration", () => {
  const templated = (problem: string, summary = "S {{summary.found}}") =>
    operations(
      input([finding(1, { message: "a <b> & @c" })], {
        workspace: workspace({ templates: { p: problem, s: summary } }, { output_language: "en" })
      }),
      channel({ templates: { problem: "p", summary: "s" } })
    )

  it("replace the built-in ones, without their frontmatter", () => {
    const list = templated("---\nname: mine\n---\n{{problem.severity}}: {{problem.message}}")
    expect(visible(reviewsOf(list)[0]?.comments[0]?.body ?? "")).toBe("medium: a &lt;b> & @\u200bc")
    expect(visible(summaryOf(list))).toBe("S 1 problem found")
  })

  it.each(["{{#if}}", "{{constructor.constructor}}", "{{> other}}", "{{nothing 1}}"])(
    "cannot break publishing: %s",
    (template) => {
      const list = templated(template, template)
      expect(list).toHaveLength(2)
      expect(JSON.stringify(list)).not.toContain("[native code]")
    }
  )

  it("are reported in the summary when they do not work", () => {
    expect(summaryOf(templated("x", "{{#if}}"))).toMatch(/template s: .*the built-in template is used/)
  })
})

describe("a later round", () => {
  const round = (number: number, isResumed?: true) => ({
    number,
    key: "k",
    read: [],
    reported: [],
    ...(isResumed && { isResumed })
  })
  const carried = { ...finding(1), round: { kind: "carried", since: 1 } as const }
  const fresh = { ...finding(2), round: { kind: "new", since: 2 } as const }
  const late = { ...finding(3, { severity: "low" }), round: { kind: "late", since: 2, missed: 1 } as const }
  const given = (
    findings: ReadonlyArray<typeof carried | typeof fresh>,
    more: Partial<Parameters<typeof analysis>[1]> = {},
    review = {}
  ) =>
    input(findings, {
      analysis: analysis(findings, { round: round(2), ...more }),
      workspace: workspace({}, { output_language: "en", skip_lgtm: false, ...review })
    })
  const tags = (...args: Parameters<typeof plan>) => operations(...args).map(({ _tag }) => _tag)

  it("posts that there are no problems only if it is the first one", () => {
    const parts = { lineComments: true, summary: false }
    expect(tags(given([], { round: round(1) }), channel(), parts)).toEqual(["Review"])
    expect(tags(given([], { round: round(1, true) }), channel(), parts)).toEqual([])
    expect(tags(given([]), channel(), parts)).toEqual([])
  })

  it("requests changes again only for what is new", () => {
    const settings = channel({ review_event: "REQUEST_CHANGES" })
    const unanchored = <A extends object>(one: A) => ({ ...one, anchor: undefined })
    expect(tags(given([unanchored(carried)]), settings)).toEqual(["Summary"])
    expect(tags(given([unanchored(fresh)]), settings)).toEqual(["Summary", "Review"])
  })

  it("has no summary of its own without news", () => {
    const settings = channel({ review_update_strategy: "always_new" })
    expect(tags(given([carried], { dismissed: [carried.fingerprint] }), settings)).toEqual([])
    expect(tags(given([fresh]), settings)).toContain("Summary")
    expect(tags(given([fresh], { dismissed: [fresh.fingerprint] }), settings)).toEqual([])
  })

  it("names its number and folds late findings, which count nowhere", () => {
    const list = operations(given([carried], { late: [late] }))
    const body = visible(summaryOf(list))
    expect(body).toMatch(/^## Code review · round 2\n\n\*\*1 problem found: 1 medium\*\*\n/)
    expect(body).toContain("<summary>Found late, on lines that an earlier round read: 1 low</summary>\n\n- 🟡 Low · ")
    expect(body).toContain("Title 3")
    expect(
      reviewsOf(list)
        .flatMap(({ comments }) => comments)
        .map((comment) => comment.line)
    ).toEqual([1])
    const hidden = operations(given([carried], { late: [late] }), channel({ min_severity: "medium" }))
    expect(summaryOf(hidden)).not.toContain("Title 3")
  })

  it("names the round that missed a late finding", () => {
    const missed = { ...finding(4, { severity: "high" }), round: { kind: "late", since: 2, missed: 1 } as const }
    const list = operations(input([missed], { analysis: analysis([missed], { round: round(2) }) }))
    expect(visible(reviewsOf(list)[0]?.comments[0]?.body ?? "")).toMatch(
      /^🔴 \*\*High\*\* · Title 4 · `bug` · missed in round 1\n/
    )
    expect(summaryOf(list)).toMatch(/^- \*\*1\*\* 🔴 High · .* · missed in round 1$/m)
  })

  it("keeps a comment about a late finding open", () => {
    const threads = whole(given([carried], { late: [late] })).flatMap(({ operation }) =>
      operation._tag === "Threads" ? [operation] : []
    )
    expect(threads[0]?.present).toEqual([carried.fingerprint, late.fingerprint])
  })
})

describe("the plan of a first review where texts of reviews can be edited", () => {
  const github = (given = input([finding(1)]), settings = channel()) =>
    table.github_pr_review
      .plan(given, settings, both)
      .filter(({ operation }) => operation._tag !== "Threads")
      .map(({ operation }) => operation)
  const tags = (...args: Parameters<typeof github>) => github(...args).map(({ _tag }) => _tag)

  it("has one operation for the summary and the first 30 comments, which name it", () => {
    const many = Array.from({ length: 31 }, (_, index) => finding(index + 1))
    const [planned] = table.github_pr_review.plan(input(many), channel({ max_comments: 31 }), both)
    const summary = planned?.operation
    expect(tags(input(many), channel({ max_comments: 31 }))).toEqual(["Summary", "Review"])
    const review = summary?._tag === "Summary" ? summary.review : undefined
    expect(review?.comments).toHaveLength(30)
    const names = review?.comments.map(({ body }) => parseMarkers(body)[0]?.op)
    expect(new Set(names)).toEqual(new Set([planned?.operationId]))
  })

  it.each<[string, Parameters<typeof github>]>([
    [
      "a later round",
      [
        input([finding(1)], {
          analysis: analysis([finding(1)], { round: { number: 2, key: "k", read: [], reported: [] } })
        })
      ]
    ],
    ["a repeated review", [input([finding(1)], { isRepeated: true })]],
    ["a decision about a finding", [input([finding(1)], { ruling: "r" })]],
    ["summaries of their own", [input([finding(1)]), channel({ review_update_strategy: "always_new" })]]
  ])("has two for %s", (_, given) => {
    expect(tags(...given)).toEqual(["Summary", "Review"])
  })

  it("has a summary alone without a comment at a line", () => {
    expect(github(input([{ ...finding(1), anchor: undefined }]))).toMatchObject([{ _tag: "Summary" }])
    expect(github(input([{ ...finding(1), anchor: undefined }]))[0]).not.toHaveProperty("review")
  })
})
