/**
 * An objection of a program to a finding. It is decided as an objection of a person is (actors/conversation), and never as one of a person who may
 * dismiss: it withdraws a finding only if code of the head proves that. The call returns the decision, however often it is repeated.
 */
import { Clock, Effect, Schema } from "effect"
import { targetKey } from "../../domain/Change.ts"
import { ReplyOutcome, ReplyRuling } from "../../domain/CommentReply.ts"
import { isUnresolved } from "../../domain/FindingState.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import { tokenHolder } from "../../domain/ServiceToken.ts"
import type { TokenRights } from "../../domain/ServiceToken.ts"
import { toDisputed } from "../../queue/operator/DisputeFinding.ts"
import { scrubDispute } from "../../engine/ScrubDispute.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import { Receipts } from "../../store/Receipts.ts"
import { Runs } from "../../store/Runs.ts"
import { inEnglish } from "../../text/en.ts"
import { finishAction, startAction } from "../handlers/Audit.ts"
import { Caller } from "../sessions/Caller.ts"
import { AgentRefusal } from "./AgentRefusal.ts"
import { openReview } from "./FindReviews.ts"
import type { ChangeNamed } from "./FindReviews.ts"

const text = (description: string, max: number) =>
  Schema.String.annotate({ description }).check(Schema.isMinLength(1), Schema.isMaxLength(max))

/** Fields of the input that follow the change and the number of the finding. */
export const disputeFields = {
  reason: text("Why the finding is wrong, for the model and for people", 2000),
  path: text("Path of the file that proves it", 512),
  quote: text("Lines of this file at the head that prove it, copied literally", 2000)
}

export const DisputeResult = Schema.Struct({
  finding: Schema.Int.annotate({ description: "Number of the finding" }),
  decided: Schema.Boolean.annotate({ description: "False: not decided yet; repeat the call" }),
  outcome: Schema.optionalKey(
    Schema.Literals(ReplyOutcome.literals).annotate({
      description: "withdrawn: the finding does not count any more; kept: it stays; needs_person: people decide"
    })
  ),
  ruling: Schema.optionalKey(
    Schema.Literals(ReplyRuling.literals).annotate({
      description:
        "unproven: the head does not have the quoted code at one place; unconfirmed: a second reading did not confirm it; repeated: there was an objection on this head before"
    })
  ),
  text: Schema.optionalKey(Schema.String.annotate({ description: "What the model says about it" })),
  reason: Schema.optionalKey(Schema.String.annotate({ description: "Reason for which nothing was decided" }))
})
type DisputeResult = typeof DisputeResult.Type

interface DisputeInput extends ChangeNamed {
  readonly finding: number
  readonly reason: string
  readonly path: string
  readonly quote: string
}

/** Returns what is recorded about the objection. */
const readDecision = Effect.fnUntraced(function* (target: TargetKey, finding: number, eventId: string | undefined) {
  const [run] = yield* (yield* Runs).list({ targetKey: target, limit: 1 })
  const reply = run?.analysis?.reply
  if (reply !== undefined) {
    const { outcome, ruling, text: words } = reply
    return {
      finding,
      decided: true,
      outcome,
      ...(ruling === undefined ? {} : { ruling }),
      ...(words === "" ? {} : { text: words })
    } satisfies DisputeResult
  }
  const event = eventId === undefined ? undefined : yield* (yield* Receipts).get(eventId)
  if (event?.outcome === undefined) return { finding, decided: false } satisfies DisputeResult
  const { outcome, outcomeReason } = event
  const reason = outcomeReason === undefined ? outcome : inEnglish(outcomeReason)
  return { finding, decided: true, reason } satisfies DisputeResult
})

const pollMillis = 1000

/** Waits at most this time for the decision. */
export const dispute = Effect.fnUntraced(function* (input: DisputeInput, token: TokenRights, seconds: number) {
  const { finding: number, path, quote, reason, ...named } = input
  const deadline = (yield* Clock.currentTimeMillis) + seconds * 1000
  const { findings, review } = yield* openReview(named, token)
  const found = findings.find((one) => one.number === number)
  if (found === undefined) return yield* new AgentRefusal({ why: { _tag: "NoSuchFinding", number } })
  const objection = scrubDispute({ _tag: "Dispute", fingerprint: found.finding.fingerprint, reason, path, quote })
  const change = toDisputed(review.change, review.head, token, objection)
  const target = targetKey(change)
  const earlier = yield* readDecision(target, number, undefined)
  if (earlier.decided) return earlier
  if (!isUnresolved(found.state)) return yield* new AgentRefusal({ why: { _tag: "FindingClosed", number } })
  const request = yield* requestDecision(change, token)
  while (true) {
    const decision = yield* readDecision(target, number, request)
    const left = deadline - (yield* Clock.currentTimeMillis)
    if (decision.decided || left <= 0) return decision
    yield* Effect.sleep(Math.min(pollMillis, left))
  }
})

/** Records the objection in the audit, and requests its decision. Returns the id of its delivery. */
const requestDecision = Effect.fnUntraced(function* (change: ReturnType<typeof toDisputed>, token: TokenRights) {
  const { request } = yield* Caller
  const path = `/mcp ${targetKey(change)}`
  const action = yield* startAction(tokenHolder(token), "agents.dispute").pipe(
    Effect.provideService(Caller, { request: { ...request, path, address: "mcp" }, localUser: undefined })
  )
  const requested = yield* (yield* Operations).dispute(change, token)
  yield* finishAction(action, requested._tag === "Queued" ? "done" : "workspace_gone")
  if (requested._tag === "Gone") return yield* new AgentRefusal({ why: { _tag: "TargetGone" } })
  const { id, name } = token
  yield* Effect.logInfo("finding disputed by a program", { token_id: id, name, target: targetKey(change) })
  return requested.eventId
})
