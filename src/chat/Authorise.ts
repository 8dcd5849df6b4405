/**
 * Decides what a person may do in a conversation: the enabled bindings of the connection that name the conversation and the person. Evaluated
 * for each message with the current configuration. Pure.
 *
 * A direct conversation is named by the id of the person, the id of the conversation at the platform, or the id of the application or bot,
 * which names the direct conversations of all people with it. A scope of members matches those whom the directory lists in it, and no one
 * while the directory cannot be read.
 */
import type { ChatConnection, CommandBinding } from "../config/schema/Im.ts"
import type { ChatCommandName, ChatConversation, ChatPrincipal } from "../domain/ChatRequest.ts"
import { scopeKey, toScope } from "./members/Scope.ts"
import type { MemberScope } from "./members/Scope.ts"

export interface Requester {
  readonly sender: ChatPrincipal
  readonly conversation: ChatConversation
}

export interface ChatPermission {
  readonly binding: string
  readonly settings: CommandBinding
}

type Actor = NonNullable<CommandBinding["actors"]>[number]

const isExpired = ({ expires_at: end }: Actor, now: number): boolean => end !== undefined && Date.parse(end) <= now

/** `memberships`: keys of the scopes that contain the sender. */
const isActor = (actor: Actor, { sender }: Requester, memberships: ReadonlySet<string>): boolean => {
  const { id, kind, type } = actor
  if (type !== undefined) return type === sender.type && id === sender.id
  const scope = toScope(actor)
  return kind === "any" || (scope !== undefined && memberships.has(scopeKey(scope)))
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

interface Bindings {
  readonly connections: Readonly<Record<string, ChatConnection>>
  readonly command_bindings: Readonly<Record<string, CommandBinding>>
}

/** Returns the enabled bindings of a conversation, with their actors whose rights have not ended. */
const findBindings = (im: Bindings, connection: string, requester: Requester, now: number) => {
  const own = Object.hasOwn(im.connections, connection) ? im.connections[connection] : undefined
  if (own?.enabled !== true) return []
  return Object.entries(im.command_bindings).flatMap(([binding, settings]) =>
    settings.enabled === true &&
    settings.connection === connection &&
    (settings.conversations ?? []).some((conversation) => isConversation(conversation, requester, own))
      ? [{ binding, settings, actors: (settings.actors ?? []).filter((actor) => !isExpired(actor, now)) }]
      : []
  )
}

/** Returns the scopes that decide about the rights of a person in a conversation. */
export const listScopes = (
  im: Bindings,
  connection: string,
  requester: Requester,
  now: number
): ReadonlyArray<MemberScope> => {
  const scopes = findBindings(im, connection, requester, now).flatMap(({ actors }) =>
    actors.flatMap((actor) => toScope(actor) ?? [])
  )
  return [...new Map(scopes.map((scope) => [scopeKey(scope), scope])).values()]
}

/** `memberships`: keys of the scopes that contain the person. */
export const findPermissions = (
  im: Bindings,
  connection: string,
  requester: Requester,
  now: number,
  memberships: ReadonlySet<string> = new Set()
): ReadonlyArray<ChatPermission> =>
  findBindings(im, connection, requester, now).flatMap(({ actors, binding, settings }) =>
    actors.some((actor) => isActor(actor, requester, memberships)) ? [{ binding, settings }] : []
  )

export const allows = ({ settings }: ChatPermission, command: ChatCommandName): boolean =>
  (settings.commands ?? []).includes(command)

/** Returns whether the binding permits questions to a model. */
export const permitsQuestions = ({ settings }: ChatPermission): boolean => settings.ask
