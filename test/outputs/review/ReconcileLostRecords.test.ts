/**
 * The records have no row of a change that was reviewed before: existing comments at the host are adopted, and nothing is written
 * twice.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, faultWorld } from "../FaultWorld.ts"
import type { Row } from "../FaultWorld.ts"

const on = (host: Row["host"], kind: string, target: Row["target"]) => ({ host, channel: { kind }, target }) as Row
const rows: ReadonlyArray<Row> = [
  on("gitea", "gitea_pr_review", "pull_request"),
  on("forgejo", "gitea_pr_review", "pull_request"),
  on("github", "github_pr_review", "pull_request"),
  on("gitlab", "gitlab_mr_review", "pull_request"),
  on("github", "github_pr_review", "push"),
  on("gitlab", "gitlab_mr_review", "push"),
  on("gitea", "gitea_issue", "pull_request"),
  on("github", "github_issue", "push"),
  on("gitea", "gitea_problem_issue", "push"),
  on("github", "github_problem_issue", "pull_request"),
  on("gitlab", "gitlab_problem_issue", "pull_request")
]

describe.each(rows)("$channel.kind of $host for a $target", (row) => {
  it.effect(
    "adopts comments of an installation whose records are lost",
    () =>
      Effect.gen(function* () {
        const here = yield* Effect.acquireRelease(
          Effect.promise(() => faultWorld(row)),
          ({ stop }) => Effect.promise(stop)
        )
        const found = [at(1, 20), at(2, 29)]
        const { review, existing } = yield* Effect.provide(
          Effect.gen(function* () {
            const begun = yield* here.begin
            yield* begun.review(found)
            return begun
          }),
          here.world
        )
        const before = existing()
        assert.isAbove(before.length, row.target === "push" ? 0 : 3)
        // Each world has records of its own.
        const same = yield* Effect.provide(review(found, { again: true }), here.world)
        assert.deepStrictEqual([same.run.status, existing()], ["succeeded", before])
        const next = yield* Effect.provide(review([at(2, 29), at(3, 30)]), here.world)
        assert.strictEqual(next.run.status, "succeeded")
        const after = existing().filter((item) => /^(line|comment|issue)/.test(item))
        assert.strictEqual(new Set(after).size, after.length, after.join("; "))
        for (const [line, fp] of [
          [20, 1],
          [29, 2],
          [30, 3]
        ])
          assert.isAtMost(after.filter((item) => item.startsWith(`line ${line} ${fp}`)).length, 1, after.join("; "))
        assert.isAtMost(after.filter((item) => item.startsWith("comment")).length, 1, after.join("; "))
      }),
    60_000
  )
})
