/** Changes as server-sent events, over a real HTTP server. */
import { Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { targetKey } from "../../../src/domain/Change.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { Progress } from "../../../src/observability/Progress.ts"
import { enqueue } from "../../../src/queue/Enqueue.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { change, event } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import { maxStreams } from "../../../src/admin/sessions/SessionStreams.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
beforeEach(async () => {
  admin = await startAdmin()
})
afterEach(() => admin.stop())

const follow = async () => {
  const token = await admin.token()
  const response = await fetch(`${admin.url}/api/admin/live`, { headers: { authorization: `Bearer ${String(token)}` } })
  assert.strictEqual(response.status, 200)
  let text = ""
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
  }
  // The connection ends with the server.
  void read().catch(() => {})
  /** Returns the events of a type that arrived. */
  const received = (type: string) =>
    text
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line): Record<string, unknown> => Object(JSON.parse(line.slice("data:".length))))
      .filter((one) => one["type"] === type)
  return Object.assign(received, { text: () => text })
}

describe("streams of a session", () => {
  it.each(["/live", "/runs/live"])("of %s have an upper limit, and one that ends makes room", async (path) => {
    const token = await admin.token()
    const other = await admin.token()
    const connect = async (session: unknown) => {
      const controller = new AbortController()
      const { headers, status } = await fetch(`${admin.url}/api/admin${path}`, {
        headers: { authorization: `Bearer ${String(session)}` },
        signal: controller.signal
      })
      return { controller, status, retryAfter: headers.get("retry-after") }
    }
    const open = []
    for (let count = 0; count < maxStreams; count++) open.push(await connect(token))
    assert.isTrue(open.every(({ status }) => status === 200))
    const refused = await connect(token)
    assert.deepInclude(refused, { status: 429, retryAfter: "10" })
    const ofOther = await connect(other)
    assert.strictEqual(ofOther.status, 200)
    open[0]?.controller.abort()
    await waitUntil(
      async () => {
        const again = await connect(token)
        open.push(again)
        return again.status === 200
      },
      { describe: () => "the ended stream counts" }
    )
    for (const { controller } of [...open, ofOther]) controller.abort()
  })
})

describe("changes", () => {
  it("are those of the queue, of deliveries and of reviews", async () => {
    const received = await follow()
    await waitUntil(() => Promise.resolve(received("queue").length === 1), { describe: received.text })
    assert.deepInclude(received("queue")[0]?.["by_status"], { waiting: 0, running: 0 })
    assert.isNull(received("queue")[0]?.["oldest_waiting_at"])
    assert.lengthOf(received("deliveries"), 0)

    const record = event({ targetKey: targetKey(change()) })
    await admin.run(
      Effect.gen(function* () {
        yield* (yield* Receipts).store(record)
        const work = { change: change(), configHash: "c", priority: 1, dueAt: 1 }
        yield* enqueue([{ eventId: record.id, ...work, admittedAt: 1 }])
      })
    )
    await waitUntil(() => Promise.resolve(received("queue").length === 2 && received("deliveries").length === 1), {
      describe: received.text
    })
    assert.deepInclude(received("queue")[1]?.["by_status"], { waiting: 1 })
    assert.deepInclude(received("deliveries")[0], { newest: record.id })

    const about = { workspace: "app", targetKey: TargetKey.make("main:acme/app:pull_request:1"), runId: "run-1" }
    await admin.run(Progress.use(({ publish }) => publish({ _tag: "Started", ...about, head: "abc" })))
    await waitUntil(() => Promise.resolve(received("started").length === 1), { describe: received.text })
    // Nothing is repeated without a change.
    const other = event()
    await admin.run(Receipts.use((receipts) => receipts.store(other)))
    await waitUntil(() => Promise.resolve(received("deliveries").length === 2), { describe: received.text })
    assert.lengthOf(received("queue"), 2)
  })

  it("are read once per second, for any number of viewers", async () => {
    let reads = 0
    const counted = Layer.effect(
      Receipts,
      Effect.map(Receipts, (receipts) =>
        Receipts.of({
          ...receipts,
          list: (query) =>
            Effect.andThen(
              Effect.sync(() => reads++),
              receipts.list(query)
            )
        })
      )
    ).pipe(Layer.provideMerge(Layer.fresh(Store.layerMemory)))
    const shared = await startAdmin({ records: counted })
    const token = String(await shared.token())
    const end = new AbortController()
    const from = performance.now()
    const viewers = await Promise.all(
      Array.from({ length: 40 }, () =>
        fetch(`${shared.url}/api/admin/live`, { headers: { authorization: `Bearer ${token}` }, signal: end.signal })
      )
    )
    const isRead = async ({ body }: Response) => (await body?.getReader().read())?.value?.length
    await Promise.all(viewers.map(isRead))
    await waitUntil(() => Promise.resolve(reads >= 3), { describe: () => `${reads} reads` })
    assert.isAtMost(reads, 3 + (performance.now() - from) / 900)
    end.abort()
    await shared.stop()
  })

  it.each(["/live", "/runs/live"])("of %s end with the session, also of one that another caller ends", async (path) => {
    const token = String(await admin.token())
    const { body } = await fetch(`${admin.url}/api/admin${path}`, { headers: { authorization: `Bearer ${token}` } })
    const reader = body?.getReader()
    if (path === "/live") assert.isFalse((await reader?.read())?.done)
    await admin.call("POST", "/sessions/revoke", { token: await admin.token() })
    for (let done = false; !done;) done = (await reader?.read())?.done ?? true
    assert.strictEqual(
      (await fetch(`${admin.url}/api/admin/live`, { headers: { authorization: `Bearer ${token}` } })).status,
      401
    )
  })

  it("of a program end with its token", async () => {
    const root = await admin.token()
    const body = { name: "streams", scopes: [], role: "viewer" }
    const created = (await admin.call("POST", "/tokens", { token: root, body })).body
    const headers = { authorization: `Bearer ${String(created["token"])}` }
    const reader = (await fetch(`${admin.url}/api/admin/live`, { headers })).body?.getReader()
    assert.isFalse((await reader?.read())?.done)
    await admin.call("POST", `/tokens/${String(created["id"])}/revoke`, { token: root })
    for (let done = false; !done;) done = (await reader?.read())?.done ?? true
  })

  it("need a session", async () => {
    assert.strictEqual((await admin.call("GET", "/live")).status, 401)
  })
})
