import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { Change } from "../../../src/domain/Change.ts"
import { fromRow, fullNameIndex, toRow } from "../../../src/queue/core/ChangeRow.ts"

/** Removes undefined fields, like the object's JSON. */
const asObject = Schema.decodeUnknownSync(Schema.fromJsonString(Change))

it.effect("has all of a change: whatever the schema allows is the same again after it was a row of JSON", () =>
  Effect.gen(function* () {
    const changes = yield* Arbitrary.sampleEffect(Arbitrary.schema(Change), { count: 500 })
    for (const change of changes) {
      const row: ReadonlyArray<unknown> = JSON.parse(JSON.stringify(toRow(change)))
      assert.deepStrictEqual(fromRow(row), asObject(JSON.stringify(change)))
      assert.strictEqual(row[fullNameIndex], change.repo.fullName)
    }
  })
)

it("reads a row without its last fields, which are optional", () => {
  const change: Change = {
    provider: "gitea",
    trigger: "main",
    workspace: "app",
    repo: { fullName: "acme/app" },
    target: { kind: "push", branch: "main" },
    head: "a".repeat(40)
  }
  assert.deepStrictEqual(fromRow(toRow(change).slice(0, 12)), change)
})

it("refuses invalid changes, and names what is missing", () => {
  assert.throws(() => fromRow(["gitea", "main", null]), /workspace/)
})
