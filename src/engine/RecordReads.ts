/** A checkout and further repositories that remember what is read of them, for the record of the review. Never fails what it watches. */
import { Effect, Fiber, Stream } from "effect"
import { Objects } from "../store/Objects.ts"
import type { BlameLine, ChangedPath, Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { MountedContext, MountedEntry } from "../vcs/ContextRepositories.ts"
import type { ContextMounts } from "./ContextMounts.ts"
import type { ReviewInput } from "./ReviewChange.ts"
import { maxDiffLength, maxReadLength, writeDiff, writeRecord } from "./StoredRecord.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"
import { ChangeThreads } from "./threads/ChangeThreads.ts"

export interface Recording {
  readonly checkout: Checkout
  readonly context: (mounts: ContextMounts) => ContextMounts
  /** Writes down what was read. */
  readonly keep: (input: ReviewInput) => Effect.Effect<void>
}

/** Heap for scrubbing a diff and a record, of which the largest have 32 million characters each. */
const recorderMb = 768

/** Of a change of more paths the record has those of its diff. */
const maxChanges = 5000

const pathOnly = ({ path, status, oldMode, newMode }: ChangedPath): ChangedPath => ({ path, status, oldMode, newMode })

interface Mounted {
  readonly alias: string
  readonly commit: string
  readonly reads: Map<string, MountedEntry>
}

export const recordReads = Effect.fnUntraced(function* (runId: string, checkout: Checkout) {
  const objects = yield* Objects
  const scope = yield* Effect.scope
  const threads = yield* ChangeThreads
  /** Another thread than that of the change, because the review does not wait for its record; only while there is work for it. */
  const openRecorder = threads.open(recorderMb)
  /** The diff is written beside the review, which needs nothing of it. */
  const writing: Array<Fiber.Fiber<void>> = []
  const files = new Map<string, string | undefined>()
  const lists = new Map<string, ReadonlyArray<string>>()
  const blames = new Map<string, ReadonlyArray<BlameLine>>()
  const mounted: Array<Mounted> = []
  let contextNotices: ReadonlyArray<string> = []
  let commits: Array<{ readonly id: string; readonly title: string; diff: string }> | undefined
  let listed: ReadonlyArray<ChangedPath> = []
  const sizes = new Map<ChangedPath, number>()
  let left = maxReadLength
  let cut = false

  /** Whether there is room for so much more. */
  const room = (length: number): boolean => {
    if (length > left) cut = true
    else left -= length
    return !cut
  }
  const quietly = (effect: Effect.Effect<void, { readonly message: string }, Objects>): Effect.Effect<void> =>
    effect.pipe(
      Effect.provideService(Objects, objects),
      Effect.catch(({ message }) => Effect.logWarning("record of a run not stored", { run_id: runId, error: message }))
    )

  /** Passes a diff on and hands over its text once it has been read to its end. */
  const watched = (
    diff: Stream.Stream<Uint8Array, CheckoutError>,
    limit: () => number,
    keep: (text: Effect.Effect<string, AnalysisError>) => Effect.Effect<void>
  ) =>
    Stream.suspend(() => {
      const chunks: Array<Uint8Array> = []
      let length = 0
      return diff.pipe(
        Stream.tap((chunk) =>
          Effect.sync(() => {
            length += chunk.length
            // A copy: the bytes themselves move to the thread that analyses the change.
            if (length <= limit()) chunks.push(Uint8Array.prototype.slice.call(chunk))
            else chunks.length = 0
          })
        ),
        Stream.concat(
          Stream.fromEffectDrain(
            Effect.suspend(() => {
              if (length > limit()) {
                cut = true
                return Effect.void
              }
              return keep(Effect.scoped(Effect.flatMap(openRecorder, (recorder) => recorder.run("scrubDiff", chunks))))
            })
          )
        )
      )
    })

  const recording: Recording = {
    checkout: {
      ...checkout,
      changes: (maxPaths) =>
        Effect.tap(checkout.changes(maxPaths), (found) => Effect.sync(() => void (listed = found))),
      sizes: (paths) =>
        Effect.tap(checkout.sizes(paths), (found) =>
          Effect.sync(() => paths.forEach((path, index) => sizes.set(path, found[index] ?? 0)))
        ),
      diff: (paths, exactRenames) =>
        watched(
          checkout.diff(paths, exactRenames),
          () => maxDiffLength,
          (text) => {
            const writes = quietly(Effect.flatMap(text, (scrubbed) => writeDiff(runId, scrubbed)))
            return Effect.map(Effect.forkIn(writes, scope), (fiber) => void writing.push(fiber))
          }
        ),
      ...(checkout.commits === undefined
        ? {}
        : {
            commits: Effect.map(checkout.commits, (range) => {
              commits = range?.map(({ id, title }) => ({ id, title, diff: "" }))
              return range?.map((commit, index) => ({
                ...commit,
                diff: (paths, exactRenames) =>
                  watched(
                    commit.diff(paths, exactRenames),
                    () => left,
                    (text) =>
                      quietly(
                        Effect.map(text, (scrubbed) => {
                          const kept = commits?.[index]
                          if (kept !== undefined && room(scrubbed.length)) kept.diff = scrubbed
                        })
                      )
                  )
              }))
            })
          }),
      file: (path, at, maxBytes) =>
        Effect.tap(checkout.file(path, at, maxBytes), (text) =>
          Effect.sync(() => {
            const key = `${at}:${path}`
            if (files.get(key) === undefined && room(text?.length ?? 0)) files.set(key, text)
          })
        ),
      list: (directory, at, limit) =>
        Effect.tap(checkout.list(directory, at, limit), (names) =>
          Effect.sync(() => lists.set(`${at}:${directory}`, names))
        ),
      blame: (path, start, end) =>
        Effect.tap(checkout.blame(path, start, end), (lines) =>
          Effect.sync(() => blames.set(`${path}:${start}-${end}`, lines))
        )
    },
    context: (mounts) => {
      contextNotices = mounts.notices
      return { ...mounts, mounted: mounts.mounted.map((one) => watchMount(one)) }
    },
    keep: (input) =>
      Effect.gen(function* () {
        const recorder = yield* openRecorder
        for (const [key, text] of files) yield* recorder.run("recordFile", key, text)
        for (const [at, { reads }] of mounted.entries()) {
          for (const [key, entry] of reads) yield* recorder.run("recordRead", at, key, entry)
        }
        yield* writeRecord(
          runId,
          {
            version: 1,
            head: checkout.head,
            from: checkout.from,
            title: input.title,
            description: input.description,
            filters: input.filters,
            ...(input.previous === undefined ? {} : { previous: input.previous }),
            ...(input.lessons === undefined ? {} : { lessons: input.lessons }),
            ...(listed.length > maxChanges
              ? {}
              : { changes: listed.map((path) => ({ ...pathOnly(path), size: sizes.get(path) ?? 0 })) }),
            files: [],
            lists: [...lists].map(([key, names]) => ({ key, names })),
            blames: [...blames].map(([key, lines]) => ({ key, lines })),
            ...(commits === undefined ? {} : { commits }),
            context: {
              notices: contextNotices,
              mounted: mounted.map(({ alias, commit }) => ({ alias, commit, reads: [] }))
            },
            cut
          },
          recorder
        )
        yield* Fiber.joinAll(writing)
      }).pipe(Effect.scoped, quietly)
  }
  const watchMount = (mount: MountedContext): MountedContext => {
    const { alias, commit, read } = mount
    const reads = new Map<string, MountedEntry>()
    mounted.push({ alias, commit, reads })
    return {
      ...mount,
      read: (path, limits) =>
        Effect.tap(read(path, limits), (entry) =>
          Effect.sync(() => {
            if (room(entry._tag === "File" ? entry.text.length : 0)) reads.set(path, entry)
          })
        )
    }
  }
  return recording
})
