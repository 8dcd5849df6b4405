/**
 * Keeps the member files that channels name. A file is read when it is first needed; then changes of its folder are watched, and its digest
 * is compared from time to time, because not every mount reports changes. A file that is refused leaves the directories of its last valid
 * content. Files that no publication has needed for an hour are no longer watched.
 */
import { Clock, Context, Deferred, Duration, Effect, FiberMap, Layer, Queue, Stream } from "effect"
import { watch, constants } from "node:fs"
import { dirname, resolve, relative, isAbsolute } from "node:path"
import type { MemberDirectory } from "../../config/schema/Outputs.ts"
import type { Directory } from "./Member.ts"
import { readInThread } from "./ReadInThread.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import { createHash } from "node:crypto"
import { open, realpath } from "node:fs/promises"
import { maxMemberFileBytes } from "./MemberFile.ts"

/** Reads the text of a member file below a trusted folder, whatever links lead to it. */

type MemberText =
  | { readonly _tag: "Text"; readonly text: string; readonly digest: string }
  /** The content has the digest that was given. */
  | { readonly _tag: "Same" }
  | { readonly _tag: "Refused"; readonly reason: string }

/** Opening does not wait for the other end of a pipe, and follows no link that replaces the file after its path was resolved. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

const refuse = (reason: string): MemberText => ({ _tag: "Refused", reason })

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "error"

const isBelow = (path: string, root: string): boolean => {
  const way = relative(root, path)
  return way !== "" && way !== ".." && !way.startsWith("../") && !isAbsolute(way)
}

const readMemberText = async (path: string, root: string, digest: string | undefined): Promise<MemberText> => {
  try {
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)])
    if (!isBelow(real, realRoot))
      return refuse("it is outside of allowed_root; move it below that folder, or change allowed_root")
    const file = await open(real, openFlags)
    try {
      const stat = await file.stat()
      if (!stat.isFile()) return refuse("it is not a file")
      if (stat.size > maxMemberFileBytes)
        return refuse(
          `it has ${stat.size} bytes; at most 4 MiB are read: remove members who write no changes, or distribute them over several files`
        )
      // A file that grows while it is read is read again at the next check.
      const { bytesRead, buffer } = await file.read(Buffer.alloc(stat.size), 0, stat.size, 0)
      const bytes = buffer.subarray(0, bytesRead)
      const found = createHash("sha256").update(bytes).digest("hex")
      if (found === digest) return { _tag: "Same" }
      return { _tag: "Text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), digest: found }
    } finally {
      await file.close()
    }
  } catch (error) {
    return refuse(error instanceof TypeError ? "it is not text in UTF-8" : `it cannot be read (${codeOf(error)})`)
  }
}

const defaults = { debounceMillis: 300, pollSeconds: 30 } as const
const idleMillis = Duration.toMillis("1 hour")
const maxFiles = 200

interface Settings {
  readonly path: string
  readonly root: string
  readonly watch: boolean
  readonly debounceMillis: number
  readonly pollSeconds: number
}

/** A file that is kept. */
interface Kept {
  readonly settings: Settings
  readonly ready: Deferred.Deferred<void>
  digest: string | undefined
  refusal: string | undefined
  directories: ReadonlyMap<string, Directory>
  usedAt: number
}

/** Returns undefined for a directory that is not a file. */
const toSettings = (baseDir: string, directory: MemberDirectory): Settings | undefined => {
  if (directory.source !== "file" || directory.path === undefined) return undefined
  return {
    path: resolve(baseDir, directory.path),
    root: directory.allowed_root === undefined ? baseDir : resolve(baseDir, directory.allowed_root),
    watch: directory.watch ?? true,
    debounceMillis: directory.debounce_ms ?? defaults.debounceMillis,
    pollSeconds: directory.poll_interval_seconds ?? defaults.pollSeconds
  }
}

const reload = Effect.fnUntraced(function* (kept: Kept) {
  const { path, root } = kept.settings
  const read = yield* Effect.promise(() => readMemberText(path, root, kept.digest))
  if (read._tag === "Same") return
  const reading =
    read._tag === "Text"
      ? yield* readInThread(read.text)
      : ({ _tag: "Refused", issues: [verbatimReason(read.reason)] } as const)
  if (reading._tag === "Refused") {
    const { issues } = reading
    const refusal = JSON.stringify(issues)
    if (refusal !== kept.refusal)
      yield* Effect.logError("member file refused, its last valid content remains", { file: path, issues })
    kept.refusal = refusal
    return
  }
  kept.refusal = undefined
  kept.digest = read._tag === "Text" ? read.digest : undefined
  kept.directories = reading.directories
  yield* Effect.logInfo("member file in force", { file: path, directories: reading.directories.size })
})

/** Emits an element for each change in the folder of the file, which also covers files that are replaced by renaming. */
const changes = (path: string): Stream.Stream<void> =>
  Stream.callback<void>(
    (queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          try {
            const watcher = watch(dirname(path), { persistent: false }, () => {
              Queue.offerUnsafe(queue, undefined)
            })
            // A folder that is removed is found again by the periodic check.
            watcher.on("error", () => watcher.close())
            return watcher
          } catch {
            return undefined
          }
        }),
        (watcher) => Effect.sync(() => watcher?.close())
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

const keep = Effect.fnUntraced(function* (kept: Kept, forget: () => void) {
  const { debounceMillis, path, pollSeconds, watch: isWatched } = kept.settings
  yield* Effect.ensuring(reload(kept), Deferred.succeed(kept.ready, undefined))
  const watching = isWatched
    ? changes(path).pipe(
        Stream.debounce(Duration.millis(debounceMillis)),
        Stream.runForEach(() => reload(kept))
      )
    : Effect.never
  const polling = Effect.gen(function* () {
    while ((yield* Clock.currentTimeMillis) - kept.usedAt < idleMillis) {
      yield* Effect.sleep(Duration.seconds(pollSeconds))
      yield* reload(kept)
    }
  })
  yield* Effect.ensuring(Effect.raceFirst(watching, polling), Effect.sync(forget))
})

export class MemberFiles extends Context.Service<
  MemberFiles,
  {
    /** Returns the directory that a channel names; undefined if its file is invalid or has none with this id and scope. */
    readonly get: (baseDir: string, directory: MemberDirectory) => Effect.Effect<Directory | undefined>
  }
>()("aicr/chat/MemberFiles") {
  /** Finds no directory; for programs that mention no one. */
  static readonly none: MemberFiles["Service"] = MemberFiles.of({ get: () => Effect.undefined })

  static readonly layer: Layer.Layer<MemberFiles> = Layer.effect(
    MemberFiles,
    Effect.gen(function* () {
      const files = new Map<string, Kept>()
      const fibers = yield* FiberMap.make<string>()
      return MemberFiles.of({
        get: Effect.fnUntraced(function* (baseDir, directory) {
          const settings = toSettings(baseDir, directory)
          const { directory_id: id, identity_scope: scope } = directory
          if (settings === undefined || id === undefined || scope === undefined) return undefined
          const now = yield* Clock.currentTimeMillis
          const key = JSON.stringify(settings)
          let kept = files.get(key)
          if (kept === undefined) {
            if (files.size >= maxFiles) return undefined
            const ready = Deferred.makeUnsafe<void>()
            kept = { settings, ready, digest: undefined, refusal: undefined, directories: new Map(), usedAt: now }
            files.set(key, kept)
            yield* FiberMap.run(
              fibers,
              key,
              keep(kept, () => files.delete(key))
            )
          }
          kept.usedAt = now
          yield* Deferred.await(kept.ready)
          const found = kept.directories.get(id)
          const isSame = found?.scope.kind === scope.kind && found.scope.id === scope.id
          if (!isSame && kept.digest !== undefined)
            yield* Effect.logWarning("member directory unknown", {
              file: settings.path,
              directory: id,
              scope: scope.id
            })
          return isSame ? found : undefined
        })
      })
    })
  )
}
