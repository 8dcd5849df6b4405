/** The status of a commit that is the head of several pull requests or was compared with several branches. */
import { statusText } from "../../src/outputs/review/StatusText.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { inEnglish } from "../../src/text/en.ts"
import { describe, expect, it } from "vitest"
import {
  describeHeld,
  endDescriptions,
  endVerdict,
  expiredVerdict,
  findObjection,
  headStatus,
  isUnreviewed
} from "../../src/domain/HeadVerdict.ts"
import type { HeadVerdict, RunVerdict } from "../../src/domain/HeadVerdict.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { StatusState } from "../../src/domain/Publication.ts"

const descriptions: Readonly<Record<StatusState, Reason>> = {
  pending: { _tag: "ReviewInProgress" },
  success: { _tag: "NoProblemsFound" },
  neutral: { _tag: "FilesUnread", found: { _tag: "NoProblemsFound" }, count: 1 },
  failure: { _tag: "ProblemsFound", severities: [{ _tag: "SeverityCount", count: 2, severity: "high" }] }
}
const verdict = (state: StatusState, over: Partial<RunVerdict> = {}): RunVerdict => ({
  state,
  description: descriptions[state],
  isShown: true,
  isClean: state === "success",
  ...over
})
const recorded = (
  run: number,
  number: number,
  baseRef: string | undefined,
  state: StatusState,
  over: Partial<RunVerdict> = {}
): HeadVerdict => ({
  runId: `run-${run}`,
  targetKey: TargetKey.make(`host:team/app:pull_request:${number}`),
  trigger: "host",
  number,
  baseRef,
  verdict: verdict(state, over)
})
const own = {
  runId: "run-5",
  targetKey: TargetKey.make("host:team/app:pull_request:1"),
  baseRef: "main",
  hasReview: true
}
const planned = (state: StatusState, description = descriptions[state]) =>
  ({ _tag: "Status", head: "h", state, description, url: "https://aicr/runs/5" }) as const
const shown = (state: StatusState, verdicts: ReadonlyArray<HeadVerdict>, description?: Reason) => {
  const { heldBy, status } = headStatus(own, planned(state, description), verdicts, "#")
  return [status.state, inEnglish(status.description), heldBy?.runId]
}

describe("headStatus", () => {
  it("is the planned one for the only pull request of a head", () => {
    const plan = planned("success")
    expect(headStatus(own, plan, [recorded(5, 1, "main", "success")], "#")).toEqual({ status: plan, heldBy: undefined })
    expect(headStatus(own, plan, [], "#").status).toBe(plan)
  })

  it.each([
    ["another pull request", recorded(1, 2, "side", "failure"), "2 high in #2 (into side)"],
    ["another pull request into the same branch", recorded(9, 2, "main", "failure"), "2 high in #2 (into main)"],
    ["the same pull request into another branch", recorded(1, 1, "side", "failure"), "2 high in #1 (into side)"]
  ])("is the failure of %s", (_, other, description) => {
    for (const state of ["success", "neutral", "pending"] as const)
      expect(shown(state, [recorded(5, 1, "main", state), other])).toEqual(["failure", description, other.runId])
    expect(shown("failure", [other])).toEqual(["failure", inEnglish(descriptions.failure), undefined])
  })

  it("is pending while another pull request of the head is reviewed, unless a problem was found", () => {
    const other = recorded(6, 2, "side", "pending")
    expect(shown("success", [other])).toEqual(["pending", "Review in progress in #2 (into side)", "run-6"])
    expect(shown("neutral", [other])).toEqual(["pending", "Review in progress in #2 (into side)", "run-6"])
    expect(shown("failure", [other])).toEqual(["failure", inEnglish(descriptions.failure), undefined])
  })

  it("counts the last verdict of each pull request and branch", () => {
    const repaired = [recorded(1, 2, "side", "failure"), recorded(3, 2, "side", "success")]
    expect(shown("success", repaired)[0]).toBe("success")
    expect(shown("success", repaired.toReversed())[0]).toBe("success")
    expect(shown("success", [...repaired, recorded(4, 2, "side", "failure")])[0]).toBe("failure")
  })

  it("is the verdict before a run without one", () => {
    const earlier = recorded(2, 1, "main", "failure")
    expect(shown("neutral", [earlier], endDescriptions.skipped)).toEqual([
      "failure",
      inEnglish(descriptions.failure),
      undefined
    ])
    expect(shown("neutral", [recorded(2, 1, "main", "success")], endDescriptions.skipped)[0]).toBe("success")
    expect(shown("neutral", [], endDescriptions.skipped)).toEqual(["neutral", "Not reviewed", undefined])
    // The base differs: its verdict is none of this one.
    expect(shown("neutral", [recorded(2, 1, "side", "success")], endDescriptions.skipped)[0]).toBe("neutral")
  })

  it("is that of the others for a run whose review never began, and its own verdict if it got one", () => {
    const waiting = { ...own, hasReview: false }
    const ended = planned("neutral", { _tag: "SupersededBy", head: "0a1b2c3d4e5f" })
    const shownFor = (verdicts: ReadonlyArray<HeadVerdict>) => headStatus(waiting, ended, verdicts, "#").status
    expect(shownFor([recorded(1, 2, "side", "success")])).toMatchObject({
      state: "success",
      description: { _tag: "HeldIn", why: descriptions.success, change: "#2", branch: "side" }
    })
    expect(shownFor([recorded(1, 2, "side", "success"), recorded(2, 3, "next", "failure")]).state).toBe("failure")
    expect(shownFor([]).state).toBe("neutral")
    expect(shownFor([recorded(1, 2, "side", "success"), recorded(5, 1, "main", "failure")]).state).toBe("failure")
  })

  it("is no success for a superseded review that found a problem", () => {
    expect(
      shown("neutral", [recorded(5, 1, "main", "failure")], { _tag: "SupersededBy", head: "0a1b2c3d4e5f" })[0]
    ).toBe("failure")
    expect(
      shown("neutral", [recorded(5, 1, "main", "success")], { _tag: "SupersededBy", head: "0a1b2c3d4e5f" })[0]
    ).toBe("neutral")
  })

  it("is that of a later review whose status was written first", () => {
    expect(shown("success", [recorded(6, 1, "main", "failure")])[0]).toBe("failure")
    expect(shown("pending", [recorded(6, 1, "main", "success")])[0]).toBe("success")
  })

  it("is that of workspaces that set statuses", () => {
    expect(shown("success", [recorded(6, 2, "side", "failure", { isShown: false })])[0]).toBe("success")
  })
})

describe("isUnreviewed", () => {
  it("is true for a head with verdicts of other pull requests or base branches only", () => {
    expect(isUnreviewed(own, [])).toBe(false)
    expect(isUnreviewed(own, [recorded(1, 2, "main", "success")])).toBe(true)
    expect(isUnreviewed(own, [recorded(1, 1, "side", "failure")])).toBe(true)
    expect(isUnreviewed(own, [recorded(1, 1, "side", "success"), recorded(2, 1, "main", "failure")])).toBe(false)
  })
})

describe("expiredVerdict", () => {
  it("is a failure of a run that waited with a verdict", () => {
    expect(expiredVerdict(verdict("pending"))).toMatchObject({ state: "failure", isClean: false, isShown: true })
    expect(expiredVerdict(undefined)).toBeUndefined()
  })
})

describe("endVerdict", () => {
  it("is a failure without a review, except for a skipped run, a closed pull request and a run that had not begun", () => {
    for (const to of ["failed", "timeout", "cancelled"] as const)
      expect(endVerdict(verdict("pending"), to, undefined)).toMatchObject({ state: "failure", isClean: false })
    expect(endVerdict(verdict("pending"), "skipped", undefined)).toBeUndefined()
    expect(endVerdict(verdict("pending"), "cancelled", { _tag: "PullRequestClosed" })).toBeUndefined()
    expect(endVerdict(undefined, "failed", undefined)).toBeUndefined()
  })
})

describe("findObjection", () => {
  it("finds a verdict elsewhere that is not clean, whether it is shown or not", () => {
    expect(findObjection(own, [recorded(1, 1, "main", "failure")])).toBeUndefined()
    expect(findObjection(own, [recorded(1, 2, "side", "success")])).toBeUndefined()
    // Problems below the severity that fails the status.
    expect(findObjection(own, [recorded(1, 2, "side", "success", { isClean: false })])?.runId).toBe("run-1")
    expect(findObjection(own, [recorded(1, 1, "side", "failure", { isShown: false })])?.runId).toBe("run-1")
  })

  it("takes the verdict before a review that is running", () => {
    const running = recorded(7, 2, "side", "pending")
    expect(findObjection(own, [running])).toBeUndefined()
    expect(findObjection(own, [recorded(3, 2, "side", "failure"), running])?.runId).toBe("run-3")
  })
})

it("names the other change within the shortest limit of the hosts", () => {
  const text = (held: HeadVerdict, sign: "#" | "!") => statusText(describeHeld(held, sign), "en")
  const long = recorded(1, 123_456, "feature/".repeat(40), "neutral")
  expect(text(long, "!").length).toBeLessThanOrEqual(140)
  expect(text(long, "!")).toMatch(/ in !123456 \(into feature\/.*…\)$/)
  expect(text(recorded(1, 2, undefined, "failure"), "#")).toBe("2 high in #2")
})
