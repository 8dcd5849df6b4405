/** The reads of a review so far, for its record. Reads over the limit of characters are not kept. */
import type { BlameLine, ChangedPath, Checkout, FoundPaths } from "../../vcs/Checkout.ts"
import type { MountedEntry } from "../../vcs/ContextRepositories.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import type { ReviewInput } from "../ReviewChange.ts"
import type { NamedPlace } from "../work/ReferenceWork.ts"
import { maxReadLength } from "./StoredRecord.ts"
import type { ReviewRecord } from "./ReviewRecord.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface MountLog {
  readonly alias: string
  readonly commit: string
  readonly reads: Map<string, MountedEntry>
  readonly searches: Map<string, FoundPaths>
}

export interface CommitLog {
  readonly id: string
  readonly title: string
  /** UTF-8; empty until it has been read. */
  diff: Uint8Array
}

export interface ReadLog {
  /** Texts by revision and path; undefined: there is no such file. */
  readonly files: Map<string, string | undefined>
  readonly lists: Map<string, ReadonlyArray<string>>
  readonly blames: Map<string, ReadonlyArray<BlameLine>>
  readonly searches: Map<string, FoundPaths>
  readonly mounts: Array<MountLog>
  contextNotices: ReadonlyArray<Reason>
  references: ReadonlyArray<NamedPlace> | undefined
  facts: ReviewRecord["facts"]
  commits: ReadonlyArray<CommitLog> | undefined
  messages: ReadonlyArray<string> | undefined
  listed: ReadonlyArray<ChangedPath>
  readonly sizes: Map<ChangedPath, number>
  /** Number of characters that the record can still store. */
  left: number
  /** Whether some reads exceed the limit and are not stored. */
  cut: boolean
}

/** A change with more paths stores only those of its diff. */
const maxChanges = 5000

export const makeReadLog = (): ReadLog => ({
  files: new Map(),
  lists: new Map(),
  blames: new Map(),
  searches: new Map(),
  mounts: [],
  contextNotices: [],
  references: undefined,
  facts: undefined,
  commits: undefined,
  messages: undefined,
  listed: [],
  sizes: new Map(),
  left: maxReadLength,
  cut: false
})

/** Reserves room for the characters. Returns false when it is exhausted, and for every later call. */
export const takeRoom = (log: ReadLog, length: number): boolean => {
  if (length > log.left) log.cut = true
  else log.left -= length
  return !log.cut
}

/** Returns where to keep what a search found. */
export const searchKeeper =
  (log: ReadLog, searches: Map<string, FoundPaths>) =>
  (key: string, found: FoundPaths): void => {
    if (!searches.has(key) && takeRoom(log, key.length + found.paths.join("").length)) searches.set(key, found)
  }

const searchesOf = (searches: ReadonlyMap<string, FoundPaths>) =>
  [...searches].map(([key, { paths, more }]) => ({ key, paths, more }))

/** The record of a review without the texts that the thread of the record adds. */
export const toRecord = (log: ReadLog, { head, from }: Checkout, input: ReviewInput): ReviewRecord => ({
  version: 1,
  head,
  from,
  title: input.title,
  description: input.description,
  ...(input.issues === undefined
    ? {}
    : { issues: input.issues.map(({ number, title }) => ({ number, title: scrubSecrets(title) })) }),
  ...(input.focus === undefined ? {} : { focus: scrubSecrets(input.focus) }),
  filters: input.filters,
  ...(input.previous === undefined ? {} : { previous: input.previous }),
  ...(input.round === undefined ? {} : { round: input.round }),
  ...(input.lessons === undefined ? {} : { lessons: input.lessons }),
  ...(input.acceptance === undefined ? {} : { acceptance: input.acceptance }),
  ...(log.facts === undefined ? {} : { facts: log.facts }),
  ...(log.listed.length > maxChanges
    ? {}
    : { changes: log.listed.map((path) => ({ ...pathOnly(path), size: log.sizes.get(path) ?? 0 })) }),
  files: [],
  lists: [...log.lists].map(([key, names]) => ({ key, names })),
  blames: [...log.blames].map(([key, lines]) => ({ key, lines })),
  searches: searchesOf(log.searches),
  ...(log.references === undefined ? {} : { references: log.references }),
  ...(log.commits === undefined ? {} : { commits: log.commits.map(({ id, title }) => ({ id, title, diff: "" })) }),
  ...(log.messages === undefined ? {} : { messages: log.messages.map(scrubSecrets) }),
  context: {
    notices: log.contextNotices,
    mounted: log.mounts.map(({ alias, commit, searches }) => ({
      alias,
      commit,
      reads: [],
      searches: searchesOf(searches)
    }))
  },
  cut: log.cut
})

const pathOnly = ({ path, status, oldMode, newMode }: ChangedPath): ChangedPath => ({ path, status, oldMode, newMode })
