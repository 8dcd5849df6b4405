import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StoreError } from "../../src/database/StoreError.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { newId } from "../../src/domain/Ids.ts"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { readPerson } from "../../src/domain/PersonErasure.ts"
import { AdminActions, unknownOutcome } from "../../src/store/AdminActions.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import { DirectOptOuts } from "../../src/store/DirectOptOuts.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Payloads } from "../../src/store/Payloads.ts"
import { PersonRecords } from "../../src/store/PersonRecords.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { SavedViews } from "../../src/store/SavedViews.ts"
import { RunLogs } from "../../src/store/RunLogs.ts"
import { Runs } from "../../src/store/Runs.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"
import { databases } from "./Databases.ts"
import { analysis, change, chatRequest, event, publication } from "./Fixtures.ts"

const words = "zebra crossing"
const head = "a".repeat(40)

const person = (qualified: string) => {
  const read = readPerson(qualified)
  return read === undefined ? Effect.die(new Error(`${qualified} should name a person`)) : Effect.succeed(read)
}

const by = (username: string, number: number, trigger = "main"): Change => ({
  ...change(number),
  trigger,
  title: `${words} of ${username}`,
  description: words,
  author: { username, name: "Real Name" }
})

/** Stores a delivery of a person about a pull request with its payload, and ends it. */
const delivered = Effect.fnUntraced(function* (of: Change, sender: string) {
  const id = newId()
  const { author, number } = { author: of.author?.username, number: of.target.number }
  yield* (yield* Receipts).store(
    event({
      id,
      deliveryKey: DeliveryKey.make(`gitea:${id}`),
      trigger: of.trigger,
      targetKey: targetKey(of),
      facts: { number, head, author, sender, pusher: author, title: of.title },
      work: {
        change: of,
        configHash: "c0ffee",
        priority: 10,
        dueAt: 1000,
        command: "remember",
        request: { command: { name: "remember", text: `${words} by ${sender}` } }
      }
    })
  )
  yield* (yield* Receipts).settle([id], { outcome: "executed" }, 2000)
  const payload = { path: "gitea", headers: {}, body: JSON.stringify({ body: words, sender: { login: sender } }) }
  const rest = { eventId: id, receivedAt: 1000, bytes: 1, cut: false, admits: { _tag: "All" }, replayOf: undefined }
  yield* (yield* Payloads).store([{ ...payload, ...rest } as never], 1000)
})

/** Stores an ended review with everything that it leaves. */
const reviewed = Effect.fnUntraced(function* (of: Change, said = words) {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* Runs
  const token = LeaseToken.make(1)
  const run = yield* runs.begin(
    {
      entryId: newId(),
      workspace: "app",
      targetKey: targetKey(of),
      change: of,
      head,
      base: undefined,
      configHash: "c",
      verdict: undefined
    },
    token,
    10
  )
  const id = run?.id ?? ""
  yield* runs.move(id, token, "analyzing", 20)
  const comment = { id: "c1", on: "pull_request", kind: "general" } as const
  const sent = publication({
    runId: id,
    targetKey: targetKey(of),
    operation: { _tag: "Reply", head, comment, body: `> ${said}\n\n@alice: yes` }
  })
  const reply = { outcome: "replied", comment, question: said, text: `alice said ${said}` } as const
  const stored = { ...analysis, summary: `${said}, says alice.`, reply }
  assert.isTrue(yield* runs.complete(id, token, stored, [sent], 30))
  yield* sql`UPDATE publications SET status = 'sent', url = 'https://git.example/c/1' WHERE run_id = ${id}`
  yield* runs.settle(id, "succeeded", { partial: false }, 40)
  yield* (yield* RunLogs).append(
    id,
    { lines: [{ at: 1, level: "info", message: "agent step", fields: { text: words, author: "alice" } }] },
    50
  )
  yield* sql`INSERT INTO agent_passes ${sql.insert({ id: newId(), run_id: id, pass: "p", written_at: 1, body: JSON.stringify({ text: words }) })}`
  yield* (yield* Objects).put(`runs/${id}/texts/1`, `alice wrote ${words}`)
  return id
})

/** Everything in the records and objects about a person, as lines. */
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql.onDialectOrElse({
    sqlite: () => sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`,
    orElse: () =>
      sql<{
        readonly name: string
      }>`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`
  })
  const lines: Array<string> = []
  for (const { name } of tables)
    for (const row of yield* sql`SELECT * FROM ${sql(name)}`) lines.push(`${name} ${JSON.stringify(row)}`)
  const objects = yield* Objects
  for (const run of yield* objects.list("runs")) lines.push(`object runs/${run}`)
  return lines
})

const found = (lines: ReadonlyArray<string>, ...texts: ReadonlyArray<string>) =>
  lines.filter((line) => texts.some((text) => line.toLowerCase().includes(text)))

const seeded = Effect.gen(function* () {
  const alice = by("Alice", 1)
  yield* delivered(alice, "Alice")
  yield* reviewed(alice)
  // A change of another person, about which alice wrote.
  const bob = { ...by("bob", 2), title: "Teach alice", description: undefined, author: { username: "bob" } }
  yield* delivered({ ...bob, requestedBy: "alice" }, "alice")
  const run = yield* reviewed({ ...bob, requestedBy: "alice" }, "what the code does")
  yield* (yield* Runs).pause(targetKey(bob), "alice", 10)
  const day = "2026-11-30"
  yield* (yield* Ledger).count({ id: newId() as never, subject: "replies:x:main:alice", period: day, max: 5 }, 10)
  const lesson = {
    fingerprint: "f",
    verdict: "dismissed",
    category: "bug",
    severity: "low",
    path: "a.ts",
    title: "@alice: no",
    quote: ""
  }
  yield* (yield* Lessons).learn(
    "main:acme/app",
    [lesson as never],
    { maxEntries: 9, maxBytes: 999, keepMillis: 9e12 },
    10
  )
  return run
})

describe.each(databases)("PersonRecords in $name", ({ layer: fresh }) => {
  layer(Layer.mergeAll(fresh(), memoryObjects))("scan", (it) => {
    it.effect("erases an account, its words, and nothing of people with the same name", () =>
      Effect.gen(function* () {
        const run = yield* seeded
        const people = yield* PersonRecords
        // A namesake at another host, and work that has not ended.
        const namesake = by("alice", 3, "other")
        yield* delivered(namesake, "alice")
        yield* reviewed(namesake)
        const before = yield* dump
        const preview = yield* people.scan(yield* person("main:alice"), false)
        assert.deepStrictEqual(yield* dump, before)

        const erased = yield* people.scan(yield* person("main:alice"), true)
        assert.deepStrictEqual(erased.counts, preview.counts)
        assert.strictEqual(erased.comments.count, 2)
        const counts = {
          reviews: 2,
          deliveries: 2,
          payloads: 2,
          publications: 2,
          prompts: 2,
          log_lines: 2,
          agent_passes: 2
        }
        assert.deepInclude(erased.counts, { ...counts, pauses: 1, budgets: 1, lessons: 1 })

        const left = (yield* dump).filter((line) => !/"other[":]/.test(line))
        const orphans = left.filter((line) =>
          /^(?:agent_passes|run_logs|delivery_payloads|publications|object)/.test(line)
        )
        assert.deepStrictEqual(
          found(left, "alice", words, "real name").filter((line) => !orphans.includes(line)),
          []
        )
        const others = (yield* dump).filter((line) => /"other[":]/.test(line))
        assert.isAbove(found(others, "alice").length, 2)
        // Records keep their shape.
        const stored = yield* (yield* Runs).get(run)
        assert.strictEqual(stored?.change.title, "Teach erased:person")
        assert.strictEqual(stored?.change.requestedBy, "erased:person")
        assert.lengthOf(stored?.analysis?.findings ?? [], 1)
        const searched = { terms: ["alice"], isNewest: false, limit: 10 }
        assert.deepStrictEqual(
          (yield* (yield* Runs).search(searched)).runs.map(({ change: { trigger } }) => trigger),
          ["other"]
        )
        const again = yield* people.scan(yield* person("main:alice"), true)
        assert.deepStrictEqual(
          Object.values(again.counts).filter((count) => count > 0),
          []
        )
      })
    )
  })

  layer(Layer.mergeAll(fresh(), memoryObjects))("scan of work that has not ended", (it) => {
    it.effect("changes nothing of it, and counts it", () =>
      Effect.gen(function* () {
        const of = by("alice", 1)
        const run = {
          entryId: "e",
          workspace: "app",
          targetKey: targetKey(of),
          change: of,
          head,
          base: undefined,
          configHash: "c"
        }
        yield* (yield* Runs).begin({ ...run, verdict: undefined }, LeaseToken.make(1), 10)
        const { counts, unfinished } = yield* (yield* PersonRecords).scan(yield* person("main:alice"), true)
        assert.strictEqual(counts.reviews, 0)
        assert.strictEqual(unfinished, 1)
        assert.isNotEmpty(found(yield* dump, words))
      })
    )
  })

  layer(Layer.mergeAll(fresh(), memoryObjects))("scan that fails", (it) => {
    it.effect("is completed by a repetition", () =>
      Effect.gen(function* () {
        yield* seeded
        const objects = yield* Objects
        const people = yield* PersonRecords
        const failure = new StoreError({ reason: "unavailable", operation: "test", why: { _tag: "Text", text: "cut" } })
        const alice = yield* person("main:alice")
        const cut = Objects.of({ ...objects, remove: () => Effect.fail(failure) })
        assert.strictEqual(yield* Effect.flip(Effect.provideService(people.scan(alice, true), Objects, cut)), failure)
        yield* people.scan(alice, true)
        assert.deepStrictEqual(found(yield* dump, "alice", words, "real name"), [])
      })
    )
  })

  layer(Layer.mergeAll(fresh(), memoryObjects))("scan of people without an account", (it) => {
    it.effect("erases a person of chat and an administrator", () =>
      Effect.gen(function* () {
        const people = yield* PersonRecords
        const chat = yield* ChatRequests
        const direct = chatRequest({
          conversation: { kind: "direct", id: "oc_private" },
          sender: { type: "feishu_open_id", id: "ou_zed" },
          facts: { text: words, isAction: false, reply: {} }
        })
        yield* chat.add(direct)
        const stored = yield* chat.get(direct.id)
        if (stored !== undefined) yield* chat.change(stored, { status: "rejected" }, 10)
        yield* chat.add(chatRequest({ sender: { type: "feishu_open_id", id: "ou_other" } }))
        const optOuts = yield* DirectOptOuts
        for (const id of ["ou_zed", "ou_other"]) yield* optOuts.add("lark", { type: "feishu_open_id", id }, 1)
        const action = {
          id: newId(),
          at: 1,
          actor: "ann",
          address: "local",
          action: "queue.cancel",
          target: "/queue for ann"
        }
        const actions = yield* AdminActions
        yield* actions.start({ ...action, reason: "ann asked", outcome: "done" })
        // Its process died an hour ago, and this one runs.
        yield* actions.start({ ...action, id: newId(), reason: "ann asked", outcome: unknownOutcome })
        const running = { ...action, id: newId(), at: 3_600_002, actor: "root", target: "/queue", reason: undefined }
        yield* actions.start({ ...running, outcome: unknownOutcome })

        const view = { id: newId(), owner: "oidc:ann", page: "/runs", name: "Mine", query: "q=ann", savedAt: 1 }
        yield* (yield* SavedViews).save(view)
        // Namesakes are other people.
        for (const namesake of ["main:ann", "main:ou_zed", "slack_user:ou_zed"]) {
          const { counts } = yield* people.scan(yield* person(namesake), true)
          assert.deepInclude(counts, { opt_outs: 0, sessions: 0, views: 0 })
          assert.strictEqual((yield* chat.get(direct.id))?.sender.id, "ou_zed")
        }
        assert.deepStrictEqual(
          (yield* actions.list({ limit: 9 })).map(({ actor }) => actor),
          ["root", "ann", "ann"]
        )

        const erased = yield* people.scan(yield* person("feishu_open_id:ou_zed"), true)
        assert.deepInclude(erased.counts, { chat_requests: 1, opt_outs: 1 })
        const administrator = yield* people.scan(yield* person("administrator:ann"), true)
        assert.deepStrictEqual([administrator.counts.audit, administrator.unfinished], [2, 0])
        const own = yield* people.scan(yield* person("administrator:root"), true)
        assert.deepStrictEqual([own.counts.audit, own.unfinished], [0, 1])
        assert.deepStrictEqual(found(yield* dump, "ou_zed", "oc_private", words, "ann"), [])
        assert.strictEqual((yield* chat.get(direct.id))?.facts.text, "[erased]")
      })
    )
  })
})
