/** Limits of questions to a model: of a person and of a conversation, within an hour. Messages about questions that ended without a reply. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { isAboveLimit, questionLimits, toResult } from "../../../actors/chat/ChatAsk.ts"
import { makePageLinks } from "../../../src/chat/PageLinks.ts"
import { textsFor } from "../../../src/chat/Texts.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import type { RunStatus } from "../../../src/domain/Run.ts"
import { safeTexts } from "../../../src/outputs/SafeText.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
import { Runs } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { chatRequest } from "../../store/Fixtures.ts"

const hour = 3_600_000
const person = (id: string) => ({ type: "feishu_open_id", id }) as const

/** Stores admitted questions. */
const admit = Effect.fnUntraced(function* (count: number, over: (at: number) => Parameters<typeof chatRequest>[0]) {
  const requests = yield* ChatRequests
  for (let at = 0; at < count; at++) {
    const request = chatRequest(over(at))
    yield* requests.add(request)
    const stored = yield* requests.get(request.id)
    if (stored !== undefined) yield* requests.change(stored, { status: "queued", command: "ask" }, 0)
  }
})

/** Returns whether a further question is above the limits. */
const next = Effect.fnUntraced(function* (over: Parameters<typeof chatRequest>[0]) {
  const requests = yield* ChatRequests
  const request = chatRequest(over)
  yield* requests.add(request)
  const stored = yield* requests.get(request.id)
  return stored === undefined ? yield* Effect.die("not stored") : yield* isAboveLimit(stored)
})

it.effect("a person has ten questions an hour, and another person is not affected", () =>
  Effect.gen(function* () {
    const ada = { sender: person("ou_ada"), receivedAt: hour }
    yield* admit(questionLimits.perActor - 1, () => ada)
    assert.isFalse(yield* next(ada))
    yield* admit(1, () => ada)
    assert.isTrue(yield* next(ada))
    assert.isTrue(yield* next({ ...ada, conversation: { kind: "group", id: "oc_other" } }))
    assert.isFalse(yield* next({ sender: person("ou_bob"), receivedAt: hour }))
    assert.isFalse(yield* next({ ...ada, receivedAt: 2 * hour }))
    assert.deepStrictEqual(questionLimits, { perActor: 10, perConversation: 30 })
  }).pipe(Effect.provide(Store.layerMemory))
)

it.effect("a conversation has thirty questions an hour, and another one is not affected", () =>
  Effect.gen(function* () {
    const crowd = (at: number) => ({ sender: person(`ou_${at}`), receivedAt: hour })
    yield* admit(questionLimits.perConversation - 1, crowd)
    assert.isFalse(yield* next(crowd(100)))
    yield* admit(1, () => crowd(101))
    assert.isTrue(yield* next(crowd(102)))
    assert.isFalse(yield* next({ ...crowd(102), conversation: { kind: "group", id: "oc_other" } }))
    assert.isFalse(yield* next({ ...crowd(102), receivedAt: 2 * hour }))
  }).pipe(Effect.provide(Store.layerMemory))
)

const budget: Reason = { _tag: "ModelsFailed", reasons: [{ _tag: "RaiseBudget" }] } as never

it.effect.each<readonly [string, RunStatus | undefined, Reason, RegExp, RegExp]>([
  ["that an operator cancelled", "cancelled", { _tag: "CancelledBy", name: "root" }, /cancelled by root/, /root/],
  ["that was cancelled while it waited", undefined, { _tag: "CancelledBy", name: "root" }, /cancelled by root/, /root/],
  [
    "whose review was removed",
    "skipped",
    { _tag: "ReviewRecordRemoved" },
    /ended without a reply: \S/,
    /没有得到回答：\S/
  ],
  ["whose models failed", "failed", { _tag: "ModelsFailed", reasons: [] }, /^No model is available/, /没有模型作答/],
  [
    "whose model took too long",
    "timeout",
    { _tag: "ModelsFailed", reasons: [] },
    /^No model is available/,
    /没有模型作答/
  ],
  ["that a budget refused", "failed", budget, /^The budget for models/, /模型预算/]
])("the message about a question %s names its reason", ([, status, why, english, chinese]) =>
  Effect.gen(function* () {
    const safe = safeTexts.feishu
    const run = status === undefined ? undefined : ({ status } as never)
    const request = { ...chatRequest(), facts: { ...chatRequest().facts, runId: "run" } } as never
    for (const [language, expected] of [
      ["en", english],
      ["zh-CN", chinese]
    ] as const) {
      const texts = textsFor(language)
      const words = { texts, safe, links: makePageLinks({}, safe, "Details") }
      const result = yield* toResult(request, { _tag: "Ended", outcome: "failed", run, why }, words)
      assert.match(result.text, expected)
      assert.deepStrictEqual([result.outcome, "reason" in result && result.reason], ["failed", why])
    }
  }).pipe(Effect.provide(Layer.mock(Runs, { get: () => Effect.succeed({ id: "run" } as never) })))
)
