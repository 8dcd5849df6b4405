/** Reasons for which a run waits, or ended without a review. */
import type { Params } from "../ReasonParams.ts"

export const runReasons = {
  /** Its process ended before the analysis was stored; a later attempt at the review is another run. */
  ProcessLost: {},
  /** Its head no longer exists. */
  HeadReplaced: {},
  /** A newer head or another base superseded it before it had a result. */
  SupersededRun: {},
  TakenOver: {},
  LeaseLost: {},
  HeadReviewed: { run: "text" },
  PushBatched: { batch: "text" },
  AuthorLimit: { author: "text", count: "number" },
  NoChannel: { kind: "text" },
  /** The configuration lacks what the entry names. */
  WorkspaceUnconfigured: { workspace: "text" },
  TriggerUnconfigured: { trigger: "text" },
  VariableUnset: { variable: "text" },
  UnconfiguredHere: { reason: "reason" },
  /** Its entry waited for longer than queue.queued_timeout_hours. */
  QueuedTimeout: {},
  /** There is nothing to review. */
  NoRevision: {},
  OtherRepository: { id: "number", repository: "text", other: "number" },
  NoWritePermission: { person: "text" },
  Draft: {},
  ChangePaused: { person: "text" },
  NotOpen: { kind: "text", state: "text" },
  LabelIgnored: { kind: "text", label: "text" },
  NoWorkspaceOfBase: { repository: "text", branch: "text" },
  NoCommentCommands: { workspace: "text" },
  TriageDisabled: {},
  NoIssue: {},
  BranchEmpty: { branch: "text" },
  DefaultBranchEmpty: {},
  NoCommits: {},
  RepositoryUnscheduled: { trigger: "text" },
  NoNewCommits: {},
  /** Filters exclude every changed file. `fields`: those of the filters. */
  FilesExcluded: { fields: "texts" },
  /** It waits, or failed because that lasted for too long. */
  ProviderRefuses: { reason: "reason" },
  ProviderUnreachable: { reason: "reason" },
  HostRequestFailed: { reason: "reason" },
  RepositoryUnavailable: { reason: "reason" },
  DiskUnwritable: { reason: "reason" },
  RecordsUnavailable: { reason: "reason" },
  AwaitsCi: { ended: "number?", count: "number?" },
  GivenUp: { reason: "reason", hours: "number" },
  GivenUpAfter: { attempts: "number", reason: "reason" },
  /** It failed. */
  InternalError: { cause: "text" },
  IssueNotTriaged: { reason: "reason" },
  PatchOverLimit: { limit: "number" },
  AnalysisCrashed: { cause: "text" },
  AnalysisOverMemory: { megabytes: "number" },
  AnalysisOverTime: { seconds: "number" }
} as const satisfies Record<string, Params>
