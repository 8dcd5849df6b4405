/** The word of the fences around a change in prompts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { deriveFence } from "../../../src/engine/plan/Fence.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"

const fence = (parts: ReadonlyArray<string | undefined>, fenceKey: string | undefined) =>
  Effect.provideService(deriveFence(parts), ModelRun, { id: "run", repository: "t:a/b", fenceKey })

const change = ["base", "head", "title", undefined]

it.effect("depends on the secret of the run and on every part of the change", () =>
  Effect.gen(function* () {
    const words = yield* Effect.all([
      fence(change, "one"),
      fence(change, "two"),
      fence(change, undefined),
      fence(["base", "head", "title", "text"], "one"),
      fence(["base", "head", "titl", "e"], "one"),
      fence(["base", "other", "title", undefined], "one")
    ])
    assert.strictEqual(new Set(words).size, words.length)
    for (const word of words) assert.match(word, /^[0-9a-f]{24}$/)
    assert.strictEqual(yield* fence(change, "one"), words[0])
  })
)
