/**
 * Reads the conversation of a comment at the host, and finds out which of its texts are the service's own. A marker alone proves nothing,
 * because people can copy it: its writer is the account of the credential, or the records have the same text.
 */
import { Effect } from "effect"
import type { Change, CommentPlace } from "../../src/domain/Change.ts"
import { commentsIn } from "../../src/domain/Publication.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import type { Conversation, ConversationComment, ForgeClient } from "../../src/forge/Forge.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import type { ConversationText, ReplySituation } from "./ReplyDecision.ts"

export interface ReadConversation extends Pick<ReplySituation, "comment" | "isLocked" | "isOurThread" | "texts"> {
  /** Finding that the thread is about, by the marker of its first text. */
  readonly fingerprint: string | undefined
  readonly path: string | undefined
  readonly line: number | undefined
}

const recordedBodies = ({ operation }: Publication): ReadonlyArray<string> => {
  switch (operation._tag) {
    case "Review":
    case "Summary":
      return [operation, ...commentsIn(operation)].map(({ body }) => body)
    case "CommitComment":
    case "IssueComment":
    case "Reply":
      return [operation.body]
    default:
      return []
  }
}

/** Returns whether the records have a text that another account shows: an earlier credential of the service wrote it. */
const isRecorded = Effect.fnUntraced(function* (body: string) {
  const op = parseMarkers(body).at(-1)?.op
  if (op === undefined) return false
  const row = yield* (yield* Outbox).recorded(op)
  return row !== undefined && recordedBodies(row).some((text) => text.trim() === body.trim())
})

const readText = Effect.fnUntraced(function* ({ author, body, id, isBot, isOwn }: ConversationComment) {
  const isMarked = parseMarkers(body).length > 0
  const isOurs = isMarked && (isOwn || (yield* isRecorded(body)))
  return { id, author: author?.username, isOurs, isBot: isBot && !isOurs, body } satisfies ConversationText
})

/** Returns whether the service opened the thread of the comment. */
const isOpenedByService = Effect.fnUntraced(function* (
  client: ForgeClient,
  { repo, target }: Change,
  { kind, on }: CommentPlace,
  texts: ReadonlyArray<ConversationText>,
  { isPart, path }: Conversation
) {
  const [first] = texts
  // Deliveries of some hosts do not tell a comment at a line from one below the change.
  if (kind === "line" || path !== undefined)
    return first?.isOurs === true || (isPart && texts.some(({ isOurs }) => isOurs))
  if (on === "commit") return texts.some(({ isOurs }) => isOurs)
  if (on !== "issue" || target.number === undefined) return false
  return parseMarkers((yield* client.issues.read(repo, target.number)).body).length > 0
})

/** The conversation of a comment that was deleted. */
export const noConversation: ReadConversation = {
  comment: undefined,
  isLocked: false,
  isOurThread: false,
  texts: [],
  fingerprint: undefined,
  path: undefined,
  line: undefined
}

export const readConversation = Effect.fnUntraced(function* (client: ForgeClient, change: Change, place: CommentPlace) {
  const at = { number: change.target.number, head: change.target.number === undefined ? change.head : undefined }
  const read = yield* client.conversations.read(change.repo, at, place)
  if (read === undefined) return noConversation
  const texts = yield* Effect.forEach(read.comments, readText)
  const own = texts.find(({ isOurs }) => isOurs)
  const comment = texts.find(({ id }) => id === place.id)
  const isOurThread = yield* isOpenedByService(client, change, place, texts, read)
  return {
    comment,
    isLocked: read.isLocked,
    isOurThread,
    // What was written after the comment does not concern it.
    texts: texts.slice(0, comment === undefined ? texts.length : texts.indexOf(comment) + 1),
    fingerprint:
      isOurThread && own !== undefined ? parseMarkers(own.body).find(({ fp }) => fp !== undefined)?.fp : undefined,
    path: read.path,
    line: read.line
  } satisfies ReadConversation
})
