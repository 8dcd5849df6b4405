/** The own form of a response, such as signed reasoning, in requests that correct a call of it. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Reports } from "../../../src/agent/tools/Reports.ts"
import { repositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import { handle } from "../../../src/agent/native/Turn.ts"
import { restoreNative, toPrompt } from "../../../src/llm/calls/Conversation.ts"
import { fakeCheckout, fakeCode } from "../../agent/FakeCheckout.ts"
import { calling } from "../../engine/Fixture.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"

const model = "test/second"
const reasoning = { type: "reasoning", text: "I think.", providerOptions: { anthropic: { signature: "signed" } } }
const problem = { file: "a.ts", severity: "high", category: "bug", message: "It fails.", quote: "x" }
const calls = [
  { id: "1", name: "report_problem", input: problem },
  { id: "2", name: "report_problem", input: { ...problem, severity: "awful" } },
  { id: "3", name: "post_comment", input: { text: "a bug" } },
  { id: "4", name: "report_problem", input: '{"file": "a.ts", "mess' }
]
const native = restoreNative(model, [
  reasoning,
  ...calls.map(({ id, input, name }) => ({ type: "tool-call", toolCallId: id, toolName: name, input }))
])

it.effect("a request for a correction has the reasoning, and calls that every provider accepts", () =>
  Effect.gen(function* () {
    const { review } = testWorkspace()
    const reader = repositoryReader(fakeCheckout({}), fakeCode, review.fetch_extra)
    const response = { ...calling("", {}), calls, native }
    const { messages } = yield* handle(response, { reports: new Reports(), reader, maySkip: false })
    const request = {
      snapshot: testSnapshot({}),
      group: "default",
      role: "any" as const,
      system: "",
      messages,
      tools: [],
      deadlineMillis: 1
    }
    const [said] = toPrompt(request, model, undefined).messages
    expect(said?.content).toMatchObject([
      reasoning,
      { toolCallId: "1", toolName: "report_problem", input: problem },
      { toolCallId: "2", toolName: "report_problem", input: { severity: "awful" } },
      { toolCallId: "3", toolName: "unknown_tool" },
      { toolCallId: "4", toolName: "report_problem", input: {} }
    ])
    const [other] = toPrompt(request, "another/model", undefined).messages
    expect(JSON.stringify(other)).not.toContain("signed")
  })
)
