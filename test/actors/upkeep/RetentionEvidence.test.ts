/** Evidence is removed together with the record of its run, and not before. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { pruneEvidence } from "../../../actors/upkeep/Retention.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import * as FileObjects from "../../../src/store/objects/FileObjects.ts"
import { isObjectKey, Objects } from "../../../src/store/Objects.ts"
import { Runs } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { folder } from "../../store/Folder.ts"

it.live("what was kept of a run without a record is removed", () =>
  Effect.gen(function* () {
    const root = yield* folder
    yield* Effect.gen(function* () {
      const runs = yield* Runs
      const objects = yield* Objects
      const run = yield* runs.begin(
        {
          entryId: "e",
          workspace: "w",
          targetKey: TargetKey.make("k"),
          change: {
            provider: "gitea",
            trigger: "t",
            workspace: "w",
            repo: { fullName: "a/b" },
            target: { kind: "pull_request", number: 1 }
          },
          head: "h",
          base: undefined,
          configHash: "c"
        },
        LeaseToken.make(1),
        1
      )
      const kept = `runs/${run?.id}/calls/1.json`
      yield* objects.put(kept, "{}")
      yield* objects.put("runs/gone/calls/1.json", "{}")
      yield* pruneEvidence
      assert.deepStrictEqual(yield* objects.list("runs"), [run?.id ?? ""])
      assert.strictEqual(yield* objects.get(kept, 10), "{}")
      assert.isUndefined(yield* objects.get("runs/gone/calls/1.json", 10))
    }).pipe(Effect.provide(Layer.mergeAll(Store.layerMemory, FileObjects.layerFiles({ root }))))
  }).pipe(Effect.scoped)
)

it.each(["../x", "a/../b", "a//b", "/a", "a/.hidden", "", "a\\b", "a b", `a/${"x".repeat(600)}`])(
  "%j is no object key",
  (key) => assert.isFalse(isObjectKey(key))
)
