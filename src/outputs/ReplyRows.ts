/**
 * Plans the publications of a reply to a comment: the text in its conversation and reactions, on the host of the change, regardless of routes.
 * Text of a model is inert (SafeText.ts). Planning again adds nothing, so that a comment gets one reply whatever its runs. Pure.
 */
import type { Workspace } from "../config/Snapshot.ts"
import { discussedKey } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import { newId } from "../domain/Ids.ts"
import type { OperationId, TargetKey } from "../domain/Keys.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { CommentReply } from "../domain/CommentReply.ts"
import { isChinese } from "../text/InLanguage.ts"
import { replyOperationId, threadNoteId } from "./channels/OperationId.ts"
import { renderMarker } from "./Marker.ts"
import { gfm } from "./SafeText.ts"

/** Channel name of replies, which routes do not name. */
const conversation = "conversation"

const words = {
  en: {
    limited:
      "This conversation has reached its limit of replies. Please decide it among people, or resolve the thread.",
    stillThere: (place: string) => `The reported code is still there: ${place}.`,
    failed: "The reply could not be written. Please ask again later."
  },
  zh: {
    limited: "此讨论的回复次数已达上限。请由人员讨论决定，或将讨论标记为已解决。",
    stillThere: (place: string) => `所报告的代码仍在：${place}。`,
    failed: "未能写出回复，请稍后再问。"
  }
}

const wordsFor = ({ review }: Pick<Workspace, "review">) => (isChinese(review.output_language) ? words.zh : words.en)

interface ReplyInput {
  readonly runId: string
  readonly targetKey: TargetKey
  readonly change: Change
  readonly head: string
  readonly workspace: Pick<Workspace, "review">
}

type Reacted = Extract<Operation, { readonly _tag: "Reaction" }>["reaction"]

const row = (
  { runId, targetKey }: ReplyInput,
  position: number,
  operationId: OperationId,
  operation: Operation
): Publication => ({
  id: newId(),
  operationId,
  runId,
  targetKey,
  channel: conversation,
  operation,
  status: "pending",
  position,
  attempts: 0
})

/** Plans a reaction to the comment; nothing for another target. */
export const reactionRows = (input: ReplyInput, reaction: Reacted): ReadonlyArray<Publication> => {
  const { comment } = input.change.target
  if (comment === undefined) return []
  return [row(input, 0, replyOperationId(input.targetKey, reaction), { _tag: "Reaction", comment, reaction })]
}

const textRow = (input: ReplyInput, operationId: OperationId, text: string): ReadonlyArray<Publication> => {
  const { head, targetKey } = input
  const { comment } = input.change.target
  if (comment === undefined) return []
  const body = `${text.trim()}\n\n${renderMarker({ op: operationId, scope: targetKey })}`
  return [row(input, 1, operationId, { _tag: "Reply", head, comment, body })]
}

/** Plans the note that there will be no reply. */
export const failureRows = (input: ReplyInput): ReadonlyArray<Publication> => [
  ...reactionRows(input, "confused"),
  ...textRow(input, replyOperationId(input.targetKey, "Reply"), wordsFor(input.workspace).failed)
]

/** Plans the publications of a reply. */
export const replyRows = (input: ReplyInput, reply: CommentReply): ReadonlyArray<Publication> => {
  const { comment, evidence, outcome, text } = reply
  const { limited, stillThere } = wordsFor(input.workspace)
  const thread = comment.thread ?? comment.kind
  const ownId = replyOperationId(input.targetKey, "Reply")
  switch (outcome) {
    case "unavailable":
      return reactionRows(input, "confused")
    case "none":
      return text === "" ? reactionRows(input, "thumbs_up") : []
    case "limited":
      return textRow(input, threadNoteId(discussedKey(input.change), thread, "limited"), limited)
    case "kept":
      // Without words of a model it is the check of a claim that the code was repaired: once per thread and head.
      return text === "" && evidence !== undefined
        ? textRow(
            input,
            threadNoteId(discussedKey(input.change), thread, `still there ${input.head}`),
            stillThere(`${gfm.codeSpan(evidence.path)}, ${evidence.line}`)
          )
        : textRow(input, ownId, gfm.markdown(text))
    default:
      return textRow(input, ownId, gfm.markdown(text))
  }
}
