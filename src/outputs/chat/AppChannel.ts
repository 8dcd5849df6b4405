/**
 * Publishes a review as messages of a chat application or to a webhook with a status, one publication per message. Sent messages cannot be queried: a message without a
 * response is sent again with its key while the platform recognises the key; after that it counts as sent, as with bots.
 */
import { Clock, Effect } from "effect"
import { idMillis } from "../../domain/Ids.ts"
import { appKey, appSends } from "./AppSend.ts"
import type { AppName } from "./AppSend.ts"
import { fillMention, findPeople, planChat, servesChat } from "./BotChannel.ts"
import type { ChannelKind } from "../channels/Channel.ts"
import { mentionSlot } from "../text/Mention.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"

/** Margin before a platform forgets a key. */
const keyMarginMillis = 5 * 60 * 1000

export const appChannel = (name: AppName): ChannelKind => ({
  serves: servesChat,
  plan: planChat(name),

  send: Effect.fnUntraced(function* (context, publication) {
    const { operation, operationId } = publication
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    const app = yield* appSends[name](context)
    const people = yield* findPeople(context, operation)
    yield* app.send(fillMention(name, operation, people), appKey(operationId))
    return { hostId: operationId, url: undefined }
  }),

  find: Effect.fnUntraced(function* (context, publication) {
    const { id, operation, operationId } = publication
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    const { keyMillis } = yield* appSends[name](context)
    // WeCom compares whole requests: another author found for the mention would make another message.
    const isSame = name !== "wecom_app" || !operation.body.includes(mentionSlot)
    const age = (yield* Clock.currentTimeMillis) - (idMillis(id) ?? 0)
    if (isSame && age < keyMillis - keyMarginMillis) return undefined
    return { hostId: `unconfirmed:${operationId}`, url: undefined }
  })
})
