/** Creates the buttons of a card: each has an id of its own that is used once, within a day. */
import { Clock, Duration, Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { ChatTexts } from "../src/chat/Texts.ts"
import { ChatRequests } from "../src/store/ChatRequests.ts"
import type { ChatButton, ChatRequest } from "../src/store/ChatRequests.ts"

const lifetimeMillis = Duration.toMillis("24 hours")

export const makeButtons = Effect.fnUntraced(function* (
  { connection, conversation, id: requestId }: ChatRequest,
  { buttons }: ChatTexts,
  kinds: ReadonlyArray<"again" | "cancel" | "details">
) {
  const made = kinds.map((kind): ChatButton => ({
    kind,
    label: buttons[kind],
    id: randomBytes(24).toString("base64url"),
    subject: requestId
  }))
  const expiresAt = (yield* Clock.currentTimeMillis) + lifetimeMillis
  yield* (yield* ChatRequests).addActions(
    made.map(({ id, kind, subject }) => ({
      id,
      kind,
      subject,
      requestId,
      connection,
      conversation: conversation.id,
      expiresAt
    }))
  )
  return made
})
