/**
 * A host refuses the credential for everything, after the analysis is paid for: what is to be published waits, bounded, and follows when the
 * credential works again. The commit does not stay pending.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import type { Fault } from "../../../demo/DemoForge.ts"
import { fault } from "../../harness/FakeForge.ts"
import { at, faultWorld } from "../FaultWorld.ts"

const refusals: Readonly<Record<string, Fault>> = { "401": fault.unauthorized, "404": fault.missing }

describe.each([
  ["gitea", "gitea_pr_review"],
  ["github", "github_pr_review"],
  ["gitlab", "gitlab_mr_review"]
] as const)("a credential that %s refuses", (kind, channel) => {
  let made: Awaited<ReturnType<typeof faultWorld>> | undefined
  beforeAll(async () => {
    made = await faultWorld({ host: kind, channel: { kind: channel }, target: "pull_request" })
  })
  afterAll(() => made?.stop())

  it.effect.each(Object.entries(refusals))(
    "with %s for everything: all is published when it works again, and nothing is lost",
    ([, thrown]) =>
      Effect.gen(function* () {
        assert(made !== undefined)
        const { begin, strike, world } = made
        yield* Effect.gen(function* () {
          const { review, existing } = yield* begin
          let seen = 0
          strike(() => (++seen <= 30 ? thrown : undefined))
          const judged = yield* review([at(1, 20), at(2, 29)], { tick: "1 minute" })
          assert.isAbove(seen, 30)
          assert.strictEqual(judged.run.status, "succeeded", judged.rows.join())
          assert.isFalse(judged.run.partial)
          assert.isTrue(judged.rows.every((row) => / (sent|nothing_to_do)$/.test(row)))
          assert.deepStrictEqual(
            existing().filter((item) => /^(line|comment)/.test(item)),
            ["comment summary", "line 20 1", "line 29 2"]
          )
          assert.include(existing(), "status 0 success")
        }).pipe(Effect.provide(world))
      }),
    60_000
  )

  it.effect(
    "for more than a day: the run fails with this reason, and so does the commit when it works again",
    () =>
      Effect.gen(function* () {
        assert(made !== undefined)
        const { begin, strike, world } = made
        yield* Effect.gen(function* () {
          const { review, existing } = yield* begin
          let seen = 0
          strike(() => (++seen <= 250 ? fault.unauthorized : undefined))
          const judged = yield* review([at(1, 20)], { tick: "5 minutes" })
          assert.strictEqual(judged.run.status, "failed")
          assert.include(judged.run.reason ?? "", "the host refused the credential of trigger host for 24 hours")
          assert.include(existing(), `status 0 ${kind === "gitlab" ? "failed" : "failure"}`)
        }).pipe(Effect.provide(world))
      }),
    60_000
  )
})
