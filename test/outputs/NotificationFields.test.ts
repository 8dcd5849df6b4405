/** Fields of `outputs.notifications`: which channels a notice goes to, and what arrives there. */
import { Effect, Layer } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { readText } from "../../src/config/LoadConfig.ts"
import { newId } from "../../src/domain/Ids.ts"
import type { NoticeFacts } from "../../src/domain/Notice.ts"
import { HostTraffic } from "../../src/forge/HostTraffic.ts"
import { anyWriter, WriteOwner } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { planNotices } from "../../src/outputs/PlanNotices.ts"
import { prepareNotice } from "../../src/outputs/SendNotice.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { uncounted } from "../harness/Owners.ts"
import { stringify } from "yaml"

const silent: NoticeFacts = { _tag: "webhook_silent", trigger: "main", lastAt: 0, hours: 24 }
const failed: NoticeFacts = {
  _tag: "review_failed",
  workspace: "shop",
  repository: "team/shop",
  eventId: "event-1",
  events: 1,
  reason: verbatimReason("no model responded")
}

const channel = (name: string) => ({ name, kind: "feishu_bot", webhook_url_env: "HOOK" })
const channels = [channel("ops"), channel("team")]

const read = (routes: unknown, own: object = {}, env: Record<string, string> = {}): Snapshot => {
  const tree = {
    triggers: [{ name: "main", kind: "manual" }],
    workspaces: { instances: { shop: { source_repo: { trigger: "main", repo: "team/shop" }, ...own } } },
    review: { output_language: "en" },
    outputs: { channels, notifications: { routes } }
  }
  const { issues, snapshot } = readText(stringify(tree), { HOOK: "https://chat.example/hook", ...env }, { file: "f" })
  if (snapshot === undefined) throw new Error(JSON.stringify(issues))
  return snapshot
}
const planned = (snapshot: Snapshot, facts: NoticeFacts) => planNotices(snapshot, facts).map((notice) => notice.channel)

describe("routes of notices", () => {
  it.each([
    ["channels of a route", [{ channels: ["ops"] }], ["ops"], ["ops"]],
    ["kinds of a route", [{ kinds: ["webhook_silent"], channels: ["ops"] }], ["ops"], []],
    [
      "every matching route, each channel once",
      [{ channels: ["ops"] }, { kinds: ["review_failed"], channels: ["team", "ops"] }],
      ["ops"],
      ["ops", "team"]
    ],
    ["no routes", [], [], []]
  ])("%s", (_, routes, ofService, ofReview) => {
    const snapshot = read(routes)
    expect(planned(snapshot, silent)).toEqual(ofService)
    expect(planned(snapshot, failed)).toEqual(ofReview)
  })

  it("of a workspace replace the global ones for its reviews", () => {
    const own = { outputs: { notifications: { routes: [{ kinds: ["review_failed"], channels: ["team"] }] } } }
    const snapshot = read([{ channels: ["ops"] }], own)
    expect(planned(snapshot, failed)).toEqual(["team"])
    expect(planned(snapshot, silent)).toEqual(["ops"])
  })

  it("leave out channels that are notified otherwise", () => {
    const snapshot = read([{ channels: ["ops", "team"] }])
    expect(planNotices(snapshot, failed, new Set(["ops"])).map((notice) => notice.channel)).toEqual(["team"])
  })
})

describe("a notice that is sent", () => {
  let group: ChatPlatform
  beforeAll(async () => void (group = await startChatPlatform()))
  afterEach(() => void group.got.splice(0))
  afterAll(() => group.stop())

  const send = (snapshot: Snapshot, name: string, facts: NoticeFacts) =>
    Effect.runPromise(
      Effect.flatMap(prepareNotice(snapshot, { id: newId(), channel: name, facts }), ({ send: sent }) => sent).pipe(
        Effect.provideService(WriteOwner, anyWriter),
        Effect.provide(Layer.mergeAll(WritePermits.layerAlone, HostTraffic.layer, uncounted))
      )
    )

  it("arrives in the group of its channel", async () => {
    const snapshot = read([{ channels: ["ops"] }], {}, { HOOK: group.url })
    await send(snapshot, "ops", failed)
    expect(group.got).toHaveLength(1)
    expect(group.got[0]).toContain("Review failed")
    expect(group.got[0]).toContain("no model responded")
    expect(group.got[0]).not.toContain(group.url)
  })

  it("fails if its channel is gone", async () => {
    const snapshot = read([{ channels: ["ops"] }], {}, { HOOK: group.url })
    await expect(send(snapshot, "other", failed)).rejects.toThrow("channel other is no longer configured")
    expect(group.got).toEqual([])
  })
})
