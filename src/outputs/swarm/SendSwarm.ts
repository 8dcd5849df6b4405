/** Executes the operations of the channel of Swarm on a review whose comments have been read. */
import { Effect } from "effect"
import type { InlineComment, Operation, Publication } from "../../domain/Publication.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { Notifications } from "../../forge/swarm/Client.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import type { ChannelContext, Sent } from "../Channel.ts"
import { renderResolvedBody } from "../IssueText.ts"
import { labelsFor } from "../Labels.ts"
import { parseMarkers } from "../Marker.ts"
import { mentionSlot } from "../Mention.ts"
import { followUpId } from "../OperationId.ts"
import { reconcile } from "../Reconcile.ts"
import { gfm } from "../SafeText.ts"
import { tidy } from "../Tidy.ts"
import { toChangelist, chooseVersion } from "./ChooseReview.ts"
import { findSummary, listProblems, swarmScope } from "./OwnComments.ts"
import type { OwnProblem } from "./OwnComments.ts"
import { swarmRenderer, toPosition } from "./PlanSwarm.ts"
import { toSwarmBody } from "./SwarmMarkers.ts"
import type { SwarmTarget } from "./SwarmTarget.ts"

type Of<Tag extends Operation["_tag"]> = Extract<Operation, { readonly _tag: Tag }>

/** Result of an operation that wrote nothing, with the operation id in place of an id at the server. */
const toUnwritten = ({ operationId }: Publication): HostWrite => ({ hostId: operationId, url: undefined })

const notificationsOf = ({ channel }: ChannelContext): Notifications => channel.notifications ?? "batched"

/** Accounts of Swarm are those of Perforce, so the author of a changelist needs no search. */
const mentionOf = ({ change: { author } }: ChannelContext): string =>
  author !== undefined && /^\w[\w.-]{0,99}$/.test(author.username) ? `@${author.username}` : ""

export const sendSummary = Effect.fnUntraced(function* (
  { client, context, own, review }: SwarmTarget,
  publication: Publication,
  { body: rendered, onlyUpdate }: Of<"Summary">
): Effect.fn.Return<HostWrite, ForgeError, Writing> {
  const mentioned = tidy(rendered.replaceAll(mentionSlot, mentionOf(context)))
  const body = toSwarmBody(mentioned)
  const notifications = notificationsOf(context)
  const summary = findSummary(own)
  if (summary !== undefined) return yield* client.edit(review, summary.id, { body, notifications })
  if (onlyUpdate === true) return toUnwritten(publication)
  return yield* client.create(review, { body, isTask: false, context: undefined, notifications })
})

interface MissingComment {
  readonly comment: InlineComment
  /** Comment about the same problem that is resolved: it is opened again. */
  readonly earlier: OwnProblem | undefined
}

/** Returns the comments that have to be written: problems that no comment mentions, and resolved ones that exist again. */
export const listMissing = ({ own }: SwarmTarget, { comments }: Of<"Review">): ReadonlyArray<MissingComment> => {
  const found = comments.flatMap((comment) => {
    const fp = parseMarkers(comment.body).at(-1)?.fp
    return fp === undefined ? [] : [{ fp, comment }]
  })
  const state = {
    found,
    present: new Set(found.map(({ fp }) => fp)),
    analysed: new Set<string>(),
    changed: undefined,
    complete: false
  }
  const { fresh, returned } = reconcile(state, listProblems(own))
  return [
    ...fresh.map(({ comment }) => ({ comment, earlier: undefined })),
    ...returned.map(({ existing, found: { comment } }) => ({ comment, earlier: existing }))
  ]
}

/** Names the location in the text, for a comment that Swarm refuses at its line. */
const withLocation = ({ body, line, path, start }: InlineComment): string =>
  `${gfm.codeSpan(path)}:${start === undefined ? "" : `${start}-`}${line}\n\n${body}`

const createComment = Effect.fnUntraced(function* (
  { client, context, review }: SwarmTarget,
  comment: InlineComment,
  version: number | undefined
) {
  const shared = { isTask: context.channel.problem_tasks ?? true, notifications: notificationsOf(context) }
  const position = { ...toPosition(context.change, comment), ...(version === undefined ? {} : { version }) }
  return yield* client.create(review, { ...shared, body: toSwarmBody(comment.body), context: position }).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "invalid",
      // The file is not in the review, for example one of an earlier changelist of a batch.
      () => client.create(review, { ...shared, body: toSwarmBody(withLocation(comment)), context: undefined })
    )
  )
})

/** Opens the comment about a problem that exists again. */
const reopen = (
  { client, context, review }: SwarmTarget,
  { body }: InlineComment,
  { id, isArchived, taskState }: OwnProblem["comment"]
) =>
  client.edit(review, id, {
    body: toSwarmBody(body),
    ...(taskState === "comment" || taskState === "open" ? {} : { taskState: "open" as const }),
    ...(isArchived ? { flags: [] } : {}),
    notifications: notificationsOf(context)
  })

export const sendProblems = Effect.fnUntraced(function* (
  target: SwarmTarget,
  publication: Publication,
  operation: Of<"Review">
): Effect.fn.Return<HostWrite, ForgeError, Writing> {
  const { client, context, review } = target
  const missing = listMissing(target, operation)
  if (missing.length === 0) return toUnwritten(publication)
  const version = chooseVersion(yield* client.versions(review.id), toChangelist(context.change))
  let first: HostWrite | undefined
  for (const { comment, earlier } of missing) {
    const written =
      earlier === undefined
        ? yield* createComment(target, comment, version)
        : yield* reopen(target, comment, earlier.comment)
    first ??= written
  }
  return first ?? toUnwritten(publication)
})

/** Plans one operation for each comment whose problem no longer exists. */
export const settleProblems = (
  { context, own }: SwarmTarget,
  publication: Publication,
  { analysed, changed, head, present }: Of<"Threads">
): Sent => {
  const done = toUnwritten(publication)
  if (changed.length === 0) return done
  const state = {
    found: [],
    present: new Set(present),
    analysed: new Set(analysed),
    changed: new Set(changed),
    complete: true
  }
  const { outdated, resolved } = reconcile(state, listProblems(own))
  const labels = labelsFor(context.workspace.review.output_language)
  const next = [...resolved, ...outdated].map(({ comment }) => {
    const op = followUpId(publication.operationId, comment.id)
    const note = `**${labels.resolvedBy(head.slice(0, 12))}**`
    const marker = { op, scope: swarmScope(context.change, context.channel.name) }
    const body = renderResolvedBody(comment.body, note, marker, swarmRenderer.limit, labels.cut)
    return { operationId: op, operation: { _tag: "Thread", hostId: comment.id, body } as const }
  })
  return { ...done, next }
}

/** Marks the task of a comment as addressed; a comment without a task is archived. One that a person has closed since is not changed. */
export const resolveComment = Effect.fnUntraced(function* (
  { client, context, own, review }: SwarmTarget,
  { body, hostId }: Of<"Thread">
): Effect.fn.Return<HostWrite, ForgeError, Writing> {
  const problem = listProblems(own).find(({ comment }) => comment.id === hostId)
  if (problem === undefined || problem.state !== "open") return { hostId, url: undefined }
  return yield* client.edit(review, hostId, {
    body: toSwarmBody(body),
    ...(problem.comment.taskState === "open" ? { taskState: "addressed" as const } : { flags: ["closed"] as const }),
    notifications: notificationsOf(context)
  })
})
