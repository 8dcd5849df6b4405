/**
 * Random sequences on every store, compared with the model: results, entries, and the invariants of the architecture. The sequences that
 * once found a difference run first (QueueCases.ts).
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as fc from "fast-check"
import { Queue } from "../../src/queue/Queue.ts"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import { inEnglish } from "../../src/text/en.ts"
import { QueueModel } from "./QueueModel.ts"
import { cases } from "./QueueCases.ts"
import { Play, step, workspaces } from "./QueueSteps.ts"
import type { Step } from "./QueueSteps.ts"
import { quickFolder, stores } from "./Stores.ts"
import type { QueueStore } from "./Stores.ts"

/** AICR_TEST_SCALE makes it as many times longer. */
const scale = Number(process.env["AICR_TEST_SCALE"] ?? 1)
const runs = 40

const play = (store: QueueStore, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const place = yield* quickFolder
    const open = Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(store.layer(place), scope)
      const services = { queue: Context.get(context, Queue), control: Context.get(context, QueueControl) }
      return { ...services, close: Scope.close(scope, Exit.void) }
    })
    let current = yield* open
    const played = new Play(new QueueModel())
    const tokens = new Map<string, number>()
    for (const taken of steps) {
      if (taken._tag === "Reopen" && store.durable) {
        yield* current.close
        current = yield* open
      }
      yield* played.take(current, taken)
      yield* compare(current.queue, played.model, tokens)
    }
    yield* current.close
  }).pipe(Effect.scoped)

const compare = Effect.fnUntraced(function* (queue: Queue["Service"], model: QueueModel, tokens: Map<string, number>) {
  const found = yield* Effect.all(
    {
      active: Effect.forEach(workspaces, queue.load, { concurrency: "unbounded" }),
      all: Effect.forEach(model.entries, ({ id }) => queue.get(id), { concurrency: "unbounded" }),
      stats: queue.stats
    },
    { concurrency: "unbounded" }
  )
  const active = found.active.flat()
  const isActive = (status: string) => ["waiting", "ready", "running"].includes(status)
  assert.sameMembers(
    active.map((entry) => entry.id),
    model.entries.filter((entry) => isActive(entry.status)).map((entry) => entry.id)
  )
  for (const entry of active) {
    const same = active.filter((other) => other.targetKey === entry.targetKey && other.id !== entry.id)
    assert.isTrue(
      same.length <= 1 && same.every((other) => (other.status === "running") !== (entry.status === "running"))
    )
  }
  for (const [index, expected] of model.entries.entries()) {
    const entry = found.all[index]
    assert.deepStrictEqual(
      {
        id: entry?.id,
        target: entry?.targetKey,
        workspace: entry?.workspace,
        head: entry?.change.head,
        baseRef: entry?.change.baseRef,
        requestedBy: entry?.change.requestedBy,
        status: entry?.status,
        events: entry?.events.toSorted(),
        priority: entry?.priority,
        admittedAt: entry?.admittedAt,
        dueAt: entry?.dueAt,
        attempts: entry?.attempts,
        losses: entry?.losses,
        expires: entry?.expires,
        cancelRequested: entry?.cancelRequested && inEnglish(entry.cancelRequested),
        token: entry?.token,
        leaseUntil: entry?.leaseUntil,
        owner: entry?.owner,
        awaitsModel: entry?.awaitsModel
      },
      { ...expected, events: expected.events.toSorted() }
    )
    assert.isAtLeast(expected.token, tokens.get(expected.id) ?? 0)
    tokens.set(expected.id, expected.token)
  }
  for (const [status, count] of Object.entries(found.stats.byStatus)) {
    assert.strictEqual(count, model.entries.filter((entry) => entry.status === status).length, status)
  }
})

describe("Queue model", () => {
  for (const store of stores) {
    it(`${store.name} does what the model does`, { timeout: 300_000 * Math.max(1, scale) }, async () => {
      const details = await fc.check(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), (steps) =>
          Effect.runPromise(play(store, steps))
        ),
        { numRuns: Math.round(runs * scale), examples: cases.map(({ steps }) => [[...steps]]) }
      )
      const found = details.counterexample?.[0]
      const keep = found === null || found === undefined ? "" : `\nKeep it in QueueCases.ts: ${JSON.stringify(found)}`
      assert.isFalse(details.failed, `${fc.defaultReportMessage(details) ?? ""}${keep}`)
    })
  }
})
