/**
 * Questions of people about reviews. One is admitted with the rights of the person and queued as a reply (actors/conversation); its end is the
 * result of the request. Every text of a model is shown as inert text.
 */
import { Effect } from "effect"
import { allows, permitsQuestions } from "../../src/chat/Authorise.ts"
import { parseRevision } from "../../src/chat/Command.ts"
import { joinParts } from "../../src/chat/PageLinks.ts"
import type { PageLinks } from "../../src/chat/PageLinks.ts"
import { listRepositories, resolveRepository } from "../../src/chat/Repositories.ts"
import type { ChatTexts } from "../../src/chat/Texts.ts"
import { targetKey, toWordsAbout } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { ChatOutcome } from "../../src/domain/ChatRequest.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { SafeText } from "../../src/outputs/SafeText.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { Runs } from "../../src/store/Runs.ts"
import { listObserved } from "./ChatExecute.ts"
import type { Execution } from "./ChatExecute.ts"
import { describeTarget, showDetail } from "./ChatQueries.ts"
import { isReviewQueued, toRequester } from "./ChatReview.ts"
import type { ChatReviewEnd } from "./ChatReview.ts"

export const questionLimits = { perActor: 10, perConversation: 30 } as const
const hourMillis = 60 * 60_000
const maxReason = 300

/** Renders a reason in a message, cut off after 300 characters. */
export const renderReason = (
  why: Reason,
  { safe, texts }: { readonly safe: SafeText; readonly texts: ChatTexts }
): string => safe.plain(texts.reason(why).slice(0, maxReason))

export interface QuestionedReview {
  readonly alias: string
  readonly revision: string
}

type QuestionAdmission =
  | { readonly _tag: "Refused"; readonly text: string }
  | { readonly _tag: "Admitted"; readonly runId: string; readonly change: Change }

const refused = (text: string): QuestionAdmission => ({ _tag: "Refused", text })

/** Returns whether the person, or the conversation, had its questions of an hour. */
export const isAboveLimit = Effect.fnUntraced(function* ({
  connection,
  conversation,
  receivedAt,
  sender
}: ChatRequest) {
  const requests = yield* ChatRequests
  const statuses = ["queued", "publishing", "succeeded", "partial", "failed"] as const
  const counted = { connection, since: receivedAt - hourMillis, command: "ask", statuses } as const
  if ((yield* requests.count({ ...counted, sender })) >= questionLimits.perActor) return true
  return (yield* requests.count({ ...counted, conversation })) >= questionLimits.perConversation
})

/** Finds the review that the question is about, among those whose problems the person may list. */
export const admitQuestion = Effect.fnUntraced(function* (
  { links, permissions: all, request, safe, snapshot, texts }: Execution,
  { alias, revision }: QuestionedReview
) {
  const asking = all.filter(permitsQuestions)
  if (asking.length === 0) return refused(texts.askOff)
  const command = parseRevision(revision)._tag === "Pull" ? "prdetail" : "detail"
  const permissions = asking.filter((permission) => allows(permission, command))
  if (permissions.length === 0) return refused(texts.notAllowed(command))
  const observed = yield* listObserved(permissions)
  const resolved = resolveRepository(snapshot, permissions, observed, alias)
  if (resolved._tag === "Unknown") return refused(texts.unknownRepository)
  if (resolved._tag === "Ambiguous") return refused(texts.ambiguousRepository)
  const repositories = listRepositories(snapshot, permissions, observed)
  const { run } = yield* showDetail({ texts, safe, links, request, repositories }, resolved.repository, revision)
  if (run?.analysis === undefined) return refused(texts.noReview)
  const { change: reviewed, head, id: runId } = run
  const change = toWordsAbout(reviewed, head, {
    author: toRequester(request.sender),
    id: `chat-${request.id}`,
    source: { _tag: "ChatQuestion", request: request.id, run: runId }
  })
  // After a crash the question may be in the queue already, and the limits were passed by others since.
  const isRepeated = yield* isReviewQueued(request, { targetKey: targetKey(change) })
  if (!isRepeated && (yield* isAboveLimit(request))) return refused(texts.askLimit)
  return { _tag: "Admitted", runId, change } satisfies QuestionAdmission
})

interface QuestionResult {
  readonly outcome: ChatOutcome
  readonly text: string
  readonly reason?: Reason
}

/** Next steps of operators that end the reason of a call which a budget refuses. */
const isOfBudget = (reason: Reason): boolean =>
  reason._tag === "ModelsFailed" && reason.reasons.some(({ _tag }) => _tag === "RaiseBudget" || _tag === "NamePrice")

/** Returns the result of a question whose reply has ended, or ended without one. */
export const toResult = Effect.fnUntraced(function* (
  { facts }: ChatRequest,
  { outcome, run: ended, why }: ChatReviewEnd,
  { links, safe, texts }: { readonly links: PageLinks; readonly safe: SafeText; readonly texts: ChatTexts }
) {
  const failed = (text: string): QuestionResult => ({ outcome: "failed", text, reason: why })
  const { runId = "" } = facts
  const review = yield* (yield* Runs).get(runId)
  if (review === undefined) return failed(texts.noReview)
  const reply = ended?.analysis?.reply
  if (reply === undefined) {
    if (ended?.status === "failed" || ended?.status === "timeout")
      return failed(texts.notAnswered[isOfBudget(why) ? "budget" : "unavailable"])
    // An operator cancelled it, or it waited too long: a model had no part in that.
    const text = texts.notReplied(renderReason(why, { safe, texts }))
    return { outcome, text, reason: why } satisfies QuestionResult
  }
  if (reply.outcome === "unavailable") return failed(texts.notAnswered.not_configured)
  if (reply.outcome === "limited") return { outcome: "rejected", text: texts.askLimit } satisfies QuestionResult
  const about = joinParts(" ", describeTarget(review.change, safe), links.toRun(runId))
  const words = reply.text === "" ? texts.nothing : safe.markdown(reply.text)
  return { outcome: "succeeded", text: `${about}\n${words}` } satisfies QuestionResult
})
