import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inEnglish } from "../../../src/text/en.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { AuditLog } from "../../../src/config/revisions/AuditLog.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { EditOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { editorAlone, sealingKey, startNodes } from "../../harness/ConfigSource.ts"

const secret = "hook-secret-4711"
const second = { kind: "triggers", name: "second" } as const
const createSecond: ConfigOperation = {
  op: "create",
  entity: second,
  value: { kind: "gitea", base_url: "https://second.example", webhook_secret: secret }
}
const setEnabled = (enabled: boolean): ConfigOperation => ({ op: "set_enabled", entity: second, enabled })

const document = {
  triggers: [{ name: "main", kind: "gitea", base_url: "https://git.example", webhook_secret: "a-secret" }]
}
const publish = (base: number, operationId: string, ...operations: ReadonlyArray<ConfigOperation>) =>
  ConfigEditor.use((editor) => editor.publish("alice", { base, operationId, operations }))

const codes = (outcome: EditOutcome) =>
  outcome._tag === "Refused" ? outcome.problems.map(({ code }) => code) : outcome._tag

const alone = <A, E>(
  effect: Effect.Effect<A, E, AuditLog | ConfigEditor | ConfigStore | DraftStore | RevisionStore>,
  more: Readonly<Record<string, unknown>> = {}
) => Effect.provide(effect, editorAlone({ document: { ...document, ...more } }))

describe("the editor", () => {
  it.effect("publishes an edit, which the node activates", () =>
    alone(
      Effect.gen(function* () {
        const outcome = yield* publish(0, "one", createSecond)
        assert.deepInclude(outcome, { _tag: "Committed", active: true })
        const config = yield* ConfigStore
        assert.deepStrictEqual([...config.current().triggers.keys()], ["main", "second"])
        assert.strictEqual(config.current().revision, 1)
        const status = yield* ConfigEditor.use((editor) => editor.status)
        assert.deepStrictEqual(
          [status.head, status.converged, status.nodes.map(({ active, node, state }) => [node, state, active])],
          [1, true, [["node-1", "active", 1]]]
        )
      })
    )
  )
  it.effect("applies an operation id once, and refuses it for another request", () =>
    alone(
      Effect.gen(function* () {
        yield* publish(0, "one", createSecond)
        const again = yield* publish(0, "one", createSecond)
        assert.strictEqual(again._tag === "Committed" ? again.revision.number : again._tag, 1)
        assert.deepStrictEqual(codes(yield* publish(0, "one", setEnabled(false))), ["operation_id_reused"])
        assert.strictEqual((yield* (yield* RevisionStore).head).number, 1)
        const operation = yield* ConfigEditor.use((editor) => editor.operation("one"))
        assert.deepInclude(operation?.result, { _tag: "Committed", revision: 1 })
      })
    )
  )
  it.effect("refuses an operation id for another credential, also after a rotation of the key", () =>
    Effect.gen(function* () {
      const withSecret = (text: string): ConfigOperation => ({
        ...createSecond,
        value: { kind: "gitea", base_url: "https://second.example", webhook_secret: text }
      })
      const next = "22".repeat(32)
      const [one, rotated, last] = yield* startNodes(
        { node: "one", document },
        {
          node: "rotated",
          document,
          env: { SVC_CONFIG_SECRETS_KEY: next, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
        },
        { node: "last", document, env: { SVC_CONFIG_SECRETS_KEY: next } }
      )
      if (one === undefined || rotated === undefined || last === undefined) return assert.fail("no nodes")
      const send = ({ editor }: typeof one, text: string) =>
        editor.publish("alice", { base: 0, operationId: "one", operations: [withSecret(text)] })
      assert.strictEqual((yield* send(one, secret))._tag, "Committed")
      for (const node of [one, rotated]) {
        const again = yield* send(node, secret)
        assert.strictEqual(again._tag === "Committed" ? again.revision.number : again._tag, 1)
        assert.deepStrictEqual(codes(yield* send(node, `${secret}-other`)), ["operation_id_reused"])
      }
      const unknown = yield* send(last, secret)
      assert.strictEqual(unknown._tag === "Refused" ? unknown.problems[0]?.reason._tag : "", "OperationIdUncomparable")
      assert.strictEqual((yield* one.revisions.head).number, 1)
    })
  )
  it.effect("rebases an edit of an older revision, and keeps its conflict for the operation id", () =>
    alone(
      Effect.gen(function* () {
        yield* publish(0, "one", createSecond)
        yield* publish(1, "two", setEnabled(false))
        const rebased = yield* publish(1, "three", {
          op: "set",
          entity: second,
          path: ["exclude_cr_file"],
          value: ["x"]
        })
        assert.strictEqual(rebased._tag === "Committed" ? rebased.revision.rebasedFrom : undefined, 1)
        const conflict = yield* publish(1, "four", setEnabled(true))
        assert.deepInclude(conflict, { _tag: "Conflict", head: 3 })
        assert.strictEqual(JSON.stringify(yield* publish(1, "four", setEnabled(true))), JSON.stringify(conflict))
      })
    )
  )
  it.effect("restores an older revision as a new one", () =>
    alone(
      Effect.gen(function* () {
        yield* publish(0, "one", createSecond)
        yield* publish(1, "two", setEnabled(false))
        const editor = yield* ConfigEditor
        const restored = yield* editor.restore("bob", { revision: 1, operationId: "back" })
        assert.deepInclude(restored._tag === "Committed" ? restored.revision : {}, {
          number: 3,
          restores: 1,
          actor: "bob"
        })
        const [first, third] = [yield* editor.revision(1), yield* editor.revision(3)]
        assert.deepStrictEqual(third?.document, first?.document)
        assert.deepStrictEqual(codes(yield* publish(9, "early", setEnabled(true))), ["revision_not_found"])
        const none = yield* editor.restore("bob", { revision: 9, operationId: "none" })
        assert.deepStrictEqual(codes(none), ["revision_not_found"])
        const moved = yield* editor.restore("bob", { revision: 1, operationId: "late", expectedHead: 2 })
        assert.deepInclude(moved, { _tag: "Conflict", head: 3 })
      })
    )
  )
  it.effect("previews what changes without writing", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const workspace: ConfigOperation = {
          op: "create",
          entity: { kind: "workspaces", name: "app" },
          value: { source_repo: { trigger: "main", repo: "team/app" } }
        }
        const shown = yield* editor.preview("alice", { base: 0, operations: [workspace, createSecond] })
        assert.deepStrictEqual(
          [shown.problems, shown.blastRadius.workspaces, shown.blastRadius.triggers],
          [[], ["app"], ["second"]]
        )
        const route = yield* editor.previewRoute({
          base: 0,
          operations: [workspace],
          trigger: "main",
          source: { vcs: "gitea", repo_ref: "team/app" }
        })
        assert.deepStrictEqual(route, { problems: [], before: [], after: ["app"] })
        assert.strictEqual((yield* editor.status).head, 0)
      })
    )
  )
  it.effect("names the origin of every value", () =>
    alone(
      Effect.gen(function* () {
        yield* publish(0, "one", createSecond, { op: "set", path: ["review", "max_passes"], value: 7 })
        yield* publish(1, "two", setEnabled(false))
        const { ownedByFile, values } = yield* ConfigEditor.use((editor) => editor.effective)
        const origin = (path: string) => values.find((value) => value.path === path)?.origin
        assert.deepStrictEqual(origin("review.max_passes"), { _tag: "OriginRevision", number: 1, name: "alice" })
        assert.deepStrictEqual(origin("review.max_problems"), { _tag: "OriginDefault" })
        assert.deepStrictEqual(origin("triggers[0].webhook_secret"), { _tag: "OriginFile", location: "config.yaml:8" })
        assert.deepStrictEqual(ownedByFile, [{ entity: "triggers/main", line: 5 }])
      })
    )
  )
})

describe("drafts", () => {
  const input = { title: "Second host", reason: "", base: 0, operations: [createSecond] }
  it.effect("keep credentials sealed, and a mask keeps the credential", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const saved = yield* editor.createDraft("alice", input)
        if (saved._tag !== "Saved") return assert.fail(saved._tag)
        const { id } = saved.draft
        const stored = yield* (yield* DraftStore).get(id)
        assert.notInclude(JSON.stringify([stored, saved]), secret)
        const next = yield* editor.saveDraft("alice", id, 1, {
          ...input,
          title: "Renamed",
          operations: saved.draft.operations
        })
        assert.strictEqual(next._tag, "Saved")
        assert.deepStrictEqual((yield* (yield* DraftStore).get(id))?.operations, stored?.operations)
        const published = yield* editor.publishDraft("alice", id, { operationId: "p", version: 2 })
        assert.strictEqual(published._tag, "Committed")
        assert.isUndefined(yield* editor.draft(id))
        assert.strictEqual(
          (yield* editor.publishDraft("alice", id, { operationId: "p", version: 2 }))._tag,
          "Committed"
        )
      })
    )
  )
  it.effect("refuse values of which it is unknown whether they are credentials", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const misspelled = { kind: "gitea", webhook_secert: secret }
        for (const value of [misspelled, { kind: "gitea", webhook_secret: 5 }]) {
          const operations = [{ op: "create", entity: second, value } as const]
          const outcome = yield* editor.createDraft("alice", { ...input, operations })
          assert.deepStrictEqual(outcome._tag === "Refused" ? outcome.problems.map(({ code }) => code) : [], [
            "invalid_field"
          ])
        }
      })
    )
  )
  it.effect("need the configured approvals, which another version loses", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        assert.deepStrictEqual(codes(yield* publish(0, "direct", createSecond)), ["approval_required"])
        const saved = yield* editor.createDraft("alice", input)
        const id = saved._tag === "Saved" ? saved.draft.id : ""
        const own = yield* editor.approveDraft("alice", id, 1)
        assert.strictEqual(own._tag, "Refused")
        assert.strictEqual((yield* editor.approveDraft("bob", id, 1))._tag, "Saved")
        yield* editor.saveDraft("alice", id, 2, { ...input, title: "changed" })
        assert.deepStrictEqual(codes(yield* editor.publishDraft("alice", id, { operationId: "d", version: 3 })), [
          "approval_required"
        ])
        yield* editor.approveDraft("bob", id, 3)
        assert.strictEqual(
          (yield* editor.publishDraft("alice", id, { operationId: "d", version: 4 }))._tag,
          "Committed"
        )
        const urgent = { base: 1, operationId: "u", operations: [setEnabled(false)], breakGlass: true }
        assert.deepStrictEqual(codes(yield* editor.publish("alice", urgent)), ["approval_required"])
        assert.strictEqual((yield* editor.publish("alice", { ...urgent, reason: "outage" }))._tag, "Committed")
        const { items } = yield* editor.audit({ limit: 50 })
        assert.include(
          items.map(({ detail }) => detail && inEnglish(detail)),
          "published without approvals: outage"
        )
        const back = { revision: 1, operationId: "back" }
        assert.deepStrictEqual(codes(yield* editor.restore("alice", back)), ["approval_required"])
        const forced = { ...back, breakGlass: true, reason: "outage" }
        assert.strictEqual((yield* editor.restore("alice", forced))._tag, "Committed")
      }),
      { config_sources: { database: { enabled: true, approvals: 1 } } }
    )
  )
})

describe("an export", () => {
  it.effect("has no difference where a list of global values holds a credential", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const value = [{ name: "room", kind: "gitea_pr_review", trigger: "main", token: secret }]
        const path = ["workspaces", "defaults", "outputs", "channels"]
        assert.strictEqual((yield* publish(0, "one", { op: "set", path, value }))._tag, "Committed")
        const text = yield* editor.exportYaml("alice")
        assert.notInclude(text, secret)
        assert.deepInclude((yield* editor.audit({ limit: 1 })).items[0], {
          action: "export",
          actor: "alice",
          outcome: "done"
        })
        assert.deepStrictEqual(yield* editor.importYaml("alice", text), { _tag: "Operations", base: 1, operations: [] })
      })
    )
  )
  it.effect("can be imported without a difference, and its masks keep the credentials", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        yield* publish(0, "one", createSecond, { op: "set", path: ["review", "max_passes"], value: 7 })
        const text = yield* editor.exportYaml("alice")
        assert.deepStrictEqual(yield* editor.importYaml("alice", text), { _tag: "Operations", base: 1, operations: [] })
        const changed = text
          .replace("https://second.example", "https://second.example/sub")
          .replace("max_passes: 7", "max_passes: 8")
        const imported = yield* editor.importYaml("alice", changed)
        assert.deepStrictEqual(imported._tag === "Operations" ? imported.operations : imported, [
          { op: "update", entity: second, value: { kind: "gitea", base_url: "https://second.example/sub" } },
          { op: "set", path: ["review", "max_passes"], value: 8 }
        ])
        // Of an older revision, the operations are those of the editor alone, whatever others published since.
        yield* publish(1, "two", { op: "set", path: ["review", "max_passes"], value: 9 })
        const older = yield* editor.importYaml("alice", changed, 1)
        assert.deepStrictEqual(older, imported)
        assert.strictEqual((yield* editor.importYaml("alice", changed, 99))._tag, "NoRevision")
        for (const empty of ["", "\n# nothing\n", "null", "{}", "globals: {}", "globals: {}\nentities:"])
          assert.strictEqual((yield* editor.importYaml("alice", empty))._tag, "Refused", empty)
        const everything = yield* editor.importYaml("alice", "entities: {}")
        assert.strictEqual(everything._tag, "Operations")
        const broken = yield* editor.importYaml("alice", "globals: [")
        assert.strictEqual(broken._tag, "Refused")
      })
    )
  )
})

describe("no secret", () => {
  it.effect("is in a result, an export, a diff, or an audit record", () =>
    alone(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const results: Array<unknown> = [
          yield* editor.preview("alice", { base: 0, operations: [createSecond] }),
          yield* publish(0, "one", createSecond),
          yield* publish(1, "two", { op: "set", entity: second, path: ["webhook_secret"], value: `${secret}-next` }),
          yield* publish(1, "three", { op: "set", entity: second, path: ["webhook_secret"], value: `${secret}-other` }),
          yield* editor.restore("bob", { revision: 1, operationId: "r" }),
          yield* editor.createDraft("alice", {
            title: "d",
            reason: "",
            base: 3,
            operations: [{ ...createSecond, op: "update" }]
          }),
          yield* editor.drafts,
          yield* editor.effective,
          yield* editor.exportYaml("alice"),
          yield* editor.operation("three"),
          yield* editor.revisions({ limit: 9 }),
          yield* Effect.forEach([1, 2, 3], editor.revision),
          yield* editor.audit({ limit: 99 })
        ]
        const text = JSON.stringify(results)
        assert.notInclude(text, secret)
        assert.notInclude(text, "enc:v1.")
        const store = yield* RevisionStore
        const stored = JSON.stringify(yield* Effect.forEach([1, 2, 3], store.read))
        assert.include(stored, "enc:v1.")
        assert.notInclude(stored, secret)
      })
    )
  )
  it.effect("is written without a key", () =>
    Effect.provide(
      Effect.gen(function* () {
        assert.deepStrictEqual(codes(yield* publish(0, "one", createSecond)), ["secrets_key_missing"])
        const editor = yield* ConfigEditor
        const draft = yield* editor.createDraft("alice", {
          title: "d",
          reason: "",
          base: 0,
          operations: [createSecond]
        })
        assert.deepStrictEqual(draft._tag === "Refused" ? draft.problems.map(({ code }) => code) : [], [
          "secrets_key_missing"
        ])
        assert.deepStrictEqual([(yield* editor.status).head, yield* editor.drafts], [0, []])
      }),
      editorAlone({ document, env: { SVC_CONFIG_SECRETS_KEY: "" } })
    )
  )
})
