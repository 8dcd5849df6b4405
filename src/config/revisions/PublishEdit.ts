/**
 * Publishes edits: decides with the newest revision, appends the result, and decides again if another edit was published in the meantime.
 * An operation id gets one final result.
 */
import { Effect } from "effect"
import type { RevisionStore, SourceUnavailable } from "./RevisionStore.ts"
import type { EditOutcome } from "./ConfigEditor.ts"
import type { LoadedRevision } from "./LoadRevisions.ts"
import { loadHead } from "./LoadRevisions.ts"
import type { Decision, Publishable, PublishProblem } from "./Publish.ts"
import type { RequestHash } from "./RequestHash.ts"
import type { ConfigOperationRecord, ConfigRevision, NewRevision, RevisionHead, RevisionSummary } from "./Revision.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Maximum number of decisions about an edit while others publish at the same time. */
const maxAttempts = 50

export interface Edit {
  readonly actor: string
  readonly operationId: string
  readonly request: RequestHash
  readonly reason: string
  readonly restores: number | undefined
  /** Decides with this head. */
  readonly decide: (head: LoadedRevision) => Effect.Effect<Decision, SourceUnavailable>
}

/** Receives what was published, before others can change it. */
type OnCommitted = (revision: RevisionHead, published: Publishable) => void

export const refusedEdit = (problems: ReadonlyArray<PublishProblem>): EditOutcome => ({ _tag: "Refused", problems })

export const problem = (code: string, reason: Reason, entity = "", path = ""): PublishProblem => ({
  code,
  entity,
  path,
  reason
})

export const summarise = (revision: ConfigRevision): RevisionSummary => {
  const { diff, document: _, requestHash: __, ...summary } = revision
  return { ...summary, changes: diff.length }
}

export const publishEdit = Effect.fnUntraced(function* (
  store: RevisionStore["Service"],
  edit: Edit,
  onCommitted: OnCommitted
): Effect.fn.Return<EditOutcome, SourceUnavailable> {
  const earlier = yield* store.operation(edit.operationId)
  if (earlier !== undefined) return yield* repeated(store, edit, earlier)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const head = yield* loadHead(store)
    if (head.unknown.length > 0) return refusedEdit(head.unknown)
    const outcome = yield* apply(store, edit, head, yield* edit.decide(head), onCommitted)
    if (outcome !== undefined) return outcome
  }
  return refusedEdit([problem("source_contended", { _tag: "Contended" })])
})

/** Returns undefined if the head has changed. */
const apply = Effect.fnUntraced(function* (
  store: RevisionStore["Service"],
  edit: Edit,
  { head }: LoadedRevision,
  decision: Decision,
  onCommitted: OnCommitted
): Effect.fn.Return<EditOutcome | undefined, SourceUnavailable> {
  const { operationId, request } = edit
  const requestHash = request.text
  switch (decision._tag) {
    case "Refused":
      return refusedEdit(decision.problems)
    case "Unchanged": {
      const result = { _tag: "Unchanged", revision: head.number } as const
      return yield* repeated(store, edit, yield* store.conclude({ operationId, requestHash, result }))
    }
    case "Conflict": {
      const result = { _tag: "Conflict", head: decision.head, conflicts: decision.conflicts } as const
      return yield* repeated(store, edit, yield* store.conclude({ operationId, requestHash, result }))
    }
    case "Publish": {
      const { diff, rebasedFrom, stored } = decision.publishable
      const revision: NewRevision = {
        number: head.number + 1,
        parent: head.number,
        hash: stored.hash,
        document: stored.text,
        actor: edit.actor,
        operationId,
        requestHash,
        reason: edit.reason,
        rebasedFrom,
        restores: edit.restores,
        diff
      }
      const appended = yield* store.append(revision, head)
      if (appended._tag === "Moved") return undefined
      if (appended._tag === "Repeated") return yield* repeated(store, edit, appended.operation)
      onCommitted({ number: revision.number, hash: revision.hash }, decision.publishable)
      return { _tag: "Committed", revision: summarise(appended.revision), active: false }
    }
  }
})

const reused = (id: string, compared: "different" | "unknown_key"): PublishProblem =>
  problem("operation_id_reused", {
    _tag: compared === "different" ? "OperationIdReused" : "OperationIdUncomparable",
    id: JSON.stringify(id)
  })

/** Returns the recorded result of an operation id, unless the id was used for something else. */
const repeated = Effect.fnUntraced(function* (
  store: RevisionStore["Service"],
  { operationId, request }: Edit,
  { requestHash, result }: ConfigOperationRecord
): Effect.fn.Return<EditOutcome, SourceUnavailable> {
  const compared = request.compare(requestHash)
  if (compared !== "same") return refusedEdit([reused(operationId, compared)])
  switch (result._tag) {
    case "Committed": {
      const revision = yield* store.read(result.revision)
      return revision === undefined
        ? refusedEdit([problem("revision_not_found", { _tag: "RevisionOfOperationRemoved", number: result.revision })])
        : { _tag: "Committed", revision: summarise(revision), active: false }
    }
    case "Unchanged":
      return { _tag: "Unchanged", head: result.revision }
    case "Conflict":
      return result
    case "Resealed":
      return refusedEdit([reused(operationId, "different")])
  }
})
