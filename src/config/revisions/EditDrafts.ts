/** Saves, approves and publishes drafts: the part of the editor that collects edits. */
import { Clock, Effect, Result } from "effect"
import { newId } from "../../domain/Ids.ts"
import type { DraftInput, DraftOutcome, EditOutcome, PublishRequest } from "./ConfigEditor.ts"
import type { ConfigDraft, SavedDraft } from "./DraftStore.ts"
import type { EditorContext } from "./EditorContext.ts"
import { openDraft, toStored } from "./DraftContent.ts"
import { describeOutcome, record } from "./EditorContext.ts"
import { publish } from "./EditRevisions.ts"
import { maskOperations } from "./OperationSecrets.ts"
import type { AuditAction } from "./AuditLog.ts"
import type { PublishProblem } from "./Publish.ts"
import { problem, refusedEdit, summarise } from "./PublishEdit.ts"
import { plainHash } from "./RequestHash.ts"
import type { ConfigOperationRecord } from "./Revision.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"

export const maskDraft = (draft: ConfigDraft): ConfigDraft => ({
  ...draft,
  operations: maskOperations(draft.operations)
})

const toOutcome = (saved: SavedDraft, draft: ConfigDraft): DraftOutcome => {
  switch (saved._tag) {
    case "Saved":
      return { _tag: "Saved", draft: maskDraft(draft) }
    case "Moved":
      return { _tag: "Moved", current: saved.current === undefined ? undefined : maskDraft(saved.current) }
    case "TooMany":
      return {
        _tag: "Refused",
        problems: [problem("too_many_drafts", { _tag: "TooManyDrafts", count: saved.limit })]
      }
    case "TooLarge":
      return {
        _tag: "Refused",
        problems: [problem("too_many_drafts", { _tag: "DraftsTooLarge", bytes: saved.limit })]
      }
  }
}

const describe = (outcome: DraftOutcome): string =>
  outcome._tag === "Saved"
    ? "done"
    : outcome._tag === "Refused"
      ? (outcome.problems[0]?.code ?? "refused")
      : "draft_conflict"

/** Writes a draft and records the attempt. */
const write = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  action: AuditAction,
  next: Result.Result<ConfigDraft, ReadonlyArray<PublishProblem>>,
  id: string
): Effect.fn.Return<DraftOutcome, SourceUnavailable> {
  const outcome: DraftOutcome = Result.isFailure(next)
    ? { _tag: "Refused", problems: next.failure }
    : toOutcome(yield* context.drafts.save(next.success), next.success)
  const described = describe(outcome)
  const isSave = action === "draft_save" && (next._tag === "Failure" || next.success.version > 1)
  const event = JSON.stringify([actor, id, described])
  if (!isSave || context.recentSaves.isNew(event, yield* Clock.currentTimeMillis))
    yield* record(context, { action, actor, outcome: described, draft: id })
  return outcome
})

export const createDraft = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  input: DraftInput,
  copyOf?: string
) {
  const source = copyOf === undefined ? undefined : yield* context.drafts.get(copyOf)
  const content = yield* toStored(context, input, source)
  const id = newId()
  const now = yield* Clock.currentTimeMillis
  const draft = Result.map(content, (stored): ConfigDraft => ({
    ...stored,
    id,
    owner: actor,
    editors: [actor],
    approvals: [],
    version: 1,
    createdAt: now,
    updatedAt: now
  }))
  return yield* write(context, actor, "draft_save", draft, id)
})

interface Attempt {
  readonly actor: string
  readonly action: AuditAction
  readonly id: string
  readonly version: number
}

/** Runs `change` on a draft that has this version; records the attempt if it has not. */
const onVersion = Effect.fnUntraced(function* <E>(
  context: EditorContext,
  { action, actor, id, version }: Attempt,
  change: (draft: ConfigDraft) => Effect.Effect<DraftOutcome, E>
): Effect.fn.Return<DraftOutcome, E | SourceUnavailable> {
  const draft = yield* context.drafts.get(id)
  if (draft?.version === version) return yield* change(draft)
  const outcome = draft === undefined ? "draft_not_found" : "draft_conflict"
  yield* record(context, { action, actor, outcome, draft: id })
  return draft === undefined ? { _tag: "NotFound" } : { _tag: "Moved", current: maskDraft(draft) }
})

export const saveDraft = (context: EditorContext, actor: string, id: string, version: number, input: DraftInput) =>
  onVersion(
    context,
    { action: "draft_save", actor, id, version },
    Effect.fnUntraced(function* (draft) {
      const content = yield* toStored(context, input, draft)
      const updatedAt = yield* Clock.currentTimeMillis
      const next = Result.map(content, (stored) => ({
        ...draft,
        ...stored,
        editors: [...new Set([...draft.editors, actor])],
        approvals: [],
        version: version + 1,
        updatedAt
      }))
      return yield* write(context, actor, "draft_save", next, id)
    })
  )

export const approveDraft = (context: EditorContext, actor: string, id: string, version: number) =>
  onVersion(
    context,
    { action: "draft_approve", actor, id, version },
    Effect.fnUntraced(function* (draft) {
      if (draft.editors.includes(actor)) {
        const own = problem("own_draft", { _tag: "OwnDraft" })
        return yield* write(context, actor, "draft_approve", Result.fail([own]), id)
      }
      const others = draft.approvals.filter((approval) => approval.actor !== actor)
      const approvals = [...others, { actor, at: yield* Clock.currentTimeMillis }]
      const next = Result.succeed({ ...draft, approvals, version: version + 1 })
      return yield* write(context, actor, "draft_approve", next, id)
    })
  )

export const removeDraft = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  id: string,
  version: number
) {
  const removed = yield* context.drafts.remove(id, version)
  yield* record(context, { action: "draft_delete", actor, outcome: removed ? "done" : "draft_conflict", draft: id })
  return removed
})

/** Returns the result of a draft that was published before. */
const repeatedDraft = Effect.fnUntraced(function* (
  context: EditorContext,
  { result }: ConfigOperationRecord
): Effect.fn.Return<EditOutcome, SourceUnavailable> {
  if (result._tag === "Conflict") return result
  if (result._tag === "Unchanged") return { _tag: "Unchanged", head: result.revision }
  if (result._tag === "Resealed") return refusedEdit([problem("operation_id_reused", { _tag: "OperationOfReseal" })])
  const revision = yield* context.revisions.read(result.revision)
  if (revision === undefined)
    return refusedEdit([problem("revision_not_found", { _tag: "RevisionRemoved", number: result.revision })])
  const active = (context.config.layered()?.active.number ?? 0) >= revision.number
  return { _tag: "Committed", revision: summarise(revision), active }
})

export const publishDraft = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  id: string,
  request: Pick<PublishRequest, "breakGlass" | "operationId" | "reason" | "strict"> & { readonly version: number }
): Effect.fn.Return<EditOutcome, SourceUnavailable> {
  const { breakGlass, operationId, strict, version } = request
  const identity = plainHash(["draft", id, version])
  const draft = yield* context.drafts.get(id)
  if (draft?.version !== version) {
    // A draft is removed once it is published: a repeated request gets the result of the first one.
    const earlier = draft === undefined ? yield* context.revisions.operation(operationId) : undefined
    if (earlier !== undefined && identity.compare(earlier.requestHash) === "same")
      return yield* repeatedDraft(context, earlier)
    const refusal =
      draft === undefined
        ? problem("draft_not_found", { _tag: "DraftMissing", draft: JSON.stringify(id) })
        : problem("draft_conflict", { _tag: "DraftVersion", version: draft.version, expected: version })
    yield* record(context, { action: "draft_publish", actor, outcome: refusal.code, draft: id, operationId })
    return refusedEdit([refusal])
  }
  const opened = yield* openDraft(context, draft)
  if (Result.isFailure(opened)) {
    const refusal = refusedEdit(opened.failure)
    yield* record(context, { action: "draft_publish", actor, draft: id, operationId, ...describeOutcome(refusal) })
    return refusal
  }
  const { title } = draft
  const reason = request.reason ?? draft.reason
  const outcome = yield* publish(
    context,
    actor,
    { ...opened.success, operationId, breakGlass, strict, reason: reason === "" ? title : reason },
    { action: "draft_publish", approvals: draft.approvals.length, draft: id, request: identity }
  )
  if (outcome._tag === "Committed") yield* context.drafts.remove(id, draft.version)
  return outcome
})
