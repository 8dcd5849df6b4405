/** Findings of a kind that maintainers dismissed three times. */
import { describe, expect, it } from "vitest"
import type { Lesson } from "../../src/domain/Lesson.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { dismissedKinds, withoutDismissed } from "../../src/review/DismissedKinds.ts"
import { inEnglish } from "../../src/text/en.ts"

const lesson = (at: number, over: Partial<Lesson> = {}): Lesson => ({
  fingerprint: `f${at}`,
  verdict: "dismissed",
  category: "bug",
  severity: "medium",
  path: `src/a${at}.ts`,
  title: `Missing null check in \`pay${at}()\``,
  quote: "",
  learnedAt: at,
  ...over
})
const finding = (over: Partial<Finding["problem"]> = {}): Finding => ({
  fingerprint: "new",
  problem: {
    file: "lib/other.ts",
    severity: "high",
    category: "correctness",
    title: "Null check missing in refundAll(order)",
    message: "m",
    ...over
  }
})
const memory = { max_size_kb: undefined, max_entries: undefined, retention_days: 90 }
const review = { dismissal: "maintainers", reflection: { enabled: true, mode: undefined, memory } } as const
const three = [1, 2, 3].map((at) => lesson(at))

describe("a finding of a dismissed kind", () => {
  it("is found in other files and words of the same kind", () => {
    expect(dismissedKinds(three, review)(finding())).toBe(true)
    expect(dismissedKinds(three.slice(1), review)(finding())).toBe(false)
    expect(dismissedKinds([...three, lesson(4, { verdict: "resolved" })], review)(finding())).toBe(false)
  })

  it.each([
    { title: "Missing bounds check in `pay()`" },
    { category: "security" },
    { severity: "critical" as const },
    { file: "lib/other.py" },
    { file: "test/other.ts" },
    { title: "`pay()`", message: "m" },
    { title: "Instruction to the reviewer in the change" }
  ])("is none where it differs: %j", (over) => {
    const lessons = [
      ...three,
      ...[5, 6, 7].map((at) => lesson(at, { title: "Instruction to the reviewer in the change" }))
    ]
    expect(dismissedKinds(lessons, review)(finding(over))).toBe(false)
  })

  it("is none where memory is off or every account may dismiss", () => {
    const off = { ...review, reflection: { ...review.reflection, enabled: false } }
    expect(dismissedKinds(three, off)(finding())).toBe(false)
    expect(dismissedKinds(three, { ...review, dismissal: "anyone" })(finding())).toBe(false)
  })

  it("has a title in any script", () => {
    const lessons = [1, 2, 3].map((at) => lesson(at, { title: `缺少空值检查 \`a${at}\`` }))
    expect(dismissedKinds(lessons, review)(finding({ title: "缺少空值检查 `b`" }))).toBe(true)
    expect(dismissedKinds(lessons, review)(finding({ title: "资源没有关闭 `b`" }))).toBe(false)
  })
})

it("a review names their number", () => {
  const other = finding({ category: "security" })
  const notices = (...findings: ReadonlyArray<Finding>) => withoutDismissed([other, ...findings], three, review)
  expect(notices()).toEqual({ findings: [other], notices: [] })
  expect(notices(finding()).notices.map(inEnglish)).toEqual(["1 problem of a kind dismissed before was omitted."])
  const two = notices(finding(), finding())
  expect([two.findings, two.notices.map(inEnglish)]).toEqual([
    [other],
    ["2 problems of kinds dismissed before were omitted."]
  ])
})
