/** The scans of records, over days of a test's clock, announce each fact once, also in a later scan and in another process. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { scanBudgets, scanCatchUps, scanHooks, scanRules, scanWebhooks } from "../../../actors/notices/NoticeScan.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Inventories } from "../../../src/store/Inventories.ts"
import { Notices } from "../../../src/store/Notices.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"
import { ignored } from "../../store/Fixtures.ts"

const host = { kind: "gitea", base_url: "https://git.example", webhook_secret_env: "HOOK", token_env: "HOOK" }
const snapshot = snapshotFrom(
  {
    triggers: [
      { name: "main", ...host },
      { name: "quiet", ...host }
    ],
    workspaces: { instances: { shop: { source_repo: { trigger: "main", repo: "team/shop" } } } },
    llm: { budget: { per_repo_daily_usd: 1, per_author_daily_usd: 2 } },
    outputs: {
      channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
      notifications: { routes: [{ channels: ["ops"] }] }
    }
  },
  { HOOK: "https://chat.example/hook" }
)

const start = Date.UTC(2026, 1, 1, 9)

const make = Effect.gen(function* () {
  yield* TestClock.setTime(start)
  const notices = yield* Notices
  let startedAt = start
  const scan = Effect.suspend(() =>
    Effect.all([scanBudgets, scanWebhooks(startedAt), scanCatchUps, scanHooks, scanRules])
  ).pipe(Effect.provideService(ConfigStore, makeStaticStore(snapshot)))
  return {
    /** Another process scans. */
    restart: Effect.map(Clock.currentTimeMillis, (now) => void (startedAt = now)),
    /** Returns the facts of all notices after a time. */
    after: (time: Parameters<typeof TestClock.adjust>[0]) =>
      TestClock.adjust(time).pipe(
        Effect.andThen(scan),
        Effect.andThen(notices.list({ limit: 100, oldestFirst: true })),
        Effect.map((found) => found.map(({ facts }) => facts))
      )
  }
})

const kept = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof Store.layerMemory>>) =>
  Effect.provide(effect, Layer.fresh(Store.layerMemory))

it.effect("the highest threshold that an account reached is announced once a day", () =>
  kept(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { after, restart } = yield* make
      const spend = (account: string, usd: number) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const id = account.replace("DAY", new Date(now).toISOString().slice(0, 10))
          const committed = usd * 1_000_000_000
          return sql`INSERT INTO ledger_accounts ${sql.insert({ id, committed, updated_at: now })}
              ON CONFLICT (id) DO UPDATE SET committed = ${committed}, updated_at = ${now}`
        })
      const repository = "day:DAY:main:team/shop"
      const announced = (time: Parameters<typeof TestClock.adjust>[0]) =>
        Effect.map(after(time), (found) =>
          found.map((facts) => (facts._tag === "budget_threshold" ? `${facts.day} ${facts.percent}` : facts._tag))
        )
      yield* spend(repository, 0.49)
      assert.deepStrictEqual(yield* announced("1 minute"), [])
      yield* spend(repository, 0.6)
      assert.deepStrictEqual(yield* announced("1 minute"), ["2026-02-01 50"])
      yield* spend(repository, 0.8)
      assert.deepStrictEqual(yield* announced("1 minute"), ["2026-02-01 50", "2026-02-01 75"])
      yield* spend(repository, 0.95)
      yield* announced("1 minute")
      yield* spend(repository, 1)
      const first = ["50", "75", "90", "100"].map((percent) => `2026-02-01 ${percent}`)
      assert.deepStrictEqual(yield* announced("1 minute"), first)
      yield* restart
      yield* spend(repository, 1.5)
      assert.deepStrictEqual(yield* announced("1 hour"), first)
      yield* announced("1 day")
      // A higher threshold includes the lower ones.
      yield* spend(repository, 0.95)
      assert.deepStrictEqual(yield* announced("1 minute"), [...first, "2026-02-02 90"])
      // A call that ends right before midnight is found after it, as is the next day.
      yield* TestClock.setTime(Date.UTC(2026, 1, 2, 23, 59, 59))
      yield* spend(repository, 1)
      yield* TestClock.setTime(Date.UTC(2026, 1, 3, 0, 0, 1))
      yield* spend(repository, 0.5)
      const second = ["2026-02-02 90", "2026-02-02 100", "2026-02-03 50"]
      assert.deepStrictEqual(yield* announced("1 second"), [...first, ...second])
    })
  )
)

it.effect("a webhook that is silent for a day is announced once, and again after it has spoken", () =>
  kept(
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const { after, restart } = yield* make
      const speak = Effect.flatMap(Clock.currentTimeMillis, (receivedAt) =>
        receipts.store(ignored({ receivedAt, trigger: "main" }))
      )
      const silent = (time: Parameters<typeof TestClock.adjust>[0]) =>
        Effect.map(after(time), (found) =>
          // A trigger that never had a delivery is no news.
          found.map((facts) =>
            facts._tag === "webhook_silent" ? `${facts.trigger} ${facts.lastAt - start}` : facts._tag
          )
        )
      yield* speak
      assert.deepStrictEqual(yield* silent("23 hours"), [])
      yield* speak
      assert.deepStrictEqual(yield* silent("23 hours"), [])
      const day = 86_400_000
      const first = [`main ${(day / 24) * 23}`]
      assert.deepStrictEqual(yield* silent("2 hours"), first)
      yield* restart
      assert.deepStrictEqual(yield* silent("3 hours"), first)
      const spokenAt = (day / 24) * 51
      yield* speak
      assert.deepStrictEqual(yield* silent("23 hours"), first)
      assert.deepStrictEqual(yield* silent("2 hours"), [...first, `main ${spokenAt}`])
    })
  )
)

it.effect("hosts have an hour to deliver after a start", () =>
  kept(
    Effect.gen(function* () {
      const receipts = yield* Receipts
      yield* TestClock.setTime(start - 1)
      yield* receipts.store(ignored({ receivedAt: start - 86_400_000 * 1.5, trigger: "main" }))
      const { after } = yield* make
      assert.deepStrictEqual(yield* after("59 minutes"), [])
      assert.strictEqual((yield* after("2 minutes")).length, 1)
    })
  )
)

it.effect("what a search found without a delivery is announced once, with the search before it", () =>
  kept(
    Effect.gen(function* () {
      const { searched } = yield* CatchUps
      const { after } = yield* make
      const search = (at: number, found: number, skipped: number) =>
        searched("main", { occasion: "beat", startedAt: at, at, found, skipped, failure: undefined })
      yield* search(start - 1000, 0, 0)
      assert.deepStrictEqual(yield* after("1 minute"), [])
      yield* search(start + 60_000, 3, 2)
      const first = {
        _tag: "found_without_delivery",
        trigger: "main",
        found: 3,
        skipped: 2,
        since: start - 1000,
        foundAt: start + 60_000,
        occasion: "beat"
      } as const
      assert.deepStrictEqual(yield* after("1 minute"), [first])
      // A search without a result has no notice.
      yield* search(start + 120_000, 0, 0)
      assert.deepStrictEqual(yield* after("1 minute"), [first])
      yield* search(start + 180_000, 1, 0)
      const second = { ...first, found: 1, skipped: 0, since: start + 120_000, foundAt: start + 180_000 }
      assert.deepStrictEqual(yield* after("1 minute"), [first, second])
      yield* search(start - 2 * 86_400_000, 1, 0)
      assert.lengthOf(yield* after("1 minute"), 2)
    })
  )
)

it.effect(
  "webhooks that are broken are announced once a check has ended, again with a further one, and again after all were mended",
  () =>
    kept(
      Effect.gen(function* () {
        const { checked, save } = yield* Inventories
        const { after, restart } = yield* make
        const problem = { _tag: "WebhookInactive" } as const
        const set = (at: number, name: string, state: "broken" | "complete" | "missing" | "unreadable") => {
          const shown = { trigger: "main", scope: `repository:${name}`, name, wanted: "w", checkedAt: at }
          const found = state === "complete" ? {} : { problem }
          return save([{ ...shown, state, ...found }], { startedAt: at, created: 0, repaired: 0 })
        }
        const end = (startedAt: number) =>
          checked("main", {
            startedAt,
            at: startedAt + 10,
            repositories: 3,
            served: 0,
            isListed: true,
            failure: undefined
          })
        const announced = Effect.map(after("1 minute"), (found) =>
          found.map((facts) =>
            facts._tag === "webhook_broken"
              ? [facts.count, ...facts.hooks.map(({ name }) => name)].join(" ")
              : facts._tag
          )
        )
        yield* set(start, "team/app", "broken")
        yield* set(start, "team/hidden", "unreadable")
        assert.deepStrictEqual(yield* announced, [])
        yield* end(start)
        assert.deepStrictEqual(yield* announced, ["1 team/app"])
        yield* restart
        yield* set(start + 1000, "team/app", "broken")
        yield* end(start + 1000)
        assert.lengthOf(yield* announced, 1)
        yield* set(start + 2000, "team/new", "missing")
        yield* end(start + 2000)
        const second = ["1 team/app", "2 team/app team/new"]
        assert.deepStrictEqual(yield* announced, second)
        yield* set(start + 3000, "team/new", "complete")
        yield* end(start + 3000)
        assert.deepStrictEqual(yield* announced, second)
        yield* set(start + 4000, "team/app", "complete")
        yield* set(start + 5000, "team/app", "broken")
        yield* end(start + 5000)
        assert.deepStrictEqual(yield* announced, [...second, "1 team/app"])
      })
    )
)

it.effect("a rule that was muted is announced once for each content of its file", () =>
  kept(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { after, restart } = yield* make
      const mute = (digest: string, mutedAt: number | null) => sql`
        INSERT INTO project_rules ${sql.insert({ repository: "main:team/shop", id: "one", digest, severity: "high", owner: "ada", floor: 0.3, used: 20, first_used_at: 1, last_used_at: start, muted_at: mutedAt })}
        ON CONFLICT (repository, id) DO UPDATE SET digest = excluded.digest, muted_at = excluded.muted_at`
      const announced = Effect.map(after("1 minute"), (found) =>
        found.map((facts) =>
          facts._tag === "rule_muted" ? `${facts.rule} ${facts.digest} ${facts.owner}` : facts._tag
        )
      )
      yield* mute("d1", null)
      assert.deepStrictEqual(yield* announced, [])
      yield* mute("d1", start)
      assert.deepStrictEqual(yield* announced, ["one d1 ada"])
      yield* restart
      assert.deepStrictEqual(yield* announced, ["one d1 ada"])
      yield* mute("d2", start)
      assert.deepStrictEqual(yield* announced, ["one d1 ada", "one d2 ada"])
    })
  )
)
