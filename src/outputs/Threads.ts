/**
 * Comments at lines of earlier reviews: those whose problem is gone are resolved, one outbox row each. A comment that somebody
 * answered is theirs as well as ours and is left alone.
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { ForgeClient, ForgeError } from "../forge/Forge.ts"
import type { Reach, Sent } from "./Channel.ts"
import { resolvedBody } from "./IssueText.ts"
import { labelsFor } from "./Labels.ts"
import { followUpId } from "./OperationId.ts"
import { reconcile } from "./Reconcile.ts"
import type { StandingThreads } from "./StandingThreads.ts"

type ThreadsOperation = Extract<Operation, { readonly _tag: "Threads" }>

export const settleThreads = Effect.fnUntraced(function* (
  { workspace }: Reach,
  standing: StandingThreads,
  publication: Publication,
  { head, present, analysed, changed }: ThreadsOperation,
  limit: number
): Effect.fn.Return<Sent, ForgeError> {
  const done = { hostId: publication.operationId, url: undefined }
  if (changed.length === 0) return done
  const threads = yield* standing
  const now = {
    found: [],
    present: new Set(present),
    analysed: new Set(analysed),
    changed: new Set(changed),
    complete: true
  }
  const { resolved, outdated } = reconcile(now, threads)
  const labels = labelsFor(workspace.review.output_language)
  const next = [...resolved, ...outdated]
    .filter(({ thread }) => !thread.replied)
    .map(({ thread }) => {
      const op = followUpId(publication.operationId, thread.hostId)
      const note = `**${labels.resolvedBy(head.slice(0, 12))}**`
      const body = resolvedBody(thread.body, note, { op, scope: head.slice(0, 16) }, limit, labels.cut)
      return { operationId: op, operation: { _tag: "Thread", hostId: thread.hostId, body } as const }
    })
  return { ...done, next }
})

export const resolveThread = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  { hostId, body }: Extract<Operation, { readonly _tag: "Thread" }>
) {
  const { number } = change.target
  const gone = { hostId, url: undefined }
  if (number === undefined) return gone
  // A comment that somebody deleted needs no more writing.
  return yield* Effect.catchIf(
    client.threads.resolve(change.repo, number, hostId, body),
    (error) => error.reason === "not_found",
    () => Effect.succeed(gone)
  )
})
