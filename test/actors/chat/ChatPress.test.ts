/** A button is usable once, for a day, in its conversation and over its connection. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeButtons, requestButtons } from "../../../actors/chat/ChatButtons.ts"
import { readPress } from "../../../actors/chat/ChatPress.ts"
import { textsFor } from "../../../src/chat/Texts.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { chatRequest } from "../../store/Fixtures.ts"

const make = Effect.gen(function* () {
  const requests = yield* ChatRequests
  const add = Effect.fnUntraced(function* (
    text: string,
    isAction: boolean,
    conversation = "oc_team",
    connection = "lark"
  ) {
    const request = chatRequest({
      connection,
      conversation: { kind: "group", id: conversation },
      facts: { text, isAction, reply: {}, args: ["app", "1"] },
      receivedAt: yield* Clock.currentTimeMillis
    })
    yield* requests.add(request)
    const stored = yield* requests.get(request.id)
    return stored ?? (yield* Effect.die("not stored"))
  })
  yield* TestClock.setTime(Date.UTC(2026, 1, 1))
  const origin = yield* add("review app 1", false)
  const [button] = yield* makeButtons(origin, requestButtons(origin, textsFor("en"), ["cancel"]))
  if (button === undefined) return yield* Effect.die("no button")
  /** Presses the button; returns its effect. */
  const press = Effect.fnUntraced(function* (conversation?: string, connection?: string, id = button.id) {
    const request = yield* add(id, true, conversation, connection)
    return { request, ...(yield* readPress(request, yield* Clock.currentTimeMillis)) }
  })
  return { button, press, requests }
})

const cancel = { _tag: "Command", command: { name: "cancel", args: ["app", "1"] } } as const

it.effect("a button is usable for 24 hours", () =>
  Effect.gen(function* () {
    const { press } = yield* make
    assert.deepStrictEqual((yield* press()).pressed, cancel)
    yield* TestClock.adjust("1439 minutes")
    assert.deepStrictEqual((yield* press()).pressed, cancel)
    yield* TestClock.adjust("1 minute")
    assert.isUndefined((yield* press()).pressed)
  }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)

it.effect("the press that used a button may be repeated after a crash, another one may not", () =>
  Effect.gen(function* () {
    const { button, press, requests } = yield* make
    const { request } = yield* press()
    const now = yield* Clock.currentTimeMillis
    assert.isTrue(yield* requests.useAction(button.id, request.id, now))
    assert.deepStrictEqual((yield* readPress(request, now)).pressed, cancel)
    assert.isUndefined((yield* press()).pressed)
  }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)

it.effect(
  "a button that is forged, or copied to another conversation or connection, has no effect and reveals nothing",
  () =>
    Effect.gen(function* () {
      const { button, press } = yield* make
      for (const [conversation, connection, id] of [
        ["oc_other", "lark", button.id],
        ["oc_team", "other", button.id],
        ["oc_team", "lark", "forged"]
      ] as const) {
        const { conversation: origin, pressed } = yield* press(conversation, connection, id)
        assert.deepStrictEqual([pressed, origin], [undefined, undefined])
      }
    }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)
