/**
 * Plans the publications of a reply to a comment: the text in its conversation and reactions, on the host of the change, regardless of routes.
 * Text of a model is inert (SafeText.ts). Planning again adds nothing, so that a comment gets one reply whatever its runs. Pure.
 */
import type { Workspace } from "../config/Snapshot.ts"
import { discussedKey } from "../domain/Change.ts"
import type { Change, CommentPlace } from "../domain/Change.ts"
import { newId } from "../domain/Ids.ts"
import type { OperationId, TargetKey } from "../domain/Keys.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { CommentReply } from "../domain/CommentReply.ts"
import { isChinese } from "../text/InLanguage.ts"
import { replyOperationId, threadNoteId, withdrawalId } from "./channels/OperationId.ts"
import { renderMarker } from "./Marker.ts"
import { gfm } from "./SafeText.ts"
import { swarmScope } from "./swarm/OwnComments.ts"

/** Channel name of replies at the host, which routes do not name. */
const conversation = "conversation"

const words = {
  en: {
    limited:
      "This conversation has reached its limit of replies. Please decide it among people, or resolve the thread.",
    stillThere: (place: string) => `The reported code is still there: ${place}.`,
    failed: "The reply could not be written. Please ask again later.",
    withdrawn: "Withdrawn.",
    rulings: {
      unproven: (head: string) =>
        `The finding stays: commit ${head} does not have code that shows it to be wrong. It is withdrawn when the code shows that.`,
      unconfirmed: () => "The finding stays until somebody decides who may dismiss findings of this change.",
      repeated: (head: string) =>
        `An objection to this finding was already considered for commit ${head}. It stays until the code changes, or until somebody decides who may dismiss it.`
    }
  },
  zh: {
    limited: "此讨论的回复次数已达上限。请由人员讨论决定，或将讨论标记为已解决。",
    stillThere: (place: string) => `所报告的代码仍在：${place}。`,
    failed: "未能写出回复，请稍后再问。",
    withdrawn: "已撤回。",
    rulings: {
      unproven: (head: string) => `问题保留：提交 ${head} 中没有能说明其不成立的代码。代码能说明时，问题会被撤回。`,
      unconfirmed: () => "问题保留，直到有权驳回此变更中问题的人员作出决定。",
      repeated: (head: string) =>
        `对于提交 ${head}，此问题的异议已被考虑过。在代码改变，或有权驳回的人员作出决定之前，问题保留。`
    }
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

/** Plans a reaction to a comment, by default that of the target; nothing for words that are no comment at the host. */
export const reactionRows = (
  input: ReplyInput & { readonly comment?: CommentPlace },
  reaction: Reacted,
  position = 0
): ReadonlyArray<Publication> => {
  const { comment = input.change.target.comment, targetKey } = input
  if (comment === undefined || input.change.source !== undefined) return []
  const id = replyOperationId(targetKey, `${reaction} ${comment.id}`)
  return [row(input, position, id, { _tag: "Reaction", comment, reaction })]
}

/**
 * Plans a text in the conversation. The publisher of its change, issue or commit sends it, because all texts there are written one after the
 * other: on some hosts a reply shares the pending review of the account.
 */
const textRow = (input: ReplyInput, operationId: OperationId, text: string): ReadonlyArray<Publication> => {
  const { change, head, targetKey } = input
  const { source, target } = change
  const { comment } = target
  const channel = source === undefined ? conversation : source._tag === "SwarmQuestion" ? source.channel : undefined
  if (comment === undefined || channel === undefined) return []
  const scope = source === undefined ? targetKey : swarmScope(change, channel)
  const body = `${text.trim()}\n\n${renderMarker({ op: operationId, scope })}`
  const operation = { _tag: "Reply", head, comment, body } as const
  return [{ ...row(input, 1, operationId, operation), targetKey: discussedKey(change), channel }]
}

/** Plans the note that there will be no reply. */
export const failureRows = (input: ReplyInput): ReadonlyArray<Publication> => [
  ...reactionRows(input, "confused"),
  ...textRow(input, replyOperationId(input.targetKey, "Reply"), wordsFor(input.workspace).failed)
]

/** Plans the publications of a reply. */
export const replyRows = (input: ReplyInput, reply: CommentReply): ReadonlyArray<Publication> => {
  const { comment, evidence, fingerprint, outcome, ruling, text } = reply
  const { limited, rulings, stillThere, withdrawn } = wordsFor(input.workspace)
  const thread = fingerprint ?? comment.thread ?? comment.kind
  const ownId = replyOperationId(input.targetKey, "Reply")
  if (ruling !== undefined) return textRow(input, ownId, rulings[ruling](gfm.codeSpan(input.head.slice(0, 12))))
  switch (outcome) {
    case "withdrawn": {
      const target = discussedKey(input.change)
      const written = textRow(input, ownId, `**${withdrawn}**\n\n${gfm.markdown(text)}`)
      if (fingerprint === undefined) return written
      const operation = { _tag: "Withdraw", head: input.head, fp: fingerprint } as const
      return [
        { ...row(input, 0, withdrawalId(target, input.head, fingerprint), operation), targetKey: target },
        ...written
      ]
    }
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
