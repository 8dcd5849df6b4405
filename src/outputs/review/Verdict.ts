/**
 * Ends the own request for changes after a clean review of a later head: dismisses it or, where the channel is configured for it,
 * approves the change. Only reviews with the marker of the service are dismissed, because a person may use the same account.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import { OperationId } from "../../domain/Keys.ts"
import type { Operation } from "../../domain/Publication.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import type { Sent } from "../channels/Channel.ts"
import { parseMarkers, renderMarker } from "../Marker.ts"
import { makePendingPolicy } from "./PendingTexts.ts"
import { requireNumber } from "./ReviewSend.ts"

type VerdictOperation = Extract<Operation, { readonly _tag: "Verdict" }>

export const sendVerdict = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  operationId: OperationId,
  { head, approves, body }: VerdictOperation
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const done: HostWrite = { hostId: operationId, url: undefined }
  const none = unwritten(operationId, { _tag: "NoChangeRequest" })
  const { verdicts } = client
  if (verdicts === undefined) return none
  const number = yield* requireNumber(change)
  const requests = (yield* verdicts.requests(change.repo, number)).filter((one) => parseMarkers(one.body).length > 0)
  if (requests.length === 0) return none
  const dismiss = Effect.gen(function* () {
    for (const { hostId } of requests) yield* verdicts.dismiss(change.repo, number, hostId, body)
    return done
  })
  if (!approves) return yield* dismiss
  const text = `${body}\n\n${renderMarker({ op: operationId })}`
  const pending = makePendingPolicy([text], false)
  const approval = { head, event: "APPROVE", body: text, comments: [], pending } as const
  return yield* client.createReview(change.repo, number, approval).pipe(
    // Hosts refuse approvals of an own change, and some accounts may not approve.
    Effect.catchIf(
      ({ reason }) => reason === "invalid" || reason === "forbidden",
      () => dismiss
    )
  )
})
