/** Snapshots of a log on a real server: cells with compare-and-set, lists of pages, and a server that lost them. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { makePages } from "../../nats/NatsPages.ts"
import type { NatsPages } from "../../nats/NatsPages.ts"
import { startBus } from "./Bus.ts"

const { run } = startBus()

const bytes = (text: string) => new TextEncoder().encode(text)

/** Reads a list from its beginning. */
const readAll = Effect.fnUntraced(function* (pages: NatsPages, list: string) {
  const texts: Array<string> = []
  for (let after = 0; ;) {
    const next = yield* pages.next(list, after)
    if (next === undefined) return texts
    texts.push(new TextDecoder().decode(next.page))
    after = next.sequence
  }
})

describe("pages", () => {
  it("a cell changes by compare-and-set, and only its last value is stored", () =>
    run(
      Effect.gen(function* () {
        const pages = yield* makePages("test")
        expect(yield* pages.get("newest")).toBeUndefined()
        const results = yield* Effect.forEach(["a", "b"], (value) => Effect.result(pages.set("newest", value, 0)), {
          concurrency: "unbounded"
        })
        expect(results.map(({ _tag }) => _tag).toSorted()).toEqual(["Failure", "Success"])
        const first = yield* pages.get("newest")
        yield* pages.set("other", "o", 0)
        yield* pages.set("newest", "c", first?.revision ?? 0)
        expect(yield* Effect.flip(pages.set("newest", "late", first?.revision ?? 0))).toMatchObject({
          reason: "conflict"
        })
        expect(yield* pages.get("newest")).toMatchObject({ value: "c" })
        expect(yield* pages.get("other")).toMatchObject({ value: "o" })
        const { manager, prefix } = yield* NatsConnection
        const { state } = yield* Effect.promise(() => manager.streams.info(`${prefix}_pages_test`))
        expect(state.messages).toBe(2)
      })
    ))

  it("a list keeps its pages in order, apart from other lists, until it is removed", () =>
    run(
      Effect.gen(function* () {
        const pages = yield* makePages("test")
        for (const [list, text] of [
          ["x", "1"],
          ["y", "2"],
          ["x", "3"]
        ] as const)
          yield* pages.add(list, bytes(text))
        expect(yield* readAll(pages, "x")).toEqual(["1", "3"])
        yield* pages.remove("x")
        expect(yield* readAll(pages, "x")).toEqual([])
        expect(yield* readAll(pages, "y")).toEqual(["2"])
      })
    ))

  it.each<[call: string, use: (pages: NatsPages) => Effect.Effect<unknown, unknown>]>([
    ["get", (pages) => pages.get("cell")],
    ["set", (pages) => pages.set("cell", "new", 0)],
    ["add", (pages) => pages.add("list", bytes("new"))],
    ["next", (pages) => pages.next("list", 0)],
    ["remove", (pages) => pages.remove("list")]
  ])("are created again when the server lost them: %s", (_, use) =>
    run(
      Effect.gen(function* () {
        const pages = yield* makePages("test")
        yield* pages.set("kept", "old", 0)
        const { manager, prefix } = yield* NatsConnection
        yield* Effect.promise(() => manager.streams.delete(`${prefix}_pages_test`))
        yield* use(pages)
        expect(yield* pages.get("kept")).toBeUndefined()
      })
    )
  )
})
