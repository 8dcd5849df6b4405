/** Limits of drafts, and whose approvals count. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { DraftInput, DraftOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import { editorAlone, memoryStores, startNode } from "../../harness/ConfigSource.ts"

const input = {
  title: "More passes",
  reason: "",
  base: 0,
  operations: [{ op: "set", path: ["review", "max_passes"], value: 7 }]
} satisfies DraftInput
const codes = (outcome: { readonly _tag: string } | DraftOutcome) =>
  "problems" in outcome ? outcome.problems.map(({ code }) => code) : outcome._tag

describe("a draft", () => {
  const large = { op: "create", entity: { kind: "prompts", name: "p" }, value: "x".repeat(1024 * 1024) } as const
  const cases = [
    ["without a title", { title: " " }, "invalid_request"],
    ["with a title of 201 characters", { title: "x".repeat(201) }, "invalid_request"],
    ["with a reason of 2001 characters", { reason: "x".repeat(2001) }, "invalid_request"],
    ["of more than 1 MiB", { operations: [large] }, "document_too_large"]
  ] as const
  it.effect.each(cases)("%s is refused", ([, more, code]) =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        assert.deepStrictEqual(codes(yield* editor.createDraft("alice", { ...input, ...more })), [code])
        assert.deepStrictEqual(yield* editor.drafts, [])
      }),
      editorAlone()
    )
  )

  it.effect("needs approvals of different administrators, and is published in the approved version only", () =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const saved = yield* editor.createDraft("alice", input)
        const id = saved._tag === "Saved" ? saved.draft.id : ""
        yield* editor.approveDraft("bob", id, 1)
        yield* editor.approveDraft("bob", id, 2)
        const publish = (version: number) => editor.publishDraft("alice", id, { operationId: "d", version })
        assert.deepStrictEqual(codes(yield* publish(3)), ["approval_required"])
        yield* editor.approveDraft("carol", id, 3)
        assert.deepStrictEqual(codes(yield* publish(3)), ["draft_conflict"])
        assert.strictEqual(codes(yield* publish(4)), "Committed")
        // The draft is gone: the repeated request gets its result, another one does not.
        assert.strictEqual(codes(yield* publish(4)), "Committed")
        assert.deepStrictEqual(codes(yield* publish(3)), ["draft_not_found"])
        assert.deepStrictEqual(
          codes(yield* editor.publishDraft("mallory", "another", { operationId: "d", version: 4 })),
          ["draft_not_found"]
        )
      }),
      editorAlone({ document: { config_sources: { database: { enabled: true, approvals: 2 } } } })
    )
  )

  it.effect("is not approved by anyone who wrote a part of it", () =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const saved = yield* editor.createDraft("alice", input)
        const id = saved._tag === "Saved" ? saved.draft.id : ""
        const operations = [{ op: "set", path: ["review", "max_passes"], value: 9 }] as const
        assert.strictEqual(codes(yield* editor.saveDraft("bob", id, 1, { ...input, operations })), "Saved")
        assert.deepStrictEqual(codes(yield* editor.approveDraft("bob", id, 2)), ["own_draft"])
        assert.deepStrictEqual(codes(yield* editor.approveDraft("alice", id, 2)), ["own_draft"])
        const publish = editor.publishDraft("bob", id, { operationId: "p", version: 2 })
        assert.deepStrictEqual(codes(yield* publish), ["approval_required"])
        assert.strictEqual(codes(yield* editor.approveDraft("carol", id, 2)), "Saved")
      }),
      editorAlone({ document: { config_sources: { database: { enabled: true, approvals: 1 } } } })
    )
  )

  it.effect("that is saved while it is edited has one record for each administrator in ten minutes", () =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const saved = yield* editor.createDraft("alice", input)
        const id = saved._tag === "Saved" ? saved.draft.id : ""
        let version = 1
        const save = (actor: string, title: string) => editor.saveDraft(actor, id, version, { ...input, title })
        for (const actor of ["alice", "alice", "alice", "bob", "bob"]) {
          assert.strictEqual(codes(yield* save(actor, "x")), "Saved")
          version++
        }
        for (let count = 0; count < 3; count++)
          assert.deepStrictEqual(codes(yield* save("bob", "")), ["invalid_request"])
        yield* TestClock.adjust("11 minutes")
        assert.strictEqual(codes(yield* save("alice", "x")), "Saved")
        const { items } = yield* editor.audit({ limit: 20 })
        assert.deepStrictEqual(
          items.map(({ actor, outcome }) => `${actor} ${outcome}`),
          ["alice done", "bob invalid_request", "bob done", "alice done", "alice done"]
        )
      }),
      editorAlone()
    )
  )

  it.effect("is removed 90 days after its last change", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const drafts = Context.get(stores, DraftStore)
      const day = 24 * 60 * 60 * 1000
      for (const age of [91, 89]) {
        const { base, operations, reason, title } = input
        const facts = {
          base,
          reason,
          title,
          id: `d${age}`,
          owner: "alice",
          editors: ["alice"],
          format: "operations"
        } as const
        const updatedAt = (100 - age) * day
        yield* drafts.save({ ...facts, operations, approvals: [], version: 1, createdAt: 0, updatedAt })
      }
      yield* TestClock.setTime(100 * day)
      yield* startNode(stores, {})
      while ((yield* drafts.list).length > 1) yield* Effect.yieldNow
      assert.deepStrictEqual(
        (yield* drafts.list).map(({ id }) => id),
        ["d89"]
      )
    })
  )

  it.effect("has a record of each refused attempt", () =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const saved = yield* editor.createDraft("alice", input)
        const id = saved._tag === "Saved" ? saved.draft.id : ""
        yield* editor.saveDraft("bob", id, 7, input)
        yield* editor.saveDraft("bob", "none", 1, input)
        yield* editor.approveDraft("bob", id, 7)
        yield* editor.publishDraft("bob", id, { operationId: "p", version: 7 })
        yield* editor.publishDraft("bob", "none", { operationId: "p", version: 1 })
        const { items } = yield* editor.audit({ limit: 10 })
        assert.deepStrictEqual(
          items.map(({ action, actor, draft, outcome }) => [actor, action, outcome, draft]),
          [
            ["bob", "draft_publish", "draft_not_found", "none"],
            ["bob", "draft_publish", "draft_conflict", id],
            ["bob", "draft_approve", "draft_conflict", id],
            ["bob", "draft_save", "draft_not_found", "none"],
            ["bob", "draft_save", "draft_conflict", id],
            ["alice", "draft_save", "done", id]
          ]
        )
      }),
      editorAlone()
    )
  )
})
