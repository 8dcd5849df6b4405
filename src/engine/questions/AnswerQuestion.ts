/**
 * `ChatQuestions` by a model of the group that reviews of the workspace use. Cost, permits and evidence are accounted to the question, whose
 * recorded response is reused when it is repeated after a crash.
 */
import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import { inEnglish } from "../../text/en.ts"
import { ChatQuestions } from "../../chat/ChatQuestions.ts"
import type { ChatAnswer, ChatQuestion } from "../../chat/ChatQuestions.ts"
import { Gateway } from "../../llm/Gateway.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { questionPrompt, questionSystem, questionTool, readAnswer } from "../../review/QuestionPrompt.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { Objects } from "../../store/Objects.ts"
import { readDiffAround } from "../record/DiffOfRun.ts"
import { queryStrictly } from "./StrictQuery.ts"
import { summaryText } from "../../domain/SummaryText.ts"

/** Duration of one call, and of the wait for a provider that refuses it, because a person waits for the result. */
const maxMillis = 60_000
const maxPlaces = 20

/** The same question has the same prompt after a crash. The id of a request is unknown before its question is sent. */
const toFence = (id: string): string => createHash("sha256").update(`fence ${id}`).digest("hex").slice(0, 24)

const reply = Effect.fn("answerQuestion")(function* (question: ChatQuestion) {
  const { analysis, id, person, repository, runId, text, title, workspace } = question
  const group = workspace.modelChain
  if (group === undefined)
    return {
      _tag: "Refused",
      reason: "not_configured",
      why: "no model groups are configured; add llm.providers and llm.model_chain"
    } satisfies ChatAnswer
  const places = analysis.findings.flatMap(({ anchor }) => anchor ?? []).slice(0, maxPlaces)
  const diff = yield* readDiffAround(runId, places)
  const material = {
    question: scrubSecrets(text),
    title,
    analysis: { findings: analysis.findings, summary: scrubSecrets(summaryText(analysis, inEnglish)) },
    diff: scrubSecrets(diff)
  }
  const account = { id: `chat-${id}`, repository, author: person, resumes: { attempt: 1, earlier: [`chat-${id}`] } }
  const { outcome } = yield* queryStrictly({
    snapshot: workspace.snapshot(),
    group,
    role: "any",
    system: questionSystem(workspace.review.output_language),
    prompt: questionPrompt(material, toFence(id)),
    tool: questionTool,
    read: readAnswer,
    deadlineMillis: maxMillis,
    maxThrottledMillis: maxMillis
  }).pipe(Effect.provideService(ModelRun, account))
  if (outcome._tag === "Returned") return { _tag: "Answered", text: scrubSecrets(outcome.value) } satisfies ChatAnswer
  const { reason, why } = outcome.error
  yield* Effect.logWarning("question from chat without a result", { chat_request_id: id, reason: why })
  return {
    _tag: "Refused",
    reason: reason === "budget" || reason === "unpriced" ? "budget" : "unavailable",
    why: inEnglish(why)
  } satisfies ChatAnswer
})

export const layer: Layer.Layer<ChatQuestions, never, Gateway | Objects> = Layer.effect(
  ChatQuestions,
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const objects = yield* Objects
    return ChatQuestions.of({
      answer: (question) =>
        reply(question).pipe(Effect.provideService(Gateway, gateway), Effect.provideService(Objects, objects))
    })
  })
)
