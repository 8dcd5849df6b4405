/** Plans the publication that ends a pending commit status for a run that ended without a review. Pure. */
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import { endStatus } from "../domain/HeadVerdict.ts"
import type { RunVerdict } from "../domain/HeadVerdict.ts"
import { newId } from "../domain/Ids.ts"
import { isOnPull } from "../domain/Change.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { Publication } from "../domain/Publication.ts"
import type { Run } from "../store/Runs.ts"
import { statusId } from "./channels/OperationId.ts"

/** Returns whether a change has a status: only the head commit of a pull request, or of a merge group, at a git host has one. */
export const hasStatus = ({ target, provider }: Pick<Change, "target" | "provider">): boolean =>
  isForgeKind(provider) && (target.kind === "merge_group" || isOnPull({ target }))

/** Returns whether reviews of a change set the status of its head. */
export const setsStatus = ({ outputs, review }: Workspace, change: Change): boolean =>
  review.status_check && !outputs.shadow && hasStatus(change)

/** An earlier verdict about the head in the same base branch takes precedence over a neutral one (domain/HeadVerdict.ts). */
const wording = (
  { status, reason, head }: Pick<Run, "status" | "reason" | "head">,
  newest: Pick<Run, "head"> | undefined
) =>
  newest !== undefined && newest.head !== head
    ? ({ state: "neutral", description: { _tag: "SupersededBy", head: newest.head.slice(0, 12) } } as const)
    : endStatus(status, reason)

/** Returns the status that a run set on its commit when its review began, or before. */
const findPending = (rows: ReadonlyArray<Publication>) =>
  rows
    .flatMap((row) => (row.operation._tag === "Status" ? [{ ...row, operation: row.operation }] : []))
    .find(({ operation }) => operation.state === "pending")

/**
 * Plans the status of a run that has no verdict in time, once for each beginning of its review. `rows`: all publications of the run. Undefined
 * if no pending status was set.
 */
export const statusLate = (
  { head, id: runId, startedAt, targetKey }: Pick<Run, "head" | "id" | "startedAt" | "targetKey">,
  rows: ReadonlyArray<Publication>,
  { description, state }: RunVerdict
): Publication | undefined => {
  const pending = findPending(rows)
  return (
    pending && {
      ...toRow(pending, runId, targetKey),
      operationId: statusId({ targetKey, head, runId }, `late:${startedAt ?? ""}`),
      operation: { ...pending.operation, state, description }
    }
  )
}

/** Returns the fields of a row that takes the place of the pending one. */
const toRow = (
  { channel, position }: Pick<Publication, "channel" | "position">,
  runId: string,
  targetKey: Publication["targetKey"]
) => ({ id: newId(), runId, targetKey, channel, status: "pending", position, attempts: 0 }) as const

/**
 * Plans the final status. `rows`: all publications of the run. `newest`: the newest run of its target. Undefined if no pending
 * status was set, if it already ended, or if a later run of the same head and base branch sets the status. One with another base branch may
 * have sent its status while this run was on record as pending, so that the status is written again.
 */
export const statusEnd = (
  run: Pick<Run, "id" | "targetKey" | "change" | "head" | "status" | "reason">,
  rows: ReadonlyArray<Publication>,
  newest: Pick<Run, "id" | "change" | "head"> | undefined
): Publication | undefined => {
  const statuses = rows.flatMap((row) =>
    row.operation._tag === "Status" ? [{ ...row, operation: row.operation }] : []
  )
  const pending = findPending(rows)
  const isEnded = statuses.some(
    ({ operation, status }) =>
      operation.state !== "pending" && operation.description._tag !== "VerdictLate" && status !== "dropped"
  )
  const later = newest?.id === run.id ? undefined : newest
  const isRepeated = later?.head === run.head && later.change.baseRef === run.change.baseRef
  if (pending === undefined || isEnded || isRepeated) return undefined
  const { state, description } = wording(run, later)
  const { id: runId, targetKey, head } = run
  return {
    ...toRow(pending, runId, targetKey),
    operationId: statusId({ targetKey, head, runId }, `end:${state}`),
    operation: { ...pending.operation, state, description }
  }
}
