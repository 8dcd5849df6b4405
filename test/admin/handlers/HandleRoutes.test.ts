/** Requests of an administrator over real HTTP: queue, batches, events, runs, nodes. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Usd } from "../../../src/domain/Money.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { enqueue } from "../../../src/queue/Enqueue.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { analysis, event, ignored, publication } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
})
afterAll(() => admin.stop())

const get = (path: string) => admin.call("GET", path, { token })
const post = (path: string) => admin.call("POST", path, { token })
const itemsOf = (body: Record<string, unknown>): ReadonlyArray<Record<string, unknown>> => {
  const { items } = body
  assert(Array.isArray(items))
  return items.map((item) => Object(item))
}

const change = (over: Partial<Change> = {}): Change => ({
  provider: "gitea",
  trigger: "main",
  workspace: "app",
  repo: { fullName: "acme/app" },
  target: { kind: "pull_request", number: 1 },
  head: "a".repeat(40),
  title: "A change",
  ...over
})

/** Stores a delivery like the ingress: the receipt, then the queue. */
const deliver = (given: Change, priority: number) =>
  admin.run(
    Effect.gen(function* () {
      const work = { change: given, configHash: "c", priority, dueAt: 1 }
      const record = event({ targetKey: targetKey(given), work })
      yield* (yield* Receipts).store(record)
      const [admitted] = yield* enqueue([{ eventId: record.id, ...work, admittedAt: 1 }])
      return { eventId: record.id, entryId: admitted?.entryId ?? "" }
    })
  )
const claimed = (entryId: string) =>
  admin.run(
    Effect.gen(function* () {
      const queue = yield* Queue
      yield* queue.promote([entryId], 2)
      const found = yield* queue.claim(entryId, "node-7/x", 2, 60_000)
      return found ?? (yield* Effect.die(new Error("it could not be claimed")))
    })
  )

describe("queue", () => {
  it("lists waiting entries with reasons, counts and pauses", async () => {
    const { entryId } = await deliver(change({ target: { kind: "pull_request", number: 10 } }), Priority.pullRequest)
    await admin.run(
      QueueControl.use((control) =>
        control.pause({ scope: "workspace", name: "app", reason: verbatimReason("moving"), since: 5 })
      )
    )
    const { body, status } = await get("/queue?workspace=app")
    assert.strictEqual(status, 200)
    const entry = itemsOf(body).find(({ id }) => id === entryId)
    assert.include(entry, { status: "waiting", repo: "acme/app", number: 10, title: "A change", workspace: "app" })
    assert.deepInclude(entry?.["why"], { _tag: "WorkspacePaused", workspace: "app" })
    assert.deepInclude(body["pauses"], {
      scope: "workspace",
      name: "app",
      reason: verbatimReason("moving"),
      since: "1970-01-01T00:00:00.005Z"
    })
    assert.deepInclude(body["by_status"], { running: 0 })
    await admin.run(QueueControl.use((control) => control.resume("workspace", "app")))
    assert.deepStrictEqual(itemsOf((await get("/queue?status=dead")).body), [])
  })

  it.each([
    ["/queue?status=nonsense", "status"],
    ["/queue?limit=0", "limit"],
    ["/queue?limit=9999", "limit"],
    ["/runs?stauts=failed", "stauts"],
    ["/runs?workspace=app%00", "workspace"],
    ["/events?decision=queued&decision=ignored", "decision"]
  ])("%s names the parameter that is wrong", async (path, name) => {
    const { body, status } = await get(path)
    assert.strictEqual(status, 400)
    assert.strictEqual(body["code"], "invalid_payload")
    assert.match(JSON.stringify(body["issues"]), new RegExp(`"path":"${name}"`))
  })
})

describe("queue entries", () => {
  it("a dead one is tried again, and only then", async () => {
    const { eventId, entryId } = await deliver(change({ target: { kind: "pull_request", number: 77 } }), 10)
    assert.deepInclude(await post(`/queue/${entryId}/retry`), { status: 409 })
    const { lease } = await claimed(entryId)
    await admin.run(
      Effect.gen(function* () {
        yield* (yield* Queue).finish(lease, { _tag: "Dead", reason: verbatimReason("the host was down") })
        yield* (yield* Receipts).settle(
          [eventId],
          { outcome: "failed", reason: verbatimReason("the host was down") },
          9
        )
      })
    )
    const again = await post(`/queue/${entryId}/retry`)
    assert.deepStrictEqual([again.status, again.body], [202, { id: entryId, status: "retried" }])
    const { body } = await get("/queue?status=waiting&limit=200")
    assert.deepInclude(
      itemsOf(body).find(({ id }) => id === entryId),
      { status: "waiting", attempts: 0 }
    )
    assert.isUndefined((await get(`/events/${eventId}`)).body["outcome"])
    assert.strictEqual((await post(`/queue/${newId()}/retry`)).status, 404)
    assert.strictEqual((await admin.call("POST", `/queue/${entryId}/retry`, {})).status, 401)
  })

  it("a dead one is not tried again while a newer revision of its change waits", async () => {
    const dead = change({ target: { kind: "pull_request", number: 78 } })
    const { entryId } = await deliver(dead, 10)
    const { lease } = await claimed(entryId)
    await admin.run(
      Queue.use((queue) => queue.finish(lease, { _tag: "Dead", reason: verbatimReason("the host was down") }))
    )
    await deliver({ ...dead, head: "b".repeat(40) }, 10)
    const { body, status } = await post(`/queue/${entryId}/retry`)
    assert.deepStrictEqual([status, body["code"]], [409, "newer"])
    assert.strictEqual((await get(`/queue/${entryId}`)).body["status"], "dead")
  })
})

describe("batches", () => {
  const pushed = (branch: string) =>
    deliver(change({ target: { kind: "push", branch }, base: "b".repeat(40), commits: 1 }), Priority.automatic)
  const batchOf = async (eventId: string) => {
    const { body } = await get("/batches")
    for (const { id } of itemsOf(body)) {
      const found = await get(`/batches/${String(id)}`)
      if (JSON.stringify(found.body["members"]).includes(eventId)) return String(id)
    }
    throw new Error("no batch has it")
  }

  it("a dead one is tried again, and only then", async () => {
    const { eventId } = await pushed("dead")
    const id = await batchOf(eventId)
    assert.deepInclude(await post(`/batches/${id}/retry`), { status: 409 })
    const entryId = String((await get(`/batches/${id}`)).body["entry_id"])
    const { lease } = await claimed(entryId)
    await admin.run(
      Effect.gen(function* () {
        yield* (yield* Queue).finish(lease, { _tag: "Dead", reason: verbatimReason("no such commit") })
        yield* (yield* Batches).follow(id, { status: "dead", reason: verbatimReason("no such commit") }, 9)
        yield* (yield* Receipts).settle([eventId], { outcome: "failed", reason: verbatimReason("no such commit") }, 9)
      })
    )
    const dead = itemsOf((await get("/batches?status=dead")).body)
    assert.deepStrictEqual(
      dead.map((batch) => [batch["id"], batch["reason"]]),
      [[id, verbatimReason("no such commit")]]
    )
    const again = await post(`/batches/${id}/retry`)
    assert.deepStrictEqual([again.status, again.body], [202, { id, status: "retried" }])
    assert.strictEqual((await get(`/batches/${id}`)).body["status"], "ready")
    assert.isUndefined((await get(`/events/${eventId}`)).body["outcome"])
  })

  it("a waiting one is cancelled, by name of who did it", async () => {
    const { eventId } = await pushed("unwanted")
    const id = await batchOf(eventId)
    assert.deepStrictEqual((await post(`/batches/${id}/cancel`)).body, { id, status: "cancelled" })
    const { body } = await get(`/events/${eventId}`)
    assert.deepInclude(body, { outcome: "cancelled", outcome_reason: { _tag: "CancelledBy", name: "root" } })
    const twice = await post(`/batches/${id}/cancel`)
    assert.deepStrictEqual([twice.status, twice.body["code"]], [409, "already_ended"])
    assert.strictEqual((await post(`/batches/${newId()}/cancel`)).status, 404)
    assert.strictEqual((await post(`/batches/${newId()}/retry`)).status, 404)
  })
})

describe("events", () => {
  it("are paged newest first, filtered, and say why nothing happened", async () => {
    const records = Array.from({ length: 5 }, () => ignored({ workspace: "paged" }))
    await admin.run(Effect.forEach(records, (record) => Receipts.use((receipts) => receipts.store(record))))
    const ids = records.map(({ id }) => id).toReversed()
    const seen: Array<unknown> = []
    let cursor = ""
    do {
      const { body } = await get(`/events?workspace=paged&decision=ignored&limit=2${cursor}`)
      seen.push(...itemsOf(body).map(({ id }) => id))
      cursor = typeof body["next_cursor"] === "string" ? `&cursor=${body["next_cursor"]}` : ""
    } while (cursor !== "")
    assert.deepStrictEqual(seen, ids)
    const { body } = await get(`/events/${ids[0]}`)
    assert.include(body, { decision: "ignored", reason: "draft", repo: "Acme/App" })
    assert.strictEqual((await get(`/events/${newId()}`)).status, 404)
  })
})

describe("runs", () => {
  it("shows what was found, what it cost and what was published", async () => {
    const { entryId } = await deliver(change({ target: { kind: "pull_request", number: 20 } }), Priority.pullRequest)
    const given = change({ target: { kind: "pull_request", number: 20 } })
    const eves = { fp: "e".repeat(32), file: "src/a.ts", by: ["eve"] }
    const danas = { fp: "d".repeat(32), file: "src/b.ts", by: ["dana", "eve"] }
    const runId = await admin.run(
      Effect.gen(function* () {
        const runs = yield* Runs
        const run = yield* runs.begin(
          {
            entryId,
            workspace: "app",
            targetKey: targetKey(given),
            change: given,
            head: "a".repeat(40),
            base: undefined,
            configHash: "c"
          },
          LeaseToken.make(1),
          100
        )
        const id = run?.id ?? ""
        yield* runs.move(id, LeaseToken.make(1), "analyzing", 110)
        yield* runs.complete(
          id,
          LeaseToken.make(1),
          {
            ...analysis,
            usage: { ...analysis.usage, costUsd: Usd.make(0.02) },
            notices: [{ _tag: "LinesRead", count: 3, total: 9 }]
          },
          [
            publication({ runId: id }),
            publication({ runId: id, ignoredDismissals: [eves, danas] }),
            publication({ runId: id, ignoredDismissals: [eves] })
          ],
          120
        )
        yield* runs.settle(id, "succeeded", { partial: true }, 150)
        return id
      })
    )
    const listed = itemsOf((await get("/runs?workspace=app&status=succeeded")).body).find(({ id }) => id === runId)
    assert.include(listed, { status: "succeeded", findings: 1, cost_usd: 0.02, duration_ms: 50, number: 20 })
    // Host names of repositories have no case.
    const story = (await get("/story?repo=Acme/App&number=20")).body
    const [first, ...more] = itemsOf({ items: story["runs"] })
    assert.include(first, { id: runId, partial: true, entry_id: entryId })
    assert.deepStrictEqual(
      [first?.["notices"], more, story["partial"]],
      [[{ _tag: "LinesRead", count: 3, total: 9 }], [], false]
    )
    assert.deepStrictEqual((await get("/story?repo=acme/other&number=20")).body["runs"], [])
    const { body } = await get(`/runs/${runId}`)
    assert.deepInclude(itemsOf({ items: body["findings"] })[0], { severity: "high", message: "Off by one" })
    assert.deepInclude(itemsOf({ items: body["publications"] })[0], { operation: "Summary", status: "pending" })
    assert.deepStrictEqual(body["ignored_dismissals"], [
      { fingerprint: eves.fp, file: "src/a.ts", by: ["eve"] },
      { fingerprint: danas.fp, file: "src/b.ts", by: ["dana", "eve"] }
    ])
    assert.deepInclude(body["usage"], { input_tokens: 10, cost_usd: 0.02 })
    assert.strictEqual((await get(`/runs/${newId()}`)).status, 404)

    const cancel = await post(`/runs/${runId}/cancel`)
    assert.deepStrictEqual([cancel.status, cancel.body], [202, { id: runId, status: "cancelled" }])
    assert.deepInclude((await post(`/runs/${runId}/cancel`)).body, { status: 409, code: "already_ended" })
  })

  it("is repeated for an administrator, with the state of the host at that time", async () => {
    const runOf = (given: Change) =>
      admin.run(
        Runs.use((runs) =>
          runs.begin(
            {
              entryId: newId(),
              workspace: "app",
              targetKey: targetKey(given),
              change: given,
              head: "h",
              base: undefined,
              configHash: "c"
            },
            LeaseToken.make(1),
            1
          )
        )
      )
    const run = await runOf(change({ target: { kind: "pull_request", number: 22 } }))
    const { body, status } = await post(`/runs/${run?.id}/rereview`)
    assert.deepStrictEqual([status, body["status"]], [202, "queued"])
    const reported = (await get(`/events/${String(body["event_id"])}`)).body
    assert.deepInclude(reported, {
      event: "rereview",
      decision: "queued",
      rule: { _tag: "RequestedBy", name: "root" }
    })
    const entry = await admin.run(
      Queue.use((queue) => queue.load("app")).pipe(
        Effect.map((entries) => entries.find(({ events }) => events.includes(String(body["event_id"]))))
      )
    )
    assert.include(entry, { priority: Priority.command, status: "waiting" })
    assert.include(entry?.change, { requestedBy: "administrator root" })
    assert.isUndefined(entry?.change.head)

    // Other changes are repeated at the same commits; a second request is the first one.
    const push = await runOf(change({ target: { kind: "push", branch: "again" }, base: "b".repeat(40) }))
    const first = (await post(`/runs/${push?.id}/rereview`)).body
    assert.include(first, { status: "queued" })
    assert.deepInclude((await post(`/runs/${push?.id}/rereview`)).body, {
      event_id: first["event_id"],
      status: "duplicate"
    })
    const pushed = await admin.run(
      Queue.use((queue) =>
        Effect.map(queue.load("app"), (entries) =>
          entries.filter(({ events }) => events.includes(String(first["event_id"])))
        )
      )
    )
    assert.lengthOf(pushed, 1)
    assert.include(pushed[0]?.change, {
      head: "a".repeat(40),
      base: "b".repeat(40),
      requestedBy: "administrator root"
    })
    const [issue, manual] = [
      await runOf(change({ target: { kind: "issue", number: 24 } })),
      await runOf(change({ target: { kind: "manual", branch: "feature" }, headRef: "feature", base: "b".repeat(40) }))
    ]
    for (const [one, isRead] of [
      [issue, true],
      [manual, false]
    ] as const) {
      const request = (await post(`/runs/${one?.id}/rereview`)).body
      const stored = await admin.run(Receipts.use((receipts) => receipts.get(String(request["event_id"]))))
      assert.deepStrictEqual([stored?.decision, stored?.work?.change.head === undefined], ["queued", isRead])
    }
    const renamed = await runOf(change({ provider: "github", target: { kind: "pull_request", number: 25 } }))
    assert.deepInclude((await post(`/runs/${renamed?.id}/rereview`)).body, { status: 409, code: "workspace_gone" })
    const moved = await runOf(change({ workspace: "gone", target: { kind: "pull_request", number: 23 } }))
    assert.deepInclude((await post(`/runs/${moved?.id}/rereview`)).body, { status: 409, code: "workspace_gone" })
    assert.strictEqual((await post(`/runs/${newId()}/rereview`)).status, 404)
  })

  it("a running one is requested to stop", async () => {
    const given = change({ target: { kind: "pull_request", number: 21 } })
    const { entryId } = await deliver(given, Priority.pullRequest)
    await claimed(entryId)
    const run = await admin.run(
      Runs.use((runs) =>
        runs.begin(
          {
            entryId,
            workspace: "app",
            targetKey: targetKey(given),
            change: given,
            head: "h",
            base: undefined,
            configHash: "c"
          },
          LeaseToken.make(1),
          1
        )
      )
    )
    assert.deepStrictEqual((await post(`/runs/${run?.id}/cancel`)).body, { id: run?.id, status: "stopping" })
    const entry = itemsOf((await get("/queue?status=running")).body).find(({ id }) => id === entryId)
    assert.strictEqual(entry?.["node"], "node-7")
  })
})

describe("paths", () => {
  it("nodes: this one, with roles, version and configuration", async () => {
    const { body } = await get("/nodes")
    assert.deepInclude(itemsOf(body)[0], {
      name: "node-1",
      roles: ["ingress"],
      version: "1.2.3",
      slots: 0,
      running: 0,
      differs: [],
      refused: []
    })
    assert.isAbove(Number(itemsOf(body)[0]?.["memory_bytes"]), 1024 * 1024)
    assert.isAtLeast(Number(itemsOf(body)[0]?.["lag_millis"]), 0)
    assert.match(String(itemsOf(body)[0]?.["configuration"]), /^[0-9a-f]{12}$/)
    const missing = ["actors", "executor", "publisher", "dashboard"]
    assert.deepStrictEqual(
      body["warnings"],
      missing.map((role) => ({ _tag: "RoleUnserved", role }))
    )
  })

  it.each([
    ["POST", "/queue", 405, "method_not_allowed"],
    ["POST", "/runs/x", 405, "method_not_allowed"],
    ["GET", "/batches/x/retry", 405, "method_not_allowed"],
    ["GET", "/login", 405, "method_not_allowed"],
    ["GET", "/nothing", 404, "not_found"],
    ["GET", "/batches/:id", 404, "not_found"],
    ["GET", "/constructor", 404, "not_found"],
    ["GET", "/runs/x/y/z", 404, "not_found"]
  ])("%s %s is %d %s", async (method, path, status, code) => {
    const answer = await admin.call(method, path, { token })
    assert.deepStrictEqual([answer.status, answer.body["code"]], [status, code])
    assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
  })
})
