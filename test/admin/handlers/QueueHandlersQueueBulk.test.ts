/** Changes of several entries of the queue over real HTTP. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { targetKey } from "../../../src/domain/Change.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { enqueue } from "../../../src/queue/Enqueue.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { change, event } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
})
afterAll(() => admin.stop())

const bulk = async (body: object) => {
  const { body: result, status } = await admin.call("POST", "/queue/bulk", { token, body })
  return { status, ...result } as { status: number } & Record<string, unknown>
}

/** Queues a pull request of a workspace; returns the id of its entry. */
const queued = (workspace: string, number: number) =>
  admin.run(
    Effect.gen(function* () {
      const given = { ...change(number), workspace }
      const work = { change: given, configHash: "c", priority: 1, dueAt: 1 }
      const record = event({ workspace, targetKey: targetKey(given), work })
      yield* (yield* Receipts).store(record)
      const [admitted] = yield* enqueue([{ eventId: record.id, ...work, admittedAt: 1 }])
      return admitted?.entryId ?? ""
    })
  )

const dead = async (workspace: string, number: number) => {
  const id = await queued(workspace, number)
  await admin.run(
    Effect.gen(function* () {
      const queue = yield* Queue
      yield* queue.promote([id], 2)
      const found = yield* queue.claim(id, "node-1/x", 2, 60_000)
      if (found !== undefined) yield* queue.finish(found.lease, { _tag: "Dead", reason: verbatimReason("down") })
    })
  )
  return id
}

describe("the queue in bulk", () => {
  it("previews without a change, then cancels what waits in a workspace", async () => {
    const [one, two] = [await queued("bulk", 1), await queued("bulk", 2)]
    const other = await queued("other", 3)
    const preview = await bulk({ action: "cancel", workspace: "bulk", preview: true })
    assert.deepInclude(preview, { status: 200, preview: true, matched: 2, more: false })
    assert.deepStrictEqual(preview["items"], [
      { id: one, result: "waiting" },
      { id: two, result: "waiting" }
    ])
    const done = await bulk({ action: "cancel", workspace: "bulk", reason: "frozen", preview: false })
    assert.deepStrictEqual(done["items"], [
      { id: one, result: "cancelled" },
      { id: two, result: "cancelled" }
    ])
    const entry = await admin.run(Queue.use((queue) => queue.get(other)))
    assert.strictEqual(entry?.status, "waiting")
    assert.deepInclude(await bulk({ action: "cancel", workspace: "bulk", preview: false }), { matched: 0 })
  })

  it("retries what is dead, and reports each id by itself", async () => {
    const gone = await dead("retry", 4)
    const waits = await queued("retry", 5)
    const unknown = newId()
    const ids = [gone, waits, unknown, gone]
    assert.deepStrictEqual((await bulk({ action: "retry", ids, preview: true }))["items"], [
      { id: gone, result: "dead" },
      { id: waits, result: "waiting" },
      { id: unknown, result: "unknown" }
    ])
    assert.deepStrictEqual((await bulk({ action: "retry", ids, preview: false }))["items"], [
      { id: gone, result: "retried" },
      { id: waits, result: "not_dead" },
      { id: unknown, result: "unknown" }
    ])
    const all = await dead("retry", 6)
    assert.deepStrictEqual((await bulk({ action: "retry", workspace: "retry", preview: false }))["items"], [
      { id: all, result: "retried" }
    ])
  })

  it("counts causes, and changes the entries of one only", async () => {
    const failed = [await dead("causes", 21), await dead("causes", 22)]
    const waits = await queued("causes", 23)
    const { body } = await admin.call("GET", "/queue/causes?workspace=causes", { token })
    const causes = Array.isArray(body["items"]) ? body["items"].map((item) => Object(item)) : []
    assert.deepStrictEqual(
      causes.map(({ cause, count, status, workspaces }) => [status, cause, count, workspaces]),
      [
        ["dead", "Text down", 2, 1],
        ["waiting", "AwaitsTurn", 1, 1]
      ]
    )
    const none = await bulk({ action: "retry", workspace: "causes", cause: "Text up", preview: true })
    assert.deepInclude(none, { matched: 0, more: false })
    const cause = { action: "retry", workspace: "causes", cause: "Text down" }
    assert.deepInclude(await bulk({ ...cause, preview: true }), { matched: 2, more: false })
    assert.deepStrictEqual(
      (await bulk({ ...cause, preview: false }))["items"],
      failed.map((id) => ({ id, result: "retried" }))
    )
    const entry = await admin.run(Queue.use((queue) => queue.get(waits)))
    assert.strictEqual(entry?.status, "waiting")
    const mixed = await bulk({ ...cause, ids: failed, preview: true })
    assert.strictEqual(mixed.status, 400)
  })

  it.each([
    [{ action: "cancel", ids: [], preview: true }],
    [{ action: "cancel", ids: Array.from({ length: 201 }, () => "x"), preview: true }],
    [{ action: "cancel", ids: ["x"], workspace: "app", preview: true }],
    [{ action: "drop", preview: true }],
    [{ action: "cancel" }]
  ])("%j is refused", async (body) => {
    assert.strictEqual((await bulk(body)).status, 400)
  })
})
