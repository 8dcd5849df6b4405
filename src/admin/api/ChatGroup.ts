/** Defines the endpoints of chat. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ChatRequestStatus } from "../../domain/ChatRequest.ts"
import { NoticeKindName, NoticeStatus } from "../../domain/Notice.ts"
import { ChatBindingRecord, ChatConnectionRecord, ChatRequestRecord, NoticeRecord } from "./ChatRecords.ts"
import { describe } from "./Describe.ts"
import { allowOne, page, paging, sorting, text, workspace } from "./Parameters.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

export class ChatGroup extends HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.get("connections", "/chat/connections", {
      success: Schema.Struct({ items: Schema.Array(ChatConnectionRecord) })
    }).annotateMerge(describe("List chat connections", "Lists the configured connections with their state.")),
    HttpApiEndpoint.get("requests", "/chat/requests", {
      query: {
        connection: Schema.optionalKey(text("Id of a connection")),
        workspace,
        status: Schema.optionalKey(allowOne(ChatRequestStatus, "Status")),
        sort: sorting(["received"], "-received"),
        ...paging
      },
      success: Schema.Struct(page(ChatRequestRecord))
    }).annotateMerge(
      describe(
        "List requests from chat",
        "Lists messages and buttons of people, newest first unless `sort` is `received`."
      )
    ),
    HttpApiEndpoint.get("notices", "/chat/notices", {
      query: {
        kind: Schema.optionalKey(allowOne(NoticeKindName, "Kind")),
        status: Schema.optionalKey(allowOne(NoticeStatus, "Status")),
        channel: Schema.optionalKey(text("Name of a channel")),
        sort: sorting(["created"], "-created"),
        ...paging
      },
      success: Schema.Struct(page(NoticeRecord))
    }).annotateMerge(
      describe(
        "List notices",
        "Lists notices to operators with their state, one for each channel, newest first unless `sort` is `created`."
      )
    ),
    HttpApiEndpoint.get("bindings", "/chat/bindings", {
      success: Schema.Struct({ items: Schema.Array(ChatBindingRecord) })
    }).annotateMerge(describe("List command bindings", "Lists who may use which commands where."))
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Chat", description: "Chat platforms and requests from them" })) {}
