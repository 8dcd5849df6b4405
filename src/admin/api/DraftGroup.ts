/** Defines the endpoints of drafts: edits of the configuration that are not published yet. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ifMatch, published } from "./ConfigGroup.ts"
import { ConfigErrors, ConfigNotFound } from "./ConfigProblems.ts"
import {
  breakGlass,
  DraftDocumentRecord,
  DraftRecord,
  operationId,
  operations,
  PreviewRecord,
  reason,
  revisionNumber
} from "./ConfigRecords.ts"
import { describe } from "./Describe.ts"
import { text } from "./Fields.ts"
import { bodyText, byId, positive } from "./Parameters.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

const version = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
  description: "Version of the draft that was read"
})

export const DraftContent = Schema.Struct({
  title: bodyText("Title"),
  reason: Schema.optionalKey(bodyText("Reason")),
  base_revision: revisionNumber("Revision that the operations were made for"),
  operations: Schema.optionalKey(operations),
  yaml: Schema.optionalKey(
    text("In place of operations: the whole document, as `/config/drafts/:id/document` or `/config/export` returns it")
  )
})

export const DraftPublication = Schema.Struct({
  version,
  operation_id: operationId,
  reason,
  break_glass: breakGlass
}).annotate({ identifier: "DraftPublication" })

export class DraftGroup extends HttpApiGroup.make("drafts")
  .add(
    HttpApiEndpoint.get("list", "/config/drafts", {
      success: Schema.Struct({ items: Schema.Array(DraftRecord) }),
      error: ConfigNotFound
    }).annotateMerge(describe("List drafts", "Lists drafts, newest first.")),
    HttpApiEndpoint.post("create", "/config/drafts", {
      payload: Schema.Struct({
        ...DraftContent.fields,
        copy_of: Schema.optionalKey(bodyText("Id of a draft: a masked credential keeps the value that this one holds"))
      }).annotate({ identifier: "NewDraft" }),
      success: DraftRecord.pipe(HttpApiSchema.status(201)),
      error: ConfigErrors
    }).annotateMerge(describe("Create a draft", "Stores operations; credentials in them are sealed.")),
    HttpApiEndpoint.get("get", "/config/drafts/:id", {
      params: byId,
      success: DraftRecord,
      error: ConfigNotFound
    }).annotateMerge(describe("Get a draft", "Returns a draft, masked.")),
    HttpApiEndpoint.get("document", "/config/drafts/:id/document", {
      params: byId,
      success: DraftDocumentRecord,
      error: ConfigErrors
    }).annotateMerge(
      describe("Get the document of a draft", "Returns the document that the draft makes of its base revision, masked.")
    ),
    HttpApiEndpoint.post("preview", "/config/drafts/:id/preview", {
      params: byId,
      success: PreviewRecord,
      error: ConfigErrors
    }).annotateMerge(
      describe("Preview a draft", "Validates a draft and computes what it changes, without writing anything.")
    ),
    HttpApiEndpoint.put("save", "/config/drafts/:id", {
      params: byId,
      payload: Schema.Struct({ version, ...DraftContent.fields }).annotate({ identifier: "DraftChange" }),
      success: DraftRecord,
      error: ConfigErrors
    }).annotateMerge(
      describe(
        "Save a draft",
        "Stores another version and removes its approvals. A masked credential keeps the value that the draft holds, as long as its destination is the same."
      )
    ),
    HttpApiEndpoint.delete("remove", "/config/drafts/:id", {
      params: byId,
      query: { version: positive("Version of the draft that was read") },
      success: HttpApiSchema.NoContent,
      error: ConfigErrors
    }).annotateMerge(describe("Delete a draft", "Deletes the version that was read.")),
    HttpApiEndpoint.post("approve", "/config/drafts/:id/approve", {
      params: byId,
      payload: Schema.Struct({ version }).annotate({ identifier: "Approval" }),
      success: DraftRecord,
      error: ConfigErrors
    }).annotateMerge(describe("Approve a draft", "Approves the version that was read. Its owner cannot approve it.")),
    HttpApiEndpoint.post("publish", "/config/drafts/:id/publish", {
      params: byId,
      headers: ifMatch,
      payload: DraftPublication,
      success: published,
      error: ConfigErrors
    }).annotateMerge(describe("Publish a draft", "Publishes the version that was read, and removes the draft."))
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Drafts", description: "Edits that are not published yet" })) {}
