/** Limits of questions to a model: of a person and of a conversation, within an hour. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { isAboveLimit, questionLimits } from "../../../actors/chat/ChatAsk.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
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
