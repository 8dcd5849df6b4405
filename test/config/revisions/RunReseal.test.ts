/** Sealing credentials in the background: progress, continuation for a process that died, and takeover. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { ResealStore } from "../../../src/config/revisions/ResealStore.ts"
import type { ResealJob } from "../../../src/config/revisions/ResealStore.ts"
import { editorNode, memoryStores, resealAll, sealingKey } from "../../harness/ConfigSource.ts"
import { edits } from "./KilledEdits.ts"

const newKey = "22".repeat(32)
const rotated = { SVC_CONFIG_SECRETS_KEY: newKey, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
const settleTurns = Effect.promise(() => new Promise((resume) => setImmediate(resume)))

/** Starts a node with two revisions of another key, and a node with the current key. */
const start = Effect.gen(function* () {
  const stores = yield* Layer.build(Layer.fresh(memoryStores))
  const node = (name: string, env: Readonly<Record<string, string>>) =>
    Layer.build(Layer.fresh(editorNode({ node: name, env }))).pipe(
      Effect.provideContext(stores),
      Effect.map((built) => Context.get(built, ConfigEditor))
    )
  const old = yield* node("old", {})
  yield* old.publish("alice", edits.first)
  yield* old.publish("alice", edits.second)
  return { old, reseals: Context.get(stores, ResealStore), current: yield* node("current", rotated) }
})

/** Advances the clock until the job is not running, at most for a minute. */
const waitForEnd = Effect.fnUntraced(function* (reseals: ResealStore["Service"]) {
  for (let second = 0; second < 60; second++) {
    yield* TestClock.adjust("1 second")
    yield* settleTurns
    const job = yield* reseals.get
    if (job?.state !== "running") return job
  }
  return yield* reseals.get
})

describe("sealing in the background", () => {
  it.effect("continues the job of a process that died, where it ended", () =>
    Effect.gen(function* () {
      const { current, old, reseals } = yield* start
      const job = yield* resealAll(current, "alice")
      assert.deepInclude(job, { state: "done", checked: 2, resealed: 2, actor: "alice", covered: 2 })
      const dead: ResealJob = {
        ...job,
        state: "running",
        owner: "a process that died",
        checked: 1,
        resealed: 1,
        newest: 2,
        below: 2,
        covered: 0,
        finishedAt: undefined,
        version: job.version + 1
      }
      assert.isTrue(yield* reseals.save(dead))
      const ended = yield* waitForEnd(reseals)
      // Only the revision below the position of the dead process was read again.
      assert.deepInclude(ended, { id: job.id, state: "done", checked: 2, resealed: 1, failed: [] })
      assert.notStrictEqual(ended?.owner, dead.owner)
      // A job for a key that no node has is not continued.
      assert.isTrue(yield* reseals.save({ ...dead, kid: "00000000", version: (ended?.version ?? 0) + 1 }))
      assert.strictEqual((yield* waitForEnd(reseals))?.state, "running")
      assert.strictEqual((yield* old.status).reseal?.kid, "00000000")
    }).pipe(Effect.scoped)
  )

  it.effect("ends for a process whose job another one has taken over", () =>
    Effect.gen(function* () {
      const { current, reseals } = yield* start
      const first = yield* resealAll(current, "alice")
      const second = yield* resealAll(current, "bob")
      assert.notStrictEqual(second.id, first.id)
      assert.deepInclude(second, { actor: "bob", resealed: 0, checked: 2 })
      assert.isFalse(yield* reseals.save({ ...first, version: first.version + 1 }))
    }).pipe(Effect.scoped)
  )

  it.effect("has a result under the id of its job, also after the next job has replaced it", () =>
    Effect.gen(function* () {
      const { current, reseals } = yield* start
      const first = yield* resealAll(current, "alice")
      const running: ResealJob = {
        ...first,
        id: "running",
        kid: "00000000",
        state: "running",
        version: first.version + 1
      }
      assert.isTrue(yield* reseals.save(running))
      const done = { _tag: "Resealed", state: "done", checked: 2, resealed: 2, failed: [] } as const
      assert.deepInclude(yield* current.operation(first.id), { operationId: first.id, result: done })
      const progress = { ...done, state: "running" } as const
      assert.deepInclude(yield* current.operation("running"), { operationId: "running", result: progress })
      assert.isUndefined(yield* current.operation("another"))
      // The id is used: an edit cannot have it.
      const reused = yield* current.publish("alice", { ...edits.third, operationId: first.id })
      assert.strictEqual(reused._tag === "Refused" ? reused.problems[0]?.code : reused._tag, "operation_id_reused")
    }).pipe(Effect.scoped)
  )

  it.effect("is not watched by a node that does not use the database", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const reads = { enabled: 0, disabled: 0 }
      const watch = (name: "disabled" | "enabled") => {
        const reseals = Context.get(stores, ResealStore)
        const counted = { ...reseals, get: Effect.tap(reseals.get, () => Effect.sync(() => reads[name]++)) }
        const document = { config_sources: { database: { enabled: name === "enabled" } } }
        return Layer.build(Layer.fresh(editorNode({ document }))).pipe(
          Effect.provideContext(Context.add(stores, ResealStore, counted))
        )
      }
      yield* watch("enabled")
      yield* watch("disabled")
      yield* TestClock.adjust("1 minute")
      yield* settleTurns
      assert.isAbove(reads.enabled, 0)
      assert.strictEqual(reads.disabled, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused without a key, with its reason in the audit log", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const node = yield* Layer.build(Layer.fresh(editorNode({ env: { SVC_CONFIG_SECRETS_KEY: "" } }))).pipe(
        Effect.provideContext(stores)
      )
      const editor = Context.get(node, ConfigEditor)
      const outcome = yield* editor.startReseal("alice")
      assert.strictEqual(outcome._tag, "Refused")
      const [record] = (yield* editor.audit({ limit: 10 })).items
      assert.deepInclude(record, { action: "reseal", outcome: "secrets_key_missing", actor: "alice" })
      assert.isUndefined(yield* editor.resealJob)
    }).pipe(Effect.scoped)
  )
})
