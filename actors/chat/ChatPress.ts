/**
 * Reads the press of a button. Reading it does not use its id: only a press that is executed does, so that a person without the rights
 * cannot take a button from others.
 */
import { Effect } from "effect"
import type { ChatCommand } from "../../src/chat/Command.ts"
import type { ChatConversation } from "../../src/domain/ChatRequest.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatAction, ChatRequest } from "../../src/store/ChatRequests.ts"

/** The effect of a button. */
export type Pressed =
  | { readonly _tag: "Command"; readonly command: ChatCommand }
  | { readonly _tag: "Dismiss"; readonly runId: string; readonly fp: string }

export interface Press {
  /** Undefined if the button is unknown, was used, has expired, or belongs to another conversation. */
  readonly pressed: Pressed | undefined
  /** Conversation of the card; undefined if it is unknown. An event of a card does not name the kind of its conversation. */
  readonly conversation: ChatConversation | undefined
}

const commands = { again: "review", cancel: "cancel", details: "detail" } as const

const toPressed = ({ kind, subject }: ChatAction, { facts }: ChatRequest): Pressed => {
  if (kind !== "dismiss") return { _tag: "Command", command: { name: commands[kind], args: facts.args ?? [] } }
  const [runId = "", fp = ""] = subject.split(" ")
  return { _tag: "Dismiss", runId, fp }
}

export const readPress = Effect.fnUntraced(function* (request: ChatRequest, now: number) {
  const requests = yield* ChatRequests
  const action = yield* requests.getAction(request.facts.text)
  const isHere = action?.connection === request.connection && action.conversation === request.conversation.id
  const origin = action === undefined || !isHere ? undefined : yield* requests.get(action.requestId)
  if (action === undefined || origin === undefined)
    return { pressed: undefined, conversation: undefined } satisfies Press
  const isFree = action.expiresAt > now && (action.usedBy ?? request.id) === request.id
  return {
    pressed: isFree ? toPressed(action, origin) : undefined,
    conversation: origin.conversation
  } satisfies Press
})
