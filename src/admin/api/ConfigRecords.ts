/** Defines the records of the configuration. Credentials are masked in all of them. */
import { Schema } from "effect"
import { EntryStatus } from "../../domain/Entry.ts"
import { ConfigOperation, maxOperations } from "../../config/revisions/Operations.ts"
import { ConfigIssueRecord, ConflictRecord } from "./ConfigProblems.ts"
import {
  count,
  maybe,
  maybeCount,
  maybeReason,
  maybeTime,
  recordId,
  targetKey,
  text,
  time,
  workspace as workspaceId
} from "./Fields.ts"
import { bodyText } from "./Parameters.ts"
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

export const EffectiveRecord = Schema.Struct({
  head: count("Number of the newest revision; 0: none, or no database"),
  active: count("Number of the revision that this node works with"),
  snapshot: text("Hash of the configuration that this node works with"),
  values: values.annotate({ description: "Effective values with their origins" }),
  document: DocumentRecord,
  shadowed: Schema.Array(Schema.String).annotate({ description: "Parts of the database that the file hides" }),
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

const receiver = (description: string) => Schema.Record(Schema.String, Schema.Unknown).annotate({ description })

const credential = Schema.Struct({
  entity: text("Entity that holds it, such as `triggers/main`"),
  path: text("Field of the credential, or of the variable that contains it"),
  change: Schema.Literals(["set", "renamed", "redirected"]).annotate({
    description:
      "set: another one than before; renamed: its holder has another name; redirected: only its receiver changes"
  }),
  from: maybe("Entity that held it before the rename"),
  before: Schema.optionalKey(receiver("Fields that decided who received the credential of this place")),
  after: receiver("Fields that decide who receives it, such as `base_url`")
}).annotate({ identifier: "CredentialChange", description: "A credential that an edit sets, moves or sends elsewhere" })

const revision = {
  number: count("1 for the first revision, then one more each"),
  parent: count("Number of the revision before"),
  hash: text("SHA-256 of the stored document"),
  actor: text("User who published it"),
  operation_id: text("Operation id of the request"),
  reason: text("Reason, as entered"),
  rebased_from: maybeCount("Revision that the edit was made for, if others were published in between"),
  restores: maybeCount("Revision whose document it brings back"),
  changes: count("Number of changed values"),
  created_at: time("Time of the publication")
}

export const RevisionRecord = Schema.Struct(revision).annotate({
  identifier: "Revision",
  description: "A published revision"
})

export const RevisionDetailsRecord = Schema.Struct({
  ...revision,
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
  credentials: Schema.Array(credential),
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

export const ResealRecord = Schema.Struct({
  id: text("Id of the sealing"),
  state: Schema.Literals(["running", "done", "failed"]).annotate({
    description: "failed: it has ended, and `failed` lists records that no key opens"
  }),
  actor: text("Who started it"),
  key: text("Id of the key"),
  checked: count("Number of revisions that were read"),
  resealed: count("Number of records that were replaced"),
  failed: Schema.Array(Reason).annotate({ description: "Records that no key opens, at most 100" }),
  started_at: time("Time of the start"),
  updated_at: time("Time of the latest progress"),
  finished_at: maybeTime("Time of the end")
}).annotate({
  identifier: "ConfigReseal",
  description: "The sealing of all credentials with the current key, which continues when its process dies"
})

export const StatusRecord = Schema.Struct({
  head: count("Number of the newest revision"),
  namespace: text("Namespace of the database source"),
  approvals: count("Approvals that a draft needs"),
  reseal: Schema.optionalKey(ResealRecord),
  converged: Schema.Boolean.annotate({ description: "True if every node works with the newest revision" }),
  nodes: Schema.Array(
    Schema.Struct({
      node: text("Name of the node"),
      revision: count("Newest revision that it has read"),
      state: Schema.Literals(["active", "refused"]),
      active: count("Revision that it works with"),
      snapshot: text("Hash of the configuration that it works with"),
      problems: Schema.Array(Reason).annotate({ description: "Reasons of a refusal" }),
      reported_at: time("Time of the report")
    })
  )
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

export const DraftRecord = Schema.Struct({
  id: text("Id of the draft"),
  owner: text("User who created it"),
  editors: Schema.Array(Schema.String).annotate({ description: "Users who wrote a part of it" }),
  format: Schema.Literals(["operations", "yaml"]).annotate({ description: "How the latest version was written" }),
  title: text("Title"),
  reason: text("Reason"),
  base_revision: count("Revision that the operations were made for"),
  operations: Schema.Array(Schema.Unknown).annotate({ description: "Operations, masked" }),
  approvals: Schema.Array(Schema.Struct({ actor: Schema.String, at: Schema.String })).annotate({
    description: "Approvals of this version"
  }),
  version: count("1 for a new draft, one more for each change"),
  created_at: time("Time of creation"),
  updated_at: time("Time of the latest change")
}).annotate({ identifier: "ConfigDraft", description: "An edit that is not published yet" })

export const DraftDocumentRecord = Schema.Struct({
  version: count("Version of the draft"),
  base_revision: count("Revision that the draft edits"),
  document: Schema.Struct({ globals: Schema.Unknown, entities: Schema.Unknown }).annotate({
    description: "The document of that revision with the edits of the draft, masked"
  }),
  yaml: text("The same as YAML")
}).annotate({ identifier: "ConfigDraftDocument", description: "What a draft makes of the configuration" })

export const AuditRecord = Schema.Struct({
  id: text("Id, ordered by time"),
  at: time("Time"),
  actor: text("User"),
  action: text("Action, such as publish or draft_save"),
  outcome: text("`committed`, `unchanged`, `done`, or the code of the refusal"),
  operation_id: maybe("Operation id"),
  revision: maybeCount("Revision"),
  draft: maybe("Id of the draft"),
  detail: maybeReason("The reason of the edit, changed fields, or problems")
}).annotate({ identifier: "ConfigAuditRecord", description: "An attempt to change or export the configuration" })
