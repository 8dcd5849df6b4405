/** The secret of a run for the fences of its prompts outlives the process, and belongs to one run. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { loadFenceKey } from "../../../actors/review/RunAccount.ts"
import { deriveFence } from "../../../src/engine/plan/Fence.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import { layerFiles } from "../../../src/store/objects/FileObjects.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { StoreError } from "../../../src/database/StoreError.ts"
import { folder } from "../../store/Folder.ts"

const change = ["base", "head", "A title", undefined]

const fenceOfRun = (id: string) =>
  Effect.gen(function* () {
    const fenceKey = yield* loadFenceKey(id)
    return yield* Effect.provideService(deriveFence(change), ModelRun, { id, repository: "t:a/b", fenceKey })
  })

it.live("attempts of a run in several processes share it, and another run of the same change has another", () =>
  Effect.gen(function* () {
    const root = yield* folder
    const inProcess = (id: string) => Effect.provide(fenceOfRun(id), Layer.fresh(layerFiles({ root })))
    const first = yield* inProcess("run-1")
    assert.match(first, /^[0-9a-f]{24}$/)
    assert.strictEqual(yield* inProcess("run-1"), first)
    assert.notStrictEqual(yield* inProcess("run-2"), first)
  }).pipe(Effect.scoped)
)

it.live("it is removed with the evidence of the run", () =>
  Effect.gen(function* () {
    const root = yield* folder
    yield* Effect.gen(function* () {
      const first = yield* fenceOfRun("run-1")
      yield* (yield* Objects).remove("runs/run-1")
      assert.notStrictEqual(yield* fenceOfRun("run-1"), first)
    }).pipe(Effect.provide(layerFiles({ root })))
  }).pipe(Effect.scoped)
)

it.effect("without it a review goes on with the secret of the process", () =>
  Effect.gen(function* () {
    const failure = Effect.fail(
      new StoreError({ reason: "unavailable", operation: "get", why: verbatimReason("no disk") })
    )
    const broken = Layer.mock(Objects, { get: () => failure, put: () => failure })
    assert.isUndefined(yield* Effect.provide(loadFenceKey("run-1"), broken))
  })
)
