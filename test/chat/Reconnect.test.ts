/** Tests when a long connection is opened again. */
import { describe, expect, it } from "vitest"
import { nextConnect } from "../../src/chat/Reconnect.ts"
import type { EndedSession } from "../../src/chat/Reconnect.ts"

const ended = (more: Partial<EndedSession>): EndedSession => ({
  reason: "lost",
  failures: 1,
  wasReady: false,
  kickedBeforeMillis: undefined,
  pacing: undefined,
  ...more
})

describe("nextConnect", () => {
  it.each<readonly [string, Partial<EndedSession>, number | undefined, number | undefined]>([
    ["at once after a working connection", { wasReady: true }, 0, 500],
    ["in the time of the platform", { wasReady: true, pacing: { firstMillis: 30_000, intervalMillis: 1 } }, 0, 15_000],
    ["after a first failure", {}, 500, 750],
    ["after a fifth", { failures: 5 }, 8000, 12_000],
    ["at most every minute", { failures: 1000 }, 30_000, 45_000],
    ["slowly when refused", { reason: "refused" }, 15_000, 22_500],
    ["more slowly when refused again", { reason: "refused", failures: 10 }, 300_000, 450_000],
    ["slowly at the limit of connections", { reason: "limited" }, 30_000, 45_000],
    ["once after a replacement", { reason: "kicked", wasReady: true }, 60_000, 90_000],
    ["not after a second replacement", { reason: "kicked", kickedBeforeMillis: 70_000 }, undefined, undefined],
    ["again after a replacement of the day before", { reason: "kicked", kickedBeforeMillis: 8e7 }, 60_000, 90_000]
  ])("%s", (_, facts, first, middle) => {
    expect([nextConnect(ended(facts), 0), nextConnect(ended(facts), 0.5)]).toEqual([first, middle])
  })
})
