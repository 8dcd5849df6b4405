/** Defines the endpoints of the configuration: what is effective, and edits of the database's part. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TriggerKind } from "../../domain/Kinds.ts"
import { ConfigErrors, ConfigIssueRecord, ConfigNotFound } from "./ConfigProblems.ts"
import {
  Activating,
  AuditRecord,
  breakGlass,
  Committed,
  EffectiveRecord,
  OperationRecord,
  operationId,
  operations,
  PreviewRecord,
  reason,
  ResealRecord,
  RevisionDetailsRecord,
  revisionNumber,
  RevisionRecord,
  someOperations,
  StatusRecord,
  WorkspaceRecord
} from "./ConfigRecords.ts"
import { describe } from "./Describe.ts"
import { text as field } from "./Fields.ts"
import { bodyText, page, paging, positive, text } from "./Parameters.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

const base = revisionNumber("Revision that the operations were made for")

/** Requests the strict form: no other revision may have been published since. */
export const ifMatch = {
  "if-match": Schema.optionalKey(
    Schema.String.annotate({
      description: "Number of the newest revision in quotes: any other newest revision is a conflict"
    }).check(Schema.isPattern(/^"\d{1,15}"$/, { message: 'expected a revision in quotes, such as "7"' }))
  )
}

/** Success of a request that publishes. */
export const published = [Committed, Activating.pipe(HttpApiSchema.status(202))] as const

const Edit = Schema.Struct({ base_revision: base, operations: someOperations }).annotate({ identifier: "ConfigEdit" })

const byNumber = { number: positive("Number of a revision") }

const RoutePreview = Schema.Struct({
  problems: Schema.Array(ConfigIssueRecord),
  before: Schema.Array(Schema.String).annotate({ description: "Workspaces that the delivery reaches now" }),
  after: Schema.Array(Schema.String).annotate({ description: "Workspaces that it reaches with the edit" })
}).annotate({ identifier: "RoutePreview" })

const maybe = (description: string) => Schema.optionalKey(bodyText(description))

const RouteRequest = Schema.Struct({
  base_revision: Schema.optionalKey(base),
  operations: Schema.optionalKey(operations),
  trigger: bodyText("Name of the trigger"),
  source: Schema.Struct({
    vcs: TriggerKind,
    repo_ref: bodyText("Full name of the repository, OWNER/NAME"),
    repository: maybe("Name of the repository"),
    namespace: maybe("Namespace of the repository"),
    project_key: maybe("Key of the project"),
    branch: maybe("Branch"),
    ref: maybe("Full name of the branch or tag")
  })
}).annotate({ identifier: "RouteRequest" })

export class ConfigGroup extends HttpApiGroup.make("config")
  .add(
    HttpApiEndpoint.get("effective", "/config", {
      success: HttpApiSchema.WithHeaders(EffectiveRecord, {
        etag: Schema.String.annotate({ description: "Number of the newest revision in quotes, for `if-match`" })
      })
    }).annotateMerge(describe("Get the configuration", "Returns each effective value with its origin, masked.")),
    HttpApiEndpoint.get("workspace", "/config/workspaces/:id", {
      params: { id: text("Id of the workspace") },
      success: WorkspaceRecord,
      error: ConfigNotFound
    }).annotateMerge(
      describe("Get the configuration of a workspace", "Returns each of its effective values with its origin, masked.")
    ),
    HttpApiEndpoint.get("schema", "/config/schema", {
      success: Schema.Record(Schema.String, Schema.Unknown)
    }).annotateMerge(describe("Get the schema", "Returns the JSON Schema of the configuration.")),
    HttpApiEndpoint.get("options", "/config/options/:source", {
      params: {
        source: text("Kind of entities, such as `triggers`, or name of an enumeration, such as `providerKind`")
      },
      success: Schema.Struct({ items: Schema.Array(Schema.String).annotate({ description: "Possible values" }) }),
      error: ConfigNotFound
    }).annotateMerge(describe("List options", "Lists the values that a field of the configuration can name.")),
    HttpApiEndpoint.post("validate", "/config/validate", {
      headers: ifMatch,
      payload: Edit,
      success: PreviewRecord,
      error: ConfigErrors
    }).annotateMerge(
      describe("Preview an edit", "Validates operations and computes what they change, without writing anything.")
    ),
    HttpApiEndpoint.post("previewRoute", "/config/preview-route", {
      payload: RouteRequest,
      success: RoutePreview,
      error: ConfigErrors
    }).annotateMerge(
      describe("Preview the route of a delivery", "Returns the workspaces of a delivery, now and with an edit.")
    ),
    HttpApiEndpoint.post("publish", "/config/changesets", {
      headers: ifMatch,
      payload: Schema.Struct({
        ...Edit.fields,
        operation_id: operationId,
        reason,
        break_glass: breakGlass
      }).annotate({ identifier: "Changeset" }),
      success: published,
      error: ConfigErrors
    }).annotateMerge(
      describe(
        "Publish an edit",
        "Writes a revision. An edit of an older revision is rebased unless it touches what others changed since."
      )
    ),
    HttpApiEndpoint.get("operation", "/config/operations/:id", {
      params: { id: text("Operation id of a request, or id of a sealing of credentials") },
      success: OperationRecord,
      error: ConfigNotFound
    }).annotateMerge(
      describe(
        "Get the result of an operation",
        "For callers that lost the response to their request. The id of a sealing of credentials returns its progress."
      )
    ),
    HttpApiEndpoint.get("revisions", "/config/revisions", {
      query: paging,
      success: Schema.Struct(page(RevisionRecord)),
      error: ConfigNotFound
    }).annotateMerge(describe("List revisions", "Lists revisions, newest first.")),
    HttpApiEndpoint.get("revision", "/config/revisions/:number", {
      params: byNumber,
      success: RevisionDetailsRecord,
      error: ConfigNotFound
    }).annotateMerge(describe("Get a revision", "Returns a revision with its changes and its document, masked.")),
    HttpApiEndpoint.post("previewRestore", "/config/revisions/:number/preview-restore", {
      params: byNumber,
      success: PreviewRecord,
      error: ConfigNotFound
    }).annotateMerge(describe("Preview a restore", "Computes what bringing back a revision changes.")),
    HttpApiEndpoint.post("restore", "/config/revisions/:number/restore", {
      params: byNumber,
      headers: ifMatch,
      payload: Schema.Struct({ operation_id: operationId, reason, break_glass: breakGlass }).annotate({
        identifier: "Restore"
      }),
      success: published,
      error: ConfigErrors
    }).annotateMerge(describe("Restore a revision", "Writes a new revision with the document of an older one.")),
    HttpApiEndpoint.get("status", "/config/status", {
      success: StatusRecord,
      error: ConfigNotFound
    }).annotateMerge(describe("Get the status", "Returns what each node has made of the newest revision.")),
    HttpApiEndpoint.get("audit", "/config/audit", {
      query: paging,
      success: Schema.Struct(page(AuditRecord)),
      error: ConfigNotFound
    }).annotateMerge(describe("List audit records", "Lists attempts to change or export, newest first.")),
    HttpApiEndpoint.get("export", "/config/export", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/yaml" })),
      error: ConfigNotFound
    }).annotateMerge(describe("Export the document", "Returns the database's document as YAML, masked; audited.")),
    HttpApiEndpoint.post("import", "/config/import", {
      payload: Schema.Struct({
        yaml: field("A document as `/config/export` returns it"),
        base_revision: Schema.optionalKey(revisionNumber("Revision that was exported; default: the newest one"))
      }).annotate({
        identifier: "Import"
      }),
      success: Schema.Struct({
        base_revision: base,
        operations: Schema.Array(Schema.Unknown).annotate({ description: "Operations, for a draft or a changeset" })
      }),
      error: ConfigErrors
    }).annotateMerge(
      describe("Convert a document to operations", "Returns the operations that turn the exported revision into it.")
    ),
    HttpApiEndpoint.post("reseal", "/config/reseal", {
      success: ResealRecord.pipe(HttpApiSchema.status(202)),
      error: ConfigErrors
    }).annotateMerge(
      describe(
        "Seal credentials again",
        "Starts sealing every stored credential with the current key in the background, or continues it. `/config/status` returns the progress."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Configuration", description: "What is configured, and edits of it" })) {}
