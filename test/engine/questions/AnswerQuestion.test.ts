/** Replies to questions from chat: whose budget pays for them, and how a failure is reported. */
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ChatQuestions } from "../../../src/chat/ChatQuestions.ts"
import * as AnswerQuestion from "../../../src/engine/questions/AnswerQuestion.ts"
import { Gateway, GatewayError } from "../../../src/llm/Gateway.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"
import { analysis } from "../../store/Fixtures.ts"
import { calling } from "../Fixture.ts"

const snapshot = testSnapshot({ llm: { model_chain: { people: [{ provider: "p", model: "m" }] } } })

const answer = async (failure?: GatewayError, modelChain: string | undefined = "people") => {
  const accounts = new Array<ModelAccount>()
  const call: Gateway["Service"]["call"] = () =>
    Effect.flatMap(ModelRun, (account) => {
      accounts.push(account)
      return failure === undefined ? Effect.succeed(calling("answer", { text: "Yes" })) : Effect.fail(failure)
    })
  const question = {
    id: "q1",
    text: "Why?",
    person: "chat:feishu_open_id ou_ada",
    workspace: { ...testWorkspace({ snapshot }), modelChain: modelChain === "" ? undefined : modelChain },
    runId: "r1",
    repository: "main:team/app",
    title: "Title",
    // Without a position, no diff is read.
    analysis: { ...analysis, findings: [] }
  }
  const layer = AnswerQuestion.layer.pipe(
    Layer.provide([Layer.succeed(Gateway, Gateway.of({ call })), Layer.succeed(Objects, Object.create(null))])
  )
  const program = Effect.flatMap(ChatQuestions, (questions) => questions.answer(question))
  return { accounts, reply: await Effect.runPromise(Effect.provide(program, layer)) }
}

it("a question is paid for by the budgets of the repository and of the person", async () => {
  const { accounts, reply } = await answer()
  expect(reply).toEqual({ _tag: "Answered", text: "Yes" })
  expect(accounts).toMatchObject([
    {
      id: "chat-q1",
      repository: "main:team/app",
      author: "chat:feishu_open_id ou_ada",
      resumes: { earlier: ["chat-q1"] }
    }
  ])
})

it.each([
  ["budget", "budget"],
  ["unpriced", "budget"],
  ["unavailable", "unavailable"],
  ["rate_limited", "unavailable"]
] as const)("a call that ends with %s is reported as %s, and not repeated", async (reason, reported) => {
  const { accounts, reply } = await answer(new GatewayError({ reason, why: verbatimReason("p/m: no") }))
  expect(reply).toEqual({ _tag: "Refused", reason: reported, why: "p/m: no" })
  expect(accounts.length).toBe(1)
})

it("without a model group nothing is called", async () => {
  const { accounts, reply } = await answer(undefined, "")
  expect([accounts, reply]).toMatchObject([[], { _tag: "Refused", reason: "not_configured" }])
})
