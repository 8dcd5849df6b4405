/** Scheduled triggers: each time fires once, and only the newest after a downtime. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { scan } from "../../../actors/scheduling/Schedules.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Schedules } from "../../../src/store/Schedules.ts"
import { actorStores } from "../../harness/ActorParts.ts"

const document = {
  triggers: [
    { name: "tea", kind: "gitea", base_url: "https://gitea.test" },
    {
      name: "nightly",
      kind: "scheduled",
      cron: "30 3 * * *",
      timezone: "Europe/Berlin",
      repositories: [{ repo: "acme/app", branch: "main" }, { repo: "acme/unbound" }]
    },
    { name: "off", kind: "scheduled", enabled: false, cron: "* * * * *", repositories: [{ repo: "acme/app" }] }
  ],
  workspaces: { instances: { app: { source_repo: { trigger: "tea", repo: "acme/app" } } } }
}

const world = Layer.mergeAll(actorStores(), Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)))

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

const woken: Array<string> = []
/** Scans at an instant; returns when to scan again. */
const at = (instant: string) =>
  Effect.andThen(
    TestClock.setTime(Date.parse(instant)),
    scan((workspace) => Effect.sync(() => void woken.push(workspace)))
  )
const events = Effect.flatMap(Receipts, (receipts) =>
  Effect.map(receipts.list({ limit: 100 }), (found) =>
    found
      .toReversed()
      .map(({ repo, decision, reason }) => `${repo} ${decision}${reason === undefined ? "" : ` ${reason}`}`)
  )
)
const both = ["acme/app queued", "acme/unbound ignored repository_not_configured"]

each("fires at its times, from the next one on, once each", () =>
  Effect.gen(function* () {
    yield* at("2026-03-10T12:00:00Z")
    assert.deepStrictEqual(yield* events, [])
    const next = yield* at("2026-03-11T02:29:59.000Z")
    assert.strictEqual(new Date(next).toISOString(), "2026-03-11T02:30:00.000Z")
    assert.deepStrictEqual(yield* events, [])
    yield* at("2026-03-11T02:30:00Z")
    yield* at("2026-03-11T02:30:00Z")
    yield* at("2026-03-11T02:30:15Z")
    assert.deepStrictEqual(yield* events, both)
    const [entry, ...others] = yield* (yield* Queue).load("app")
    assert.deepStrictEqual(others, [])
    assert.deepInclude(entry?.change, {
      provider: "scheduled",
      trigger: "nightly",
      host: "tea",
      target: { kind: "scheduled", branch: "main" }
    })
    assert.deepStrictEqual(woken, ["app"])
    assert.deepInclude(entry, { targetKey: TargetKey.make("nightly:acme/app:scheduled:main") })
  })
)

each("what passed while it was down is made up for once", () =>
  Effect.gen(function* () {
    yield* at("2026-03-10T12:00:00Z")
    yield* at("2026-03-20T12:00:00Z")
    yield* at("2026-03-20T12:00:20Z")
    assert.deepStrictEqual(yield* events, both)
    yield* at("2026-03-21T02:31:00Z")
    assert.lengthOf(yield* events, 4)
  })
)

each("a crash right after the receipt, or before the record of the fire, repeats nothing", () =>
  Effect.gen(function* () {
    const schedules = yield* Schedules
    yield* at("2026-03-10T12:00:00Z")
    yield* at("2026-03-11T02:30:00Z")
    const receipts = yield* Receipts
    const [event] = yield* receipts.unsettled(undefined, 1)
    // The same time is due again, because the fire was not recorded.
    const forgotten = { ...schedules, lastFire: () => Effect.succeed(Date.parse("2026-03-10T12:00:00Z")) }
    yield* Effect.provideService(at("2026-03-11T02:30:05Z"), Schedules, forgotten)
    assert.deepStrictEqual(yield* events, both)
    assert.deepStrictEqual((yield* (yield* Queue).load("app"))[0]?.events, [event?.id ?? ""])
  })
)

each("a time is remembered longer than its receipt", () =>
  Effect.gen(function* () {
    yield* at("2026-03-10T12:00:00Z")
    yield* at("2026-03-11T02:30:00Z")
    const receipts = yield* Receipts
    const ids = (yield* receipts.list({ limit: 10 })).map(({ id }) => id)
    yield* receipts.settle(ids, { outcome: "executed" }, 1)
    yield* receipts.prune({ maxCount: 0, before: 1e15 })
    yield* at("2026-03-11T02:30:15Z")
    assert.deepStrictEqual(yield* events, [])
  })
)

each("a clock that is set back fires nothing again", () =>
  Effect.gen(function* () {
    yield* at("2026-03-10T12:00:00Z")
    yield* at("2026-03-11T02:30:00Z")
    yield* at("2026-03-11T01:00:00Z")
    yield* at("2026-03-11T02:45:00Z")
    assert.deepStrictEqual(yield* events, both)
  })
)
