/** Runs whose findings have outcomes. */
import { Effect } from "effect"
import { targetKey } from "../../src/domain/Change.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { LeaseToken } from "../../src/domain/FencingToken.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { analysis, change } from "./Fixtures.ts"

/** Number of findings of a run, enough that a process may be killed between the writes of one. */
export const findingsPerRun = 20

const many: Analysis["findings"] = Array.from({ length: findingsPerRun }, (_, at) => ({
  fingerprint: String(at).padStart(32, "0"),
  problem: { file: "a.ts", severity: "high", category: "bug", message: "Off by one" }
}))

/** Returns a run on a pull request that is about to be settled. */
export const publishing: (
  number: number,
  token: LeaseToken,
  more?: {
    readonly head?: string
    readonly findings?: Analysis["findings"]
    readonly more?: Partial<Analysis>
    readonly kind?: "pull_request" | "push" | "commit"
    readonly rules?: Analysis["rules"]
    readonly provider?: "gitea" | "perforce" | "subversion"
  }
) => Effect.Effect<Run, StoreError, Runs> = Effect.fnUntraced(function* (number, token, more = {}) {
  const { head = "a".repeat(40), findings = many, kind = "pull_request", provider = "gitea", rules } = more
  const found = { ...analysis, findings, ...(rules === undefined ? {} : { rules }), ...more.more }
  const runs = yield* Runs
  const target = kind === "commit" ? { kind, branch: `//Ace/main@=${number}` } : { kind, number }
  const subject = { ...change(number, head), provider, target }
  const run = yield* runs.begin(
    {
      entryId: `${kind}-${number}-${head}`,
      workspace: "app",
      targetKey: targetKey(subject),
      change: subject,
      head,
      base: undefined,
      configHash: "c0ffee"
    },
    token,
    1
  )
  if (run === undefined) return yield* Effect.die(new Error("The run should have begun"))
  yield* runs.complete(run.id, token, found, [], 2)
  return run
})
