/** Searches for missed changes are requested when deliveries begin to be received, and after refused ones. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { requestSearches } from "../../src/ingress/MissedDeliveries.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import * as Store from "../../src/store/StoreLayer.ts"

const trigger = { base_url: "https://git.test", webhook_secret: "s" }
const document = {
  triggers: [
    { name: "tea", kind: "gitea", ...trigger },
    { name: "lab", kind: "gitlab", ...trigger },
    { name: "off", kind: "gitlab", enabled: false, ...trigger },
    { name: "calls", kind: "manual" }
  ]
}
const world = Layer.mergeAll(Store.layerMemory, Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)))

const requests = Effect.gen(function* () {
  const catchUps = yield* CatchUps
  const waiting = (yield* catchUps.list).flatMap(({ requestedFor, trigger: name }) =>
    requestedFor === undefined ? [] : [`${name} ${requestedFor}`]
  )
  for (const name of ["tea", "lab"])
    yield* catchUps.searched(name, {
      occasion: "start",
      startedAt: Number.MAX_SAFE_INTEGER,
      at: 0,
      found: 0,
      skipped: 0,
      failure: undefined
    })
  return waiting
})

it.effect("requests a search of every trigger at the start, and of the refused kinds later", () =>
  Effect.gen(function* () {
    const { refused } = yield* requestSearches
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* requests, ["lab start", "tea start"])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* requests, [])
    refused("gitlab")
    refused("gitlab")
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(yield* requests, ["lab refused"])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* requests, [])
  }).pipe(Effect.scoped, Effect.provide(world))
)
