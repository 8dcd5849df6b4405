/** Holds snapshots by hash: the current one, those that work is pinned to, and an archive for others. */
import { Clock, Effect, Result, Schedule } from "effect"
import { RepeatedWarnings } from "../../domain/RepeatedWarnings.ts"
import type { ConfigStore, SnapshotArchive } from "../ConfigStore.ts"
import type { Env } from "../Credentials.ts"
import type { Snapshot } from "../Snapshot.ts"
import { archive as archived, archivedRevision, resealArchived, restore } from "./SnapshotArchive.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Number of snapshots in memory, in addition to those that work is pinned to. */
export const heldSnapshots = 32

interface Failure {
  readonly message: string
}

const noArchive: SnapshotArchive<never> = {
  keep: () => Effect.void,
  find: () => Effect.undefined,
  pinned: Effect.succeed(new Set()),
  replace: () => Effect.succeed(false)
}

/** Retries while the archive is unavailable. This delays the caller, whose next steps need the same database. */
const untilDone =
  (operation: string) =>
  <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const warnings = new RepeatedWarnings()
      const report = Effect.fnUntraced(function* (error: Failure) {
        const suppressed = warnings.admit(operation, yield* Clock.currentTimeMillis)
        if (suppressed === undefined) return
        yield* Effect.logWarning("configuration archive unavailable, retry scheduled", {
          operation,
          error: error.message,
          suppressed
        })
      })
      return effect.pipe(Effect.tapError(report), Effect.retry(Schedule.spaced("2 seconds")), Effect.orDie)
    })

export interface HeldSnapshots extends Pick<
  ConfigStore["Service"],
  "current" | "pinned" | "pinnedHashes" | "pinnedRevisions" | "keepIn" | "resealPinned"
> {
  /** Archives the snapshot, then makes it the current one. */
  readonly replace: (snapshot: Snapshot) => Effect.Effect<void>
}

export const holdSnapshots = (first: Snapshot, env: Env): HeldSnapshots => {
  const held = new Map<string, Snapshot>([[first.hash, first]])
  const unknown = new Set<string>()
  let current = first
  let archive: SnapshotArchive<Failure> = noArchive

  const hold = (snapshot: Snapshot): void => {
    held.delete(snapshot.hash)
    held.set(snapshot.hash, snapshot)
  }
  /** Removes snapshots that are not pinned. Pinned ones stay, because literal credentials may exist in memory only. */
  const release = Effect.gen(function* () {
    if (held.size <= heldSnapshots) return
    const pinned = yield* untilDone("list pinned configurations")(archive.pinned)
    for (const hash of [...held.keys()].slice(0, held.size - heldSnapshots))
      if (!pinned.has(hash) && hash !== current.hash) held.delete(hash)
  })
  const read = Effect.fnUntraced(function* (hash: string) {
    const found = yield* untilDone("read pinned configuration")(archive.find(hash))
    const snapshot = found === undefined ? undefined : restore(found, env, current)
    if (snapshot === undefined) return undefined
    // Clients are cached by the profiles of a snapshot, so all work pinned to it must get the same one.
    const known = held.get(hash)
    if (known !== undefined) return known
    held.set(hash, snapshot)
    return snapshot
  })
  return {
    current: () => current,
    pinnedHashes: Effect.suspend(() => untilDone("list pinned configurations")(archive.pinned)),
    pinnedRevisions: Effect.gen(function* () {
      const numbers = new Set<number>()
      for (const hash of yield* untilDone("list pinned configurations")(archive.pinned)) {
        const found = yield* untilDone("read pinned configuration")(archive.find(hash))
        const number = found === undefined ? undefined : archivedRevision(found)
        if (number !== undefined) numbers.add(number)
      }
      return numbers
    }),
    resealPinned: Effect.fnUntraced(function* (keys) {
      const failed: Array<Reason> = []
      let resealed = 0
      for (const hash of yield* untilDone("list pinned configurations")(archive.pinned)) {
        const found = yield* untilDone("read pinned configuration")(archive.find(hash))
        const next = found === undefined ? undefined : resealArchived(found.document, keys)
        if (next === undefined || found === undefined) continue
        if (Result.isFailure(next))
          failed.push({ _tag: "RecordNotSealed", record: `configuration ${hash.slice(0, 12)}`, why: next.failure })
        else if (next.success !== undefined) {
          const replaced = archive.replace(hash, found.document, next.success)
          if (yield* untilDone("replace pinned configuration")(replaced)) resealed++
        }
      }
      return { resealed, failed }
    }),
    pinned: Effect.fnUntraced(function* (hash: string) {
      const known = held.get(hash) ?? (yield* read(hash))
      if (known !== undefined) return known
      if (!unknown.has(hash)) {
        if (unknown.size >= 1000) unknown.clear()
        unknown.add(hash)
        yield* Effect.logWarning("pinned configuration not found, current one used").pipe(
          Effect.annotateLogs({ config_hash: hash, current: current.hash })
        )
      }
      return current
    }),
    keepIn: Effect.fnUntraced(function* (into) {
      yield* into.keep(archived(current, env))
      archive = into
    }),
    replace: Effect.fnUntraced(function* (snapshot: Snapshot) {
      yield* untilDone("store new configuration")(archive.keep(archived(snapshot, env)))
      hold(snapshot)
      current = snapshot
      yield* release
    })
  }
}
