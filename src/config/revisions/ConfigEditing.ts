/** Implements the editor over the stores of the database source. */
import { Clock, Effect, Layer, Result } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { makeRecentEvents } from "../../domain/RecentEvents.ts"
import { ConfigStore } from "../ConfigStore.ts"
import { activationExpiry, ActivationStore } from "./ActivationStore.ts"
import { AuditLog } from "./AuditLog.ts"
import { CheckTemplate } from "./CheckTemplates.ts"
import { ConfigEditor } from "./ConfigEditor.ts"
import type { EditRequest, RevisionDetails, SourceStatus } from "./ConfigEditor.ts"
import { emptyDocument } from "./DatabaseDocument.ts"
import { DraftStore } from "./DraftStore.ts"
import { draftDocument, openDraft } from "./DraftContent.ts"
import { approveDraft, createDraft, maskDraft, publishDraft, removeDraft, saveDraft } from "./EditDrafts.ts"
import { describeOutcome, record, requireLayered } from "./EditorContext.ts"
import type { EditorContext } from "./EditorContext.ts"
import { preview, previewRestore, previewRoute, publish, restore } from "./EditRevisions.ts"
import { effectiveValues, listOwned, listShadowed } from "./Effective.ts"
import { loadHead } from "./LoadRevisions.ts"
import { summarise } from "./PublishEdit.ts"
import type { PublishProblem } from "./Publish.ts"
import { ResealStore } from "./ResealStore.ts"
import { readOperation, startReseal, watchReseals } from "./RunReseal.ts"
import { RevisionStore } from "./RevisionStore.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"
import { deserialise } from "./SealDocument.ts"
import { exportDocument, importDocument, toMasked } from "./YamlExchange.ts"
import type { ConfigRevision } from "./Revision.ts"

/** Reads the changes of all revisions that exist, newest first. */

type Change = Pick<ConfigRevision, "actor" | "diff" | "number">

const pageSize = 100

const readHistory = Effect.fnUntraced(function* (
  store: RevisionStore["Service"]
): Effect.fn.Return<ReadonlyArray<Change>, SourceUnavailable> {
  const changes: Array<Change> = []
  let before: number | undefined
  do {
    const page = yield* store.list({ before, limit: pageSize })
    for (const { number } of page.items) {
      const revision = yield* store.read(number)
      if (revision !== undefined) changes.push({ actor: revision.actor, diff: revision.diff, number })
    }
    before = page.next
  } while (before !== undefined)
  return changes
})

/** A draft is saved while it is edited: within this time, equal attempts of one administrator have one record. */
const recordedMillis = 10 * 60 * 1000

const readEffective = Effect.fnUntraced(function* (context: EditorContext) {
  const layered = yield* requireLayered(context)
  const head = yield* loadHead(context.revisions)
  const history = yield* readHistory(context.revisions)
  const snapshot = context.config.current()
  return {
    head: head.head.number,
    active: layered.active.number,
    snapshot: snapshot.hash,
    values: effectiveValues(snapshot, { layered, history, routes: Object.keys(head.document.entities.routes) }) ?? [],
    document: toMasked(head.document),
    shadowed: listShadowed(layered, head.document),
    ownedByFile: listOwned(layered)
  }
})

const readWorkspace = Effect.fnUntraced(function* (context: EditorContext, id: string) {
  const layered = yield* requireLayered(context)
  const { document } = yield* loadHead(context.revisions)
  const history = yield* readHistory(context.revisions)
  const routes = Object.keys(document.entities.routes)
  return effectiveValues(context.config.current(), { layered, history, routes }, id)
})

const readStatus = Effect.fnUntraced(function* (context: EditorContext) {
  const { baseline } = yield* requireLayered(context)
  const { number: head } = yield* context.revisions.head
  const nodes = yield* context.activations.list((yield* Clock.currentTimeMillis) - activationExpiry)
  return {
    head,
    namespace: baseline.namespace,
    approvals: context.config.current().document.config_sources.database.approvals,
    nodes,
    converged: nodes.every(({ active }) => active === head),
    reseal: yield* context.reseals.get
  } satisfies SourceStatus
})

const readRevision = Effect.fnUntraced(function* ({ revisions }: EditorContext, number: number) {
  const revision = yield* revisions.read(number)
  return revision === undefined
    ? undefined
    : ({
        ...summarise(revision),
        diff: revision.diff,
        document: toMasked(deserialise(revision.document))
      } satisfies RevisionDetails)
})

const readYaml = Effect.fnUntraced(function* ({ revisions }: EditorContext, text: string, base?: number) {
  const { document, head, unknown } = yield* loadHead(revisions)
  if (unknown.length > 0) return { _tag: "Refused", problems: unknown } as const
  const from = base === undefined || base === head.number ? document : yield* readDocument(revisions, base)
  if (from === undefined) return { _tag: "NoRevision" } as const
  const operations = importDocument(text, from)
  return Result.isFailure(operations)
    ? ({ _tag: "Refused", problems: operations.failure } as const)
    : ({ _tag: "Operations", base: base ?? head.number, operations: operations.success } as const)
})

const readDocument = Effect.fnUntraced(function* (revisions: EditorContext["revisions"], number: number) {
  if (number === 0) return emptyDocument
  const revision = yield* revisions.read(number)
  return revision === undefined ? undefined : deserialise(revision.document)
})

const operationsRead = (count: number): Reason => ({ _tag: "OperationsRead", count })

const importYaml = Effect.fnUntraced(function* (context: EditorContext, actor: string, text: string, base?: number) {
  const result = yield* readYaml(context, text, base)
  if (result._tag === "NoRevision") {
    yield* record(context, { action: "import", actor, outcome: "revision_not_found", revision: base })
    return result
  }
  const described =
    result._tag === "Refused"
      ? describeOutcome(result)
      : { outcome: "done", revision: result.base, detail: operationsRead(result.operations.length) }
  yield* record(context, { action: "import", actor, ...described })
  return result
})

/** Records an edit that would be refused. One that could be published is on record when it is. */
const auditedPreview = Effect.fnUntraced(function* (
  context: EditorContext,
  actor: string,
  edit: Result.Result<EditRequest, ReadonlyArray<PublishProblem>>
) {
  const shown = yield* preview(context, edit)
  const { conflicts, head, problems } = shown
  if (problems.length > 0)
    yield* record(context, { action: "validate", actor, ...describeOutcome({ _tag: "Refused", problems }) })
  else if (conflicts.length > 0)
    yield* record(context, { action: "validate", actor, ...describeOutcome({ _tag: "Conflict", head, conflicts }) })
  return shown
})

const exportYaml = Effect.fnUntraced(function* (context: EditorContext, actor: string) {
  const { document, head } = yield* loadHead(context.revisions)
  yield* record(context, { action: "export", actor, outcome: "done", revision: head.number })
  return exportDocument(document)
})

export const layer: Layer.Layer<
  ConfigEditor,
  never,
  ActivationStore | AuditLog | ConfigStore | DraftStore | ResealStore | RevisionStore
> = Layer.effect(
  ConfigEditor,
  Effect.gen(function* () {
    const context: EditorContext = {
      config: yield* ConfigStore,
      revisions: yield* RevisionStore,
      drafts: yield* DraftStore,
      audit: yield* AuditLog,
      activations: yield* ActivationStore,
      reseals: yield* ResealStore,
      scope: yield* Effect.scope,
      checkTemplate: yield* CheckTemplate,
      recentSaves: makeRecentEvents(recordedMillis)
    }
    yield* watchReseals(context)
    const { audit, drafts, reseals, revisions } = context
    return ConfigEditor.of({
      effective: Effect.suspend(() => readEffective(context)),
      workspace: (id) => readWorkspace(context, id),
      status: Effect.suspend(() => readStatus(context)),
      revisions: revisions.list,
      revision: (number) => readRevision(context, number),
      operation: (id) => readOperation(context, id),
      preview: (actor, edit) => auditedPreview(context, actor, Result.succeed(edit)),
      previewRoute: (request) => previewRoute(context, request),
      previewRestore: (number) => previewRestore(context, number),
      publish: (actor, request) => publish(context, actor, request),
      restore: (actor, request) => restore(context, actor, request),
      drafts: Effect.map(drafts.list, (all) => all.map(maskDraft)),
      draft: (id) => Effect.map(drafts.get(id), (draft) => (draft === undefined ? undefined : maskDraft(draft))),
      draftDocument: (id) => draftDocument(context, id),
      previewDraft: Effect.fnUntraced(function* (actor, id) {
        const draft = yield* drafts.get(id)
        return draft === undefined ? undefined : yield* auditedPreview(context, actor, yield* openDraft(context, draft))
      }),
      createDraft: (actor, input, copyOf) => createDraft(context, actor, input, copyOf),
      saveDraft: (actor, id, version, input) => saveDraft(context, actor, id, version, input),
      approveDraft: (actor, id, version) => approveDraft(context, actor, id, version),
      removeDraft: (actor, id, version) => removeDraft(context, actor, id, version),
      publishDraft: (actor, id, request) => publishDraft(context, actor, id, request),
      exportYaml: (actor) => exportYaml(context, actor),
      importYaml: (actor, text, base) => importYaml(context, actor, text, base),
      audit: audit.list,
      startReseal: (actor) => startReseal(context, actor),
      resealJob: reseals.get
    })
  })
)
