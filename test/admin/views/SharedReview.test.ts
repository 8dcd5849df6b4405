/** The page of a shared review: what it shows of hostile texts, and what it never shows. */
import { describe, expect, it } from "vitest"
import { noSharedReview, sharedReviewPage } from "../../../src/admin/views/SharedReview.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Operation, Publication } from "../../../src/domain/Publication.ts"
import type { Run } from "../../../src/store/Runs.ts"
import { analysis, change, publication } from "../../store/Fixtures.ts"

const hostile = `</pre><script>alert(1)</script><img src=x onerror=alert(1)>"'&`
const secret = "zebra-secret"
const head = "a".repeat(40)

const makeRun = (over: Partial<Run> = {}): Run => ({
  id: "01a20e2f-24ce-7008-a2d4-896ff3ed3817",
  entryId: "e",
  workspace: "app",
  targetKey: targetKey(change()),
  change: {
    ...change(),
    repo: { fullName: `acme/${hostile}` },
    title: secret,
    description: secret,
    author: { username: secret }
  },
  head: hostile,
  base: undefined,
  status: "succeeded",
  reason: undefined,
  partial: false,
  configHash: secret,
  analysis: {
    ...analysis,
    summary: secret,
    coverage: { ...analysis.coverage, reviewed: [hostile], skipped: [{ path: hostile, reason: "max_files" }] },
    private: analysis.findings.map((finding) => ({
      finding: { ...finding, problem: { ...finding.problem, message: secret } },
      salt: secret
    }))
  },
  createdAt: 10,
  startedAt: 10,
  waitingSince: undefined,
  waitingUntil: undefined,
  finishedAt: 20,
  verdict: undefined,
  ...over
})

const sent = (operation: Operation, over: Partial<Publication> = {}) =>
  publication({ operation, status: "sent", ...over })
const comment = { path: hostile, side: "new", line: 3, body: `Line ${hostile}` } as const
const published: ReadonlyArray<Publication> = [
  sent({ _tag: "Summary", head, body: `<!-- aicr:v1 ${secret} -->\n## Summary\n${hostile}` }),
  sent({ _tag: "Review", head, event: "COMMENT", body: "", comments: [comment] }),
  sent({ _tag: "Chat", head, title: secret, body: secret }),
  sent({ _tag: "Summary", head, body: secret }, { status: "failed" })
]
const show = (run: Run, acceptLanguage = "") =>
  sharedReviewPage({ run, publications: published, expiresAt: 1_800_000_000_000, acceptLanguage })

describe("sharedReviewPage", () => {
  it("shows the comments at the host and the coverage, as text only", () => {
    const { body, headers, status } = show(makeRun())
    expect(status).toBe(200)
    expect(body).toContain("## Summary")
    expect(body).toContain("(max files)")
    expect(body).toContain("Line &lt;/pre&gt;&lt;script&gt;alert(1)")
    expect(body).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
    expect(headers["content-security-policy"]).toContain("default-src 'none'")
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow, noarchive"
    })
  })

  it("shows the comments that a summary was posted with, and those that followed it once", () => {
    const review = { operationId: OperationId.make("r"), event: "COMMENT", body: "", comments: [comment] } as const
    const summary: Operation = { _tag: "Summary", head, body: "S", review }
    const joined = [sent(summary, { posted: ["f"] })]
    const apart = [sent(summary), sent({ _tag: "Review", head, event: "COMMENT", body: "", comments: [comment] })]
    for (const publications of [joined, apart]) {
      const page = sharedReviewPage({ run: makeRun(), publications, expiresAt: 1, acceptLanguage: "" })
      expect(page.body?.toString().split("Line &lt;").length).toBe(2)
    }
  })

  it("shows no private finding, message of a chat, failed comment, title, author or marker", () => {
    expect(show(makeRun()).body).not.toContain(secret)
  })

  it("is in Chinese for readers of Chinese", () => {
    expect(show(makeRun(), "zh-CN,zh;q=0.9").body).toContain("覆盖范围")
  })

  it.each<[string, Partial<Run>]>([
    ["has not ended", { status: "publishing" }],
    ["failed", { status: "failed" }],
    ["was not published", { reason: { _tag: "InShadow" } as never }],
    ["has no analysis", { analysis: undefined }],
    [
      "is a reply",
      {
        analysis: {
          ...analysis,
          reply: {
            outcome: "replied",
            comment: { id: "1", on: "pull_request", kind: "general" },
            question: "q",
            text: "t"
          }
        }
      }
    ]
  ])("a review that %s is shown like a link that is wrong", (_, over) => {
    expect(show(makeRun(over))).toBe(noSharedReview)
  })
})
