/** Everything that the databases of the configuration write, and everything that the editor returns, is searched for credentials. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { AuditLog } from "../../../src/config/revisions/AuditLog.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { editorOn, resealAll, sealingKey, writeConfig } from "../../harness/ConfigSource.ts"
import { backends, openStores } from "../source/Backends.ts"
import type { Backend } from "../source/Backends.ts"

const secret = "hook-secret-4711"
const host = "https://second.example"
const second = { kind: "triggers", name: "second" } as const
const value = (text: string) => ({ kind: "gitea", base_url: host, webhook_secret: text })
const create: ConfigOperation = { op: "create", entity: second, value: value(secret) }
const set = (text: string): ConfigOperation => ({ op: "set", entity: second, path: ["webhook_secret"], value: text })
const newKey = "22".repeat(32)

/** Edits in every form; returns all results. Most of them are not applied. */
const useAll = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  const send = (base: number, operationId: string, ...operations: ReadonlyArray<ConfigOperation>) =>
    editor.publish("alice", { base, operationId, operations, reason: `for ${operationId}` })
  const input = { title: "draft", reason: "", base: 1, operations: [{ ...create, op: "update" } as const] }
  const draft = yield* editor.createDraft("alice", input)
  const id = draft._tag === "Saved" ? draft.draft.id : ""
  return [
    draft,
    yield* editor.preview("alice", { base: 0, operations: [create] }),
    yield* send(0, "one", create),
    yield* send(0, "one", { ...create, value: value(`${secret}-other`) }),
    yield* send(1, "two", set(`${secret}-next`)),
    yield* send(1, "conflict", set(`${secret}-late`)),
    yield* send(2, "misplaced", { ...create, value: { ...value(secret), token_env: secret } }),
    yield* send(2, "moved", { op: "set", entity: second, path: ["base_url"], value: "https://third.example" }),
    yield* send(2, "renamed", { op: "rename", entity: second, to: "third" }),
    yield* editor.restore("bob", { revision: 1, operationId: "back" }),
    yield* editor.saveDraft("alice", id, 1, { ...input, operations: [set(`${secret}-draft`)] }),
    yield* editor.saveDraft("alice", id, 2, {
      ...input,
      operations: [{ ...create, value: { webhook_secert: secret } }]
    }),
    yield* editor.approveDraft("bob", id, 2),
    yield* editor.publishDraft("alice", id, { operationId: "draft", version: 3 }),
    yield* editor.drafts,
    yield* editor.effective,
    yield* editor.exportYaml("alice"),
    yield* editor.importYaml("alice", yield* editor.exportYaml("alice")),
    yield* Effect.forEach(["one", "two", "conflict"], editor.operation),
    yield* Effect.forEach([1, 2, 3, 4], editor.revision),
    yield* editor.revisions({ limit: 20 }),
    yield* editor.audit({ limit: 100 }),
    yield* editor.status
  ]
})

/** Opens the backend as a node with these keys; returns its results and its log. */
const asNode = async <A, E>(
  { address, kind }: Backend,
  env: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, AuditLog | ConfigEditor | DraftStore | RevisionStore>
) => {
  const log: Array<unknown> = []
  const logger = Logger.make(({ message }) => void log.push(message))
  const node = editorOn(writeConfig({}), env, "node-1").pipe(
    Layer.provideMerge(openStores(kind, address, "default")),
    Layer.provideMerge(Logger.layer([logger]))
  )
  const result = await Effect.runPromise(Effect.scoped(Effect.provide(effect, node)))
  return { result, text: JSON.stringify([result, log]) }
}

describe.each(backends)("no secret in $kind", ({ make }) => {
  it("is in a file of the database, a result, or the log", { timeout: 120_000 }, async () => {
    const backend = await make()
    const used = await asNode(backend, { SVC_CONFIG_SECRETS_KEY: sealingKey }, useAll)
    const rotation = { SVC_CONFIG_SECRETS_KEY: newKey, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
    const sealed = await asNode(
      backend,
      rotation,
      ConfigEditor.use((editor) => resealAll(editor, "alice"))
    )
    assert.isAbove(sealed.result.resealed, 3)
    assert.deepStrictEqual(sealed.result.failed, [])
    for (const text of [used.text, sealed.text]) {
      assert.notInclude(text, secret)
      assert.notInclude(text, "enc:v1.")
    }
    const files = await backend.files()
    const holds = (text: string) => files.some((file) => file.includes(text))
    // What is no secret is found, so the search reads what was written.
    assert.deepStrictEqual(
      [host, "enc:v1.", "for one"].filter((text) => !holds(text)),
      []
    )
    for (const text of [secret, sealingKey, newKey, Buffer.from(secret).toString("base64").slice(0, 20)])
      assert.isFalse(holds(text), text.slice(0, 8))
  })
})
