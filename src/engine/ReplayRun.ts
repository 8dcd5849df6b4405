/**
 * Runs a stored review again from its evidence: the diff, the files it read, and the responses of its models. Needs no
 * host and no repository, and costs nothing unless another model is chosen. The new findings are compared with the
 * recorded ones, and the statement of the verdict with that of the run.
 */
import { Effect, Schema, Stream } from "effect"
import { inEnglish } from "../text/en.ts"
import type { Agent, AgentError } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { allFindings } from "../domain/Analysis.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Catalog } from "../llm/Catalog.ts"
import type { Gateway } from "../llm/Gateway.ts"
import type { Objects } from "../store/Objects.ts"
import type { Run } from "../store/Runs.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { ChangedPath, Checkout, Comparison, Revision } from "../vcs/Checkout.ts"
import { loadCiEvidence } from "./CiEvidence.ts"
import { compareFindings } from "./record/CompareFindings.ts"
import type { FindingsDifference } from "./record/CompareFindings.ts"
import type { PatchTooLarge } from "./read/PatchTooLarge.ts"
import type { AnalysisError } from "./AnalysisError.ts"
import type { ChangeThreads } from "./ChangeThreads.ts"
import { buildStatement } from "../domain/BuildStatement.ts"
import { findStatement } from "../store/Statements.ts"
import { unwrapStatement } from "../domain/SignedStatement.ts"
import { compareStatements, statedAnalysis } from "./record/CompareStatements.ts"
import { reviewChange } from "./ReviewChange.ts"
import { readRecord } from "./record/StoredRecord.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import { CheckoutError } from "../vcs/Checkout.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { DiffFormatError, parseDiff } from "../review/ParseDiff.ts"
import type { ContextMounts } from "./read/ContextMounts.ts"
import type { ReviewRecord } from "./record/ReviewRecord.ts"
import { replaySearch } from "./record/SearchLog.ts"

/** The checkout and the further repositories of a recorded review, out of its record. */
interface Replayed {
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

/** The run cannot be replayed, and why. */
export class NotReplayable extends Schema.TaggedError<NotReplayable>()("NotReplayable", {
  message: Schema.String
}) {}

interface ReplayedStatement {
  /** The unsigned statement of the replay, with the time of the recorded one. */
  readonly text: string
  /** Whether the recorded one was signed; otherwise it is made of the record of the run. */
  readonly isSigned: boolean
  /** Fields that differ. Empty only if both statements are equal byte by byte. */
  readonly differences: ReadonlyArray<string>
}

export interface Replay {
  readonly analysis: Analysis
  readonly difference: FindingsDifference
  readonly statement: ReplayedStatement | undefined
  /** Reads that the recorded review did not make. */
  readonly missing: ReadonlyArray<string>
  /** Whether the record is incomplete: the review read more than the limit of a record. */
  readonly cut: boolean
}

/** Compares the statement of the replay with the newest signed one of the run. Undefined for a record without its inputs. */
const replayStatement = Effect.fnUntraced(function* (
  run: Run & { readonly analysis: Analysis },
  replayed: Analysis,
  snapshot: Snapshot,
  workspace: Workspace
): Effect.fn.Return<ReplayedStatement | undefined, StoreError, Objects> {
  const { analysis: recorded, base, change, configHash, head, id: runId } = run
  const stored = yield* findStatement(head, ({ predicate }) => predicate.run === runId)
  const time = stored?.statement.predicate.time ?? new Date(run.createdAt).toISOString()
  const stated = { runId, change, head, base, review: workspace.review }
  const before =
    stored === undefined
      ? buildStatement({ ...stated, configHash, analysis: recorded }, time)
      : unwrapStatement(stored.envelope)
  const analysis = statedAnalysis(recorded, replayed)
  const text = buildStatement({ ...stated, configHash: snapshot.hash, analysis }, time)
  if (before === undefined || text === undefined) return undefined
  return { text, isSigned: stored !== undefined, differences: compareStatements(before, text) }
})

/** `snapshot` and `workspace`: the configuration to apply, that of the run or another one. */
export const replayRun = Effect.fn("replayRun")(function* (
  run: Run,
  snapshot: Snapshot,
  workspace: Workspace
): Effect.fn.Return<
  Replay,
  NotReplayable | AgentError | CheckoutError | PatchTooLarge | AnalysisError | StoreError,
  Agent | Catalog | ChangeThreads | Gateway | ModelRun | Objects
> {
  if (run.change.target.kind === "issue") {
    return yield* new NotReplayable({ message: `run ${run.id} is the triage of an issue; only reviews are replayed` })
  }
  if (run.change.target.kind === "comment") {
    return yield* new NotReplayable({ message: `run ${run.id} is a reply to a comment; only reviews are replayed` })
  }
  if (run.analysis === undefined) {
    const reason = run.reason === undefined ? "" : ` (${inEnglish(run.reason)})`
    return yield* new NotReplayable({
      message: `run ${run.id} is ${run.status}${reason}: it has no analysis to compare with`
    })
  }
  const kept = yield* readRecord(run.id)
  if (kept === undefined) {
    return yield* new NotReplayable({
      message:
        `the evidence of run ${run.id} is not there: its diff was over the limit, it was made by an earlier version, ` +
        "or its objects were removed. Review the change again to record it"
    })
  }
  const { record, diff } = kept
  const reads = replayReads(record, diff)
  const analysis = yield* reviewChange({
    snapshot,
    workspace,
    checkout: reads.checkout,
    title: record.title,
    description: record.description,
    issues: record.issues,
    focus: record.focus,
    filters: record.filters,
    previous: record.previous,
    recordedUnchanged: new Set(
      run.analysis.coverage.skipped.flatMap(({ path, reason }) => (reason === "unchanged" ? [path] : []))
    ),
    round: record.round,
    lessons: record.lessons,
    acceptance: record.acceptance,
    ci: yield* loadCiEvidence(run.id),
    recordedReferences: record.references,
    recordedFacts: snapshot.hash === run.configHash ? record.facts : undefined,
    // The record has the change without secrets.
    recordedCredentials: allFindings(run.analysis).filter(({ fact }) => fact === "credential"),
    context: Effect.succeed(reads.context)
  })
  return {
    analysis,
    difference: compareFindings(run.analysis.findings, analysis.findings),
    statement: yield* replayStatement({ ...run, analysis: run.analysis }, analysis, snapshot, workspace),
    missing: [...reads.missing],
    cut: record.cut
  }
})
