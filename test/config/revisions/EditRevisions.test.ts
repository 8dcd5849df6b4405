/** Requests that cannot be considered, and documents of a newer release. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { EditOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { editorAlone } from "../../harness/ConfigSource.ts"

const passes = (value: number): ConfigOperation => ({ op: "set", path: ["review", "max_passes"], value })
const codes = (outcome: EditOutcome) =>
  outcome._tag === "Refused" ? outcome.problems.map(({ code }) => code) : outcome._tag

describe("a request", () => {
  const cases = [
    ["without an operation id", { operationId: "" }],
    ["with an operation id of 201 characters", { operationId: "x".repeat(201) }],
    ["with a reason of 2001 characters", { operationId: "one", reason: "x".repeat(2001) }]
  ] as const
  it.effect.each(cases)("%s is refused", ([, request]) =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const outcome = yield* editor.publish("alice", { base: 0, operations: [passes(7)], ...request })
        assert.deepStrictEqual(codes(outcome), ["invalid_request"])
        assert.strictEqual((yield* editor.status).head, 0)
      }),
      editorAlone()
    )
  )
})

describe("a revision of a newer release", () => {
  it.effect("is neither edited, nor restored, nor the base of an import", () =>
    Effect.provide(
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        const store = yield* RevisionStore
        for (const base of [0, 1])
          yield* editor.publish("alice", { base, operationId: `${base}`, operations: [passes(base + 3)] })
        const rewrite = Effect.fnUntraced(function* (number: number) {
          const { hash } = (yield* store.read(number)) ?? assert.fail("no revision")
          assert.isTrue(yield* store.reseal(number, hash, { document: '{"globals":{"later":1}}', hash: `${number}` }))
        })
        yield* rewrite(1)
        const restored = yield* editor.restore("alice", { revision: 1, operationId: "back" })
        assert.deepStrictEqual(codes(restored), ["newer_release"])
        yield* rewrite(2)
        const edited = yield* editor.publish("alice", { base: 2, operationId: "late", operations: [passes(9)] })
        assert.deepStrictEqual(codes(edited), ["newer_release"])
        assert.strictEqual((yield* editor.importYaml("alice", "globals: {}"))._tag, "Refused")
        assert.strictEqual((yield* editor.status).head, 2)
      }),
      editorAlone()
    )
  )
})
