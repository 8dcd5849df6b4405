/**
 * Implements the configuration store over one YAML file. The file is read again on SIGHUP and when it changes; an invalid file, or one that
 * is empty where there was content, is reported with every error, and the snapshot remains. Replaced snapshots are kept for the work that
 * was admitted under them.
 *
 * The file is polled once a second by its path: editors and mounted ConfigMaps replace files by renaming, and not every mount reports
 * changes. A change is read after it has been stable for a moment, and only a different content hash counts.
 */
import { Clock, Effect, Layer, PubSub, Queue, Semaphore, Stream } from "effect"
import { unwatchFile, watchFile } from "node:fs"
import { resolve } from "node:path"
import { judge } from "./Acceptable.ts"
import { formatIssue } from "./ConfigIssue.ts"
import { ConfigStore } from "./ConfigStore.ts"
import type { RefusedDocument } from "./ConfigStore.ts"
import type { Env } from "./Credentials.ts"
import { holdSnapshots } from "./HeldSnapshots.ts"
import { ConfigInvalid, readConfigFile } from "./LoadConfig.ts"
import type { TextOptions } from "./LoadConfig.ts"
import { readSettled } from "./SettledFile.ts"
import type { Snapshot } from "./Snapshot.ts"

/** Time for which a file must be stable before it is read again. */
const quiet = "100 millis"

/** Tasks of this node that affect validation. */
type ReadOptions = Pick<TextOptions, "receives">

const shortHash = ({ hash }: Snapshot): string => hash.slice(0, 12)

const make = Effect.fnUntraced(function* (file: string, env: Env, options: ReadOptions) {
  const path = resolve(file)
  const first = judge(yield* readConfigFile(path, env, options), path, undefined)
  if (first._tag === "Refused") return yield* ConfigInvalid.of(first.issues)
  for (const issue of first.snapshot.warnings)
    yield* Effect.logWarning("configuration warning", { issue: formatIssue(issue) })
  const snapshots = holdSnapshots(first.snapshot, env)
  let refused: RefusedDocument | undefined
  const changes = yield* PubSub.unbounded<Snapshot>()
  const one = yield* Semaphore.make(1)

  const reload = Effect.gen(function* () {
    const reading = Effect.map(readConfigFile(path, env, options), (read) => judge(read, path, snapshots.current()))
    const judged = yield* readSettled(path, reading, ({ _tag }) => _tag === "Accepted")
    if (judged._tag === "Refused") {
      const { issues, reason } = judged
      const since = refused?.since ?? (yield* Clock.currentTimeMillis)
      refused = { file: path, reason, errors: issues.length, line: issues[0]?.line, since }
      yield* Effect.logError("configuration refused, the current one stays in force", {
        file: path,
        current: shortHash(snapshots.current()),
        errors: issues.length,
        issues: issues.map(formatIssue).join("\n")
      })
      return "refused" as const
    }
    refused = undefined
    const { snapshot } = judged
    if (snapshot.hash === snapshots.current().hash) return "unchanged" as const
    yield* snapshots.replace(snapshot)
    yield* Effect.logInfo("configuration in force", { file: path, hash: shortHash(snapshot) })
    for (const issue of snapshot.warnings)
      yield* Effect.logWarning("configuration warning", { issue: formatIssue(issue) })
    yield* PubSub.publish(changes, snapshot)
    return "replaced" as const
  }).pipe(one.withPermits(1))

  yield* signals(path).pipe(
    Stream.debounce(quiet),
    Stream.runForEach(() => reload),
    Effect.forkScoped
  )
  return ConfigStore.of({
    current: snapshots.current,
    pinned: snapshots.pinned,
    keepIn: snapshots.keepIn,
    reload,
    refused: () => refused,
    changes: Stream.fromPubSub(changes)
  })
})

/** Emits an element for each SIGHUP and each change of the file that the path leads to. */
const signals = (path: string): Stream.Stream<void> =>
  Stream.callback<void>(
    (queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const poke = (): void => {
            Queue.offerUnsafe(queue, undefined)
          }
          process.on("SIGHUP", poke)
          watchFile(path, { interval: 1000, persistent: false }, poke)
          return poke
        }),
        (poke) =>
          Effect.sync(() => {
            unwatchFile(path, poke)
            process.off("SIGHUP", poke)
          })
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

/** Builds the store over a file; fails with every error if the file is invalid at start. */
export const layerFile = (file: string, env: Env, options: ReadOptions = {}): Layer.Layer<ConfigStore, ConfigInvalid> =>
  Layer.effect(ConfigStore, make(file, env, options))

/** Returns a store that holds one snapshot, for commands, tests and the demo. */
export const makeStaticStore = (snapshot: Snapshot): ConfigStore["Service"] =>
  ConfigStore.of({
    current: () => snapshot,
    pinned: () => Effect.succeed(snapshot),
    keepIn: () => Effect.void,
    reload: Effect.succeed("unchanged"),
    refused: () => undefined,
    changes: Stream.empty
  })

export const layerStatic = (snapshot: Snapshot): Layer.Layer<ConfigStore> =>
  Layer.succeed(ConfigStore, makeStaticStore(snapshot))
