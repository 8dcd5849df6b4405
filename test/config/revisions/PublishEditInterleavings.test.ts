/**
 * Two operators on two nodes, whose clocks differ by an hour, publish, rebase, restore and repeat requests at the same time: the history stays
 * linear in every database.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import * as fc from "fast-check"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { EditOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { emptyDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { deserialise, hashText } from "../../../src/config/revisions/SealDocument.ts"
import { differences } from "../../../src/config/revisions/Conflicts.ts"
import { editorNode } from "../../harness/ConfigSource.ts"
import { shiftedClock } from "../../harness/ShiftedClock.ts"
import { backends, openStores } from "../../store/source/Backends.ts"
import type { Backend } from "../../store/source/Backends.ts"

const fields = ["max_passes", "max_problems"] as const

interface Step {
  readonly node: 0 | 1
  /** Number of revisions that the operator has missed. */
  readonly behind: number
  readonly act: "publish" | "restore" | "strict"
  readonly field: (typeof fields)[number]
  readonly value: number
  /** Number of times that the request is sent, all together. */
  readonly sent: 1 | 2 | 3
  /** The next step starts before this one has ended. */
  readonly overlaps: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  node: fc.constantFrom(0, 1),
  behind: fc.integer({ min: 0, max: 3 }),
  act: fc.constantFrom("publish", "publish", "restore", "strict"),
  field: fc.constantFrom(...fields),
  value: fc.integer({ min: 1, max: 4 }),
  sent: fc.constantFrom(1, 1, 2, 3),
  overlaps: fc.boolean()
})

const perform = Effect.fnUntraced(function* (
  editors: ReadonlyArray<ConfigEditor["Service"]>,
  { act, behind, field, node, sent, value }: Step,
  index: number
) {
  const editor = editors[node] ?? assert.fail("no node")
  const { head } = yield* editor.status
  const operationId = `step-${index}`
  const base = Math.max(0, head - behind)
  const operations: ReadonlyArray<ConfigOperation> = [{ op: "set", path: ["review", field], value }]
  const actor = `operator-${node}`
  // Repeated requests arrive at both nodes.
  const send = (attempt: number) => {
    const target = editors[(node + attempt) % 2] ?? editor
    return act === "restore"
      ? target.restore(actor, { revision: Math.max(1, base), operationId })
      : target.publish(actor, { base, operations, operationId, strict: act === "strict" })
  }
  const outcomes = yield* Effect.forEach([...Array(sent).keys()], send, { concurrency: "unbounded" })
  return { operationId, outcomes }
})

/** The part of an outcome that repeated requests have in common. */
const finalOf = (outcome: EditOutcome): unknown => {
  switch (outcome._tag) {
    case "Committed":
      return ["Committed", outcome.revision.number]
    case "Refused":
      return ["Refused", outcome.problems.map(({ code }) => code)]
    case "Conflict":
    case "Unchanged":
      return [outcome._tag, outcome.head]
  }
}

const hour = 3_600_000
const nodes = [
  ["one", -hour],
  ["two", hour]
] as const

/** Opens a node with its own connections to a namespace, whose methods run by the clock of the node. */
const openNode = Effect.fnUntraced(function* (
  { address, kind }: Backend,
  namespace: string,
  [node, skew]: (typeof nodes)[number]
) {
  const stores = yield* Layer.build(Layer.fresh(openStores(kind, address, namespace)))
  const built = yield* Layer.build(Layer.fresh(editorNode({ node }))).pipe(Effect.provideContext(stores))
  const clock = shiftedClock(yield* Clock.Clock, skew)
  const editor = Context.get(built, ConfigEditor)
  return {
    store: Context.get(stores, RevisionStore),
    editor: {
      ...editor,
      publish: (...given) => Effect.provideService(editor.publish(...given), Clock.Clock, clock),
      restore: (...given) => Effect.provideService(editor.restore(...given), Clock.Clock, clock)
    } satisfies ConfigEditor["Service"]
  }
})

const play = Effect.fnUntraced(function* (backend: Backend, namespace: string, steps: ReadonlyArray<Step>) {
  const opened = yield* Effect.forEach(nodes, (node) => openNode(backend, namespace, node))
  const editors = opened.map(({ editor }) => editor)
  const groups: Array<Array<readonly [Step, number]>> = [[]]
  for (const [index, one] of steps.entries()) {
    groups.at(-1)?.push([one, index])
    if (!one.overlaps) groups.push([])
  }
  const results = []
  for (const group of groups)
    results.push(
      ...(yield* Effect.forEach(group, ([one, index]) => perform(editors, one, index), { concurrency: "unbounded" }))
    )
  const { store } = opened[0] ?? assert.fail("no node")
  const { number: newest } = yield* store.head
  const history = yield* Effect.forEach([...Array(newest).keys()], (index) => store.read(index + 1))
  return { history, results, store }
})

const check = Effect.fnUntraced(function* (backend: Backend, namespace: string, steps: ReadonlyArray<Step>) {
  const { history, results, store } = yield* play(backend, namespace, steps)
  let before = emptyDocument
  for (const [index, revision] of history.entries()) {
    if (revision === undefined) return assert.fail(`revision ${index + 1} is missing`)
    assert.deepStrictEqual([revision.number, revision.parent], [index + 1, index])
    assert.strictEqual(revision.hash, hashText(revision.document))
    const after = deserialise(revision.document)
    // Absent fields are absent in a record.
    assert.deepStrictEqual(revision.diff, JSON.parse(JSON.stringify(differences(before, after))))
    before = after
  }
  const ids = history.map((revision) => revision?.operationId)
  assert.strictEqual(new Set(ids).size, ids.length)
  for (const { operationId, outcomes } of results) {
    const finals = outcomes.map(finalOf)
    // A refusal is no final result: the repeated request may find other circumstances.
    const settled = outcomes.filter(({ _tag }) => _tag !== "Refused").map(finalOf)
    for (const other of settled) assert.deepStrictEqual(other, settled[0], JSON.stringify(finals))
    const isCommitted = outcomes.some(({ _tag }) => _tag === "Committed")
    assert.strictEqual(ids.filter((id) => id === operationId).length, isCommitted ? 1 : 0)
    for (const outcome of outcomes) if (outcome._tag === "Refused") assert.isNotEmpty(outcome.problems[0]?.reason._tag)
    const recorded = yield* store.operation(operationId)
    assert.strictEqual(recorded !== undefined, settled.length > 0)
  }
})

/** Databases in processes of their own take longer. */
const numRuns = { sqlite: 25, postgres: 12, redis: 12 } as const

describe("operators who publish at the same time", () => {
  it.each(backends)(
    "leave a linear history in $kind in which each operation is applied once or refused with its reason",
    { timeout: 180_000 },
    async ({ kind, make }) => {
      const backend = await make()
      let played = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) =>
          Effect.runPromise(Effect.scoped(check(backend, `play-${++played}`, steps)))
        ),
        { numRuns: numRuns[kind] }
      )
      assert.strictEqual(played, numRuns[kind])
    }
  )
})
