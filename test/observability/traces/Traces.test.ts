import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { addRootSpan, toTraceIds, withEventSpan } from "../../../src/domain/EventTrace.ts"
import * as Traces from "../../../src/observability/traces/Traces.ts"
import { TraceCollector } from "../../harness/TraceCollector.ts"
import { waitUntil } from "../../harness/Wait.ts"

const eventId = "01a208db-be93-7004-8757-e05ffe997d7b"

describe("ids of a trace", () => {
  it.each([
    [eventId, { traceId: "01a208dbbe9370048757e05ffe997d7b", spanId: "8757e05ffe997d7b" }],
    ["schedule", { traceId: "5f72005e81c4ecbd5aa3588e80e3daf0", spanId: "5aa3588e80e3daf0" }]
  ])("are computed from the id %s", (id, ids) => {
    expect(toTraceIds(id)).toEqual(ids)
  })
})

describe("exported traces", () => {
  it("contain no credential of an error or an attribute", async () => {
    await using collector = await TraceCollector.make()
    await Effect.fail(new Error("cannot fetch https://user:pa55word@git.example/x")).pipe(
      withEventSpan("review", [eventId], { url: "https://git.example/?token=abc123def456" }),
      Effect.exit,
      Effect.provide(Traces.layer(collector.env)),
      Effect.runPromise
    )
    await waitUntil(() => collector.spans.length > 0, { describe: () => collector.received })
    expect(collector.received).toContain("cannot fetch https://")
    expect(collector.received).not.toMatch(/pa55word|abc123def456/)
  })

  it("contain only spans of events, with links to the events that a review settles too", async () => {
    await using collector = await TraceCollector.make()
    const other = "01a208db-be93-7004-8757-e05ffe997d00"
    await Effect.all([
      Effect.withSpan(Effect.void, "poll"),
      addRootSpan({ eventId, name: "delivery", from: 1000, to: 2000, attributes: {} }),
      Effect.withSpan(Effect.void, "inside").pipe(withEventSpan("review", [eventId, other]))
    ]).pipe(Effect.provide(Traces.layer(collector.env)), Effect.runPromise)
    await waitUntil(() => collector.spans.length >= 3, { describe: () => collector.received })
    expect(collector.spans.map(({ name }) => name).toSorted()).toEqual(["delivery", "inside", "review"])
    expect(collector.received).toContain(`"links":[{"traceId":"${toTraceIds(other).traceId}"`)
  })

  it("are not made without a collector", () => {
    expect(Effect.runSync(Effect.provide(Effect.currentSpan.pipe(Effect.option), Traces.layer({})))._tag).toBe("None")
  })
})
