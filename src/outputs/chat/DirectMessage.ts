/**
 * Sends a review to the author of its change alone (`direct_message`). It is a message to another recipient over the same application. Who the
 * author is, and whether the author stopped such messages, is found when it is sent.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { ChatPrincipal } from "../../domain/ChatRequest.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { Operation } from "../../domain/Publication.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { DirectOptOuts } from "../../store/DirectOptOuts.ts"
import { unwritten } from "../channels/Channel.ts"
import type { ChannelContext, Planned, PublishInput, Sent } from "../channels/Channel.ts"
import { operationId } from "../channels/OperationId.ts"
import { labelsFor } from "../Labels.ts"
import { renderChat } from "../text/Render.ts"
import { platforms } from "./BotMessage.ts"
import type { PlatformName } from "./BotMessage.ts"
import { findAuthorMember } from "./MemberMention.ts"
import type { MemberMention } from "./MemberMention.ts"
import type { ChatOperation } from "./MessageSend.ts"
import { split } from "./Split.ts"

type DirectOperation = Extract<Operation, { readonly _tag: "DirectMessage" }>

/** Plans the message, which is one and ends with the command that stops further ones. A review without problems to show has none. */
export const planDirect = (
  name: PlatformName,
  input: PublishInput,
  channel: ChannelConfig,
  listed: ReadonlyArray<Finding>,
  hidden: number
): ReadonlyArray<Planned> => {
  const [first] = listed
  if (channel.direct_message !== true || first === undefined) return []
  const { limit, safe } = platforms[name]
  const labels = labelsFor(input.workspace.review.output_language)
  const end = `\n\n${labels.stopDirect}`
  const text = renderChat(input, { ...channel, mention_author: false }, listed, hidden, { detail: "full", safe })
  const operation: DirectOperation = {
    _tag: "DirectMessage",
    head: input.head,
    title: `${labels.title} · ${input.change.repo.fullName}`,
    body: `${split(text, limit - Buffer.byteLength(end), 1, labels.cut)[0] ?? ""}${end}`,
    severity: first.problem.severity
  }
  return [{ operationId: operationId(input, channel.name, operation._tag, 0), operation }]
}

/** Returns the person as the platform names the sender of a command. Ids of other types cannot be compared with it. */
const toPrincipal = ({ id, type }: MemberMention): ChatPrincipal | undefined =>
  type === "feishu_user_id" ? undefined : { id, type }

const addressTo = (channel: ChannelConfig, { id, type }: ChatPrincipal): ChannelConfig => {
  if (type === "slack_user") return { ...channel, conversation: id }
  return type === "feishu_open_id"
    ? { ...channel, receive_id: id, receive_id_type: "open_id" }
    : { ...channel, target: { kind: "recipients", users: [id] } }
}

/** A direct message as one to its recipient. */
interface Addressed {
  readonly context: ChannelContext
  readonly person: ChatPrincipal
  readonly operation: ChatOperation
}

/** Returns undefined if it is not certain who the author is. */
export const addressDirect = Effect.fnUntraced(function* (context: ChannelContext, operation: DirectOperation) {
  const member = yield* findAuthorMember(context)
  const person = member && toPrincipal(member)
  if (person === undefined) return undefined
  const channel = addressTo(context.channel, person)
  const addressed: Addressed = { context: { ...context, channel }, person, operation: { ...operation, _tag: "Chat" } }
  return addressed
})

/** Sends the message with `send`, unless its recipient is not certain or has stopped such messages. */
export const sendDirect = Effect.fnUntraced(function* <E, R>(
  context: ChannelContext,
  { operation, operationId: id }: { readonly operation: DirectOperation; readonly operationId: string },
  send: (context: ChannelContext, operation: ChatOperation) => Effect.Effect<Sent, E, R>
) {
  const addressed = yield* addressDirect(context, operation)
  const { connection, name } = context.channel
  if (addressed === undefined || connection === undefined)
    return unwritten(id, { _tag: "AuthorNotMapped", channel: name })
  const isStopped = yield* (yield* DirectOptOuts)
    .has(connection, addressed.person)
    .pipe(Effect.mapError(({ why }) => new ForgeError({ reason: "unavailable", operation: "direct message", why })))
  return isStopped ? unwritten(id, { _tag: "AuthorOptedOut" }) : yield* send(addressed.context, addressed.operation)
})
