/**
 * Runs a stored review again from its evidence: the diff, the files it read, and the responses of its models. Needs no
 * host and no repository, and costs nothing unless another model is chosen. The new findings are compared with the
 * recorded ones, and the statement of the verdict with that of the run.
 */
import { Effect, Schema } from "effect"
import { inEnglish } from "../text/en.ts"
import type { Agent, AgentError } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Catalog } from "../llm/Catalog.ts"
import type { Gateway } from "../llm/Gateway.ts"
import type { Objects } from "../store/Objects.ts"
import type { Run } from "../store/Runs.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { CheckoutError } from "../vcs/Checkout.ts"
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
import { replayReads } from "./record/ReplayReads.ts"
import { reviewChange } from "./ReviewChange.ts"
import { readRecord } from "./record/StoredRecord.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

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
    round: record.round,
    lessons: record.lessons,
    acceptance: record.acceptance,
    ci: yield* loadCiEvidence(run.id),
    recordedReferences: record.references,
    recordedFacts: snapshot.hash === run.configHash ? record.facts : undefined,
    // The record has the change without secrets.
    recordedCredentials: run.analysis.findings.filter(({ fact }) => fact === "credential"),
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
