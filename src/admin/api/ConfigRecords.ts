/** Defines the records of the configuration. Credentials are masked in all of them. */
import { Schema } from "effect"
import { EntryStatus } from "../../domain/Entry.ts"
import { optional, structFields, time as timeField } from "../../domain/Field.ts"
import { EffectiveConfig, SourceStatus } from "../../config/revisions/ConfigEditor.ts"
import { CredentialChange } from "../../config/revisions/CredentialChange.ts"
import { NodeActivation } from "../../config/revisions/ActivationStore.ts"
import { AuditRecord as StoredAudit } from "../../config/revisions/AuditLog.ts"
import { ConfigDraft } from "../../config/revisions/DraftStore.ts"
import { ResealJob } from "../../config/revisions/ResealStore.ts"
import { RevisionSummary } from "../../config/revisions/Revision.ts"
import { ConfigOperation, maxOperations } from "../../config/revisions/Operations.ts"
import { ConfigIssueRecord, ConflictRecord } from "./ConfigProblems.ts"
import { count, maybeCount, recordId, targetKey, text, time, workspace as workspaceId } from "./Fields.ts"
import { bodyText } from "./Parameters.ts"
import { shown } from "./Shown.ts"
import { Reason } from "../../domain/Reason.ts"

const any = (description: string) => Schema.Unknown.annotate({ description })

const DocumentRecord = Schema.Struct({
  globals: any("Global fields"),
  entities: any("Entities by kind and name")
}).annotate({ identifier: "DatabaseDocument", description: "What the database configures, masked" })

const values = Schema.Array(
  Schema.Struct({
    path: text("Path of the value"),
    value: any("Value, masked"),
    origin: Reason.annotate({ description: "Default, line of the file, or revision and user, with the layer" })
  })
)

export const WorkspaceRecord = Schema.Struct({
  values: values.annotate({ description: "Effective values of the workspace with their origins" })
}).annotate({ identifier: "EffectiveWorkspace", description: "The effective configuration of a workspace" })

const { shadowed, ...effective } = shown(structFields(EffectiveConfig), {
  head: "Number of the newest revision; 0: none, or no database",
  active: "Number of the revision that this node works with",
  snapshot: "Hash of the configuration that this node works with",
  shadowed: "Parts of the database that the file hides"
}).fields

export const EffectiveRecord = Schema.Struct({
  ...effective,
  values: values.annotate({ description: "Effective values with their origins" }),
  document: DocumentRecord,
  shadowed,
  owned_by_file: Schema.Array(
    Schema.Struct({ entity: text("Entity, such as `triggers/main`"), line: maybeCount("Line of the file") })
  ).annotate({ description: "Entities that only the file can change" })
}).annotate({ identifier: "EffectiveConfig", description: "The effective configuration of a node" })

const difference = Schema.Struct({
  path: text("Path of the value"),
  change: Schema.Literals(["added", "removed", "changed"]),
  before: any("Value before, masked; null: none"),
  after: any("Value after, masked; null: none")
}).annotate({ identifier: "Difference", description: "A value that an edit changes" })

export const credential = shown(structFields(CredentialChange), {
  entity: "Entity that holds it, such as `triggers/main`",
  path: "Field of the credential, or of the variable that contains it",
  change: "set: another one than before; renamed: its holder has another name; redirected: only its receiver changes",
  from: "Entity that held it before the rename",
  before: "Fields that decided who received the credential of this place",
  after: "Fields that decide who receives it, such as `base_url`"
})
const Credential = Schema.Struct(credential.fields).annotate({
  identifier: "CredentialChange",
  description: "A credential that an edit sets, moves or sends elsewhere"
})

export const revision = shown(
  { fields: { ...structFields(RevisionSummary).fields, createdAt: timeField } },
  {
    number: "1 for the first revision, then one more each",
    parent: "Number of the revision before",
    hash: "SHA-256 of the stored document",
    actor: "User who published it",
    operationId: "Operation id of the request",
    reason: "Reason, as entered",
    rebasedFrom: "Revision that the edit was made for, if others were published in between",
    restores: "Revision whose document it brings back",
    changes: "Number of changed values",
    createdAt: "Time of the publication"
  }
)

export const RevisionRecord = Schema.Struct(revision.fields).annotate({
  identifier: "Revision",
  description: "A published revision"
})

export const RevisionDetailsRecord = Schema.Struct({
  ...revision.fields,
  diff: Schema.Array(difference),
  document: DocumentRecord
}).annotate({ identifier: "RevisionDetails", description: "A revision with its changes and its document" })

export const PreviewRecord = Schema.Struct({
  valid: Schema.Boolean.annotate({ description: "True if the edit can be published" }),
  head: count("Number of the newest revision"),
  rebased_from: maybeCount("Base of the edit, if others were published since"),
  problems: Schema.Array(ConfigIssueRecord),
  conflicts: Schema.Array(ConflictRecord),
  warnings: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String, reason: Reason })),
  diff: Schema.Array(difference),
  credentials: Schema.Array(Credential),
  blast_radius: Schema.Struct({
    workspaces: Schema.Array(Schema.String),
    triggers: Schema.Array(Schema.String),
    channels: Schema.Array(Schema.String),
    routes: Schema.Array(Schema.Int).annotate({ description: "Positions of route rules" }),
    bindings: Schema.Array(Schema.String),
    pinned_snapshots: count("Older configurations that unfinished work keeps"),
    waiting: Schema.Array(
      Schema.Struct({
        id: recordId,
        status: EntryStatus,
        workspace: workspaceId,
        target_key: targetKey,
        snapshot: text("Hash of the configuration that it keeps")
      })
    ).annotate({
      description:
        "Queued and running reviews, which keep the configuration of their admission; at most 100, those of changed workspaces first"
    }),
    waiting_more: Schema.Boolean.annotate({ description: "True if there are more of them" })
  }).annotate({ description: "Parts of the effective configuration that change" })
}).annotate({ identifier: "EditPreview", description: "What an edit would do" })

const committed = {
  revision: RevisionRecord,
  active: Schema.Boolean.annotate({ description: "True if this node works with it" })
}

/** Applied on this node, or without any change. */
export const Committed = Schema.Union([
  Schema.Struct({ status: Schema.Literal("committed"), ...committed }),
  Schema.Struct({ status: Schema.Literal("unchanged"), head: count("Number of the newest revision") })
])

/** Committed, and still activating on this node. */
export const Activating = Schema.Struct({ status: Schema.Literal("activating"), ...committed })

export const OperationRecord = Schema.Struct({
  operation_id: text("Operation id of the request"),
  status: Schema.Literals(["committed", "unchanged", "conflict", "running", "done", "failed"]).annotate({
    description: "Of an edit: committed, unchanged, conflict. Of a sealing of credentials: running, done, failed"
  }),
  revision: maybeCount("Number of the revision that it made, or that it left unchanged"),
  rebased_from: maybeCount("Revision that the edit was made for"),
  head: maybeCount("Newest revision at the time of the conflict"),
  conflicts: Schema.optionalKey(Schema.Array(ConflictRecord)),
  checked: maybeCount("Number of revisions that a sealing has read"),
  resealed: maybeCount("Number of records that it has replaced"),
  failed: Schema.optionalKey(Schema.Array(Reason)).annotate({ description: "Records that no key opens" }),
  created_at: time("Time of the result, or of the latest progress")
}).annotate({ identifier: "ConfigOperation", description: "The result of an operation id, or of the id of a sealing" })

const jobFields = {
  ...structFields(ResealJob).fields,
  startedAt: timeField,
  updatedAt: timeField,
  finishedAt: optional(timeField)
}
export const sealing = shown(
  { fields: jobFields },
  {
    id: "Id of the sealing",
    state: "failed: it has ended, and `failed` lists records that no key opens",
    actor: "Who started it"
  }
)
export const sealed = shown(
  { fields: jobFields },
  {
    checked: "Number of revisions that were read",
    resealed: "Number of records that were replaced",
    failed: "Records that no key opens, at most 100",
    startedAt: "Time of the start",
    updatedAt: "Time of the latest progress",
    finishedAt: "Time of the end"
  }
)
export const ResealRecord = Schema.Struct({
  ...sealing.fields,
  key: text("Id of the key"),
  ...sealed.fields
}).annotate({
  identifier: "ConfigReseal",
  description: "The sealing of all credentials with the current key, which continues when its process dies"
})

export const activation = shown(structFields(NodeActivation), {
  node: "Name of the node",
  revision: "Newest revision that it has read",
  state: "State of that revision on the node",
  active: "Revision that it works with",
  snapshot: "Hash of the configuration that it works with",
  problems: "Reasons of a refusal"
})

const { converged, ...status } = shown(structFields(SourceStatus), {
  head: "Number of the newest revision",
  namespace: "Namespace of the database source",
  approvals: "Approvals that a draft needs",
  converged: "True if every node works with the newest revision"
}).fields

export const StatusRecord = Schema.Struct({
  ...status,
  reseal: Schema.optionalKey(ResealRecord),
  converged,
  nodes: Schema.Array(Schema.Struct({ ...activation.fields, reported_at: time("Time of the report") }))
}).annotate({ identifier: "ConfigStatus", description: "What each node has made of the newest revision" })

/** Operations, 1 to 200 in a changeset. */
export const operations = Schema.Array(ConfigOperation)
  .check(Schema.isMaxLength(maxOperations, { message: `expected at most ${maxOperations} operations` }))
  .annotate({ description: "Edits, in order. An omitted credential keeps its value; null clears it" })

export const someOperations = operations.check(
  Schema.isMinLength(1, { message: `expected 1 to ${maxOperations} operations` })
)

export const revisionNumber = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({ description })

export const operationId = Schema.String.annotate({
  description: "Chosen by the caller, such as a UUID: applied once; a repeated request gets the first result"
}).check(
  Schema.isNonEmpty({ message: "expected 1 to 200 characters" }),
  Schema.isMaxLength(200, { message: "expected 1 to 200 characters" })
)

export const reason = Schema.optionalKey(bodyText("Reason, kept with the revision"))
export const breakGlass = Schema.optionalKey(
  Schema.Boolean.annotate({ description: "Publishes without the required approvals; audited" })
)

const draftFields = { ...structFields(ConfigDraft).fields, createdAt: timeField, updatedAt: timeField }
export const draft = shown(
  { fields: draftFields },
  {
    id: "Id of the draft",
    owner: "User who created it",
    editors: "Users who wrote a part of it",
    format: "How the latest version was written",
    title: "Title",
    reason: "Reason"
  }
)
export const draftVersion = shown(
  { fields: draftFields },
  {
    version: "1 for a new draft, one more for each change",
    createdAt: "Time of creation",
    updatedAt: "Time of the latest change"
  }
)
export const DraftRecord = Schema.Struct({
  ...draft.fields,
  base_revision: count("Revision that the operations were made for"),
  operations: Schema.Array(Schema.Unknown).annotate({ description: "Operations, masked" }),
  approvals: Schema.Array(Schema.Struct({ actor: Schema.String, at: Schema.String })).annotate({
    description: "Approvals of this version"
  }),
  ...draftVersion.fields
}).annotate({ identifier: "ConfigDraft", description: "An edit that is not published yet" })

export const DraftDocumentRecord = Schema.Struct({
  version: count("Version of the draft"),
  base_revision: count("Revision that the draft edits"),
  document: Schema.Struct({ globals: Schema.Unknown, entities: Schema.Unknown }).annotate({
    description: "The document of that revision with the edits of the draft, masked"
  }),
  yaml: text("The same as YAML")
}).annotate({ identifier: "ConfigDraftDocument", description: "What a draft makes of the configuration" })

export const audit = shown(
  { fields: { ...structFields(StoredAudit).fields, at: timeField } },
  {
    id: "Id, ordered by time",
    at: "Time",
    actor: "User",
    action: "Action, such as publish or draft_save",
    outcome: "`committed`, `unchanged`, `done`, or the code of the refusal",
    operationId: "Operation id",
    revision: "Revision",
    draft: "Id of the draft",
    detail: "The reason of the edit, changed fields, or problems"
  }
)
export const AuditRecord = Schema.Struct(audit.fields).annotate({
  identifier: "ConfigAuditRecord",
  description: "An attempt to change or export the configuration"
})
