/** Executes the operations of the channel of Swarm on a review whose comments have been read. */
import { Effect } from "effect"
import type { InlineComment, Operation, Publication } from "../../domain/Publication.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { DuringOutage } from "../../forge/HostHealth.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { NewComment, Notifications, SwarmPosition } from "../../forge/swarm/Client.ts"
import { WriteOwner } from "../../forge/WriteOwner.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import type { ChannelContext, RuledFinding, Sent } from "../channels/Channel.ts"
import { renderResolvedBody } from "../issues/IssueText.ts"
import { labelsFor, rulingNote } from "../Labels.ts"
import { parseMarkers, withoutStates } from "../Marker.ts"
import { mentionSlot } from "../text/Mention.ts"
import { followUpId, rulingId } from "../channels/OperationId.ts"
import { reconcile } from "../review/Reconcile.ts"
import { gfm } from "../SafeText.ts"
import { fillSummary } from "../text/FillSummary.ts"
import { tidy } from "../text/Tidy.ts"
import { toChangelist, chooseVersion } from "./ChooseReview.ts"
import { findSummary, listOwn, listProblems, swarmScope } from "./OwnComments.ts"
import type { OwnComment, OwnProblem } from "./OwnComments.ts"
import { swarmRenderer, toPosition } from "./PlanSwarm.ts"
import { toSwarmBody } from "./SwarmMarkers.ts"
import type { SwarmTarget } from "./SwarmTarget.ts"

type Of<Tag extends Operation["_tag"]> = Extract<Operation, { readonly _tag: Tag }>

const notificationsOf = ({ channel }: ChannelContext): Notifications => channel.notifications ?? "batched"

/** Accounts of Swarm are those of Perforce, so the author of a changelist needs no search. */
const mentionOf = ({ change: { author } }: ChannelContext): string =>
  author !== undefined && /^\w[\w.-]{0,99}$/.test(author.username) ? `@${author.username}` : ""

/**
 * Creates a comment unless it exists. The comments are read again under the permit to write: the publisher of a shelf and that of its submit
 * write to the same review.
 */
export const createOnce = (
  { client, context, review }: SwarmTarget,
  comment: NewComment,
  exists: (now: ReadonlyArray<OwnComment>) => boolean
): Effect.Effect<HostWrite, ForgeError, Writing> => {
  const scope = swarmScope(context.change, context.channel.name)
  const check = Effect.flatMap(client.comments(review), (comments) =>
    exists(listOwn(comments, client.user, scope)) ? Effect.fail(writtenSince) : Effect.void
  ).pipe(Effect.provideService(DuringOutage, "fail"))
  return Effect.updateService(client.create(review, comment), WriteOwner, (owner) => ({
    ...owner,
    guard: Effect.andThen(owner.guard, check)
  }))
}

/** The operation is executed again, and finds the comment. */
const writtenSince = new ForgeError({
  reason: "unavailable",
  operation: "POST /comments",
  why: { _tag: "SwarmCommentWritten" }
})

/** Fills the summary with the findings of the review. The state of a finding is that of its task. */
export const fillFor = (
  { context, own }: SwarmTarget,
  operation: Of<"Summary">,
  previous: Publication | undefined,
  runId: string
): ReturnType<typeof fillSummary> => {
  const problems = listProblems(own).map((problem) => ({ ...problem, ignored: [] }))
  const style = { ...swarmRenderer, language: context.workspace.review.output_language }
  return fillSummary(Effect.succeed(problems), operation, previous, style, runId)
}

export const sendSummary = Effect.fnUntraced(function* (
  target: SwarmTarget,
  publication: Publication,
  operation: Of<"Summary">,
  previous: Publication | undefined
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const { client, context, own, review } = target
  const { onlyUpdate } = operation
  const { body: rendered, listed } = yield* fillFor(target, operation, previous, publication.runId)
  const mentioned = tidy(rendered.replaceAll(mentionSlot, mentionOf(context)))
  const body = toSwarmBody(mentioned)
  const notifications = notificationsOf(context)
  const summary = findSummary(own)
  if (summary !== undefined) return { ...(yield* client.edit(review, summary.id, { body, notifications })), listed }
  if (onlyUpdate === true) return unwritten(publication.operationId, { _tag: "NoSummaryToUpdate" })
  const comment = { body, isTask: false, context: undefined, notifications }
  return { ...(yield* createOnce(target, comment, (now) => findSummary(now) !== undefined)), listed }
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
  target: SwarmTarget,
  comment: InlineComment,
  version: number | undefined
) {
  const { context } = target
  const shared = { isTask: context.channel.problem_tasks ?? true, notifications: notificationsOf(context) }
  const position = { ...toPosition(context.change, comment), ...(version === undefined ? {} : { version }) }
  const fp = parseMarkers(comment.body).at(-1)?.fp
  const create = (body: string, where: SwarmPosition | undefined) =>
    createOnce(target, { ...shared, body: toSwarmBody(body), context: where }, (now) =>
      listProblems(now).some((problem) => problem.fp === fp)
    )
  return yield* create(comment.body, position).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "invalid",
      // The file is not in the review, for example one of an earlier changelist of a batch.
      () => create(withLocation(comment), undefined)
    )
  )
})

const toOpen = ({ isArchived, taskState }: OwnProblem["comment"]) => ({
  ...(taskState === "comment" || taskState === "open" ? {} : { taskState: "open" as const }),
  ...(isArchived ? { flags: [] } : {})
})

/** A comment without a task is archived. */
const toClosed = ({ taskState }: OwnProblem["comment"]) =>
  taskState === "open" ? { taskState: "addressed" as const } : { flags: ["closed"] as const }

/** Opens the comment about a problem that exists again. */
const reopen = ({ client, context, review }: SwarmTarget, { body }: InlineComment, comment: OwnProblem["comment"]) =>
  client.edit(review, comment.id, {
    body: toSwarmBody(body),
    ...toOpen(comment),
    notifications: notificationsOf(context)
  })

export const sendProblems = Effect.fnUntraced(function* (
  target: SwarmTarget,
  publication: Publication,
  operation: Of<"Review">
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const { client, context, review } = target
  const missing = listMissing(target, operation)
  const exist = unwritten(publication.operationId, { _tag: "CommentsExist" })
  if (missing.length === 0) return exist
  const version = chooseVersion(yield* client.versions(review.id), toChangelist(context.change))
  let first: HostWrite | undefined
  for (const { comment, earlier } of missing) {
    const written =
      earlier === undefined
        ? yield* createComment(target, comment, version)
        : yield* reopen(target, comment, earlier.comment)
    first ??= written
  }
  return first ?? exist
})

/** Plans one operation for each comment whose problem no longer exists. */
export const settleProblems = (
  { context, own }: SwarmTarget,
  publication: Publication,
  { analysed, changed, head, present }: Of<"Threads">
): Sent => {
  const done = unwritten(publication.operationId, { _tag: "NoCommentToResolve" })
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
  return next.length === 0 ? done : { hostId: done.hostId, url: undefined, next }
}

/** Marks the task of a comment as addressed; a comment without a task is archived. One that a person has closed since is not changed. */
export const resolveComment = Effect.fnUntraced(function* (
  { client, context, own, review }: SwarmTarget,
  { body, hostId }: Of<"Thread">
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const problem = listProblems(own).find(({ comment }) => comment.id === hostId)
  if (problem === undefined || problem.state !== "open") return unwritten(hostId, { _tag: "GoneAtHost" })
  return yield* client.edit(review, hostId, {
    body: toSwarmBody(body),
    ...toClosed(problem.comment),
    notifications: notificationsOf(context)
  })
})

/** Marks the comments about a finding with its state, and closes or opens them. Returns how many of them have it. */
export const markProblems = Effect.fnUntraced(function* (
  { client, context, own, review }: SwarmTarget,
  ruled: RuledFinding
): Effect.fn.Return<number, ForgeError, Writing> {
  const { fp, state: next } = ruled
  const problems = listProblems(own).filter((problem) => problem.fp === fp && problem.state !== "resolved")
  const labels = labelsFor(context.workspace.review.output_language)
  for (const { comment, state } of problems) {
    if ((state === "open") === (next === "open")) continue
    const names = { op: rulingId(fp, comment.id), scope: swarmScope(context.change, context.channel.name) }
    const note = rulingNote(labels, ruled)
    const marked = renderResolvedBody(withoutStates(comment.body), note, names, swarmRenderer.limit, labels.cut, next)
    yield* client.edit(review, comment.id, {
      body: toSwarmBody(marked),
      ...(next === "open" ? toOpen(comment) : toClosed(comment)),
      notifications: notificationsOf(context)
    })
  }
  return problems.length
})
