/**
 * The configuration store over one YAML file. It is read again on SIGHUP and when the file changes; a file that does not
 * validate leaves the snapshot in force and is reported with every error. Replaced snapshots are held for the work that was
 * admitted under them.
 *
 * The file is looked at once a second by its path: editors and mounted ConfigMaps replace files by renaming, and not every
 * mount reports changes. A change is read once it has been quiet for a moment, and only a different content hash counts.
 */
import { Effect, Layer, PubSub, Queue, Semaphore, Stream } from "effect"
import { unwatchFile, watchFile } from "node:fs"
import { resolve } from "node:path"
import { formatIssue } from "./ConfigIssue.ts"
import { ConfigStore } from "./ConfigStore.ts"
import type { Env } from "./Credentials.ts"
import { ConfigInvalid, readConfigFile } from "./LoadConfig.ts"
import type { Snapshot } from "./Snapshot.ts"

/** How many replaced snapshots are held for runs that pin them. */
export const heldSnapshots = 32

/** How long a file must be quiet before it is read again. */
const quiet = "100 millis"

/** A store whose current snapshot can be replaced; older ones stay until `heldSnapshots` newer ones came. */
const holder = (first: Snapshot) => {
  const held = new Map<string, Snapshot>([[first.hash, first]])
  let current = first
  return {
    current: () => current,
    pinned: (hash: string) => held.get(hash) ?? current,
    replace: (snapshot: Snapshot): void => {
      held.delete(snapshot.hash)
      held.set(snapshot.hash, snapshot)
      current = snapshot
      const [oldest] = held.keys()
      if (held.size > heldSnapshots && oldest !== undefined) held.delete(oldest)
    }
  }
}

const make = Effect.fnUntraced(function* (file: string, env: Env) {
  const path = resolve(file)
  const first = yield* readConfigFile(path, env)
  if (first.snapshot === undefined) return yield* ConfigInvalid.of(first.issues)
  for (const issue of first.snapshot.warnings) yield* Effect.logWarning(`configuration: ${formatIssue(issue)}`)
  const snapshots = holder(first.snapshot)
  const changes = yield* PubSub.unbounded<Snapshot>()
  const one = yield* Semaphore.make(1)

  const reload = Effect.gen(function* () {
    const { snapshot, issues } = yield* readConfigFile(path, env)
    if (snapshot === undefined) {
      const errors = issues.filter((issue) => issue.severity === "error")
      yield* Effect.logError(
        `configuration ${path} is refused, the one in force stays (${snapshots.current().hash.slice(0, 12)}); ` +
          `${errors.length} error${errors.length === 1 ? "" : "s"}:\n${errors.map(formatIssue).join("\n")}`
      )
      return "refused" as const
    }
    if (snapshot.hash === snapshots.current().hash) return "unchanged" as const
    snapshots.replace(snapshot)
    yield* Effect.logInfo(`configuration ${path} is in force (${snapshot.hash.slice(0, 12)})`)
    for (const issue of snapshot.warnings) yield* Effect.logWarning(`configuration: ${formatIssue(issue)}`)
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
    reload,
    changes: Stream.fromPubSub(changes)
  })
})

/** One element for each SIGHUP and each change of the file that the path leads to. */
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

/** The store over a file; fails with every error when the file does not validate at start. */
export const layerFile = (file: string, env: Env): Layer.Layer<ConfigStore, ConfigInvalid> =>
  Layer.effect(ConfigStore, make(file, env))

/** A store that holds one snapshot, for commands, tests and the demo. */
export const storeOf = (snapshot: Snapshot): ConfigStore["Service"] =>
  ConfigStore.of({
    current: () => snapshot,
    pinned: () => snapshot,
    reload: Effect.succeed("unchanged"),
    changes: Stream.empty
  })

export const layerOf = (snapshot: Snapshot): Layer.Layer<ConfigStore> => Layer.succeed(ConfigStore, storeOf(snapshot))
