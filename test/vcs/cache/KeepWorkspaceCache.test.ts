/** The mirrors that a node evicts, by `workspaces.cache` of the configuration in force. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import * as KeepWorkspaceCache from "../../../src/vcs/cache/KeepWorkspaceCache.ts"
import { planEviction } from "../../../src/vcs/cache/PlanEviction.ts"
import { WorkspaceCache } from "../../../src/vcs/cache/WorkspaceCache.ts"
import type { KeptMirror } from "../../../src/vcs/cache/WorkspaceCache.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"

const gib = 1_073_741_824
const day = 86_400_000
const now = 100 * day
const kept = (folder: string, gigabytes: number, daysAgo: number): KeptMirror => ({
  folder,
  bytes: gigabytes * gib,
  usedAt: now - daysAgo * day,
  inUse: false
})
const mirrors = [kept("oldest", 20, 40), kept("older", 20, 10), kept("newest", 20, 1)]

describe("the workspace cache", () => {
  it.effect.each([
    ["nothing set: the one used longest ago goes over 50 GB", {}, ["oldest"]],
    ["max_total_gb", { max_total_gb: 20 }, ["oldest", "older"]],
    ["eviction", { eviction: "mru" }, ["newest"]],
    ["ttl_days", { eviction: "ttl", ttl_days: 5 }, ["oldest", "older"]]
  ] as const)("%s", ([, cache, expected]) =>
    Effect.gen(function* () {
      const evicted: Array<string> = []
      const cacheOfMirrors = Layer.succeed(WorkspaceCache, {
        tidy: (policy, at) =>
          Effect.sync(() => {
            const leaving = planEviction(mirrors, policy, at)
            evicted.push(...leaving.map(({ folder }) => folder))
            return { bytes: 0, evicted: leaving, orphans: 0 }
          })
      })
      yield* TestClock.setTime(now)
      yield* Layer.build(
        KeepWorkspaceCache.layer.pipe(
          Layer.provide([cacheOfMirrors, layerStatic(testSnapshot({ workspaces: { cache } })), Logger.layer([])])
        )
      )
      yield* TestClock.adjust("1 millis")
      expect(evicted).toEqual(expected)
    }).pipe(Effect.scoped)
  )
})
