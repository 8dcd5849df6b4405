/**
 * A checkout and further repositories that record their reads, for the record of the review. A failure to record never
 * fails a read.
 */
import { Effect, Fiber, Stream } from "effect"
import type { Scope } from "effect"
import { Objects } from "../../store/Objects.ts"
import type { Checkout, CheckoutError, Comparison } from "../../vcs/Checkout.ts"
import type { MountedContext } from "../../vcs/ContextRepositories.ts"
import type { ContextMounts } from "../read/ContextMounts.ts"
import { makeReadLog, toRecord, searchKeeper, takeRoom } from "./ReadLog.ts"
import type { CommitLog, MountLog, ReadLog } from "./ReadLog.ts"
import type { ReviewInput } from "../ReviewChange.ts"
import { watchSearch } from "./SearchLog.ts"
import { maxDiffLength, writeDiff, writeRecord } from "./StoredRecord.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import { inMessages } from "../threads/Messages.ts"
import { ChangeThreads } from "../ChangeThreads.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"

interface Recording {
  readonly checkout: Checkout
  readonly context: (mounts: ContextMounts) => ContextMounts
  readonly keepReferences: NonNullable<ReviewInput["keepReferences"]>
  readonly keepFacts: NonNullable<ReviewInput["keepFacts"]>
  /** Writes down what was read. */
  readonly keep: (input: ReviewInput) => Effect.Effect<void>
}

/** Heap for scrubbing a diff and a record, of which the largest have 32 million characters each. */
const recorderMb = 768

/** State that all parts of a recording share. */
interface Recorder {
  readonly log: ReadLog
  /** Another thread than that of the change, because the review does not wait for its record; only while there is work for it. */
  readonly open: Effect.Effect<ChangeThread, never, Scope.Scope>
  /** Runs to the end even if the review fails or is interrupted; a failure is logged. */
  readonly quietly: (effect: Effect.Effect<void, { readonly message: string }, Objects>) => Effect.Effect<void>
  /** Writes the diff: a long one concurrently with the review, which does not depend on it. */
  readonly writeDiff: (scrub: ScrubDiff, bytes: number) => Effect.Effect<void>
}

/** Returns the diff without secrets, in UTF-8. */
type ScrubDiff = (thread: ChangeThread) => Effect.Effect<Uint8Array, AnalysisError>

/** A shorter diff is scrubbed with the reads, in milliseconds, so that a small review needs one thread. */
const longDiffBytes = 262_144

export const recordReads = Effect.fnUntraced(function* (runId: string, checkout: Checkout) {
  const objects = yield* Objects
  const scope = yield* Effect.scope
  const threads = yield* ChangeThreads
  const writing: Array<Fiber.Fiber<void>> = []
  let shortDiff: ScrubDiff | undefined
  const log = makeReadLog()
  const quietly: Recorder["quietly"] = (effect) =>
    effect.pipe(
      Effect.provideService(Objects, objects),
      Effect.catch(logFailure("record of a run not stored", { run_id: runId }))
    )
  const recorder: Recorder = {
    log,
    open: threads.open(recorderMb),
    quietly,
    writeDiff: (scrub, bytes) => {
      if (bytes < longDiffBytes) return Effect.sync(() => void (shortDiff = scrub))
      const write = Effect.flatMap(inThread(recorder, scrub), (scrubbed) => writeDiff(runId, scrubbed))
      return Effect.map(Effect.forkIn(quietly(write), scope), (fiber) => void writing.push(fiber))
    }
  }
  const recording: Recording = {
    checkout: watchCheckout(recorder, checkout),
    context: (mounts) => {
      log.contextNotices = mounts.notices
      return { ...mounts, mounted: mounts.mounted.map((mount) => watchMount(log, mount)) }
    },
    keepReferences: (places) => {
      if (
        takeRoom(
          log,
          places.reduce((sum, { text }) => sum + text.length, 0)
        )
      )
        log.references = places
    },
    keepFacts: (facts) => {
      log.facts = facts
    },
    keep: (input) =>
      recorder.open.pipe(
        Effect.tap((thread) => handOver(thread, log)),
        Effect.tap((thread) =>
          shortDiff === undefined
            ? Effect.void
            : Effect.flatMap(shortDiff(thread), (scrubbed) => writeDiff(runId, scrubbed))
        ),
        Effect.flatMap((thread) => writeRecord(runId, toRecord(log, checkout, input), thread)),
        Effect.andThen(Fiber.joinAll(writing)),
        Effect.asVoid,
        Effect.scoped,
        quietly
      )
  }
  return recording
})

const inThread = ({ open }: Recorder, scrub: ScrubDiff) => Effect.scoped(Effect.flatMap(open, scrub))

/** Transfers the texts to the thread that writes the record. */
const handOver = Effect.fnUntraced(function* (thread: ChangeThread, log: ReadLog) {
  for (const files of inMessages([...log.files], ([, text]) => text?.length ?? 0)) {
    yield* thread.run("recordFiles", files)
  }
  for (const { diff } of log.commits ?? []) yield* thread.run("recordCommit", diff)
  for (const [at, { reads }] of log.mounts.entries()) {
    for (const [key, entry] of reads) yield* thread.run("recordRead", at, key, entry)
  }
})

const watchCheckout = (recorder: Recorder, checkout: Checkout): Checkout => {
  const { log } = recorder
  return {
    ...checkout,
    changes: (maxPaths) =>
      Effect.tap(checkout.changes(maxPaths), (found) => Effect.sync(() => void (log.listed = found))),
    sizes: (paths) =>
      Effect.tap(checkout.sizes(paths), (found) =>
        Effect.sync(() => paths.forEach((path, index) => log.sizes.set(path, found[index] ?? 0)))
      ),
    diff: watchDiff(recorder, checkout, () => maxDiffLength, recorder.writeDiff),
    ...(checkout.commits === undefined ? {} : { commits: watchCommits(recorder, checkout.commits) }),
    ...(checkout.messages === undefined ? {} : { messages: watchMessages(log, checkout.messages) }),
    file: (path, at, maxBytes) =>
      Effect.tap(checkout.file(path, at, maxBytes), (text) =>
        Effect.sync(() => {
          const key = `${at}:${path}`
          if (log.files.get(key) === undefined && takeRoom(log, text?.length ?? 0)) log.files.set(key, text)
        })
      ),
    list: (directory, at, limit) =>
      Effect.tap(checkout.list(directory, at, limit), (names) =>
        Effect.sync(() => log.lists.set(`${at}:${directory}`, names))
      ),
    ...(checkout.folders === undefined ? {} : { folders: watchFolders(log, checkout.folders) }),
    blame: (path, start, end) =>
      Effect.tap(checkout.blame(path, start, end), (lines) =>
        Effect.sync(() => log.blames.set(`${path}:${start}-${end}`, lines))
      ),
    search: watchSearch(checkout.search, searchKeeper(log, log.searches))
  }
}

/** Folders are kept as lists of a directory whose name ends with a slash. */
const watchFolders =
  (log: ReadLog, folders: NonNullable<Checkout["folders"]>): typeof folders =>
  (directory, at, limit) =>
    Effect.tap(folders(directory, at, limit), (names) => Effect.sync(() => log.lists.set(`${at}:${directory}/`, names)))

const watchMessages = (log: ReadLog, messages: NonNullable<Checkout["messages"]>): typeof messages =>
  Effect.tap(messages, (found) =>
    Effect.sync(() => {
      if (takeRoom(log, found.join("").length)) log.messages = found
    })
  )

const watchCommits = (recorder: Recorder, commits: NonNullable<Checkout["commits"]>): typeof commits =>
  Effect.map(commits, (range) => {
    const { log } = recorder
    const kept = range?.map(({ id, title }): CommitLog => ({ id, title, diff: new Uint8Array() }))
    log.commits = kept
    const keep = (index: number) => (scrub: ScrubDiff) =>
      recorder.quietly(
        Effect.map(inThread(recorder, scrub), (scrubbed) => {
          const commit = kept?.[index]
          if (commit !== undefined && takeRoom(log, scrubbed.length)) commit.diff = scrubbed
        })
      )
    return range?.map((commit, index) => ({
      ...commit,
      diff: watchDiff(recorder, commit, () => log.left, keep(index))
    }))
  })

/** Passes diffs on and hands over the text of each, of at most `limit` bytes, once it has been read to its end. */
const watchDiff =
  (
    { log }: Recorder,
    { diff }: Comparison,
    limit: () => number,
    keep: (scrub: ScrubDiff, bytes: number) => Effect.Effect<void>
  ): Comparison["diff"] =>
  (paths, exactRenames) =>
    Stream.suspend((): Stream.Stream<Uint8Array, CheckoutError> => {
      const chunks: Array<Uint8Array> = []
      let length = 0
      const collect = (chunk: Uint8Array) => {
        length += chunk.length
        // A copy: the bytes themselves move to the thread that analyses the change.
        if (length <= limit()) chunks.push(Uint8Array.prototype.slice.call(chunk))
        else chunks.length = 0
      }
      const end = Effect.suspend(() => {
        if (length <= limit()) return keep((thread) => thread.run("scrubDiff", chunks), length)
        log.cut = true
        return Effect.void
      })
      return diff(paths, exactRenames).pipe(
        Stream.tap((chunk) => Effect.sync(() => collect(chunk))),
        Stream.concat(Stream.fromEffectDrain(end))
      )
    })

const watchMount = (log: ReadLog, mount: MountedContext): MountedContext => {
  const { alias, commit, read, search } = mount
  const kept: MountLog = { alias, commit, reads: new Map(), searches: new Map() }
  log.mounts.push(kept)
  return {
    ...mount,
    search: watchSearch(search, searchKeeper(log, kept.searches)),
    read: (path, limits) =>
      Effect.tap(read(path, limits), (entry) =>
        Effect.sync(() => {
          if (takeRoom(log, entry._tag === "File" ? entry.text.length : 0)) kept.reads.set(path, entry)
        })
      )
  }
}
