/** Defines the records of chat: connections, requests and command bindings. */
import { Schema } from "effect"
import { ChatConnectionState } from "../../domain/ChatHealth.ts"
import { chatRequestNames, ChatRequestStatus } from "../../domain/ChatRequest.ts"
import { NoticeKindName, NoticeStatus } from "../../domain/Notice.ts"
import { count, maybe, maybeReason, maybeTime, recordId, text, time } from "./Fields.ts"

export const ChatConnectionRecord = Schema.Struct({
  id: text("Id of the connection"),
  kind: text("feishu_app, wecom_app, wecom_aibot or slack_app"),
  enabled: Schema.Boolean,
  receives: Schema.Literals(["callback", "long_connection", "nothing"]).annotate({
    description: "How messages arrive"
  }),
  callback_url: maybe("Address for the platform, if server.base_url is set"),
  state: ChatConnectionState.annotate({
    description: "Latest report of its owner; `unknown` if there is none, or it is older than 90 seconds"
  }),
  detail: maybeReason("Reason of the state"),
  node: maybe("Node of the owner"),
  since: maybeTime("Start of the state"),
  open_requests: count("Requests that have not ended")
}).annotate({ identifier: "ChatConnection", description: "A connection to a chat platform" })

export const ChatRequestRecord = Schema.Struct({
  id: recordId,
  connection: text("Id of the connection"),
  status: ChatRequestStatus,
  command: Schema.optionalKey(Schema.Literals(chatRequestNames)),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  sender_type: text("Type of the sender's id"),
  sender: text("Id of the sender at the platform"),
  conversation_kind: Schema.Literals(["direct", "group"]),
  conversation: text("Id of the conversation at the platform"),
  binding: maybe("Bindings that authorised the sender"),
  workspace: maybe("Id of the workspace of a requested review"),
  event_id: maybe("Event record of a requested review"),
  run_id: maybe("Run of a requested review"),
  reason: maybeReason("Reason of the outcome"),
  received_at: time("Receipt of the message"),
  updated_at: time("Latest change")
}).annotate({ identifier: "ChatRequest", description: "A message or button of a person" })

export const ChatBindingRecord = Schema.Struct({
  id: text("Id of the binding"),
  enabled: Schema.Boolean,
  connection: maybe("Id of the connection"),
  actors: Schema.Array(text("Principal or scope, with its end if it expires")),
  conversations: Schema.Array(text("Kind and id")),
  commands: Schema.Array(Schema.String),
  repositories: Schema.Array(text("Alias")),
  allow_all_repositories: Schema.Boolean
}).annotate({ identifier: "ChatBinding", description: "Permissions of people of a chat platform" })

export const NoticeRecord = Schema.Struct({
  id: recordId,
  kind: NoticeKindName,
  channel: text("Name of the channel"),
  status: NoticeStatus.annotate({
    description:
      "`pending` waits; `unconfirmed` was sent without a response; `failed`, `quarantined` and `dropped` were not sent, for `reason`"
  }),
  subject: text("Repository, account, file, revision or trigger that it is about"),
  attempts: count("Failed attempts to send it"),
  next_attempt_at: maybeTime("Earliest time of the next attempt, while it waits"),
  reason: maybeReason("Why it waits or was not sent"),
  workspace: maybe("Id of the workspace"),
  event_id: maybe("Event record of the delivery that it is about"),
  run_id: maybe("Run that it is about"),
  created_at: time("Time of the fact's discovery"),
  updated_at: time("Latest change")
}).annotate({ identifier: "Notice", description: "A notice to operators, to one channel" })
