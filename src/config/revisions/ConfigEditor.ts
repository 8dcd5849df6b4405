/**
 * Edits the database's configuration, for the admin API and for commands. Exists on a node whose file has config_sources.database.enabled.
 * Results contain no credential: they are masked. Expected outcomes are values; the only error is a store that is unavailable.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { Difference } from "../Diff.ts"
import type { SourceFacts } from "../Snapshot.ts"
import type { CredentialChange } from "./CredentialChange.ts"
import { NodeActivation } from "./ActivationStore.ts"
import type { AuditPage } from "./AuditLog.ts"
import type { Conflict } from "./Revision.ts"
import type { ConfigDraft } from "./DraftStore.ts"
import type { ConfigOperation } from "./Operations.ts"
import type { PublishProblem } from "./Publish.ts"
import type { ConfigOperationRecord, RevisionSummary } from "./Revision.ts"
import { ResealJob } from "./ResealStore.ts"
import type { RevisionPage, SourceUnavailable } from "./RevisionStore.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { EffectiveValue } from "./Effective.ts"

type Result<A> = Effect.Effect<A, SourceUnavailable>

export interface EditRequest {
  /** Revision that the operations were made for. */
  readonly base: number
  readonly operations: ReadonlyArray<ConfigOperation>
  /** Any other revision since the base is a conflict (`If-Match`). Default: false. */
  readonly strict?: boolean | undefined
}

export interface PublishRequest extends EditRequest {
  /** Applied once; a repeated request gets the first result. 1 to 200 characters. */
  readonly operationId: string
  readonly reason?: string | undefined
  /** Publish without the approvals that config_sources.database.approvals requires; audited. */
  readonly breakGlass?: boolean | undefined
}

export interface RestoreRequest {
  readonly revision: number
  readonly operationId: string
  readonly reason?: string | undefined
  /** The head must still have this number. */
  readonly expectedHead?: number | undefined
  readonly breakGlass?: boolean | undefined
}

/** A part of the effective configuration that an edit changes. */
export interface BlastRadius {
  /** Ids of workspaces whose effective values change, appear or disappear. */
  readonly workspaces: ReadonlyArray<string>
  readonly triggers: ReadonlyArray<string>
  readonly channels: ReadonlyArray<string>
  /** Positions of route rules in the effective order that differ. */
  readonly routes: ReadonlyArray<number>
  readonly bindings: ReadonlyArray<string>
  /** Hash of the snapshot with the edit; empty: the edit is refused. */
  readonly snapshot: string
  /** Number of older snapshots that unfinished work is pinned to, which this edit does not reach. */
  readonly pinnedSnapshots: number
}

export interface EditPreview {
  /** Empty: the edit can be published. */
  readonly problems: ReadonlyArray<PublishProblem>
  /** Warnings of the resulting configuration. */
  readonly warnings: ReadonlyArray<{ readonly path: string; readonly reason: Reason }>
  readonly conflicts: ReadonlyArray<Conflict>
  readonly diff: ReadonlyArray<Difference>
  readonly credentials: ReadonlyArray<CredentialChange>
  readonly blastRadius: BlastRadius
  readonly head: number
  readonly rebasedFrom: number | undefined
}

export type EditOutcome =
  /** `active`: this node works with it. False: it refused it, see `status`. */
  | { readonly _tag: "Committed"; readonly revision: RevisionSummary; readonly active: boolean }
  | { readonly _tag: "Unchanged"; readonly head: number }
  | { readonly _tag: "Conflict"; readonly head: number; readonly conflicts: ReadonlyArray<Conflict> }
  /** Codes: those of PublishProblem, `operation_id_reused`, `approval_required`, `revision_not_found`, `source_contended`. */
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }

const MaskedDocument = Schema.Struct({ globals: Schema.Unknown, entities: Schema.Unknown })

export const EffectiveConfig = Schema.Struct({
  head: Schema.Int,
  active: Schema.Int,
  snapshot: Schema.String,
  values: Schema.Array(Schema.declare((value): value is EffectiveValue => typeof value === "object")),
  /** The database's document, masked. */
  document: MaskedDocument,
  /** Entities of the database that the file hides, such as `triggers/main`, and global fields. */
  shadowed: Schema.Array(Schema.String),
  /** Entities that the file owns, with their line. */
  ownedByFile: Schema.Array(Schema.Struct({ entity: Schema.String, line: Schema.optional(Schema.Int) }))
})
export type EffectiveConfig = typeof EffectiveConfig.Type

export interface RevisionDetails extends RevisionSummary {
  readonly diff: ReadonlyArray<Difference>
  /** Masked. */
  readonly document: typeof MaskedDocument.Type
}

export const SourceStatus = Schema.Struct({
  head: Schema.Int,
  namespace: Schema.String,
  /** Number of approvals that a draft needs; 0: none. */
  approvals: Schema.Int,
  /** Nodes that have reported within five minutes. */
  nodes: Schema.Array(NodeActivation),
  /** Every listed node works with the head. */
  converged: Schema.Boolean,
  /** The latest sealing of credentials with the current key. */
  reseal: Schema.optional(ResealJob)
})
export type SourceStatus = typeof SourceStatus.Type

export type ResealOutcome =
  | { readonly _tag: "Started"; readonly job: ResealJob }
  /** Codes: `secrets_key_missing`, `secret_sealing_invalid`, `source_contended`. */
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }

/**
 * Content of a draft: operations, or the document in YAML that they make of the revision `base`. A masked credential keeps the value that the draft
 * has before.
 */
export type DraftInput = {
  readonly title: string
  readonly reason: string
  readonly base: number
} & ({ readonly operations: ReadonlyArray<ConfigOperation> } | { readonly yaml: string })

/** The document that a draft makes of its base revision. */
export type DraftDocument =
  | {
      readonly _tag: "Document"
      readonly base: number
      readonly version: number
      /** Masked. */
      readonly document: typeof MaskedDocument.Type
      readonly yaml: string
    }
  | { readonly _tag: "NotFound" }
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }

export type DraftOutcome =
  | { readonly _tag: "Saved"; readonly draft: ConfigDraft }
  | { readonly _tag: "NotFound" }
  /** The draft has another version; `current` is masked like every draft. */
  | { readonly _tag: "Moved"; readonly current: ConfigDraft | undefined }
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }

export interface RouteRequest extends EditRequest {
  readonly trigger: string
  readonly source: SourceFacts
}

export interface RoutePreview {
  readonly problems: ReadonlyArray<PublishProblem>
  /** Ids of the workspaces that a delivery of this source reaches now, and with the edit. More than one is `ambiguous_route`. */
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

export class ConfigEditor extends Context.Service<
  ConfigEditor,
  {
    readonly effective: Result<EffectiveConfig>
    /** Effective values of one workspace; undefined if there is no such workspace. */
    readonly workspace: (id: string) => Result<ReadonlyArray<EffectiveValue> | undefined>
    readonly status: Result<SourceStatus>
    readonly revisions: (page: { readonly before?: number | undefined; readonly limit: number }) => Result<RevisionPage>
    readonly revision: (number: number) => Result<RevisionDetails | undefined>
    /** Result of an operation id, for callers that lost the response; also of the id of a job of `startReseal`, with its progress. */
    readonly operation: (id: string) => Result<ConfigOperationRecord | undefined>
    /** Validates, compares and computes what changes, without writing. An edit that would be refused is audited. */
    readonly preview: (actor: string, edit: EditRequest) => Result<EditPreview>
    readonly previewRoute: (request: RouteRequest) => Result<RoutePreview>
    readonly publish: (actor: string, request: PublishRequest) => Result<EditOutcome>
    /** Writes a new revision with the document of an older one. */
    readonly restore: (actor: string, request: RestoreRequest) => Result<EditOutcome>
    readonly previewRestore: (revision: number) => Result<EditPreview | undefined>

    readonly drafts: Result<ReadonlyArray<ConfigDraft>>
    readonly draft: (id: string) => Result<ConfigDraft | undefined>
    /** The database's document with the edits of a draft. */
    readonly draftDocument: (id: string) => Result<DraftDocument>
    /** Previews a stored draft, with the credentials that it holds. Undefined if it does not exist. */
    readonly previewDraft: (actor: string, id: string) => Result<EditPreview | undefined>
    /** `copyOf`: id of a draft whose credentials masks mean. */
    readonly createDraft: (actor: string, input: DraftInput, copyOf?: string) => Result<DraftOutcome>
    /**
     * Saves another version; `version` is the one that was read. Removes its approvals. Any administrator may continue a draft, but a credential
     * that it holds is kept only for the same destination.
     */
    readonly saveDraft: (actor: string, id: string, version: number, input: DraftInput) => Result<DraftOutcome>
    /** Approves a version. The owner of a draft cannot approve it. */
    readonly approveDraft: (actor: string, id: string, version: number) => Result<DraftOutcome>
    readonly removeDraft: (actor: string, id: string, version: number) => Result<boolean>
    /** Publishes a draft and removes it once it is committed. */
    readonly publishDraft: (
      actor: string,
      id: string,
      request: Pick<PublishRequest, "breakGlass" | "operationId" | "reason" | "strict"> & { readonly version: number }
    ) => Result<EditOutcome>

    /** YAML of the database's document with masks in place of credentials; audited. */
    readonly exportYaml: (actor: string) => Result<string>
    /**
     * Converts a YAML document, such as an export, to the operations that turn the head, or the revision `base`, into it. Masked credentials keep
     * their values.
     */
    readonly importYaml: (
      actor: string,
      text: string,
      base?: number
    ) => Result<
      | { readonly _tag: "NoRevision" }
      | { readonly _tag: "Operations"; readonly base: number; readonly operations: ReadonlyArray<ConfigOperation> }
      | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }
    >
    readonly audit: (page: { readonly before?: string | undefined; readonly limit: number }) => Result<AuditPage>
    /**
     * Starts sealing all credentials with the current key in the background, or continues what another process of the same key has begun.
     * `resealJob` returns the progress.
     */
    readonly startReseal: (actor: string) => Result<ResealOutcome>
    readonly resealJob: Result<ResealJob | undefined>
  }
>()("aicr/config/ConfigEditor") {}
