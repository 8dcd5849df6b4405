/** Defines the endpoint of the actions of administrators. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { describe } from "./Describe.ts"
import { maybe, recordId, text as field, time as timeField } from "./Fields.ts"
import { page, paging, sorting, text, time } from "./Parameters.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

export const AdminActionRecord = Schema.Struct({
  id: recordId,
  at: timeField("Time of the request"),
  actor: field("User"),
  address: field("Address of the client; `local` on the local socket"),
  action: field("Group and endpoint, such as `queue.cancel`"),
  target: field("Path of the request, with what its body names"),
  reason: maybe("Reason, as entered"),
  outcome: field("`done`, the code of the refusal, `failed`, or `unknown` if the process died in it")
}).annotate({ identifier: "AdminAction", description: "A request of an administrator that changes something" })

export class AuditGroup extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: {
        actor: Schema.optionalKey(text("User")),
        action: Schema.optionalKey(text("Group and endpoint, such as `queue.cancel`")),
        outcome: Schema.optionalKey(text("Outcome, such as done")),
        since: Schema.optionalKey(time("Earliest time, in ISO 8601")),
        sort: sorting(["at"], "-at"),
        ...paging
      },
      success: Schema.Struct(page(AdminActionRecord))
    }).annotateMerge(
      describe(
        "List actions of administrators",
        "Lists requests that change something, also refused ones, and logins, newest first unless `sort` is `at`. `/config/audit` has the details of edits."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Audit", description: "What administrators did" })) {}
