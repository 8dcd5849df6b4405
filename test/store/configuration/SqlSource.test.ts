/** One contract over every store of the database source. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ActivationStore } from "../../../src/config/revisions/ActivationStore.ts"
import { AuditLog } from "../../../src/config/revisions/AuditLog.ts"
import type { AuditRecord } from "../../../src/config/revisions/AuditLog.ts"
import type { ConfigDraft } from "../../../src/config/revisions/DraftStore.ts"
import { DraftStore, maxDrafts, maxDraftsPerOwner, maxOwnerBytes } from "../../../src/config/revisions/DraftStore.ts"
import type { NewRevision, RevisionHead } from "../../../src/config/revisions/Revision.ts"
import { noRevision } from "../../../src/config/revisions/Revision.ts"
import { ResealStore } from "../../../src/config/revisions/ResealStore.ts"
import type { ResealJob } from "../../../src/config/revisions/ResealStore.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { layerRedis } from "../../../src/store/configuration/RedisSource.ts"
import type { SourceStores } from "../../../src/store/configuration/SqlSource.ts"
import { layerSql } from "../../../src/store/configuration/SqlSource.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { databases } from "../Databases.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

let server: Promise<RedisServer> | undefined
let made = 0

const audit = { records: 30, surplus: 10 }
const operations = { records: 20, surplus: 10 }

const kinds: ReadonlyArray<{ readonly name: string; readonly fresh: () => Layer.Layer<SourceStores, unknown> }> = [
  ...databases.map(({ name, layer: database }) => ({
    name,
    fresh: () => layerSql("default", audit, operations).pipe(Layer.provide(database()))
  })),
  {
    name: "redis",
    fresh: () =>
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => (server ??= RedisServer.start())),
          ({ url }) =>
            layerRedis({ url: Redacted.make(url), namespace: "default", prefix: `source${++made}`, audit, operations })
        )
      )
  }
]

const revision = (onto: RevisionHead, operationId: string, more: Partial<NewRevision> = {}): NewRevision => ({
  number: onto.number + 1,
  parent: onto.number,
  hash: `hash-${operationId}`,
  document: `{"of":"${operationId}"}`,
  actor: "alice",
  operationId,
  requestHash: `request-${operationId}`,
  reason: "why",
  rebasedFrom: undefined,
  restores: undefined,
  diff: [{ path: "a.b", names: ["globals", "a", "b"], change: "changed", before: 1, after: [2] }],
  ...more
})

const append = Effect.fnUntraced(function* (operationId: string, more: Partial<NewRevision> = {}) {
  const store = yield* RevisionStore
  const head = yield* store.head
  return yield* store.append(revision(head, operationId, more), head)
})

const draft = (id: string, more: Partial<ConfigDraft> = {}): ConfigDraft => ({
  id,
  owner: "alice",
  editors: ["alice"],
  title: "t",
  reason: "r",
  base: 0,
  format: "operations",
  operations: [{ op: "set", path: ["review", "max_passes"], value: 3 }],
  approvals: [],
  version: 1,
  createdAt: 5,
  updatedAt: 5,
  ...more
})

const auditRecord = (at: number): AuditRecord => ({
  id: newId(),
  at,
  actor: "alice",
  action: "publish",
  outcome: "committed",
  operationId: "o",
  revision: 1,
  detail: verbatimReason("why")
})

describe.each(kinds)("revisions in $name", ({ fresh }) => {
  layer(fresh())((it) => {
    it.effect("a new revision is the head, readable and listed with its facts", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        assert.deepStrictEqual(yield* store.head, noRevision)
        const appended = yield* append("one", { rebasedFrom: 0, restores: 7 })
        assert.strictEqual(appended._tag, "Committed")
        assert.deepStrictEqual(yield* store.head, { number: 1, hash: "hash-one" })
        const read = yield* store.read(1)
        assert.deepStrictEqual(read, appended._tag === "Committed" ? appended.revision : undefined)
        assert.deepStrictEqual([read?.rebasedFrom, read?.restores, read?.diff.length], [0, 7, 1])
        yield* append("two")
        const { items, next } = yield* store.list({ limit: 1 })
        assert.deepStrictEqual([items.map(({ number, changes }) => [number, changes]), next], [[[2, 1]], 2])
        assert.deepStrictEqual(
          (yield* store.list({ before: 2, limit: 5 })).items.map(({ number }) => number),
          [1]
        )
        assert.isUndefined(yield* store.read(3))
      })
    )
  })
  layer(fresh())((it) => {
    it.effect("a revision on a head that has changed is not appended, nor its operation recorded", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        yield* append("one")
        const stale = yield* store.append(revision(noRevision, "late"), noRevision)
        assert.strictEqual(stale._tag, "Moved")
        assert.isUndefined(yield* store.operation("late"))
        const resealed = { number: 1, hash: "another" }
        assert.strictEqual((yield* store.append(revision(resealed, "late"), resealed))._tag, "Moved")
      })
    )
    it.effect("an operation id is applied once and keeps its first result", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        const { number: before } = yield* store.head
        yield* append("twice")
        const again = yield* append("twice", { requestHash: "other" })
        assert.strictEqual(again._tag === "Repeated" ? again.operation.requestHash : again._tag, "request-twice")
        assert.strictEqual((yield* store.head).number, before + 1)
        const conflict = {
          _tag: "Conflict",
          head: 1,
          conflicts: [{ path: ["triggers/a", "enabled"], base: true, yours: false }]
        } as const
        yield* store.conclude({ operationId: "c", requestHash: "h", result: conflict })
        const kept = yield* store.conclude({
          operationId: "c",
          requestHash: "h2",
          result: { _tag: "Unchanged", revision: 1 }
        })
        assert.deepStrictEqual([kept.requestHash, kept.result], ["h", conflict])
        assert.strictEqual((yield* append("c"))._tag, "Repeated")
      })
    )
    it.effect("of concurrent revisions on one head one is appended", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        const head = yield* store.head
        const all = yield* Effect.forEach(["p", "q", "r", "s"], (id) => store.append(revision(head, id), head), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(all.map(({ _tag }) => _tag).toSorted(), ["Committed", "Moved", "Moved", "Moved"])
        assert.strictEqual((yield* store.head).number, head.number + 1)
      })
    )
    it.effect("resealing replaces the text only if the hash is still the same", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        const head = yield* store.head
        assert.isFalse(yield* store.reseal(head.number, "other", { document: "{}", hash: "n" }))
        assert.isTrue(yield* store.reseal(head.number, head.hash, { document: "{}", hash: "n" }))
        assert.deepStrictEqual(yield* store.head, { number: head.number, hash: "n" })
        assert.strictEqual((yield* store.read(head.number))?.document, "{}")
      })
    )
  })
  layer(fresh())((it) => {
    it.effect("removes revisions beyond the count or the age, except protected and pinned ones", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        for (let n = 1; n <= 8; n++) {
          yield* append(`n${n}`)
          yield* TestClock.adjust(10)
        }
        const numbers = Effect.map(store.list({ limit: 20 }), ({ items }) => items.map(({ number }) => number))
        yield* store.prune({ count: 6, since: 0, protect: 2, pinned: new Set([1]) })
        assert.deepStrictEqual(yield* numbers, [8, 7, 6, 5, 4, 3, 1])
        assert.isUndefined(yield* store.operation("n2"))
        assert.isDefined(yield* store.operation("n1"))
        const late = (yield* store.read(8))?.createdAt ?? 0
        yield* store.prune({ count: 6, since: late + 1, protect: 2, pinned: new Set() })
        assert.deepStrictEqual(yield* numbers, [8, 7])
        assert.strictEqual((yield* store.head).number, 8)
      })
    )
  })
})

describe.each(kinds)("drafts, audit records and activations in $name", ({ fresh }) => {
  layer(fresh())((it) => {
    it.effect("a draft is saved only by who has read its newest version", () =>
      Effect.gen(function* () {
        const store = yield* DraftStore
        assert.deepStrictEqual(yield* store.save(draft("d")), { _tag: "Saved" })
        const second = draft("d", { version: 2, title: "next", approvals: [{ actor: "bob", at: 1 }] })
        assert.deepStrictEqual(yield* store.save(second), { _tag: "Saved" })
        assert.deepStrictEqual(yield* store.save(second), { _tag: "Moved", current: second })
        assert.deepStrictEqual(yield* store.get("d"), second)
        assert.isFalse(yield* store.remove("d", 1))
        assert.isTrue(yield* store.remove("d", 2))
        assert.deepStrictEqual(yield* store.save(second), { _tag: "Moved", current: undefined })
        assert.deepStrictEqual(yield* store.list, [])
      })
    )
    it.effect("limits the drafts of one owner", () =>
      Effect.gen(function* () {
        const store = yield* DraftStore
        for (let n = 0; n < maxDraftsPerOwner; n++) yield* store.save(draft(`n${n}`))
        assert.deepStrictEqual(yield* store.save(draft("more")), { _tag: "TooMany", limit: maxDraftsPerOwner })
        assert.deepStrictEqual(yield* store.save(draft("bobs", { owner: "bob" })), { _tag: "Saved" })
        assert.strictEqual((yield* store.list).length, maxDraftsPerOwner + 1)
      })
    )
    it.effect("limits the size of the drafts of one owner", () =>
      Effect.gen(function* () {
        const store = yield* DraftStore
        // Two bytes each in UTF-8.
        const reason = "ä".repeat(maxOwnerBytes / 8 - 1000)
        const own = { owner: "carol", reason }
        for (let n = 0; n < 4; n++) assert.deepStrictEqual(yield* store.save(draft(`c${n}`, own)), { _tag: "Saved" })
        const tooLarge = { _tag: "TooLarge", limit: maxOwnerBytes } as const
        assert.deepStrictEqual(yield* store.save(draft("c4", own)), tooLarge)
        const grown = { ...own, version: 2, reason: `${reason}${"x".repeat(8000)}` }
        assert.deepStrictEqual(yield* store.save(draft("c0", grown)), tooLarge)
        assert.deepStrictEqual(yield* store.save(draft("c0", { ...grown, reason: "short" })), { _tag: "Saved" })
        assert.deepStrictEqual(yield* store.save(draft("daves", { owner: "dave", reason })), { _tag: "Saved" })
        for (const id of ["c1", "c2", "c3", "daves"]) yield* store.remove(id, 1)
        yield* store.remove("c0", 2)
      })
    )
    it.effect("limits the drafts of all owners", () =>
      Effect.gen(function* () {
        const store = yield* DraftStore
        const missing = maxDrafts - (yield* store.list).length
        const save = (n: number) => store.save(draft(`all${n}`, { owner: `owner${n % 30}` }))
        yield* Effect.forEach(Array(missing).keys(), save, { concurrency: 20 })
        assert.deepStrictEqual(yield* save(missing), { _tag: "TooMany", limit: maxDrafts })
        assert.strictEqual((yield* store.list).length, maxDrafts)
      })
    )
    it.effect("the job that seals credentials is saved only by who has read its newest version", () =>
      Effect.gen(function* () {
        const reseals = yield* ResealStore
        assert.isUndefined(yield* reseals.get)
        const job: ResealJob = {
          id: "r",
          kid: "k",
          actor: "alice",
          owner: "p",
          state: "running",
          checked: 1,
          resealed: 1,
          failed: [{ _tag: "RecordNotSealed", record: "revision 1", why: verbatimReason("why") }],
          newest: 2,
          below: 1,
          covered: 0,
          startedAt: 5,
          updatedAt: 6,
          finishedAt: undefined,
          version: 1
        }
        const saved = yield* Effect.all([reseals.save(job), reseals.save(job)], { concurrency: 2 })
        assert.deepStrictEqual(saved.toSorted(), [false, true])
        const next = { ...job, state: "done", finishedAt: 7, version: 2 } as const
        assert.isFalse(yield* reseals.save({ ...job, version: 3 }))
        assert.isTrue(yield* reseals.save(next))
        assert.isFalse(yield* reseals.save(next))
        assert.deepStrictEqual(yield* reseals.get, next)
      })
    )
    it.effect("audit records are listed newest first and removed by age", () =>
      Effect.gen(function* () {
        const log = yield* AuditLog
        const records = [1, 2, 3].map(auditRecord)
        for (const record of records) yield* log.append(record)
        const first = yield* log.list({ limit: 2 })
        assert.deepStrictEqual(first.items, records.slice(1).toReversed())
        const { items, next } = yield* log.list({ before: first.next, limit: 2 })
        assert.deepStrictEqual([items, next], [records.slice(0, 1), undefined])
        yield* log.prune(3)
        assert.deepStrictEqual((yield* log.list({ limit: 5 })).items, records.slice(2))
      })
    )
    it.effect("audit records stay limited in number while any number of requests adds to them", () =>
      Effect.gen(function* () {
        const log = yield* AuditLog
        const count = Effect.map(log.list({ limit: 200 }), ({ items }) => items.length)
        let most = 0
        for (let at = 1; at <= 100; at++) {
          yield* log.append(auditRecord(at))
          most = Math.max(most, yield* count)
        }
        assert.isAbove(most, audit.records)
        assert.isBelow(most, audit.records + audit.surplus)
        const { items } = yield* log.list({ limit: 1 })
        assert.strictEqual(items[0]?.at, 100)
      })
    )
    it.effect("results of operations stay limited in number while any number of requests adds to them", () =>
      Effect.gen(function* () {
        const store = yield* RevisionStore
        yield* append("published")
        const result = { _tag: "Unchanged", revision: 1 } as const
        const ids = Array.from({ length: 60 }, (_, index) => `unchanged-${String(index).padStart(3, "0")}`)
        const count = Effect.map(
          Effect.forEach(ids, (id) => store.operation(id)),
          (all) => all.filter((one) => one !== undefined).length
        )
        for (const [index, operationId] of ids.entries()) {
          yield* store.conclude({ operationId, requestHash: "r", result })
          if (index % 10 === 8) assert.isBelow(yield* count, operations.records + operations.surplus)
        }
        assert.strictEqual(yield* count, operations.records)
        assert.isDefined(yield* store.operation("unchanged-059"))
        assert.isUndefined(yield* store.operation("unchanged-000"))
        assert.isDefined(yield* store.operation("published"))
      })
    )
    it.effect("the last report of each node is listed while it is recent", () =>
      Effect.gen(function* () {
        const store = yield* ActivationStore
        const report = {
          node: "b",
          revision: 2,
          state: "refused",
          active: 1,
          snapshot: "s",
          problems: [verbatimReason("x")],
          at: 10
        } as const
        yield* store.report({ ...report, at: 5 })
        yield* store.report(report)
        yield* store.report({ ...report, node: "a", at: 3 })
        assert.deepStrictEqual(yield* store.list(5), [report])
        yield* store.prune(5)
        assert.deepStrictEqual(yield* store.list(0), [report])
      })
    )
  })
})
