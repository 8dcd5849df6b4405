/**
 * A rule about values applies to the plain text of a credential on every way into the database: nothing passes it by being sealed first. The
 * value is the path of a key file of the nodes, which only the file may name.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted, Result } from "effect"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { seal, sealingKeys } from "../../../src/config/credentials/Sealing.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { DraftOutcome, EditOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import { emptyDocument, parseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { serialise } from "../../../src/config/revisions/SealDocument.ts"
import { editorAlone, sealingKey } from "../../harness/ConfigSource.ts"

const keyFile = "/etc/aicr/google-key.json"
const keyText = '{"type": "service_account"}'
const mask = "********"
const cloud = { kind: "providers", name: "cloud" } as const
const place = { namespace: "default", entity: "providers/cloud", field: "google_application_credentials" }

const sealText = (text: string): string =>
  Result.getOrThrow(
    Result.flatMap(sealingKeys({ SVC_CONFIG_SECRETS_KEY: sealingKey }), (keys) =>
      seal(keys, place, Redacted.make(text))
    )
  )

const create = (key: string | undefined, more: object = {}): ConfigOperation => ({
  op: "create",
  entity: cloud,
  value: {
    kind: "vertex_ai",
    vertex_project: "p",
    vertex_location: "europe-west1",
    base_url: "https://attacker.example",
    ...(key === undefined ? {} : { google_application_credentials: key }),
    ...more
  }
})
const set = (value: string): ConfigOperation => ({ op: "set", entity: cloud, path: [place.field], value })
const facts = { title: "Cloud", reason: "", base: 0 }
const yaml = (key: string): string =>
  JSON.stringify({ entities: { providers: { cloud: Object(create(key))["value"] } } })

type Editor = ConfigEditor["Service"]

const publishDraft = Effect.fnUntraced(function* (editor: Editor, outcome: DraftOutcome) {
  if (outcome._tag !== "Saved") return outcome
  const { id, version } = outcome.draft
  const shown = yield* editor.previewDraft("mallory", id)
  assert.isNotEmpty(shown?.problems)
  return yield* editor.publishDraft("mallory", id, { operationId: "publish", version })
})

/** A revision as an earlier release wrote it, and another one after it. */
const writeOld = Effect.fnUntraced(function* (key: string) {
  const revisions = yield* RevisionStore
  for (const [number, source] of [
    [1, JSON.parse(yaml(key))],
    [2, emptyDocument]
  ] as const) {
    const { hash, text } = serialise(parseDocument(source, () => {}))
    const head = yield* revisions.head
    yield* revisions.append(
      {
        number,
        parent: number - 1,
        hash,
        document: text,
        actor: "mallory",
        operationId: `old-${number}`,
        requestHash: "",
        reason: "",
        rebasedFrom: undefined,
        restores: undefined,
        diff: []
      },
      head
    )
  }
})

const ways: Readonly<
  Record<string, (editor: Editor) => Effect.Effect<DraftOutcome | EditOutcome, unknown, RevisionStore>>
> = {
  "a changeset": (editor) =>
    editor.publish("mallory", { base: 0, operationId: "publish", operations: [create(keyFile)] }),
  "one field of a changeset": (editor) =>
    editor.publish("mallory", { base: 0, operationId: "publish", operations: [create(undefined), set(keyFile)] }),
  "a changeset with a sealed value": (editor) =>
    editor.publish("mallory", { base: 0, operationId: "publish", operations: [create(sealText(keyFile))] }),
  "a changeset that renames": (editor) =>
    editor.publish("mallory", {
      base: 0,
      operationId: "publish",
      operations: [create(keyFile), { op: "rename", entity: cloud, to: "other" }]
    }),
  "an imported document": Effect.fnUntraced(function* (editor) {
    const imported = yield* editor.importYaml("mallory", yaml(keyFile))
    return imported._tag === "Operations"
      ? yield* editor.publish("mallory", { operationId: "publish", ...imported })
      : assert.fail(imported._tag)
  }),
  "an imported document with a sealed value": Effect.fnUntraced(function* (editor) {
    const imported = yield* editor.importYaml("mallory", yaml(sealText(keyFile)))
    return imported._tag === "Operations"
      ? yield* editor.publish("mallory", { operationId: "publish", ...imported })
      : assert.fail(imported._tag)
  }),
  "a draft": Effect.fnUntraced(function* (editor) {
    return yield* publishDraft(
      editor,
      yield* editor.createDraft("mallory", { ...facts, operations: [create(keyFile)] })
    )
  }),
  "a draft of YAML": Effect.fnUntraced(function* (editor) {
    return yield* publishDraft(editor, yield* editor.createDraft("mallory", { ...facts, yaml: yaml(keyFile) }))
  }),
  "a draft with a sealed value": (editor) =>
    editor.createDraft("mallory", { ...facts, operations: [create(sealText(keyFile))] }),
  "a draft of YAML with a sealed value": (editor) =>
    editor.createDraft("mallory", { ...facts, yaml: yaml(sealText(keyFile)) }),
  "a copy of a draft": Effect.fnUntraced(function* (editor) {
    const first = yield* editor.createDraft("mallory", { ...facts, operations: [create(keyFile)] })
    if (first._tag !== "Saved") return first
    const copy = { ...facts, operations: [create(mask)] }
    return yield* publishDraft(editor, yield* editor.createDraft("mallory", copy, first.draft.id))
  }),
  "a later version of a draft, over a moved head": Effect.fnUntraced(function* (editor) {
    const first = yield* editor.createDraft("mallory", { ...facts, operations: [create(keyFile)] })
    const prompt: ConfigOperation = { op: "create", entity: { kind: "prompts", name: "p" }, value: "text" }
    yield* editor.publish("alice", { base: 0, operationId: "other", operations: [prompt] })
    if (first._tag !== "Saved") return first
    const next = { ...facts, operations: [create(mask, { vertex_project: "q" })] }
    return yield* publishDraft(editor, yield* editor.saveDraft("mallory", first.draft.id, 1, next))
  }),
  "the restoration of a revision that an earlier release wrote": Effect.fnUntraced(function* (editor) {
    yield* writeOld(sealText(keyFile))
    return yield* editor.restore("mallory", { revision: 1, operationId: "publish" })
  })
}

const alone = <A, E>(effect: Effect.Effect<A, E, ConfigEditor | ConfigStore | RevisionStore>) =>
  Effect.provide(effect, [editorAlone({ document: { allow_empty: true } }), Logger.layer([])])

describe("the path of a key file of the nodes is refused in", () => {
  it.effect.each(Object.entries(ways))("%s", ([, way]) =>
    alone(
      Effect.gen(function* () {
        const outcome = yield* way(yield* ConfigEditor)
        const codes = outcome._tag === "Refused" ? outcome.problems.map(({ code }) => code) : [outcome._tag]
        assert.isNotEmpty(codes)
        for (const code of codes) assert.include(["owned_by_file", "secret_sealing_invalid"], code)
        assert.deepStrictEqual((yield* ConfigStore).current().document.llm.providers, [])
      })
    )
  )
})

describe("the text of a key", () => {
  it.effect("is published from a draft, and restored", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const draft = yield* editor.createDraft("alice", { ...facts, operations: [create(keyText)] })
        if (draft._tag !== "Saved") return assert.fail(JSON.stringify(draft))
        const first = yield* editor.publishDraft("alice", draft.draft.id, { operationId: "one", version: 1 })
        assert.strictEqual(first._tag, "Committed", JSON.stringify(first))
        const gone: ConfigOperation = { op: "delete", entity: cloud }
        yield* editor.publish("alice", { base: 1, operationId: "two", operations: [gone] })
        const restored = yield* editor.restore("alice", { revision: 1, operationId: "three" })
        assert.strictEqual(restored._tag, "Committed", JSON.stringify(restored))
        const [provider] = (yield* ConfigStore).current().document.llm.providers
        const used = provider?.google_application_credentials
        assert.strictEqual(used === undefined ? used : Redacted.value(used), keyText)
      })
    )
  )
})
