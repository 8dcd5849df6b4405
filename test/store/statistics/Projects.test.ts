import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { listedProjectValue, Statistics } from "../../../src/store/Statistics.ts"
import type { ProjectFilter, ProjectOrder } from "../../../src/store/Statistics.ts"
import { databases } from "../Databases.ts"
import { publishRun, settle } from "../EndedRuns.ts"

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

  it.effect("are listed by creation, newest run and repository, in both directions", () =>
    Effect.gen(function* () {
      const { listProjects } = yield* Statistics
      yield* ended("Acme/Two", 5000)
      yield* ended("acme/one", 9000)
      yield* ended("Acme/Three", 7000)
      const names = (filter: Partial<ProjectFilter>) =>
        Effect.map(listProjects({ limit: 10, ...filter }), (all) => all.map(({ repository }) => repository))
      assert.deepStrictEqual(yield* names({ oldestFirst: true }), ["Acme/Two", "acme/one", "Acme/Three"])
      const sorted = (by: ProjectOrder["by"], smallestFirst: boolean) => names({ order: { by, smallestFirst } })
      assert.deepStrictEqual(yield* sorted("repository", true), ["acme/one", "Acme/Three", "Acme/Two"])
      assert.deepStrictEqual(yield* sorted("repository", false), ["Acme/Two", "Acme/Three", "acme/one"])
      assert.deepStrictEqual(yield* sorted("last_run", false), ["acme/one", "Acme/Three", "Acme/Two"])
      const [first] = yield* listProjects({ order: { by: "last_run", smallestFirst: false }, limit: 1 })
      assert(first !== undefined)
      const from = { value: String(listedProjectValue(first, "last_run")), id: first.id }
      assert.deepStrictEqual(yield* names({ order: { by: "last_run", smallestFirst: false, from } }), [
        "Acme/Three",
        "Acme/Two"
      ])
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
