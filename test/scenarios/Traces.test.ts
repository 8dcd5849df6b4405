/** The trace of a change, as a collector receives it from real processes. */
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { Installation, makeToken, secret } from "../harness/Installation.ts"
import type { CollectedSpan } from "../harness/TraceCollector.ts"
import { TraceCollector } from "../harness/TraceCollector.ts"
import { waitUntil } from "../harness/Wait.ts"

const named = (spans: ReadonlyArray<CollectedSpan>, name: string): ReadonlyArray<CollectedSpan> =>
  spans.filter((span) => span.name === name)

/** Returns the names on the way from a span to its root. */
const ancestry = (spans: ReadonlyArray<CollectedSpan>, span: CollectedSpan): ReadonlyArray<string> => {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return parent === undefined ? [span.name] : [span.name, ...ancestry(spans, parent)]
}

const steps = ["delivery", "queue wait", "review", "checkout", "llm.call", "publication"]

it("is one trace from the delivery to each publication", async () => {
  await using collector = await TraceCollector.make()
  await using at = await Installation.make({ queue: "memory", env: collector.env })
  await at.aicr.start()
  const pull = await at.open("change")
  const { body } = await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  const { spans } = collector
  await waitUntil(() => steps.every((name) => named(spans, name).length > 0), {
    describe: () => JSON.stringify(spans.map(({ name }) => name))
  })
  const traceId = String(Object(body).event_id).replaceAll("-", "")
  // The host may report its change again, which is another delivery with a trace of its own.
  const own = spans.filter((span) => span.traceId === traceId)
  const deliveries = new Set(named(spans, "delivery").map((span) => span.traceId))
  expect(spans.filter((span) => !deliveries.has(span.traceId))).toEqual([])
  expect(steps.filter((name) => named(own, name).length === 0)).toEqual([])
  const [root, ...others] = named(own, "delivery")
  expect(others).toEqual([])
  expect(root).toMatchObject({
    spanId: traceId.slice(16),
    attributes: { decision: "queued", repository: expect.any(String) }
  })
  expect(root?.parentSpanId).toBeUndefined()
  for (const name of steps.slice(1))
    for (const span of named(own, name)) expect(ancestry(own, span).at(-1)).toBe("delivery")
  const [call] = named(spans, "llm.call")
  expect(call === undefined ? [] : ancestry(spans, call)).toContain("review")
  expect(call?.attributes).toMatchObject({ model: "fake/fake" })
  expect(at.aicr.log).toContain(`"trace":"${traceId}"`)
  for (const credential of [makeToken(0), secret, "key-of-the-model"])
    expect(collector.received).not.toContain(credential)
})

it("is one trace across the nodes of a cluster", async () => {
  await using collector = await TraceCollector.make()
  await using at = await ClusterInstallation.make({ repositories: 1, env: collector.env })
  await Promise.all([
    at.start("front", "ingress"),
    at.start("work", "executor"),
    at.start("middle", "actors,publisher")
  ])
  const pull = await at.open("change", at.repositories[0] ?? "")
  await at.deliver(pull)
  await at.reviewed([pull], 60_000)
  const { spans } = collector
  await waitUntil(() => steps.every((name) => named(spans, name).length > 0), {
    describe: () => JSON.stringify(spans.map(({ name }) => name))
  })
  const [delivery, review, publication] = ["delivery", "review", "publication"].map((name) => named(spans, name)[0])
  expect([review?.traceId, publication?.traceId]).toEqual([delivery?.traceId, delivery?.traceId])
  expect(new Set([delivery?.process, review?.process, publication?.process]).size).toBe(3)
}, 180_000)
