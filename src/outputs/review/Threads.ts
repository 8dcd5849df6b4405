/**
 * Resolves the comments of earlier reviews at lines whose problem no longer exists, with one publication each. A comment with a
 * reply of a person is not changed.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import type { ChannelContext, RuledFinding, Sent } from "../channels/Channel.ts"
import { listExistingThreads } from "../ExistingThreads.ts"
import { renderResolvedBody } from "../issues/IssueText.ts"
import { labelsFor, rulingNote } from "../Labels.ts"
import { withoutStates } from "../Marker.ts"
import { followUpId, rulingId } from "../channels/OperationId.ts"
import { reconcile } from "./Reconcile.ts"
import type { ExistingThreads } from "../ExistingThreads.ts"

type ThreadsOperation = Extract<Operation, { readonly _tag: "Threads" }>

export const settleThreads = Effect.fnUntraced(function* (
  { workspace }: ChannelContext,
  existing: ExistingThreads,
  publication: Publication,
  { head, present, analysed, changed }: ThreadsOperation,
  limit: number
): Effect.fn.Return<Sent, ForgeError> {
  const done = unwritten(publication.operationId, { _tag: "NoCommentToResolve" })
  if (changed.length === 0) return done
  const threads = yield* existing
  const review = {
    found: [],
    present: new Set(present),
    analysed: new Set(analysed),
    changed: new Set(changed),
    complete: true
  }
  const { resolved, outdated } = reconcile(review, threads)
  const labels = labelsFor(workspace.review.output_language)
  const next = [...resolved, ...outdated]
    .filter(({ thread }) => !thread.replied)
    .map(({ thread }) => {
      const op = followUpId(publication.operationId, thread.hostId)
      const note = `**${labels.resolvedBy(head.slice(0, 12))}**`
      const body = renderResolvedBody(thread.body, note, { op, scope: head.slice(0, 16) }, limit, labels.cut)
      return { operationId: op, operation: { _tag: "Thread", hostId: thread.hostId, body } as const }
    })
  return next.length === 0 ? done : { hostId: done.hostId, url: undefined, next }
})

export const resolveThread = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  { hostId, body }: Extract<Operation, { readonly _tag: "Thread" }>
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const { number } = change.target
  const unchanged = unwritten(hostId, { _tag: "GoneAtHost" })
  if (number === undefined) return unchanged
  // A deleted comment needs no further writes.
  return yield* Effect.catchIf(
    client.threads.resolve(change.repo, number, hostId, body),
    (error) => error.reason === "not_found",
    () => Effect.succeed(unchanged)
  )
})

/** Marks the comments of a finding with its state. Returns how many of them have it. */
export const markThreads = Effect.fnUntraced(function* (
  { change, client, workspace }: ChannelContext,
  ruled: RuledFinding,
  limit: number
) {
  const { fp, head, state: next } = ruled
  const { number } = change.target
  if (number === undefined) return 0
  const host = yield* client
  const threads = yield* listExistingThreads(host, change, number, workspace.review.dismissal)
  const own = threads.filter((one) => one.fp === fp && one.state !== "resolved")
  const labels = labelsFor(workspace.review.output_language)
  for (const { state, thread } of own) {
    if ((state === "open") === (next === "open")) continue
    const names = { op: rulingId(fp, thread.hostId), scope: head.slice(0, 16) }
    const note = rulingNote(labels, ruled)
    const body = renderResolvedBody(withoutStates(thread.body), note, names, limit, labels.cut, next)
    yield* host.threads.mark(change.repo, number, thread, body, next !== "open")
  }
  return own.length
})
