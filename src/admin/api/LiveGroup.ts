/** Defines the stream of changes for pages that are always current. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EntryStatus } from "../../domain/Entry.ts"
import { describe } from "./Describe.ts"
import { recordId, time } from "./Fields.ts"
import { LiveEvent } from "./LiveRecords.ts"
import { TooManyRequestsResponse } from "./Problems.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

const QueueChange = Schema.Struct({
  type: Schema.Literal("queue"),
  at: time("Time"),
  by_status: Schema.Record(EntryStatus, Schema.Int).annotate({ description: "Number of entries by status" }),
  oldest_waiting_at: Schema.NullOr(Schema.String).annotate({ description: "Admission of the oldest waiting entry" })
}).annotate({ identifier: "QueueChange", description: "The counts of the queue, when they have changed" })

const DeliveryChange = Schema.Struct({
  type: Schema.Literal("deliveries"),
  at: time("Time"),
  newest: recordId
}).annotate({ identifier: "DeliveryChange", description: "The newest delivery, when there is a newer one" })

export const Change = Schema.Union([LiveEvent, QueueChange, DeliveryChange]).annotate({ identifier: "Change" })
export type ChangeRecord = typeof Change.Type

export class LiveGroup extends HttpApiGroup.make("live")
  .add(
    HttpApiEndpoint.get("follow", "/live", {
      success: HttpApiSchema.StreamSse({ data: Change }),
      error: TooManyRequestsResponse
    }).annotateMerge(
      describe(
        "Follow changes",
        "Sends the events of running reviews, and the counts of the queue and the newest delivery at the beginning and within two seconds of a change, for at most 15 minutes."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Live", description: "Changes as they happen" })) {}
