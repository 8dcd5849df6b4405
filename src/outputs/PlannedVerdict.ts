/** The verdict of a review about its head, from its analysis and the publications that it plans. Pure. */
import type { Workspace } from "../config/Snapshot.ts"
import { countedSeverities } from "../domain/Analysis.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Change } from "../domain/Change.ts"
import { hasUnreadText, isMostlyRead } from "../domain/Coverage.ts"
import type { RunVerdict } from "../domain/HeadVerdict.ts"
import type { Publication } from "../domain/Publication.ts"
import { decideVerdict, describe, unpassedMembers } from "../domain/Verdict.ts"
import { setsStatus } from "./StatusEnd.ts"

/** Returns the verdict of a review. A channel that ends requests for changes has no problem to publish. */
export const planVerdict = (
  workspace: Workspace,
  change: Change,
  analysis: Analysis,
  plan: ReadonlyArray<Publication>
): RunVerdict => ({
  state: decideVerdict(analysis, workspace.review),
  description: describe(analysis),
  isShown: setsStatus(workspace, change),
  isClean:
    plan.some(({ operation }) => operation._tag === "Verdict") ||
    (countedSeverities(analysis).length === 0 &&
      unpassedMembers(analysis).length === 0 &&
      isMostlyRead(analysis.coverage) &&
      !hasUnreadText(analysis.coverage))
})
