import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Statistics } from "../../src/store/Statistics.ts"
import { databases } from "./Databases.ts"
import { publishRun, settle } from "./EndedRuns.ts"

const ended = Effect.fnUntraced(function* (repo: string, now: number, number = 1) {
  yield* settle(yield* publishRun({ repo, number }), now)
})

describe.each(databases)("projects in $name", ({ layer }) => {
  it.effect("are deleted and restored by an administrator, and pruned after the grace period", () =>
    Effect.gen(function* () {
      const { listProjects, markProject, markProjects, prune } = yield* Statistics
      yield* ended("Acme/One", 3000)
      yield* ended("Acme/Two", 3000)
      const all = yield* listProjects({ limit: 10 })
      assert.deepStrictEqual(
        all.map(({ repository }) => repository),
        ["Acme/Two", "Acme/One"]
      )
      const [two, one] = all
      assert(one !== undefined && two !== undefined)
      assert.deepStrictEqual(yield* listProjects({ repo: "acme/one", limit: 10 }), [one])
      assert.deepStrictEqual(yield* listProjects({ before: two.id, limit: 10 }), [one])
      assert.deepStrictEqual(yield* listProjects({ workspace: "other", limit: 10 }), [])

      assert.include(yield* markProject(one.id, "root", 4000), { deletedAt: 4000, deletedBy: "root" })
      assert.include(yield* markProject(one.id, "dana", 5000), { deletedAt: 4000, deletedBy: "dana" })
      assert.isUndefined(yield* markProject("none", "root", 4000))
      assert.deepStrictEqual(
        (yield* listProjects({ deleted: true, limit: 10 })).map(({ id }) => id),
        [one.id]
      )
      assert.deepStrictEqual(
        (yield* listProjects({ deleted: false, limit: 10 })).map(({ id }) => id),
        [two.id]
      )
      // The configuration names it: the mark of an administrator stays.
      yield* markProjects(() => true, 5000)
      assert.lengthOf(yield* listProjects({ deleted: true, limit: 10 }), 1)
      assert.strictEqual(yield* prune(3999, 6000), 0)
      assert.deepInclude(yield* markProject(one.id, undefined, 6000), { deletedAt: undefined, deletedBy: undefined })
      assert.strictEqual(yield* prune(9000, 9000), 0)
      yield* markProject(one.id, "root", 7000)
      assert.strictEqual(yield* prune(7000, 9000), 1)
      assert.deepStrictEqual(
        (yield* listProjects({ limit: 10 })).map(({ id }) => id),
        [two.id]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a run restores what an administrator deleted, not what is no longer configured", () =>
    Effect.gen(function* () {
      const { listProjects, markProject, markProjects } = yield* Statistics
      yield* ended("Acme/One", 3000)
      const [project] = yield* listProjects({ limit: 10 })
      assert(project !== undefined)
      yield* markProject(project.id, "root", 4000)
      yield* ended("Acme/One", 5000, 2)
      assert.deepInclude((yield* listProjects({ limit: 10 }))[0], { deletedAt: undefined, deletedBy: undefined })
      yield* markProjects(() => false, 6000)
      yield* ended("Acme/One", 7000, 3)
      assert.include((yield* listProjects({ limit: 10 }))[0], { deletedAt: 6000, lastRunAt: 7000 })
    }).pipe(Effect.provide(layer()))
  )
})
