/**
 * Implements the configuration store over one YAML file. The file is read again on SIGHUP and when it changes; an invalid file, or one that
 * is empty where there was content, is reported with every error, and the snapshot remains. Replaced snapshots are kept for the work that
 * was admitted under them. Where the file enables the database, each snapshot combines the file with one revision.
 *
 * The file is polled once a second by its path: editors and mounted ConfigMaps replace files by renaming, and not every mount reports
 * changes. A change is read after it has been stable for a moment, and only a different content hash counts.
 */
import { Clock, Effect, Layer, PubSub, Queue, Result, Semaphore, Stream } from "effect"
import { createHash } from "node:crypto"
import { unwatchFile, watchFile } from "node:fs"
import { resolve } from "node:path"
import { judge } from "./Acceptable.ts"
import type { Judged } from "./Acceptable.ts"
import type { ConfigIssue } from "../ConfigIssue.ts"
import { formatIssue, placedReason } from "../ConfigIssue.ts"
import { ConfigStore } from "../ConfigStore.ts"
import type { Activation, ConfigFileLines, RefusedDocument, RefusedRevision, StoredRevision } from "../ConfigStore.ts"
import type { Env } from "../Credentials.ts"
import { holdSnapshots } from "./HeldSnapshots.ts"
import type { DatabaseLayer, ParsedFile } from "../LayeredFile.ts"
import {
  combineRevision,
  keepPrepared,
  nothingLayered,
  parseFile,
  readBootstrap,
  readLayered,
  readRevision,
  toLines
} from "../LayeredFile.ts"
import { ConfigInvalid, readConfigFile, readFileText } from "../LoadConfig.ts"
import type { TextOptions } from "../LoadConfig.ts"
import { readSettled } from "./SettledFile.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { Reading } from "./Snapshots.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Time for which a file must be stable before it is read again. */
const quiet = "100 millis"

/** Tasks of this node that affect validation. */
type ReadOptions = Pick<TextOptions, "roles" | "unset">

/** Problems of a refused revision that are reported. */
const maxProblems = 20

interface FileStoreOptions<E> extends ReadOptions {
  /**
   * Reads the newest revisions of the database, newest first, with the namespaces of the file that the database cannot change. Called once,
   * if the file enables the database.
   */
  readonly revisions?: ((bootstrap: Snapshot) => Effect.Effect<ReadonlyArray<StoredRevision>, E>) | undefined
}

const shortHash = ({ hash }: Snapshot): string => hash.slice(0, 12)

/** Origin of the configuration: the file alone, or the file and a revision of the database. */
interface Source {
  readonly read: (layer: DatabaseLayer | undefined) => Effect.Effect<FileReading>
  /** The revision to start with; undefined without a database. */
  readonly layer: DatabaseLayer | undefined
  readonly reading: FileReading
}

interface FileReading {
  readonly reading: Reading
  /** The parsed file, if the database is enabled. */
  readonly parsed: ParsedFile | undefined
}

/** Selects the newest of these revisions that is valid with the file; fails with the problems of the newest. */
const selectLayer = Effect.fnUntraced(function* (
  parsed: ParsedFile,
  revisions: ReadonlyArray<StoredRevision>,
  options: ReadOptions
) {
  let refused: ReadonlyArray<ConfigIssue> | undefined
  for (const revision of revisions) {
    const layer = readRevision(revision)
    const reading = Result.isSuccess(layer) ? readLayered(parsed, layer.success, options) : undefined
    if (Result.isSuccess(layer) && reading?.snapshot !== undefined) return layer.success
    const issues = Result.isFailure(layer) ? layer.failure : (reading?.issues ?? [])
    yield* Effect.logError("configuration revision refused", {
      revision: revision.number,
      issues: issues
        .filter(({ severity }) => severity === "error")
        .map(formatIssue)
        .slice(0, maxProblems)
        .join("\n")
    })
    refused ??= issues
  }
  return refused === undefined ? nothingLayered : yield* ConfigInvalid.of(refused)
})

/** Opens the database, if the file enables it. */
const openSource = Effect.fnUntraced(function* <E>(path: string, env: Env, options: FileStoreOptions<E>) {
  const readFileOnly = (): Effect.Effect<FileReading> =>
    Effect.map(readConfigFile(path, env, options), (reading) => ({ reading, parsed: undefined }))
  const layered = (layer: DatabaseLayer): Effect.Effect<FileReading> =>
    Effect.map(readFileText(path), (text) => {
      if (Result.isFailure(text)) return { reading: text.failure, parsed: undefined }
      const parsed = parseFile(text.success, path, env)
      return { reading: readLayered(parsed, layer, options), parsed }
    })
  const read: Source["read"] = (layer) => (layer === undefined ? readFileOnly() : layered(layer))
  const { parsed } = yield* layered(nothingLayered)
  const bootstrap = parsed === undefined ? undefined : readBootstrap(parsed)
  const enabled = bootstrap?.document.config_sources.database.enabled === true
  if (parsed === undefined || bootstrap === undefined || !enabled || options.revisions === undefined)
    return { read, layer: undefined, reading: yield* readFileOnly() } satisfies Source
  const layer = yield* selectLayer(parsed, yield* options.revisions(bootstrap), options)
  return { read, layer, reading: yield* layered(layer) } satisfies Source
})

const make = Effect.fnUntraced(function* <E>(file: string, env: Env, options: FileStoreOptions<E>) {
  const path = resolve(file)
  const source = yield* openSource(path, env, options)
  const first = judge(source.reading.reading, path, undefined)
  if (first._tag === "Refused") return yield* ConfigInvalid.of(first.issues)
  yield* logWarnings(first.snapshot)
  const { replace: replaceSnapshot, ...snapshots } = holdSnapshots(first.snapshot, env)
  let { layer } = source
  let { parsed } = source.reading
  let refused: RefusedDocument | undefined
  let refusedRevision: RefusedRevision | undefined
  let adopt: Effect.Effect<void> = Effect.void
  const prepared = keepPrepared(options)
  const changes = yield* PubSub.unbounded<Snapshot>()
  const one = yield* Semaphore.make(1)

  /** Replaces the snapshot and its layer, then logs and publishes the change: who receives it reads both. */
  const replace = Effect.fnUntraced(function* (snapshot: Snapshot, next: typeof layer, revision?: number) {
    const isNew = snapshot.hash !== snapshots.current().hash
    if (isNew) yield* replaceSnapshot(snapshot)
    layer = next
    if (isNew) yield* Effect.andThen(logInForce(path, snapshot, revision), PubSub.publish(changes, snapshot))
    return isNew
  })

  const reload = Effect.gen(function* () {
    const reading = Effect.map(source.read(layer), (read) => ({
      parsed: read.parsed,
      judged: judge(read.reading, path, snapshots.current())
    }))
    const { judged, parsed: next } = yield* readSettled(path, reading, (result) => result.judged._tag === "Accepted")
    if (judged._tag === "Refused") {
      refused = yield* describeRefused(path, judged, refused?.since)
      yield* logRefused(path, snapshots.current(), judged.issues)
      return "refused" as const
    }
    refused = undefined
    parsed = next
    return (yield* replace(judged.snapshot, layer)) ? ("replaced" as const) : ("unchanged" as const)
  }).pipe(one.withPermits(1))

  const activate = Effect.fnUntraced(function* (revision: StoredRevision) {
    if (parsed === undefined) return refusal([{ _tag: "DatabaseDisabled" }])
    const read = prepared.take(revision, parsed) ?? combineRevision(parsed, revision, options)
    if (Result.isFailure(read)) {
      refusedRevision = { head: { number: revision.number, hash: revision.hash }, errors: read.failure.length }
      return refusal(read.failure.map(placedReason))
    }
    refusedRevision = undefined
    yield* replace(read.success.snapshot, read.success.layer, revision.number)
    return { _tag: "Active" } as const
  }, one.withPermits(1))

  yield* signals(path).pipe(
    Stream.debounce(quiet),
    Stream.runForEach(() => reload),
    Effect.forkScoped
  )
  return ConfigStore.of({
    ...snapshots,
    reload,
    activate,
    prepare: prepared.put,
    adoptWith: (next) => {
      adopt = next
    },
    adoptHead: () => (layer === undefined ? undefined : adopt),
    layered: () =>
      parsed === undefined || layer === undefined ? undefined : { ...toLines(parsed), active: layer.head },
    lines: Effect.suspend(() => (parsed === undefined ? readLines(path, env) : Effect.succeed(toLines(parsed)))).pipe(
      Effect.map((lines) =>
        lines === undefined || refused === undefined ? lines : { ...lines, line: () => undefined }
      )
    ),
    refused: () => refused,
    refusedRevision: () => refusedRevision,
    changes: Stream.fromPubSub(changes)
  })
})

/** Reads a file for the lines of its values; undefined if it is gone. */
const readLines = (path: string, env: Env): Effect.Effect<ConfigFileLines | undefined> =>
  Effect.map(readFileText(path), (text) =>
    Result.isFailure(text) ? undefined : toLines(parseFile(text.success, path, env))
  )

/** The digest names the file by its content, so that all nodes give it one name. `since`: time of an earlier refusal. */
const describeRefused = Effect.fnUntraced(function* (
  file: string,
  { issues, reason }: Extract<Judged, { readonly _tag: "Refused" }>,
  since: number | undefined
) {
  const text = yield* readFileText(file)
  const digest = createHash("sha256")
    .update(Result.isSuccess(text) ? text.success : JSON.stringify(issues.map((issue) => issue.reason)))
    .digest("hex")
  const now = yield* Clock.currentTimeMillis
  return { file, reason, errors: issues.length, line: issues[0]?.line, since: since ?? now, digest }
})

const logRefused = (file: string, current: Snapshot, issues: ReadonlyArray<ConfigIssue>) =>
  Effect.logError("configuration refused, the current one stays in force", {
    file,
    current: shortHash(current),
    errors: issues.length,
    issues: issues.map(formatIssue).join("\n")
  })

const refusal = (problems: ReadonlyArray<Reason>): Activation => ({
  _tag: "Refused",
  problems: problems.slice(0, maxProblems)
})

const logWarnings = ({ warnings }: Snapshot) =>
  Effect.forEach(warnings, (issue) => Effect.logWarning("configuration warning", { issue: formatIssue(issue) }), {
    discard: true
  })

const logInForce = (file: string, snapshot: Snapshot, revision: number | undefined) => {
  const fields = { file, ...(revision === undefined ? {} : { revision }), hash: shortHash(snapshot) }
  return Effect.andThen(Effect.logInfo("configuration in force", fields), logWarnings(snapshot))
}

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
export const layerFile = <E = never>(
  file: string,
  env: Env,
  options: FileStoreOptions<E> = {}
): Layer.Layer<ConfigStore, ConfigInvalid | E> => Layer.effect(ConfigStore, make(file, env, options))

/** Returns a store that holds one snapshot, for commands, tests and the demo. */
export const makeStaticStore = (snapshot: Snapshot): ConfigStore["Service"] =>
  ConfigStore.of({
    current: () => snapshot,
    pinned: () => Effect.succeed(snapshot),
    pinnedHashes: Effect.succeed(new Set<string>()),
    resealPinned: () => Effect.succeed({ resealed: 0, failed: [] }),
    pinnedRevisions: Effect.succeed(new Set<number>()),
    keepIn: () => Effect.void,
    layered: () => undefined,
    lines: Effect.succeed(undefined),
    activate: () => Effect.succeed(refusal([{ _tag: "NoDatabaseHere" }])),
    prepare: () => {},
    adoptWith: () => {},
    adoptHead: () => undefined,
    reload: Effect.succeed("unchanged"),
    refused: () => undefined,
    refusedRevision: () => undefined,
    changes: Stream.empty
  })

export const layerStatic = (snapshot: Snapshot): Layer.Layer<ConfigStore> =>
  Layer.succeed(ConfigStore, makeStaticStore(snapshot))
