/** Plans the publication that ends a pending commit status for a run that ended without a review. Pure. */
import { newId } from "../domain/Ids.ts"
import type { Publication } from "../domain/Publication.ts"
import type { Run } from "../store/Runs.ts"
import { statusId } from "./OperationId.ts"

/** Reason of runs that a newer head or another base superseded before they had a result. */
export const supersededReason = "superseded by a newer review"

const wording = (
  { status, reason, head }: Pick<Run, "status" | "reason" | "head">,
  newest: Pick<Run, "head"> | undefined
): { readonly state: "success" | "failure"; readonly description: string } => {
  if (newest !== undefined && newest.head !== head)
    return { state: "success", description: `Superseded by ${newest.head.slice(0, 12)}` }
  if (reason === supersededReason) return { state: "success", description: "Superseded by a newer review" }
  if (status === "cancelled") return { state: "failure", description: "The review was cancelled" }
  if (status === "skipped") return { state: "success", description: "Not reviewed" }
  return { state: "failure", description: "The review failed" }
}

/**
 * Plans the final status. `rows`: all publications of the run. `newest`: the newest run of its target. Undefined if no pending
 * status was set, if it already ended, or if a later run of the same head sets the status.
 */
export const statusEnd = (
  run: Pick<Run, "id" | "targetKey" | "head" | "status" | "reason">,
  rows: ReadonlyArray<Publication>,
  newest: Pick<Run, "id" | "head"> | undefined
): Publication | undefined => {
  const statuses = rows.flatMap((row) =>
    row.operation._tag === "Status" ? [{ ...row, operation: row.operation }] : []
  )
  const pending = statuses.find(({ operation }) => operation.state === "pending")
  const isEnded = statuses.some(({ operation, status }) => operation.state !== "pending" && status !== "dropped")
  const later = newest?.id === run.id ? undefined : newest
  if (pending === undefined || isEnded || later?.head === run.head) return undefined
  const { state, description } = wording(run, later)
  const { id: runId, targetKey, head } = run
  return {
    id: newId(),
    operationId: statusId({ targetKey, head, runId }, `end:${state}`),
    runId,
    targetKey,
    channel: pending.channel,
    operation: { ...pending.operation, state, description },
    status: "pending",
    position: pending.position,
    attempts: 0
  }
}
