/** Operators are notified once a day of each trigger whose credential a host refuses. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { noteLostCredential } from "../../../actors/publishing/CredentialNotice.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { Notices } from "../../../src/store/Notices.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"

const snapshot = snapshotFrom(
  {
    outputs: {
      channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
      notifications: { routes: [{ channels: ["ops"] }] }
    }
  },
  { HOOK: "https://chat.example/hook" }
)

it.effect("a refused credential is announced once per trigger and day", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 31, 23))
    const reason = { _tag: "CheckCredential" } as const
    for (const trigger of ["main", "main", "other"]) yield* noteLostCredential(trigger, reason)
    yield* TestClock.adjust("2 hours")
    yield* noteLostCredential("main", reason)
    const notices = yield* (yield* Notices).list({ limit: 10, oldestFirst: true })
    assert.deepStrictEqual(
      notices.map(({ channel, facts }) => [
        channel,
        facts._tag === "credential_refused" && `${facts.trigger} ${facts.day}`
      ]),
      [
        ["ops", "main 2026-01-31"],
        ["ops", "other 2026-01-31"],
        ["ops", "main 2026-02-01"]
      ]
    )
  }).pipe(Effect.provide(Store.layerMemory), Effect.provideService(ConfigStore, makeStaticStore(snapshot)))
)
