/** Edits and jobs that lose against others at every attempt end with a reason, and change nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { ResealStore } from "../../../src/config/revisions/ResealStore.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { memoryStores, startNode } from "../../harness/ConfigSource.ts"

const passes = (value: number): ReadonlyArray<ConfigOperation> => [{ op: "set", path: ["review", "max_passes"], value }]

const recordOf = Effect.fnUntraced(function* ({ editor }: Effect.Success<ReturnType<typeof startNode>>) {
  return (yield* editor.audit({ limit: 1 })).items[0]
})

describe("source_contended", () => {
  it.effect("ends an edit after fifty attempts, whose repetition is applied once the others have ended", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const revisions = Context.get(stores, RevisionStore)
      let attempts = 0
      let isContended = true
      const contended = RevisionStore.of({
        ...revisions,
        append: (revision, onto) => {
          attempts++
          return isContended ? Effect.succeed({ _tag: "Moved" }) : revisions.append(revision, onto)
        }
      })
      const node = yield* startNode(Context.add(stores, RevisionStore, contended), {})
      const request = { base: 0, operationId: "one", operations: passes(7) }
      const refused = yield* node.editor.publish("alice", request)
      assert.deepInclude(refused, {
        _tag: "Refused",
        problems: [
          {
            code: "source_contended",
            entity: "",
            path: "",
            reason: { _tag: "Contended" }
          }
        ]
      })
      assert.strictEqual(attempts, 50)
      assert.strictEqual((yield* revisions.head).number, 0)
      assert.isUndefined(yield* node.editor.operation("one"))
      assert.deepInclude(yield* recordOf(node), { action: "publish", outcome: "source_contended", operationId: "one" })

      isContended = false
      assert.deepInclude(yield* node.editor.publish("alice", request), { _tag: "Committed", active: true })
    })
  )

  it.effect("ends the start of a job that others start at the same time, again and again", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      let attempts = 0
      const contended = ResealStore.of({
        ...Context.get(stores, ResealStore),
        save: () => Effect.sync(() => ++attempts < 0)
      })
      const node = yield* startNode(Context.add(stores, ResealStore, contended), {})
      const result = yield* node.editor.startReseal("alice")
      assert.strictEqual(result._tag === "Refused" ? result.problems[0]?.code : result._tag, "source_contended")
      assert.strictEqual(attempts, 20)
      assert.isUndefined(yield* node.editor.resealJob)
      const { items } = yield* node.editor.audit({ limit: 10 })
      assert.deepStrictEqual(
        items.map(({ action, actor, outcome }) => [action, actor, outcome]),
        [
          ["reseal", "alice", "source_contended"],
          ["reseal", "alice", "started"]
        ]
      )
    })
  )
})
