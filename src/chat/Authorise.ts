/**
 * Decides what a person may do in a conversation: the enabled bindings of the connection that name the conversation and the person. Evaluated
 * for each message with the current configuration. Pure.
 *
 * A direct conversation is named by the id of the person, the id of the conversation at the platform, or the id of the application or bot,
 * which names the direct conversations of all people with it. A scope of members matches no one without a snapshot of the directory.
 */
import type { ChatConnection, CommandBinding } from "../config/schema/Im.ts"
import type { ChatCommandName, ChatConversation, ChatPrincipal } from "../domain/ChatRequest.ts"

export interface Requester {
  readonly sender: ChatPrincipal
  readonly conversation: ChatConversation
}

export interface ChatPermission {
  readonly binding: string
  readonly settings: CommandBinding
}

type Actor = NonNullable<CommandBinding["actors"]>[number]

const isActor = ({ expires_at: end, id, kind, type }: Actor, { sender }: Requester, now: number): boolean => {
  if (end !== undefined && Date.parse(end) <= now) return false
  return type === undefined ? kind === "any" : type === sender.type && id === sender.id
}

const isConversation = (
  { kind, id }: NonNullable<CommandBinding["conversations"]>[number],
  { conversation, sender }: Requester,
  { agent_id: agent, aibot_id: bot, app_id: app }: ChatConnection
): boolean => {
  if (kind === "group") return conversation.kind === "group" && conversation.id === id
  const ids = [conversation.id, sender.id, app, bot, agent === undefined ? undefined : String(agent)]
  return conversation.kind === "direct" && ids.includes(id)
}

export const findPermissions = (
  im: {
    readonly connections: Readonly<Record<string, ChatConnection>>
    readonly command_bindings: Readonly<Record<string, CommandBinding>>
  },
  connection: string,
  requester: Requester,
  now: number
): ReadonlyArray<ChatPermission> => {
  const own = Object.hasOwn(im.connections, connection) ? im.connections[connection] : undefined
  if (own?.enabled !== true) return []
  return Object.entries(im.command_bindings).flatMap(([binding, settings]) =>
    settings.enabled === true &&
    settings.connection === connection &&
    (settings.conversations ?? []).some((conversation) => isConversation(conversation, requester, own)) &&
    (settings.actors ?? []).some((actor) => isActor(actor, requester, now))
      ? [{ binding, settings }]
      : []
  )
}

export const allows = ({ settings }: ChatPermission, command: ChatCommandName): boolean =>
  (settings.commands ?? []).includes(command)
