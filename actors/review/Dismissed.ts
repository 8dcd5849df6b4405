/**
 * Reads which findings of a review people dismissed, right before the review is published. A dismissed finding counts nowhere: not in the
 * verdict, not in the numbers, and not in the list of problems. The host is queried only if an earlier review published one of the findings.
 */
import { Effect } from "effect"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { hasStatus } from "../../src/outputs/StatusEnd.ts"
import { DuringOutage } from "../../src/forge/HostHealth.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Records } from "../../src/outputs/Records.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import type { Run } from "../../src/store/Runs.ts"
import { publishedRecords } from "../publishing/PublishedRecords.ts"
import type { ReviewWork } from "./ReviewWork.ts"

/** Returns the analysis with the dismissals of people. A host that cannot be read now leaves those of the last review in effect. */
export const withDismissals = Effect.fnUntraced(function* (run: Run, { workspace }: ReviewWork, analysis: Analysis) {
  if (analysis.findings.length === 0 || !hasStatus(run.change)) return analysis
  const onRecord = yield* Effect.catch((yield* Outcomes).ofTarget(run.targetKey), (error) =>
    Effect.as(Effect.logWarning("dismissals on record not read", { run_id: run.id, error: error.message }), [])
  )
  const present = new Set(analysis.findings.map(({ fingerprint }) => fingerprint))
  const published = onRecord.filter(({ fingerprint }) => present.has(fingerprint))
  if (published.length === 0) return analysis
  const before = published.flatMap(({ fingerprint, outcome }) =>
    outcome === "dismissed" || outcome === "withdrawn" ? [fingerprint] : []
  )
  const atHost = yield* (yield* Outputs)
    .reactions(workspace, run.change, { runId: run.id, targetKey: run.targetKey, present: [...present] })
    .pipe(
      Effect.provideService(DuringOutage, "fail"),
      Effect.provideService(Records, yield* publishedRecords),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("dismissals at the host not read", { run_id: run.id, error: error.message }), [])
      )
    )
  const read = new Set(atHost.map(({ fp }) => fp))
  const now = atHost.flatMap(({ dismissed, fp }) => (dismissed && present.has(fp) ? [fp] : []))
  const dismissed = [...new Set([...now, ...before.filter((fp) => !read.has(fp))])]
  return dismissed.length === 0 ? analysis : { ...analysis, dismissed }
})
