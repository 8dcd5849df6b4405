/** Spend of today against the caps, over real HTTP. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { ReservationId } from "../../../src/domain/Keys.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { Ledger } from "../../../src/store/Ledger.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
beforeAll(async () => {
  admin = await startAdmin({
    document: {
      llm: { budget: { per_repo_daily_usd: 5, per_run_usd: 1, per_team_daily_usd: 6, team_daily_usd: { payments: 7 } } }
    }
  })
})
afterAll(() => admin.stop())

it("lists what repositories, authors and teams spent today, with caps and the end of the day", async () => {
  const now = Date.now()
  const today = new Date(now).toISOString().slice(0, 10)
  await admin.run(
    Effect.gen(function* () {
      const ledger = yield* Ledger
      for (const [id, day] of [
        ["a", today],
        ["b", today],
        ["c", "2026-01-01"]
      ] as const) {
        yield* ledger.reserve(
          {
            id: ReservationId.make(id),
            runId: id,
            repository: "main:acme/app",
            day,
            usd: Usd.make(0.5),
            runCapUsd: undefined,
            dayCapUsd: undefined,
            author: "main:ada",
            team: "payments",
            owner: "node/1"
          },
          now
        )
      }
      yield* ledger.settle(ReservationId.make("a"), Usd.make(0.25), now)
    })
  )
  const token = await admin.token()
  const { body } = await admin.call("GET", "/budgets", { token })
  const resets = new Date(Date.parse(`${today}T00:00:00Z`) + 86_400_000).toISOString()
  const both = { window: "day", spent_usd: 0.25, reserved_usd: 0.5, resets_at: resets }
  assert.deepStrictEqual(body, {
    items: [
      { scope: "author", name: "main:ada", limit_usd: null, ...both },
      { scope: "repository", name: "main:acme/app", limit_usd: 5, ...both },
      { scope: "team", name: "payments", limit_usd: 7, ...both }
    ],
    per_run_limit_usd: 1
  })
})
