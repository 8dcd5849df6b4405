/**
 * A host is unavailable while a review is published: comments, summary and status follow together when it is available again, the
 * status last.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import type { Fault } from "../../../demo/DemoForge.ts"
import { maxProbeInterval } from "../../../src/forge/HostHealth.ts"
import { fault } from "../../harness/FakeForge.ts"
import { at, faultWorld } from "../FaultWorld.ts"

const outage = 5 * 60_000
/** A write a second, and the clock of these tests, which runs while requests are under way. */
const slack = 60_000

const kinds: Readonly<Record<string, Fault>> = { "500": fault.broken, resets: fault.cut }

let made: Awaited<ReturnType<typeof faultWorld>> | undefined
beforeAll(async () => {
  made = await faultWorld({ host: "gitea", channel: { kind: "gitea_pr_review" }, target: "pull_request" })
}, 60_000)
afterAll(() => made?.stop())

describe.each(Object.entries(kinds))("down with %s", (_, thrown) => {
  it.effect(
    "publishes everything within one probe interval, the status last, and counts no attempt for it",
    Effect.fnUntraced(function* () {
      assert(made !== undefined)
      const { world, begin, host, strike } = made
      yield* Effect.gen(function* () {
        let now = 0
        yield* Effect.forkChild(
          Effect.forever(
            Effect.gen(function* () {
              now = yield* Clock.currentTimeMillis
              yield* Effect.sleep(500)
            })
          )
        )
        const { review } = yield* begin
        const before = host.forge.writes().length
        const refused: Array<number> = []
        // The summary is sent: the outage begins between the writes of one review.
        let upAt: number | undefined
        strike(() => {
          const posted = host.forge.writes().slice(before)
          if (upAt === undefined && posted.some(({ path }) => path.endsWith("/comments"))) upAt = now + outage
          if (upAt === undefined || now >= upAt) return undefined
          refused.push(now)
          return thrown
        })
        const judged = yield* review([at(1, 20), at(2, 29)], { tick: "500 millis" })
        assert(upAt !== undefined)
        assert.isAtMost(now, upAt + maxProbeInterval + slack)
        assert.strictEqual(judged.run.status, "succeeded")
        assert.isAtMost(judged.attempts, 2)
        assert.isAtMost(refused.length, 10 + outage / maxProbeInterval)
        const done = host.forge.writes().slice(before)
        assert.match(done.findLast(({ status }) => status !== undefined && status < 300)?.path ?? "", /\/statuses\//)
      }).pipe(Effect.provide(world))
    }),
    60_000
  )
})
