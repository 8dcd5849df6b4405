/** Services and functions that every part of the editor uses. */
import { Clock, Effect } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { truncateTexts, verbatimReason } from "../../domain/Reason.ts"
import { newId } from "../../domain/Ids.ts"
import type { RecentEvents } from "../../domain/RecentEvents.ts"
import type { ConfigStore, LayeredFile } from "../ConfigStore.ts"
import { placedReason } from "../ConfigIssue.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { ActivationStore } from "./ActivationStore.ts"
import type { AuditLog, AuditRecord } from "./AuditLog.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { DraftStore } from "./DraftStore.ts"
import type { EditOutcome } from "./ConfigEditor.ts"
import type { FileBaseline } from "./FileBaseline.ts"
import { readCombined } from "./FileBaseline.ts"
import type { ResealStore } from "./ResealStore.ts"
import { SourceUnavailable } from "./RevisionStore.ts"
import type { RevisionStore } from "./RevisionStore.ts"

export interface EditorContext {
  readonly config: ConfigStore["Service"]
  readonly revisions: RevisionStore["Service"]
  readonly drafts: DraftStore["Service"]
  readonly audit: AuditLog["Service"]
  readonly activations: ActivationStore["Service"]
  readonly reseals: ResealStore["Service"]
  /** Returns why a template is refused. */
  readonly checkTemplate: (source: string) => string | undefined
  /** Attempts to save a draft that were recorded lately. */
  readonly recentSaves: RecentEvents
  /** Scope of work in the background. */
  readonly scope: Scope.Scope
}

/** Fails on a node whose file does not enable the database. */
export const requireLayered = ({ config }: EditorContext): Effect.Effect<LayeredFile, SourceUnavailable> =>
  Effect.suspend(() => {
    const layered = config.layered()
    return layered === undefined
      ? Effect.fail(
          new SourceUnavailable({
            operation: "editor",
            why: { _tag: "DatabaseSourceOff" }
          })
        )
      : Effect.succeed(layered)
  })

/** Reads the snapshot that the file and a document make; the current one if they are not valid together. */
export const readSnapshot = (context: EditorContext, document: DatabaseDocument, baseline: FileBaseline): Snapshot =>
  readCombined(document, baseline).snapshot ?? context.config.current()

export const listWarnings = ({ warnings }: Snapshot) =>
  warnings.map((issue) => ({ path: issue.path, reason: placedReason(issue) }))

const maxDetail = 4096

type Recorded = Omit<Partial<AuditRecord>, "at" | "id"> & Pick<AuditRecord, "action" | "actor" | "outcome">

/** Appends an audit record. */
export const record = Effect.fnUntraced(function* ({ audit }: EditorContext, fields: Recorded) {
  const { action, actor, detail, draft, operationId, outcome, revision } = fields
  yield* audit.append({
    id: newId(),
    at: yield* Clock.currentTimeMillis,
    actor,
    action,
    outcome,
    operationId,
    revision,
    draft,
    detail: detail && truncateTexts(detail, maxDetail)
  })
})

const listTexts = (lines: ReadonlyArray<string>): Reason | undefined =>
  lines.join("") === "" ? undefined : verbatimReason(lines.join("\n"))

/** Returns the outcome, the revision and the detail of an audit record about an edit. */
export const describeOutcome = (outcome: EditOutcome): Pick<AuditRecord, "detail" | "outcome" | "revision"> => {
  switch (outcome._tag) {
    case "Committed":
      return { outcome: "committed", revision: outcome.revision.number, detail: listTexts([outcome.revision.reason]) }
    case "Unchanged":
      return { outcome: "unchanged", revision: outcome.head, detail: undefined }
    case "Conflict":
      return {
        outcome: "revision_conflict",
        revision: outcome.head,
        detail: listTexts(outcome.conflicts.map(({ path }) => path.join(" ")))
      }
    case "Refused":
      return {
        outcome: outcome.problems[0]?.code ?? "refused",
        revision: undefined,
        detail: listTexts(outcome.problems.map(({ code, entity, path }) => [code, entity, path].join(" ").trim()))
      }
  }
}
