/** Defines the endpoint of the actions of administrators. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminAction } from "../../store/AdminActions.ts"
import { describe } from "./Describe.ts"
import { page, paging, sorting, text, time } from "./Parameters.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

export const adminAction = shown(AdminAction, {
  id: "Id, ordered by time",
  at: "Time of the request",
  actor: "User",
  address: "Address of the client; `local` on the local socket",
  action: "Group and endpoint, such as `queue.cancel`",
  target: "Path of the request, with what its body names",
  reason: "Reason, as entered",
  outcome: "`done`, the code of the refusal, `failed`, or `unknown` if the process died in it"
})
const AdminActionRecord = Schema.Struct(adminAction.fields).annotate({
  identifier: "AdminAction",
  description: "A request of an administrator that changes something"
})

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
