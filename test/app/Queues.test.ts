/** The queue that the service makes of `queue.kind`, `queue.sqlite` and `queue.limits`. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { queues } from "../../src/app/Queues.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { admission } from "../queue/Admissions.ts"
import { folder } from "../queue/Stores.ts"

const queueOf = (queue: object, baseDir: string) =>
  Layer.fresh(queues).pipe(Layer.provide(layerStatic({ ...testSnapshot({ queue }), baseDir })))

const admit = (number: number, workspace: string) =>
  Effect.flatMap(Queue, (queue) => queue.admit([admission({ number, workspace, head: "a" })]))

it.effect("a queue of kind sqlite is a file at its path, and keeps what waits", () =>
  Effect.gen(function* () {
    const place = yield* folder
    const layer = queueOf({ kind: "sqlite", sqlite: { path: "kept/work.db" } }, place)
    yield* Effect.provide(admit(1, "app"), layer)
    assert.isTrue(existsSync(join(place, "kept/work.db")))
    const stats = yield* Effect.provide(
      Effect.flatMap(Queue, (queue) => queue.stats),
      layer
    )
    assert.strictEqual(stats.byStatus.waiting, 1)
  })
)

it.effect("a workspace has no more waiting entries than queue.limits.per_workspace", () =>
  Effect.gen(function* () {
    yield* admit(1, "app")
    yield* admit(2, "app")
    yield* admit(1, "other")
    const error = yield* Effect.flip(admit(3, "app"))
    assert.deepInclude(error, { reason: "full" })
    assert.include(error.message, "queue.limits.per_workspace")
  }).pipe(Effect.provide(queueOf({ limits: { per_workspace: 2 } }, "/nowhere")))
)

it.effect("the queue has no more waiting entries than queue.limits.total", () =>
  Effect.gen(function* () {
    yield* admit(1, "app")
    yield* admit(1, "other")
    const error = yield* Effect.flip(admit(1, "third"))
    assert.deepInclude(error, { reason: "full" })
    assert.include(error.message, "queue.limits.total")
  }).pipe(Effect.provide(queueOf({ limits: { total: 2 } }, "/nowhere")))
)
