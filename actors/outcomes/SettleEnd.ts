/** Decides what became of the findings of a change that ended, as its host or its server has it, and stores it. */
import { Clock, Effect, Metric } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { categoryLabel } from "../../src/domain/CanonicalCategory.ts"
import { settleOutcome } from "../../src/domain/FindingOutcome.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { Settlements } from "../../src/store/Settlements.ts"
import type { ClaimedEnd } from "../../src/store/Settlements.ts"
import { readEndedPull } from "./EndedPull.ts"
import { readEndedShelf } from "./EndedShelf.ts"

/** `settled`: the outcomes are stored. `open`: the change is open again, or its end is decided. `unconfigured`: its workspace or its host is no longer configured. */
type Settled = "open" | "settled" | "unconfigured"

/** Decides about the findings, and stores their outcomes. May be repeated. */
export const settleEnd = Effect.fn("settleEnd")(function* (end: ClaimedEnd) {
  const settlements = yield* Settlements
  const snapshot = (yield* ConfigStore).current()
  const undecided = yield* settlements.undecided(end)
  const read = yield* isForgeKind(end.provider)
    ? readEndedPull(end, snapshot, undecided)
    : readEndedShelf(end, snapshot, undecided)
  if (read === undefined) return "unconfigured" satisfies Settled
  if (read === "open") {
    yield* settlements.settle(end, [], yield* Clock.currentTimeMillis)
    return "open" satisfies Settled
  }
  const { change, records, states } = read
  const now = yield* Clock.currentTimeMillis
  const outcomes = records.map((one, at) => settleOutcome(one, states[at] ?? one.outcome, change, now))
  const count = yield* settlements.settle(end, outcomes, now)
  for (const { category, outcome, severity } of outcomes) {
    const labels = { outcome, severity, category: categoryLabel(category) }
    yield* Metric.update(Metric.withAttributes(Metrics.settledFindings, labels), 1)
  }
  yield* Metric.update(Metrics.settlingDuration, (now - end.receivedAt) / 1000)
  yield* Effect.logInfo("findings of an ended change decided", {
    target: end.targetKey,
    event_id: end.eventId,
    end: change.end,
    findings: count
  })
  return "settled" satisfies Settled
})
