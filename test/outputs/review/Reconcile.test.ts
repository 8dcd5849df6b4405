/** One decision for issues and threads, as a table. */
import { describe, expect, it } from "vitest"
import { reconcile } from "../../../src/outputs/review/Reconcile.ts"
import type { Reconciled, ExistingProblem } from "../../../src/outputs/review/Reconcile.ts"

const file = "a.ts"
const found = { fp: "1" }
const existing = (state: ExistingProblem["state"], fp = "1", files = [file]): ExistingProblem => ({ fp, files, state })

type Verdict = keyof Reconciled<object, object>
const verdicts = (result: Reconciled<object, object>): ReadonlyArray<string> =>
  Object.entries(result).flatMap(([name, list]) => list.map(() => name))

describe("reconcile", () => {
  it.each<
    readonly [
      what: string,
      now: {
        readonly found?: boolean
        readonly read?: boolean
        readonly changed?: boolean
        readonly whole?: boolean
        readonly hidden?: boolean
      },
      there: ReadonlyArray<ExistingProblem>,
      verdict: ReadonlyArray<Verdict>
    ]
  >([
    ["found, nothing there", { found: true }, [], ["fresh"]],
    ["found, open", { found: true }, [existing("open")], ["open"]],
    ["found, resolved by us", { found: true }, [existing("resolved")], ["returned"]],
    ["found, dismissed", { found: true }, [existing("dismissed")], ["dismissed"]],
    ["found, open and an older one dismissed", { found: true }, [existing("dismissed"), existing("open")], ["open"]],
    [
      "found, dismissed after an older one was resolved",
      { found: true },
      [existing("resolved"), existing("dismissed")],
      ["dismissed"]
    ],
    ["gone, its file read", { read: true }, [existing("open")], ["resolved"]],
    ["gone, its file left out", { changed: true }, [existing("open")], ["kept"]],
    ["gone, its file no longer in the change", { changed: false }, [existing("open")], ["outdated"]],
    ["gone, where leaving the change means nothing", {}, [existing("open")], ["kept"]],
    ["gone, but the review did not end", { read: true, whole: false }, [existing("open")], ["kept"]],
    ["hidden by severity, still there", { read: true, hidden: true }, [existing("open")], []],
    ["gone, one of its files left out", { read: true }, [existing("open", "1", [file, "b.ts"])], ["kept"]],
    ["gone, of no known file", { read: true }, [existing("open", "1", [])], ["kept"]],
    ["gone and dismissed", { read: true }, [existing("dismissed")], []],
    ["gone and resolved", { read: true }, [existing("resolved")], []],
    ["another problem, its file read", { found: true, read: true }, [existing("open", "2")], ["fresh", "resolved"]]
  ])("%s", (_, { found: is, read, changed, whole = true, hidden }, there, verdict) => {
    const result = reconcile(
      {
        found: is === true ? [found] : [],
        present: new Set(is === true || hidden === true ? ["1"] : []),
        analysed: new Set(read === true ? [file] : []),
        changed: changed === undefined ? undefined : new Set(changed ? [file] : ["other.ts"]),
        complete: whole
      },
      there
    )
    expect(verdicts(result)).toEqual(verdict)
  })

  it.each([
    ["its code is gone", true, ["resolved"]],
    ["its code is still in the file", false, ["kept"]]
  ] as const)("not found, and %s", (_, isGone, verdict) => {
    const review = { found: [], present: new Set<string>(), isGone: () => isGone }
    expect(verdicts(reconcile(review, [existing("open"), existing("dismissed"), existing("resolved")]))).toEqual(
      verdict
    )
  })

  it("keeps a problem that was found, even if its code is not where it was", () => {
    const review = { found: [found], present: new Set(["1"]), isGone: () => true }
    expect(verdicts(reconcile(review, [existing("open")]))).toEqual(["open"])
  })
})
