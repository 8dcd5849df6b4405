/** Credentials of drafts: sealed, masked, kept through further versions, and for no other destination than they were entered for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { DraftOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { editorAlone } from "../../harness/ConfigSource.ts"

const typed = "typed-secret-4711"
const stored = "stored-secret-0815"
const mask = "********"
const second = { kind: "triggers", name: "second" } as const
const facts = { title: "Second host", reason: "", base: 0 }

const create = (more: Readonly<Record<string, unknown>> = {}): ConfigOperation => ({
  op: "create",
  entity: second,
  value: { kind: "gitea", base_url: "https://second.example", webhook_secret: typed, ...more }
})

const saved = (outcome: DraftOutcome) => {
  assert.strictEqual(outcome._tag, "Saved", JSON.stringify(outcome))
  return outcome._tag === "Saved" ? outcome.draft : assert.fail()
}
const codes = (outcome: { readonly _tag: string } | DraftOutcome) =>
  "problems" in outcome ? outcome.problems.map(({ code }) => code) : outcome._tag

const yamlOf = (id: string) =>
  ConfigEditor.use((editor) =>
    Effect.map(editor.draftDocument(id), (found) => (found._tag === "Document" ? found.yaml : JSON.stringify(found)))
  )

/** Returns the credential that this node uses. */
const usedSecret = Effect.map(ConfigStore, (config) => {
  const value = config.current().triggers.get("second")
  return value?.webhookSecret === undefined ? undefined : Redacted.value(value.webhookSecret)
})

const publishStored = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  const operations = [create({ webhook_secret: stored })]
  assert.strictEqual((yield* editor.publish("alice", { base: 0, operationId: "first", operations }))._tag, "Committed")
})

const alone = <A, E>(effect: Effect.Effect<A, E, ConfigEditor | ConfigStore | DraftStore>) =>
  Effect.provide(effect, editorAlone())

describe("a credential that was typed into a draft", () => {
  it.effect("of YAML survives further versions with its mask, and is published", () =>
    alone(
      Effect.gen(function* () {
        yield* publishStored
        const editor = yield* ConfigEditor
        const results: Array<unknown> = []
        const text = yield* editor.exportYaml("alice")
        const yaml = text.replace(mask, typed)
        let draft = saved(yield* editor.createDraft("alice", { ...facts, base: 1, yaml }))
        for (const [before, after] of [
          ["gitea", "gitea\n      enabled: false"],
          ["enabled: false", "enabled: true"]
        ] as const) {
          const shown = yield* yamlOf(draft.id)
          assert.include(shown, mask)
          results.push(draft, shown, yield* editor.previewDraft("alice", draft.id))
          const next = { ...facts, base: 1, yaml: shown.replace(before, after) }
          draft = saved(yield* editor.saveDraft("alice", draft.id, draft.version, next))
        }
        results.push(yield* editor.audit({ limit: 99 }), yield* editor.drafts)
        const { version } = draft
        const published = yield* editor.publishDraft("alice", draft.id, { operationId: "p", version, reason: "Why" })
        results.push(published, yield* editor.revision(2))
        assert.strictEqual(published._tag === "Committed" ? published.revision.reason : published, "Why")
        assert.strictEqual(yield* usedSecret, typed)
        assert.deepStrictEqual(yield* editor.drafts, [])
        for (const secret of [typed, stored, "enc:v1."]) assert.notInclude(JSON.stringify(results), secret)
      })
    )
  )

  it.effect("of a form survives further versions with its mask, also next to changed fields", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const store = yield* DraftStore
        const first = saved(yield* editor.createDraft("alice", { ...facts, operations: [create()] }))
        assert.notInclude(JSON.stringify(first), typed)
        const masked = create({ webhook_secret: mask, enabled: true })
        const { id } = saved(yield* editor.saveDraft("alice", first.id, 1, { ...facts, operations: [masked] }))
        const text = JSON.stringify(yield* store.list)
        assert.include(text, "enc:v1.")
        assert.notInclude(text, typed)
        yield* editor.publishDraft("alice", id, { operationId: "p", version: 2 })
        assert.strictEqual(yield* usedSecret, typed)
      })
    )
  )

  it.effect("is cleared by a document without it, and one that only the revision has stays", () =>
    alone(
      Effect.gen(function* () {
        yield* publishStored
        const editor = yield* ConfigEditor
        const text = yield* editor.exportYaml("alice")
        const drafted = { ...facts, base: 1, yaml: text.replace("gitea", "gitea\n      enabled: false") }
        const kept = saved(yield* editor.createDraft("alice", drafted))
        yield* editor.publishDraft("alice", kept.id, { operationId: "kept", version: 1 })
        assert.strictEqual(yield* usedSecret, stored)
        const without = (yield* editor.exportYaml("alice")).replace(/^.*webhook_secret.*\n/m, "")
        const cleared = saved(yield* editor.createDraft("alice", { ...facts, base: 2, yaml: without }))
        const outcome = yield* editor.publishDraft("alice", cleared.id, { operationId: "cleared", version: 1 })
        assert.strictEqual(codes(outcome), "Committed")
        assert.isUndefined(yield* usedSecret)
      })
    )
  )

  it.effect("is not kept for another address, another trigger, or by a mask of nothing", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const { id } = saved(yield* editor.createDraft("alice", { ...facts, operations: [create()] }))
        const masked = create({ webhook_secret: mask })
        const elsewhere = create({ webhook_secret: mask, base_url: "https://evil.example" })
        const move = { op: "rename", entity: second, to: "third" } as const
        const address = {
          op: "set",
          entity: { ...second, name: "third" },
          path: ["base_url"],
          value: "https://evil.example"
        } as const
        const save = (operations: ReadonlyArray<ConfigOperation>) =>
          editor.saveDraft("mallory", id, 1, { ...facts, operations })
        assert.deepStrictEqual(codes(yield* save([elsewhere])), ["secret_destination_changed"])
        assert.deepStrictEqual(codes(yield* save([masked, move, address])), ["secret_destination_changed"])
        const copy = { ...facts, operations: [elsewhere] }
        assert.deepStrictEqual(codes(yield* editor.createDraft("mallory", copy, id)), ["secret_destination_changed"])
        assert.deepStrictEqual(codes(yield* editor.createDraft("mallory", { ...facts, operations: [masked] })), [
          "masked_secret"
        ])
        const yaml = (yield* yamlOf(id)).replace("https://second.example", "https://evil.example")
        assert.deepStrictEqual(codes(yield* editor.saveDraft("mallory", id, 1, { ...facts, yaml })), [
          "secret_destination_changed"
        ])
        const same = saved(yield* editor.createDraft("bob", { ...facts, operations: [masked] }, id))
        yield* editor.publishDraft("bob", same.id, { operationId: "p", version: 1 })
        assert.strictEqual(yield* usedSecret, typed)
      })
    )
  )

  it.effect("is not published to an address that others changed since", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const operations = [create({ webhook_secret: undefined })]
        yield* editor.publish("alice", { base: 0, operationId: "one", operations })
        const set = { op: "set", entity: second, path: ["webhook_secret"], value: typed } as const
        const { id } = saved(yield* editor.createDraft("alice", { ...facts, base: 1, operations: [set] }))
        const address = { op: "set", entity: second, path: ["base_url"], value: "https://evil.example" } as const
        yield* editor.publish("mallory", { base: 1, operationId: "two", operations: [address] })
        const outcome = yield* editor.publishDraft("mallory", id, { operationId: "three", version: 1 })
        assert.deepStrictEqual(codes(outcome), ["secret_destination_changed"])
        assert.isUndefined(yield* usedSecret)
      })
    )
  )
})

describe("the document of a draft", () => {
  it.effect("exists while its revision does, and only for a draft that exists", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const { id } = saved(yield* editor.createDraft("alice", { ...facts, base: 7, operations: [create()] }))
        assert.deepStrictEqual(codes(yield* editor.draftDocument(id)), ["revision_not_found"])
        assert.strictEqual((yield* editor.draftDocument("none"))._tag, "NotFound")
        assert.isUndefined(yield* editor.previewDraft("alice", "none"))
        const many = Array.from({ length: 201 }, (_, index) => `    p${index}: text`).join("\n")
        const large = { ...facts, yaml: `entities:\n  prompts:\n${many}\n` }
        assert.deepStrictEqual(codes(yield* editor.createDraft("alice", large)), ["document_too_large"])
        assert.deepStrictEqual(codes(yield* editor.createDraft("alice", { ...facts, yaml: "entities: [" })), [
          "invalid_yaml"
        ])
      })
    )
  )
})
