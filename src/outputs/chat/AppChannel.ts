/**
 * Publishes a review as messages of a chat application or to a webhook with a status, one publication per message. Where messages can be read,
 * the changes have threads, and a message without a response is searched for. Elsewhere it is sent again with its key while the platform
 * recognises the key; after that it counts as sent, as with bots.
 */
import { Clock, Effect } from "effect"
import { parseIdTime } from "../../domain/Ids.ts"
import { appKey, appSends } from "./AppSend.ts"
import type { AppName } from "./AppSend.ts"
import { addressDirect, sendDirect } from "./DirectMessage.ts"
import type { ChatOperation, ThreadedMessage } from "./MessageSend.ts"
import { fillMention, findPeople, planChat, servesChat } from "./BotChannel.ts"
import type { Publication } from "../../domain/Publication.ts"
import type { ChannelContext, ChannelKind, Sent } from "../channels/Channel.ts"
import { mentionSlot } from "../text/Mention.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"

/** Margin before a platform forgets a key. */
const keyMarginMillis = 5 * 60 * 1000

/** Difference between the clocks of the platform and of the service. */
const clockMarginMillis = 10 * 60 * 1000

/** Returns the thread of the change, which its first message began: ids of later messages begin with that of the thread. */
const threadOf = (previous: Publication | undefined): string | undefined => {
  const [thread = ""] = previous?.hostId?.split("/") ?? []
  // The channel may have been of another kind.
  return /^\d{1,20}\.\d{1,20}$/.test(thread) ? thread : undefined
}

const toSent = ({ id, thread }: ThreadedMessage, operationId: string): Sent => ({
  hostId: [thread, id ?? operationId].filter((part) => part !== undefined).join("/"),
  url: undefined
})

/** Sends one message. `thread`: that of the change, of which a direct message has none. */
const sendMessage = Effect.fnUntraced(function* (
  name: AppName,
  context: ChannelContext,
  { operationId }: Pick<Publication, "operationId">,
  operation: ChatOperation,
  thread?: string
) {
  const { send, threads } = yield* appSends[name](context)
  const people = yield* findPeople(context, operation)
  const message = fillMention(name, operation, people)
  if (threads !== undefined) return toSent(yield* threads.send(message, appKey(operationId), thread), operationId)
  yield* send(message, appKey(operationId))
  return { hostId: operationId, url: undefined } satisfies Sent
})

const findMessage = Effect.fnUntraced(function* (
  name: AppName,
  context: ChannelContext,
  { id, operationId }: Pick<Publication, "id" | "operationId">,
  operation: ChatOperation,
  thread?: string
) {
  const { keyMillis, threads } = yield* appSends[name](context)
  if (threads !== undefined) {
    const since = (parseIdTime(id) ?? clockMarginMillis) - clockMarginMillis
    const found = yield* threads.find(appKey(operationId), thread, since)
    return found.id === undefined ? undefined : toSent(found, operationId)
  }
  // WeCom compares whole requests: another author found for the mention would make another message.
  const isSame = name !== "wecom_app" || !operation.body.includes(mentionSlot)
  const age = (yield* Clock.currentTimeMillis) - (parseIdTime(id) ?? 0)
  if (isSame && age < keyMillis - keyMarginMillis) return undefined
  return unconfirmed(operationId)
})

const unconfirmed = (operationId: string): Sent => ({ hostId: `unconfirmed:${operationId}`, url: undefined })

export const appChannel = (name: AppName): ChannelKind => ({
  serves: servesChat,
  plan: planChat(name),

  send: Effect.fnUntraced(function* (context, publication, previous) {
    const { operation, operationId } = publication
    if (operation._tag === "DirectMessage")
      return yield* sendDirect(context, { operation, operationId }, (to, message) =>
        sendMessage(name, to, publication, message)
      )
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    return yield* sendMessage(name, context, publication, operation, threadOf(previous))
  }),

  find: Effect.fnUntraced(function* (context, publication, previous) {
    const { operation, operationId } = publication
    if (operation._tag === "DirectMessage") {
      // A recipient that the directory no longer has may have the message.
      const to = yield* addressDirect(context, operation)
      return to === undefined
        ? unconfirmed(operationId)
        : yield* findMessage(name, to.context, publication, to.operation)
    }
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    return yield* findMessage(name, context, publication, operation, threadOf(previous))
  })
})
