/** A checkout and further repositories that remember what is read of them, for the record of the review. Never fails what it watches. */
import { Effect, Fiber, Stream } from "effect"
import { scrubLines } from "../review/ScrubText.ts"
import { Objects } from "../store/Objects.ts"
import type { BlameLine, Checkout } from "../vcs/Checkout.ts"
import type { MountedContext, MountedEntry } from "../vcs/ContextRepositories.ts"
import type { ContextMounts } from "./ContextMounts.ts"
import type { ReviewInput } from "./ReviewChange.ts"
import { keptDiff, maxDiffLength, maxReadLength, writeDiff, writeRecord } from "./ReviewRecord.ts"
import { runInTurns } from "./Turns.ts"

export interface Recording {
  readonly checkout: Checkout
  readonly context: (mounts: ContextMounts) => ContextMounts
  /** Writes down what was read. */
  readonly keep: (input: ReviewInput) => Effect.Effect<void>
}

interface Mounted {
  readonly alias: string
  readonly commit: string
  readonly reads: Map<string, MountedEntry>
}

export const recordReads = Effect.fnUntraced(function* (runId: string, checkout: Checkout) {
  const objects = yield* Objects
  const scope = yield* Effect.scope
  /** The diff is written beside the review, which needs nothing of it. */
  const writing: Array<Fiber.Fiber<void>> = []
  const files = new Map<string, string | undefined>()
  const lists = new Map<string, ReadonlyArray<string>>()
  const blames = new Map<string, ReadonlyArray<BlameLine>>()
  const mounted: Array<Mounted> = []
  let contextNotices: ReadonlyArray<string> = []
  let commits: Array<{ readonly id: string; readonly title: string; diff: string }> | undefined
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
      Effect.catch(({ message }) => Effect.logWarning(`The record of run ${runId} could not be kept: ${message}`))
    )

  /** Passes a diff on and hands over its text once it has been read to its end. */
  const watched = (diff: Checkout["diff"], limit: () => number, whole: (text: string) => Effect.Effect<void>) =>
    Stream.suspend(() => {
      const chunks: Array<Uint8Array> = []
      let length = 0
      return diff.pipe(
        Stream.tap((chunk) =>
          Effect.sync(() => {
            length += chunk.length
            if (length <= limit()) chunks.push(chunk)
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
              return Effect.flatMap(runInTurns(keptDiff(chunks)), whole)
            })
          )
        )
      )
    })

  const recording: Recording = {
    checkout: {
      ...checkout,
      diff: watched(
        checkout.diff,
        () => maxDiffLength,
        (text) => Effect.map(Effect.forkIn(quietly(writeDiff(runId, text)), scope), (fiber) => void writing.push(fiber))
      ),
      ...(checkout.commits === undefined
        ? {}
        : {
            commits: Effect.map(checkout.commits, (range) => {
              commits = range?.map(({ id, title }) => ({ id, title, diff: "" }))
              return range?.map((commit, index) => ({
                ...commit,
                diff: watched(
                  commit.diff,
                  () => left,
                  (text) =>
                    Effect.sync(() => {
                      const kept = commits?.[index]
                      if (kept !== undefined && room(text.length)) kept.diff = text
                    })
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
        const kept: Array<{ readonly key: string; readonly text?: string }> = []
        for (const [key, text] of files) {
          kept.push(text === undefined ? { key } : { key, text: yield* runInTurns(scrubLines(text)) })
        }
        yield* writeRecord(runId, {
          version: 1,
          head: checkout.head,
          from: checkout.from,
          title: input.title,
          description: input.description,
          filters: input.filters,
          ...(input.previous === undefined ? {} : { previous: input.previous }),
          ...(input.lessons === undefined ? {} : { lessons: input.lessons }),
          files: kept,
          lists: [...lists].map(([key, names]) => ({ key, names })),
          blames: [...blames].map(([key, lines]) => ({ key, lines })),
          ...(commits === undefined ? {} : { commits }),
          context: {
            notices: contextNotices,
            mounted: mounted.map(({ reads, ...one }) => ({
              ...one,
              reads: [...reads].map(([key, entry]) => ({ key, entry }))
            }))
          },
          cut
        })
        yield* Fiber.joinAll(writing)
      }).pipe(quietly)
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
