/** The spool of analyses that could not be stored: adoption, size and expiry. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { AnalysisSpool, layerOver, overflow } from "../../src/store/AnalysisSpool.ts"
import type { SpoolKey } from "../../src/store/AnalysisSpool.ts"
import { objectsUnder } from "../../src/store/objects/FileObjects.ts"
import { folder } from "./Folder.ts"

/** A path below a file, where nothing can be written. */
const noFolder = join(import.meta.filename, "spool")

const hour = 3_600_000
const key: SpoolKey = {
  targetKey: TargetKey.make("t:a/b:pull_request:1"),
  head: "h",
  base: "b",
  configHash: "c",
  entryId: undefined
}
const analysis = (summary: string): Analysis => ({
  findings: [],
  summary,
  coverage: { reviewed: [], skipped: [], lines: 0 },
  models: ["p/m"],
  usage: { requests: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
  notices: []
})

describe("spool", () => {
  it.live("is adopted by a review of the same head, base and configuration alone", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const use = Effect.gen(function* () {
        const spool = yield* AnalysisSpool
        yield* spool.keep(key, analysis("one"), 0)
        assert.deepStrictEqual(yield* spool.find(key, 1), analysis("one"))
        const others: ReadonlyArray<Partial<SpoolKey>> = [
          { targetKey: TargetKey.make("t:a/b:pull_request:2") },
          { head: "h2" },
          { base: "b2" },
          { base: undefined },
          { configHash: "c2" },
          { entryId: "asked-for" }
        ]
        for (const other of others) assert.isUndefined(yield* spool.find({ ...key, ...other }, 1))
        const [name = ""] = readdirSync(join(root, "spool"))
        assert.strictEqual(statSync(join(root, "spool", name)).mode & 0o777, 0o600)
        yield* spool.remove(key)
        assert.isUndefined(yield* spool.find(key, 1))
        assert.deepStrictEqual(readdirSync(join(root, "spool")), [])
      })
      yield* Effect.provide(use, layerOver(objectsUnder(root), undefined))
    })
  )

  it.live("is found by another node where objects are shared, also when this node's own files cannot be written", () =>
    Effect.gen(function* () {
      const shared = objectsUnder(yield* folder)
      const keeping = Effect.flatMap(AnalysisSpool, (spool) => spool.keep(key, analysis("one"), 0))
      yield* Effect.provide(keeping, layerOver(objectsUnder(noFolder), shared))
      const finding = Effect.flatMap(AnalysisSpool, (spool) => spool.find(key, 1))
      for (const local of [objectsUnder(yield* folder), objectsUnder(noFolder)]) {
        const found = yield* Effect.provide(finding, layerOver(local, shared))
        assert.strictEqual(found?.summary, "one")
      }
      const nowhere = yield* Effect.flip(Effect.provide(keeping, layerOver(objectsUnder(noFolder), undefined)))
      assert.strictEqual(nowhere.reason, "unavailable")
    })
  )

  it.live("gives up what is older than a day, and what is not one of its files is left alone", () =>
    Effect.gen(function* () {
      const store = objectsUnder(yield* folder)
      const use = Effect.gen(function* () {
        const spool = yield* AnalysisSpool
        yield* store.put("spool/other.txt", "of somebody else")
        yield* spool.keep(key, analysis("old"), 0)
        assert.isUndefined(yield* spool.find(key, 25 * hour))
        yield* spool.keep({ ...key, head: "h2" }, analysis("new"), 25 * hour)
        assert.lengthOf(yield* store.list("spool"), 2)
        // A truncated file or one of another version is not an analysis.
        const [name = ""] = (yield* store.list("spool")).filter((one) => one !== "other.txt")
        yield* store.put(`spool/${name}`, '{"version":1,"analysis":{"findings":[')
        assert.isUndefined(yield* spool.find({ ...key, head: "h2" }, 25 * hour))
      })
      yield* Effect.provide(use, layerOver(store, undefined))
    })
  )

  it.live("holds an analysis of 64 MiB, and none that is larger", () =>
    Effect.gen(function* () {
      const store = objectsUnder(yield* folder)
      const use = Effect.gen(function* () {
        const spool = yield* AnalysisSpool
        const sizes = Effect.map(store.list("spool"), (names) => names.map((name) => Number(name.split("-")[1])))
        yield* spool.keep(key, analysis(""), 0)
        const [empty = 0] = yield* sizes
        yield* spool.remove(key)
        const room = 64 * 1024 * 1024 - empty
        yield* spool.keep(key, analysis("x".repeat(room + 1)), 0)
        assert.deepStrictEqual(yield* sizes, [])
        yield* spool.keep(key, analysis("x".repeat(room)), 0)
        assert.deepStrictEqual(yield* sizes, [64 * 1024 * 1024])
      })
      yield* Effect.provide(use, layerOver(store, undefined))
    })
  )

  it.each([
    ["nothing while there is room", [10, 10], 10, []],
    ["the oldest when there is none", [40, 20, 10], 10, [0]],
    ["as many as it takes", [30, 30, 4], 60, [0, 1]]
  ] as const)("removes %s", (_, sizes, room, expected) => {
    const files = sizes.map((megabytes, at) => ({
      name: String(at),
      at: hour + at,
      bytes: megabytes * 1024 * 1024,
      digest: ""
    }))
    assert.deepStrictEqual(
      overflow(files.toReversed(), room * 1024 * 1024, hour).map(({ name }) => Number(name)),
      [...expected]
    )
  })
})
