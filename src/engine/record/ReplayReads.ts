/** The checkout and the further repositories of a recorded review, out of its record. */
import { Effect, Stream } from "effect"
import { CheckoutError } from "../../vcs/Checkout.ts"
import type { ChangedPath, Checkout, Comparison, Revision } from "../../vcs/Checkout.ts"
import type { FileDiff } from "../../review/FileDiff.ts"
import { DiffFormatError, parseDiff } from "../../review/ParseDiff.ts"
import type { ContextMounts } from "../read/ContextMounts.ts"
import type { ReviewRecord } from "./ReviewRecord.ts"
import { replaySearch } from "./SearchLog.ts"

export interface Replayed {
  readonly checkout: Checkout
  readonly context: ContextMounts
  /** Reads that are not in the record, because the recorded review did not make them. */
  readonly missing: ReadonlySet<string>
}

const bytesOf = (text: string) => Stream.succeed<Uint8Array>(Buffer.from(text, "utf8"))

/**
 * Returns the comparison of a record. Without recorded changes the paths come from the diff; it holds only files that
 * were selected then, so all of them are shown.
 */
const recordedComparison = (diff: string, changes?: ReviewRecord["changes"]): Comparison => {
  const sizes = new Map<string, number>(changes?.map(({ path, size }) => [path, size]))
  return {
    changes: () =>
      changes === undefined
        ? readPaths(diff)
        : Effect.succeed(changes.map(({ path, status, oldMode, newMode }) => ({ path, status, oldMode, newMode }))),
    sizes: (paths) => Effect.succeed(paths.map(({ path }) => sizes.get(path) ?? 0)),
    diff: () => bytesOf(diff)
  }
}

/** Reads the paths without the lines of the files. Parsing blocks the thread, because a replay runs in a process of its own. */
const readPaths = (diff: string): Effect.Effect<ReadonlyArray<ChangedPath>, CheckoutError> =>
  Effect.try({
    try: () => parseDiff(diff, () => false).flatMap(pathsOf),
    catch: (cause) => {
      if (!(cause instanceof DiffFormatError)) throw cause
      return new CheckoutError({ reason: "failed", why: { _tag: "DiffUnreadable", error: cause.message } })
    }
  })

const pathsOf = ({ path, oldPath, status, oldMode, newMode }: FileDiff): ReadonlyArray<ChangedPath> => {
  if (status === "added" || status === "deleted" || status === "modified") return [{ path, status, oldMode, newMode }]
  const added = { path, status: "added", oldMode: undefined, newMode } as const
  return oldPath === undefined || status === "copied"
    ? [added]
    : [{ path: oldPath, status: "deleted", oldMode, newMode: undefined }, added]
}

const byKey = (searches: ReviewRecord["searches"]) => new Map((searches ?? []).map((found) => [found.key, found]))

export const replayReads = (record: ReviewRecord, diff: string): Replayed => {
  const missing = new Set<string>()
  const files = new Map(record.files.map(({ key, text }) => [key, text]))
  const lists = new Map(record.lists.map(({ key, names }) => [key, names]))
  const blames = new Map(record.blames.map(({ key, lines }) => [key, lines]))
  const { commits } = record
  /** Records of versions that read the rules from the start of the diff name them so. */
  const keyOf = (kept: ReadonlyMap<string, unknown>, path: string, at: Revision): string =>
    at === "rules" && !kept.has(`rules:${path}`) ? `from:${path}` : `${at}:${path}`
  const checkout: Checkout = {
    head: record.head,
    from: record.from,
    directory: Effect.fail(new CheckoutError({ reason: "missing", why: { _tag: "ReplayWithoutFiles" } })),
    ...recordedComparison(diff, record.changes),
    commits: Effect.succeed(
      commits?.map(({ id, title, diff: patch }) => ({ id, title, ...recordedComparison(patch) }))
    ),
    messages: Effect.succeed(record.messages ?? []),
    file: (path, at, maxBytes) =>
      Effect.sync(() => {
        const key = keyOf(files, path, at)
        if (!files.has(key)) missing.add(path)
        const text = files.get(key)
        return text === undefined || Buffer.byteLength(text) > maxBytes ? undefined : text
      }),
    list: (directory, at, limit) => Effect.sync(() => (lists.get(keyOf(lists, directory, at)) ?? []).slice(0, limit)),
    folders: (directory, at, limit) => Effect.sync(() => (lists.get(`${at}:${directory}/`) ?? []).slice(0, limit)),
    blame: (path, start, end) =>
      Effect.sync(() => {
        const lines = blames.get(`${path}:${start}-${end}`)
        if (lines === undefined) missing.add(path)
        return lines ?? []
      }),
    search: replaySearch(byKey(record.searches), (name) => missing.add(name))
  }
  const mounted = record.context.mounted.map(({ alias, commit, reads, searches }) => {
    const entries = new Map(reads.map(({ key, entry }) => [key, entry]))
    return {
      alias,
      commit,
      search: replaySearch(byKey(searches), (name) => missing.add(`${alias}: ${name}`)),
      read: (path: string) =>
        Effect.sync(() => {
          const entry = entries.get(path)
          if (entry === undefined) missing.add(`${alias}:${path}`)
          return entry ?? ({ _tag: "Refused", why: "the recorded review did not read it" } as const)
        })
    }
  })
  return { checkout, context: { mounted, notices: record.context.notices }, missing }
}
