/** Creates the buttons of a card: each has an id of its own that is used once, within a day. */
import { Clock, Duration, Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { ChatTexts } from "../../src/chat/Texts.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatButton, ChatRequest } from "../../src/store/ChatRequests.ts"
import type { Run } from "../../src/store/Runs.ts"
import { sortFindings } from "./ChatQueries.ts"

const lifetimeMillis = Duration.toMillis("24 hours")
/** Findings of a card that can be dismissed with a button: the most severe ones. */
const maxDismissed = 5
const maxTitle = 60

/** A label is plain text on every platform. */
const toLine = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, maxTitle)
    .toWellFormed()

export type NewButton = Pick<ChatButton, "kind" | "label" | "subject">

/** Returns the buttons that act on the review of a request. */
export const requestButtons = (
  { id }: ChatRequest,
  { buttons }: ChatTexts,
  kinds: ReadonlyArray<"again" | "cancel" | "details">
): ReadonlyArray<NewButton> => kinds.map((kind) => ({ kind, label: buttons[kind], subject: id }))

/** Returns the buttons that dismiss findings. Only comments and issues of a pull request can be dismissed. */
export const dismissButtons = (run: Run | undefined, { buttons }: ChatTexts): ReadonlyArray<NewButton> =>
  run?.change.target.kind === "pull_request"
    ? sortFindings(run)
        .slice(0, maxDismissed)
        .map(({ fingerprint, problem }) => ({
          kind: "dismiss",
          label: `${buttons.dismiss}: ${toLine(problem.title ?? problem.message)}`,
          subject: `${run.id} ${fingerprint}`
        }))
    : []

export const makeButtons = Effect.fnUntraced(function* (
  { connection, conversation, id: requestId }: ChatRequest,
  buttons: ReadonlyArray<NewButton>
) {
  const made = buttons.map((button): ChatButton => ({ ...button, id: randomBytes(24).toString("base64url") }))
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
