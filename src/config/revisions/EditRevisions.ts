/** Previews, publishes and restores: the part of the editor that makes revisions. */
import { Effect, Result } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { LayeredFile } from "../ConfigStore.ts"
import { sealingKeys } from "../credentials/Sealing.ts"
import type { AuditAction } from "./AuditLog.ts"
import { blastRadius, noBlast } from "./BlastRadius.ts"
import { checkTemplates } from "./CheckTemplates.ts"
import type {
  EditOutcome,
  EditPreview,
  EditRequest,
  PublishRequest,
  RestoreRequest,
  RoutePreview,
  RouteRequest
} from "./ConfigEditor.ts"
import type { EditorContext } from "./EditorContext.ts"
import { describeOutcome, requireLayered, record, readSnapshot, listWarnings } from "./EditorContext.ts"
import type { LoadedRevision } from "./LoadRevisions.ts"
import { loadHead, loadRevision, lostRevisions } from "./LoadRevisions.ts"
import type { Decision, PublishProblem } from "./Publish.ts"
import { decide, decideDocument } from "./Publish.ts"
import type { Edit } from "./PublishEdit.ts"
import { problem, publishEdit, refusedEdit } from "./PublishEdit.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"
import { editHash, plainHash } from "./RequestHash.ts"
import type { RequestHash } from "./RequestHash.ts"
import type { Reason } from "../../domain/Reason.ts"

const maxOperationId = 200
const maxReason = 2000

const notFound = (number: number): PublishProblem => problem("revision_not_found", { _tag: "RevisionMissing", number })

/** Returns why nothing is published onto a database that has lost revisions: its numbers would be used twice. */
const lossProblem = ({ active }: LayeredFile, { head }: LoadedRevision): PublishProblem | undefined =>
  head.number < active.number ? problem("revisions_lost", lostRevisions(head.number, active.number)) : undefined

/** Decides about an edit with this head. */
const decideEdit = Effect.fnUntraced(function* (
  context: EditorContext,
  { base, operations, strict = false }: EditRequest,
  head: LoadedRevision
): Effect.fn.Return<Decision, SourceUnavailable> {
  const layered = yield* requireLayered(context)
  const { baseline } = layered
  const lost = lossProblem(layered, head)
  if (lost !== undefined) return { _tag: "Refused", problems: [lost] }
  const from = base === head.head.number ? head : yield* loadRevision(context.revisions, base)
  if (from === undefined || base > head.head.number) return { _tag: "Refused", problems: [notFound(base)] }
  const changeset = {
    operations,
    strict,
    base: { number: base, document: from.document },
    head: { number: head.head.number, document: head.document }
  }
  return yield* checkTemplates(decide(changeset, baseline), head.document, context.checkTemplate)
})

const decideRestore = Effect.fnUntraced(function* (
  context: EditorContext,
  number: number,
  head: LoadedRevision,
  expectedHead: number | undefined
): Effect.fn.Return<Decision, SourceUnavailable> {
  const layered = yield* requireLayered(context)
  const { baseline } = layered
  const lost = lossProblem(layered, head)
  if (lost !== undefined) return { _tag: "Refused", problems: [lost] }
  if (expectedHead !== undefined && expectedHead !== head.head.number)
    return { _tag: "Conflict", head: head.head.number, conflicts: [] }
  const target = number > head.head.number ? undefined : yield* loadRevision(context.revisions, number)
  if (target === undefined) return { _tag: "Refused", problems: [notFound(number)] }
  if (target.unknown.length > 0) return { _tag: "Refused", problems: target.unknown }
  const decision = decideDocument({ number: head.head.number, document: head.document }, target.document, baseline)
  return yield* checkTemplates(decision, head.document, context.checkTemplate)
})

const toPreview = Effect.fnUntraced(function* (
  context: EditorContext,
  { document, head }: LoadedRevision,
  decision: Decision
): Effect.fn.Return<EditPreview, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const none: EditPreview = {
    problems: [],
    warnings: [],
    conflicts: [],
    diff: [],
    credentials: [],
    blastRadius: noBlast,
    head: head.number,
    rebasedFrom: undefined
  }
  switch (decision._tag) {
    case "Unchanged":
      return none
    case "Refused":
      return { ...none, problems: decision.problems }
    case "Conflict":
      return { ...none, conflicts: decision.conflicts }
    case "Publish": {
      const { credentials, diff, rebasedFrom, snapshot } = decision.publishable
      const pinned = yield* context.config.pinnedHashes
      return {
        ...none,
        diff,
        credentials,
        rebasedFrom,
        warnings: listWarnings(snapshot),
        blastRadius: blastRadius(readSnapshot(context, document, baseline), snapshot, pinned)
      }
    }
  }
})

/** `edit`: or why its credentials cannot be opened. */
export const preview = Effect.fnUntraced(function* (
  context: EditorContext,
  edit: Result.Result<EditRequest, ReadonlyArray<PublishProblem>>
) {
  const head = yield* loadHead(context.revisions)
  const decision: Decision = Result.isFailure(edit)
    ? { _tag: "Refused", problems: edit.failure }
    : yield* decideEdit(context, edit.success, head)
  return yield* toPreview(context, head, decision)
})

export const previewRestore = Effect.fnUntraced(function* (context: EditorContext, number: number) {
  const head = yield* loadHead(context.revisions)
  const decision = yield* decideRestore(context, number, head, undefined)
  const isMissing = decision._tag === "Refused" && decision.problems.some(({ code }) => code === "revision_not_found")
  return isMissing ? undefined : yield* toPreview(context, head, decision)
})

export const previewRoute = Effect.fnUntraced(function* (
  context: EditorContext,
  { source, trigger, ...edit }: RouteRequest
): Effect.fn.Return<RoutePreview, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const head = yield* loadHead(context.revisions)
  const current = readSnapshot(context, head.document, baseline)
  const before = current.route(trigger, source).map(({ id }) => id)
  const decision: Decision =
    edit.operations.length === 0 ? { _tag: "Unchanged" } : yield* decideEdit(context, edit, head)
  switch (decision._tag) {
    case "Unchanged":
      return { problems: [], before, after: before }
    case "Refused":
      return { problems: decision.problems, before, after: [] }
    case "Conflict":
      return {
        problems: [problem("revision_conflict", { _tag: "OthersChanged" })],
        before,
        after: []
      }
    case "Publish":
      return { problems: [], before, after: decision.publishable.snapshot.route(trigger, source).map(({ id }) => id) }
  }
})

/** Returns why a request cannot be considered at all. */
const malformed = ({
  operationId,
  reason = ""
}: Pick<PublishRequest, "operationId" | "reason">): Reason | undefined => {
  if (operationId === "" || operationId.length > maxOperationId)
    return { _tag: "OperationIdLength", count: operationId.length, limit: maxOperationId }
  return reason.length > maxReason ? { _tag: "ReasonLength", count: reason.length, limit: maxReason } : undefined
}

/** Returns whether the required approvals exist, or the emergency exception is stated with a reason. */
const approvalProblem = (
  context: EditorContext,
  approvals: number,
  { breakGlass = false, reason = "" }: Pick<PublishRequest, "breakGlass" | "reason">
): PublishProblem | undefined => {
  const required = context.config.current().document.config_sources.database.approvals
  if (approvals >= required || (breakGlass && reason.trim() !== "")) return undefined
  return problem(
    "approval_required",
    breakGlass ? { _tag: "ReasonNeeded" } : { _tag: "ApprovalsNeeded", required, approvals }
  )
}

interface EditOptions {
  readonly action: AuditAction
  /** Approvals of the draft that is published. */
  readonly approvals: number
  readonly draft?: string | undefined
  /** Identifies the request; default: by its base and its operations. */
  readonly request?: RequestHash
}

/** Publishes, records the attempt and lets this node work with the result. */
const perform = Effect.fnUntraced(function* (
  context: EditorContext,
  request: Pick<PublishRequest, "breakGlass" | "operationId" | "reason">,
  edit: Edit,
  { action, approvals, draft }: EditOptions
): Effect.fn.Return<EditOutcome, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const invalid = malformed(request)
  const unapproved = approvalProblem(context, approvals, request)
  const outcome =
    invalid !== undefined
      ? refusedEdit([problem("invalid_request", invalid)])
      : unapproved !== undefined
        ? refusedEdit([unapproved])
        : yield* publishEdit(context.revisions, edit, (revision, { document, snapshot }) =>
            context.config.prepare({ revision, document, snapshot, baseline })
          )
  const described = describeOutcome(outcome)
  const detail =
    request.breakGlass === true && outcome._tag === "Committed"
      ? ({ _tag: "PublishedWithBreakGlass", why: verbatimReason(outcome.revision.reason) } as const)
      : described.detail
  const operationId = edit.operationId.slice(0, maxOperationId)
  yield* record(context, { action, actor: edit.actor, operationId, draft, ...described, detail })
  if (outcome._tag !== "Committed") return outcome
  yield* context.config.adoptHead() ?? Effect.void
  const active = context.config.layered()?.active.number ?? 0
  return { ...outcome, active: active >= outcome.revision.number }
})

export const publish = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  request: PublishRequest,
  options: EditOptions = { action: "publish", approvals: 0 }
) {
  const { baseline } = yield* requireLayered(context)
  const { base, operationId, operations, strict = false } = request
  const edit: Edit = {
    actor,
    operationId,
    request: options.request ?? editHash([base, strict], operations, sealingKeys(baseline.env)),
    reason: request.reason ?? "",
    restores: undefined,
    decide: (head) => decideEdit(context, request, head)
  }
  return yield* perform(context, request, edit, options)
})

export const restore = (context: EditorContext, actor: string, request: RestoreRequest) =>
  perform(
    context,
    request,
    {
      actor,
      operationId: request.operationId,
      request: plainHash(["restore", request.revision, request.expectedHead ?? null]),
      reason: request.reason ?? "",
      restores: request.revision,
      decide: (head) => decideRestore(context, request.revision, head, request.expectedHead)
    },
    { action: "restore", approvals: 0 }
  )
