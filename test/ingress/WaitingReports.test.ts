/** The limit of waiting reports: a count of the records when it is needed, and what was admitted since. */
import { Effect } from "effect"
import { assert, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { WaitingReports } from "../../src/ingress/WaitingReports.ts"
import type { UnroutedCount } from "../../src/store/Receipts.ts"

const all = { workspaces: undefined }
const some = { workspaces: new Set(["b", "a"]) }

const setUp = () => {
  const store = { counts: new Array<UnroutedCount>(), fails: false, reads: 0 }
  const countUnrouted = Effect.suspend(() => {
    store.reads++
    return store.fails
      ? new StoreError({ reason: "unavailable", operation: "receipts.countUnrouted", why: verbatimReason("no disk") })
      : Effect.succeed(store.counts)
  })
  return { store, waiting: new WaitingReports({ countUnrouted }, Effect.runPromise) }
}

it("counts what waits already, and each key by itself", async () => {
  const { store, waiting } = setUp()
  store.counts = [
    { workspaces: undefined, count: 2 },
    { workspaces: ["a", "b"], count: 1 },
    { workspaces: ["b", "a"], count: 1 }
  ]
  const answers = [
    await waiting.admit(all, 3, 0),
    await waiting.admit(all, 3, 1),
    await waiting.admit(some, 3, 2),
    await waiting.admit(some, 3, 3)
  ]
  assert.deepStrictEqual(answers, [true, false, true, false])
  assert.strictEqual(store.reads, 1)
})

it("counts again a second after the limit was reached, and after ten seconds for reports to other nodes", async () => {
  const { store, waiting } = setUp()
  assert.isTrue(await waiting.admit(all, 1, 0))
  assert.isFalse(await waiting.admit(all, 1, 999))
  assert.isTrue(await waiting.admit(all, 1, 1000))
  store.counts = [{ workspaces: undefined, count: 5 }]
  assert.isTrue(await waiting.admit(all, 3, 1001))
  assert.isTrue(await waiting.admit(all, 3, 1002))
  assert.isFalse((await waiting.admit(all, 6, 11_000)) && (await waiting.admit(all, 6, 11_001)))
  assert.strictEqual(store.reads, 3)
})

it("simultaneous reports share a count and do not exceed the limit", async () => {
  const { store, waiting } = setUp()
  const answers = await Promise.all(Array.from({ length: 10 }, () => waiting.admit(all, 4, 0)))
  assert.lengthOf(
    answers.filter((one) => one),
    4
  )
  assert.strictEqual(store.reads, 1)
})

it("applies the former count while the records are unavailable", async () => {
  const { store, waiting } = setUp()
  assert.isTrue(await waiting.admit(all, 2, 0))
  store.fails = true
  assert.isTrue(await waiting.admit(all, 2, 20_000))
  assert.isFalse(await waiting.admit(all, 2, 20_001))
  store.fails = false
  assert.isTrue(await waiting.admit(all, 2, 20_002))
})
