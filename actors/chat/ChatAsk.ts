/**
 * Questions of people about reviews. One is admitted with the rights of the person, then waits in `queued` for the reply of a model; after
 * a crash the next owner calls the model again, with the recorded response if there is one. Every text of a model is shown as inert text.
 */
import { Effect, Semaphore } from "effect"
import { allows, permitsQuestions } from "../../src/chat/Authorise.ts"
import { ChatQuestions } from "../../src/chat/ChatQuestions.ts"
import { parseRevision } from "../../src/chat/Command.ts"
import { joinParts, makePageLinks } from "../../src/chat/PageLinks.ts"
import { listRepositories, resolveRepository } from "../../src/chat/Repositories.ts"
import { textsFor } from "../../src/chat/Texts.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { repositoryKey } from "../../src/domain/Change.ts"
import type { ChatOutcome } from "../../src/domain/ChatRequest.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { SafeText } from "../../src/outputs/SafeText.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { Runs } from "../../src/store/Runs.ts"
import { listObserved } from "./ChatExecute.ts"
import type { Execution } from "./ChatExecute.ts"
import { describeTarget, showDetail } from "./ChatQueries.ts"

export const questionLimits = { perActor: 10, perConversation: 30 } as const
const hourMillis = 60 * 60_000

export interface AskedReview {
  readonly alias: string
  readonly revision: string
  readonly question: string
}

type QuestionAdmission =
  | { readonly _tag: "Refused"; readonly text: string }
  | { readonly _tag: "Admitted"; readonly runId: string }

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
  { alias, revision }: AskedReview
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
  if (yield* isAboveLimit(request)) return refused(texts.askLimit)
  return { _tag: "Admitted", runId: run.id } satisfies QuestionAdmission
})

/** Model calls of questions on a node. */
const calls = Semaphore.makeUnsafe(4)

/** Returns the result of an admitted question. */
export const answerQuestion = Effect.fnUntraced(function* (snapshot: Snapshot, safe: SafeText, request: ChatRequest) {
  const texts = textsFor(snapshot.document.review.output_language)
  const links = makePageLinks(snapshot.document.server, safe, texts.buttons.details)
  const { question: text = "", runId = "" } = request.facts
  const result = (outcome: ChatOutcome, reply: string, reason?: Reason) => ({ outcome, text: reply, reason })
  const run = yield* (yield* Runs).get(runId)
  const workspace = run === undefined ? undefined : snapshot.workspaces.get(run.workspace)
  if (run?.analysis === undefined || workspace === undefined) return result("failed", texts.noReview)
  const reply = yield* calls.withPermits(1)(
    (yield* ChatQuestions).answer({
      id: request.id,
      text,
      person: `chat:${request.sender.type} ${request.sender.id}`,
      workspace,
      runId,
      repository: repositoryKey(run.change),
      title: `${run.change.repo.fullName} ${run.change.title ?? ""}`,
      analysis: run.analysis
    })
  )
  return reply._tag === "Answered"
    ? result(
        "succeeded",
        `${joinParts(" ", describeTarget(run.change, safe), links.toRun(runId))}\n${safe.markdown(reply.text)}`
      )
    : result("failed", texts.notAnswered[reply.reason], verbatimReason(reply.why.slice(0, 500)))
})
