/** Defines the endpoints of batches of automatic commits. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { BatchStatus } from "../../domain/Batch.ts"
import { describe } from "./Describe.ts"
import { byId, allowOne, page, paging, workspace } from "./Parameters.ts"
import { StateConflict, NotFound } from "./Problems.ts"
import { changed } from "./QueueGroup.ts"
import { Batch, Member } from "./QueueRecords.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

export class BatchGroup extends HttpApiGroup.make("batches")
  .add(
    HttpApiEndpoint.get("list", "/batches", {
      query: { workspace, status: Schema.optionalKey(allowOne(BatchStatus, "Status")), ...paging },
      success: Schema.Struct(page(Batch))
    }).annotateMerge(describe("List batches", "Lists batches of automatic commits, newest first.")),
    HttpApiEndpoint.get("get", "/batches/:id", {
      params: byId,
      success: Schema.Struct({ ...Batch.fields, members: Schema.Array(Member) }).annotate({
        identifier: "BatchDetails"
      }),
      error: NotFound
    }).annotateMerge(describe("Get a batch", "Returns a batch with its pushes.")),
    HttpApiEndpoint.post("retry", "/batches/:id/retry", {
      params: byId,
      success: changed(["retried"]),
      error: [NotFound, StateConflict]
    }).annotateMerge(describe("Retry a dead batch", "It is reviewed again with its full number of attempts.")),
    HttpApiEndpoint.post("cancel", "/batches/:id/cancel", {
      params: byId,
      success: changed(["cancelled", "stopping"]),
      error: [NotFound, StateConflict]
    }).annotateMerge(describe("Cancel a batch", "A running one is ended by its worker (`stopping`)."))
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Batches", description: "Batches of automatic commits" })) {}
