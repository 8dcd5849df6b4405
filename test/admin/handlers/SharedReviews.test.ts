/** Limits of requests for shared reviews: wrong links of a client, and reads of one link. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeSharedReviews } from "../../../src/admin/handlers/SharedReviews.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { sharedPath } from "../../../src/domain/ReviewLink.ts"
import { makeReviewLink } from "../../../src/outputs/ReviewLinks.ts"
import * as Store from "../../../src/store/StoreLayer.ts"

const now = 1_800_000_000_000
const run = "01a20e2f-24ce-7008-a2d4-896ff3ed3817"
const settings = { server: { base_url: "https://aicr.test", links: { key: "k".repeat(32) } } }
const config = Layer.unwrap(Effect.map(toSnapshot(settings, {}), layerStatic))

layer(Layer.merge(config, Store.layerMemory))("requests for shared reviews", (it) => {
  it.effect("are limited for a client that tries wrong links, and for one link, until the minute ends", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const respond = makeSharedReviews()
      const link = makeReviewLink(yield* toSnapshot(settings, {}), run, now)
      const [, right = ""] = link?.url.split(sharedPath) ?? []
      const open = (client: string, path: string) => respond({ client, path, acceptLanguage: "" })
      const statuses = Effect.fnUntraced(function* (count: number, client: string, path: string) {
        const found = yield* Effect.forEach(Array.from({ length: count }), () => open(client, path))
        return [...Map.groupBy(found, ({ status }) => status)].map(([status, of]) => [status, of.length])
      })
      expect(yield* statuses(40, "stranger", `${right}x`)).toEqual([
        [404, 30],
        [429, 10]
      ])
      expect((yield* open("stranger", "")).headers["retry-after"]).toBe("60")
      // The review does not exist. Others, and right links of the same client, are not limited.
      expect(yield* statuses(1, "other", `${right}x`)).toEqual([[404, 1]])
      expect(yield* statuses(130, "stranger", right)).toEqual([
        [404, 120],
        [429, 10]
      ])
      yield* TestClock.adjust("1 minute")
      expect(yield* statuses(1, "stranger", `${right}x`)).toEqual([[404, 1]])
      expect(yield* statuses(1, "stranger", right)).toEqual([[404, 1]])
    })
  )
})
