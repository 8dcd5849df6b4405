/**
 * Stores the analysis of a run. It is paid for, so it is spooled immediately while the database is unavailable and stored again with a
 * growing delay while the lease is held; losing the lease interrupts this. The next attempt at the same review adopts an analysis that
 * could not be stored.
 */
import { Clock, Effect, Metric, Schedule } from "effect"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { growingPauses } from "../../src/domain/Backoff.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { AnalysisSpool } from "../../src/store/AnalysisSpool.ts"
import type { SpoolKey } from "../../src/store/AnalysisSpool.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"

/** Delay between writes to unavailable records while a lease is held. */
export const whileUnavailable = Schedule.jittered(growingPauses("250 millis", "10 seconds"))

const keyOf = ({ targetKey, head, base, configHash, entryId, change }: Run): SpoolKey => ({
  targetKey,
  head,
  base,
  configHash,
  entryId: change.requestedBy === undefined ? undefined : entryId
})

/** Repeats `save` while the records are unavailable. */
export const saveSpooled = Effect.fnUntraced(function* <A, R>(
  run: Run,
  analysis: Analysis,
  save: Effect.Effect<A, StoreError, R>
): Effect.fn.Return<A, StoreError, R | AnalysisSpool> {
  const spool = yield* AnalysisSpool
  const key = keyOf(run)
  let failures = 0
  const spooling = Effect.gen(function* () {
    yield* spool.keep(key, analysis, yield* Clock.currentTimeMillis)
    yield* Effect.logWarning("analysis spooled until the records are available").pipe(
      Effect.annotateLogs({ run_id: run.id })
    )
  }).pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning("analysis could not be spooled").pipe(Effect.annotateLogs({ run_id: run.id, error: message }))
    )
  )
  const saved = yield* save.pipe(
    Effect.tapError(({ message }) => {
      failures += 1
      const warning = Effect.logWarning("analysis could not be stored, retry scheduled").pipe(
        Effect.annotateLogs({ run_id: run.id, attempt: failures, error: message })
      )
      return failures === 1 ? Effect.andThen(warning, Effect.uninterruptible(spooling)) : warning
    }),
    Effect.retry({ schedule: whileUnavailable, while: ({ reason }) => reason === "unavailable" })
  )
  if (failures > 0) {
    yield* Effect.logInfo("analysis stored after retries").pipe(
      Effect.annotateLogs({ run_id: run.id, attempts: failures + 1 })
    )
    yield* removeSpooled(run)
  }
  return saved
})

/** Returns the spooled analysis of an earlier attempt. */
export const findSpooled = Effect.fnUntraced(
  function* (run: Run) {
    const analysis = yield* (yield* AnalysisSpool).find(keyOf(run), yield* Clock.currentTimeMillis)
    if (analysis === undefined) return undefined
    yield* Effect.logInfo("spooled analysis adopted").pipe(Effect.annotateLogs({ run_id: run.id }))
    yield* Metric.update(Metrics.spooledAnalyses, 1)
    return analysis
  },
  (effect, run) =>
    Effect.catch(effect, ({ message }) =>
      Effect.as(
        Effect.logWarning("spool could not be read").pipe(Effect.annotateLogs({ run_id: run.id, error: message })),
        undefined
      )
    )
)

/** Removes the spooled analysis. One that remains after a failure expires by age. */
export const removeSpooled = Effect.fnUntraced(function* (run: Run) {
  yield* Effect.catch((yield* AnalysisSpool).remove(keyOf(run)), ({ message }) =>
    Effect.logWarning("spooled analysis could not be removed").pipe(
      Effect.annotateLogs({ run_id: run.id, error: message })
    )
  )
})
