/** The story of a pull request as text, and its address. */
import { expect, it } from "vitest"
import type { EventStoryRecord } from "../../src/admin/api/EventGroup.ts"
import { formatStory, parseTarget } from "../../src/cli/WhyCommand.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"

const run = (more: Partial<EventStoryRecord["runs"][number]>): EventStoryRecord["runs"][number] => ({
  id: "01a20e2f-24ce-7008-a2d4-896ff3ed3817",
  status: "succeeded",
  partial: false,
  workspace: "app",
  target_key: TargetKey.make("gitea:team/app:pull_request:5"),
  repo: "team/app",
  target_kind: "pull_request",
  number: 5,
  created_at: "2026-03-04T12:00:00.000Z",
  cost_usd: null,
  event_ids: [],
  entry_id: "01a20e2f-2479-700c-96f0-a2aca3259283",
  notices: [],
  publications: [],
  ...more
})
const story = (runs: EventStoryRecord["runs"], partial = false): EventStoryRecord => ({
  partial,
  findings: [],
  deliveries: [],
  entries: [],
  runs
})

it("names a partial review and what it did not read", () => {
  const [plain, ...none] = formatStory(story([run({})]))
  expect([plain, none]).toEqual(["2026-03-04T12:00:00Z  run 01a20e2f-24ce-7008-a2d4-896ff3ed3817: succeeded", []])
  const notices = [
    { _tag: "LinesRead", count: 3, total: 90 },
    { _tag: "TextUnread", paths: ["a\n\u001b\u202eb.bin"] }
  ] as const
  const lines = formatStory(story([run({ partial: true, findings: 2, notices })]))
  expect(lines.map((line) => line.trim())).toEqual([
    "2026-03-04T12:00:00Z  run 01a20e2f-24ce-7008-a2d4-896ff3ed3817: succeeded, partial (2 findings)",
    "notice: 3 of 90 changed lines were read.",
    "notice: The change adds text that was not read, in: a b.bin."
  ])
})

it("names the round and its late findings", () => {
  const [first, second] = [1, 2].map((round) => formatStory(story([run({ findings: 1, round, late: round - 1 })]))[0])
  expect(first).toMatch(/: succeeded \(round 1, 1 finding\)$/)
  expect(second).toMatch(/: succeeded \(round 2, 1 finding, 1 late finding not posted\)$/)
  const [leaking] = formatStory(story([run({ findings: 2, credentials: 1, round: 1 })]))
  expect(leaking).toMatch(/: succeeded \(round 1, 2 findings, 1 leaked credential\)$/)
})

it("counts what became of the findings of a change that ended", () => {
  const finding = (outcome: "fixed" | "open_at_merge", settled?: "merged"): EventStoryRecord["findings"][number] => ({
    fingerprint: "f".repeat(32),
    severity: "high",
    category: "bug",
    title: "Off by one",
    path: "a.ts",
    head: "a".repeat(40),
    outcome,
    replied: false,
    ...(settled === undefined ? {} : { settled }),
    found_in: "run",
    found_at: "2026-03-04T12:00:00.000Z",
    decided_in: "run",
    decided_at: "2026-03-04T12:00:00.000Z"
  })
  const last = (...findings: EventStoryRecord["findings"]) => formatStory({ ...story([run({})]), findings }).at(-1)
  const [fixed, open] = [finding("fixed", "merged"), finding("open_at_merge", "merged")]
  expect(last(fixed, open, fixed)).toBe("findings of the merged change: 2 fixed, 1 open at merge")
  expect(last(finding("fixed"))).toMatch(/succeeded$/)
})

it("names the command that prints the log of a review that runs or has failed", () => {
  const log = "aicr log 01a20e2f-24ce-7008-a2d4-896ff3ed3817 prints its log"
  const last = (status: "analyzing" | "failed" | "cancelled") =>
    formatStory(story([run({ status })]))
      .at(-1)
      ?.trim()
  expect([last("analyzing"), last("failed")]).toEqual([log, log])
  expect(last("cancelled")).toMatch(/: cancelled$/)
})

it("names the reason for which a review without problems posted nothing, and no other", () => {
  const clean = "nothing to post: no problem was found (review.skip_lgtm)"
  const unwritten = { status: "nothing_to_do" as const, error: { _tag: "NoSummaryToUpdate" as const } }
  const published = (operation: string) => ({
    id: "01a20e2f-24ce-7008-a2d4-896ff3ed3818",
    channel: "c",
    operation,
    status: "sent" as const,
    attempts: 1,
    created_at: "2026-03-04T12:00:00.000Z",
    updated_at: "2026-03-04T12:00:00.000Z"
  })
  const last = (more: Parameters<typeof run>[0]) =>
    formatStory(story([run(more)]))
      .at(-1)
      ?.trim()
  expect([last({ findings: 0 }), last({ findings: 0, publications: [published("Status")] })]).toEqual([clean, clean])
  expect(last({ findings: 0, publications: [published("Summary")] })).toBe("c Summary: sent")
  const publications = [{ ...published("Summary"), ...unwritten }]
  expect(last({ findings: 0, publications })).toBe(clean)
  expect(last({ findings: 1, publications })).toBe(
    "c Summary: nothing to do: no problem was found, and no earlier summary exists"
  )
  expect(last({ findings: 1 })).toMatch(/1 finding\)$/)
  expect(last({ findings: 0, status: "failed" })).not.toBe(clean)
})

it("counts the comments that a summary was written with, and names the lines that its review could not have", () => {
  const at = "2026-03-04T12:00:00.000Z"
  const row = { id: "p", channel: "c", status: "sent", attempts: 0, created_at: at, updated_at: at } as const
  const joined = { ...row, operation: "Summary", comments: 2, url: "https://git.test/1#review-1" }
  const alone = { ...row, operation: "Summary", url: "https://git.test/1#comment-1" }
  const error = verbatimReason("line must be part of the diff")
  const apart = { ...row, operation: "Review", status: "failed" as const, comments: 1, error }
  const list = (...publications: ReadonlyArray<typeof joined | typeof alone | typeof apart>) =>
    formatStory(story([run({ findings: 2, publications })]))
      .slice(1)
      .map((line) => line.trim())
      .slice(0, publications.length)
  expect(list(joined)).toEqual(["c Summary with 2 comments: sent https://git.test/1#review-1"])
  expect(list(alone, apart)).toEqual([
    "c Summary: sent https://git.test/1#comment-1",
    "c Review with 1 comment: failed: line must be part of the diff"
  ])
})

it("names the decision of a reply in place of what a review without problems did", () => {
  const conclusion = { _tag: "ReplyLimitReached", limit: "review.conversation.limits.change_day", count: 40 } as const
  const lines = formatStory(story([run({ findings: 0, conclusion })])).map((line) => line.trim())
  expect(lines.at(-1)).toBe("conclusion: review.conversation.limits.change_day is reached (40)")
})

it("names what the report of a hook waits for, and its outcome afterwards", () => {
  const report = (more: Partial<EventStoryRecord["deliveries"][number]>): EventStoryRecord => ({
    ...story([]),
    deliveries: [
      {
        id: "01a20e2f-24ce-7008-a2d4-896ff3ed3817",
        provider: "subversion",
        event: "svn",
        decision: "queued",
        received_at: "2026-03-04T12:00:00.000Z",
        duplicates: 0,
        ...more
      }
    ]
  })
  const reason = verbatimReason("unreachable: trigger tree: svn log:\nE170013")
  expect(
    formatStory(report({ outcome_reason: reason }))
      .map((line) => line.trim())
      .slice(1)
  ).toEqual(["waits for its next attempt: unreachable: trigger tree: svn log: E170013"])
  expect(formatStory(report({ outcome: "failed", outcome_reason: reason })).join()).not.toContain("waits")
})

it("names where a review comes from: a delivery, or a search and its occasion", () => {
  const delivery = (id: string, event: string, action: string, more: object = {}) => ({
    id,
    provider: "github" as const,
    event,
    action,
    decision: "queued" as const,
    received_at: "2026-03-04T12:00:01.000Z",
    duplicates: 0,
    ...more
  })
  const rule = { _tag: "SentAgain", delivery: "guid" } as const
  const deliveries = [
    delivery("1", "pull_request", "opened"),
    delivery("2", "catch_up", "start"),
    delivery("3", "catch_up", "hook", { decision: "ignored", reason: "sent_again", rule })
  ]
  const lines = formatStory({ ...story([run({ event_ids: ["1", "2"] })]), deliveries }).map((line) => line.trim())
  expect(lines).toEqual([
    expect.stringContaining(": succeeded"),
    "deliveries: 1, 2",
    "origin: pull_request opened; found without a delivery (search at the start of a node)",
    expect.stringContaining("delivery 1: pull_request opened: queued"),
    expect.stringContaining("delivery 2: found without a delivery (search at the start of a node): queued"),
    expect.stringContaining("(search after a webhook was set up): ignored (sent_again)"),
    "rule: the host was requested to send delivery guid again, which had failed"
  ])
})

it("combines the deliveries that own texts caused, and no others", () => {
  const delivery = (id: number, sender: string, action: string, reason = "own_event") => ({
    id: `0000000${id}-24ce-7008-a2d4-896ff3ed3817`,
    provider: "gitea" as const,
    event: "issue_comment",
    action,
    sender,
    decision: "ignored" as const,
    reason,
    received_at: `2026-03-04T12:00:0${id}.000Z`,
    duplicates: 0
  })
  const deliveries = [
    delivery(1, "aicr", "created"),
    delivery(2, "ada", "deleted"),
    delivery(3, "aicr", "edited"),
    delivery(4, "ada", "created", "draft"),
    delivery(5, "aicr", "edited")
  ]
  expect(formatStory({ ...story([]), deliveries })).toEqual([
    "2026-03-04T12:00:01Z  3 deliveries by aicr (issue_comment created, issue_comment edited): ignored (own_event), the latest at 2026-03-04T12:00:05Z",
    "2026-03-04T12:00:02Z  delivery 00000002-24ce-7008-a2d4-896ff3ed3817: issue_comment deleted by ada: ignored (own_event)",
    "2026-03-04T12:00:04Z  delivery 00000004-24ce-7008-a2d4-896ff3ed3817: issue_comment created by ada: ignored (draft)"
  ])
})

it("names the command that repeats a review that has failed for good, and no other", () => {
  const lines = (status: "dead" | "done") =>
    formatStory({
      ...story([]),
      entries: [
        {
          id: "01a20e2f-2479-700c-96f0-a2aca3259283",
          workspace: "app",
          target_key: TargetKey.make("gitea:team/app:pull_request:5"),
          repo: "team/app",
          target_kind: "pull_request",
          status,
          why: { _tag: "Ended", status },
          priority: 0,
          attempts: 1,
          admitted_at: "2026-03-04T12:00:00.000Z",
          due_at: "2026-03-04T12:00:00.000Z",
          events: []
        }
      ]
    }).map((line) => line.trim())
  const repeats = "aicr queue retry 01a20e2f-2479-700c-96f0-a2aca3259283 repeats the review"
  expect([lines("dead").slice(1), lines("done").slice(1)]).toEqual([[repeats], []])
})

it("notes that older records exist", () => {
  expect(formatStory(story([], true))).toEqual(["Only the latest deliveries and runs are shown."])
  expect(formatStory(story([]))).toEqual([])
})

it.each([
  ["team/app#5", { repo: "team/app", number: 5 }],
  ["group/sub/app!12", { repo: "group/sub/app", number: 12 }],
  ["app#5", undefined],
  ["team/app#0", undefined],
  ["team/app", undefined],
  ["team/app#5 ", undefined]
])("reads the target %s", (text, target) => {
  expect(parseTarget(text)).toEqual(target)
})

it("names the pull request and branch whose review decides the status of the newest head", () => {
  const status = {
    head: "75541bc51648913f31be857684fd70271cb7fa9c",
    state: "failure",
    description: { _tag: "ProblemsFound", severities: [{ _tag: "SeverityCount", count: 1, severity: "high" }] },
    number: 12,
    branch: "main\n",
    run_id: "01a20e2f-24ce-7008-a2d4-896ff3ed3817"
  } as const
  expect(formatStory({ ...story([run({})]), status }).at(-1)).toBe(
    "status of 75541bc51648: failure, 1 high (run 01a20e2f-24ce-7008-a2d4-896ff3ed3817 of #12 into main)"
  )
})
