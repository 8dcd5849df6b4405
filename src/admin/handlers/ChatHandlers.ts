/** Handles requests about chat. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { receiveMode } from "../../chat/ReceiveMode.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { ChatConnection, CommandBinding } from "../../config/schema/Im.ts"
import { currentState } from "../../domain/ChatHealth.ts"
import type { ChatHealth } from "../../domain/ChatHealth.ts"
import { noticeSubject } from "../../domain/Notice.ts"
import type { Notice } from "../../domain/Notice.ts"
import { publicUrl } from "../../domain/RunLink.ts"
import { ChatHealths } from "../../store/ChatHealths.ts"
import { ChatRequests } from "../../store/ChatRequests.ts"
import type { ChatRequest } from "../../store/ChatRequests.ts"
import { Notices } from "../../store/Notices.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"

const iso = (millis: number): string => new Date(millis).toISOString()

const connectionView = (
  [id, connection]: readonly [string, ChatConnection],
  health: ChatHealth | undefined,
  { now, open, url }: { readonly now: number; readonly open: number; readonly url: string | undefined }
) => {
  const { enabled, kind } = connection
  const receives = receiveMode(connection)
  return withoutUndefined({
    id,
    kind,
    enabled,
    receives,
    callback_url: receives === "callback" ? url : undefined,
    state: health === undefined ? ("unknown" as const) : currentState(health, now),
    detail: health?.detail,
    node: health?.node,
    since: health === undefined ? undefined : iso(health.since),
    open_requests: open
  })
}

const requestView = ({ command, connection, conversation, facts, sender, ...request }: ChatRequest) =>
  withoutUndefined({
    id: request.id,
    connection,
    status: request.status,
    command,
    args: facts.args,
    sender_type: sender.type,
    sender: sender.id,
    conversation_kind: conversation.kind,
    conversation: conversation.id,
    binding: facts.binding,
    workspace: request.workspace,
    event_id: facts.eventId,
    run_id: facts.runId,
    reason: facts.reason,
    received_at: iso(request.receivedAt),
    updated_at: iso(request.updatedAt)
  })

const noticeView = ({ attempts, channel, error, facts, id, notBefore, status, ...notice }: Notice) =>
  withoutUndefined({
    id,
    kind: facts._tag,
    channel,
    status,
    subject: noticeSubject(facts),
    attempts,
    next_attempt_at: status === "pending" && notBefore !== undefined ? iso(notBefore) : undefined,
    reason: error,
    workspace: "workspace" in facts && facts.workspace !== "" ? facts.workspace : undefined,
    event_id: "eventId" in facts ? facts.eventId : undefined,
    run_id: "runId" in facts ? facts.runId : undefined,
    created_at: iso(notice.createdAt),
    updated_at: iso(notice.updatedAt)
  })

const actorText = ({
  chat_id,
  expires_at,
  id,
  kind,
  name,
  type,
  value
}: NonNullable<CommandBinding["actors"]>[number]) =>
  [
    type ?? kind,
    id ?? chat_id ?? (name === undefined ? undefined : `${name}=${value ?? ""}`),
    expires_at === undefined ? undefined : `until ${expires_at}`
  ]
    .filter((part) => part !== undefined)
    .join(" ")

const bindingView = ([id, binding]: readonly [string, CommandBinding]) =>
  withoutUndefined({
    id,
    enabled: binding.enabled === true,
    connection: binding.connection,
    actors: (binding.actors ?? []).map(actorText),
    conversations: (binding.conversations ?? []).map(({ id: name, kind }) => `${kind} ${name}`),
    commands: [...(binding.commands ?? [])],
    repositories: Object.keys(binding.repositories ?? {}),
    allow_all_repositories: binding.allow_all_repositories === true
  })

const listConnections = Effect.gen(function* () {
  const { im, server } = (yield* ConfigStore).current().document
  const healths = new Map((yield* (yield* ChatHealths).list).map((health) => [health.connection, health]))
  const open = yield* (yield* ChatRequests).openConnections
  const now = yield* Clock.currentTimeMillis
  const items = Object.entries(im.connections).map((entry) =>
    connectionView(entry, healths.get(entry[0]), {
      now,
      open: open.get(entry[0]) ?? 0,
      url: publicUrl(server, `/callbacks/im/${entry[0]}`)
    })
  )
  return { items }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "chat", (handlers) =>
  handlers.handleAll({
    connections: () => orUnavailable(listConnections),
    requests: ({ query }) =>
      ChatRequests.use((requests) =>
        requests.list({
          connection: query.connection,
          workspace: query.workspace,
          status: query.status,
          ...pageFilter(query)
        })
      ).pipe(
        Effect.map((found) => toPage(found, query, requestView)),
        orUnavailable
      ),
    notices: ({ query }) =>
      Notices.use((notices) =>
        notices.list({ kind: query.kind, status: query.status, channel: query.channel, ...pageFilter(query) })
      ).pipe(
        Effect.map((found) => toPage(found, query, noticeView)),
        orUnavailable
      ),
    bindings: () =>
      ConfigStore.useSync((config) => ({
        items: Object.entries(config.current().document.im.command_bindings).map(bindingView)
      }))
  })
)
