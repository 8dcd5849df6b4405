/** Reasons for which a run waits, or ended without a review. */
import type { runReasons } from "../../domain/reasons/Run.ts"

export const runTexts = {
  ProcessLost: "its process ended before the analysis was stored",
  HeadReplaced: "the head was replaced by a force push",
  SupersededRun: "superseded by a newer review",
  TakenOver: "another worker has taken this run over",
  LeaseLost: "the lease was lost before the analysis could be stored",
  HeadReviewed: "run {run} has reviewed this head",
  PushBatched: "batch {batch} contains this push",
  AuthorLimit:
    "author_limit: {author} has reached the limit of reviews per hour, which is {count} ({=review.max_per_author_hour})",
  NoChannel: "no channel publishes reviews of a {kind:target} here; see {=outputs.routes}",
  WorkspaceUnconfigured: "workspace {workspace} is no longer configured",
  TriggerUnconfigured: "trigger {trigger} is no longer configured",
  VariableUnset: "variable {variable} is not set",
  UnconfiguredHere: "{reason} on this node, whose configuration is another than that of the delivery",
  QueuedTimeout: "queued_timeout",
  NoRevision: "the report names no revision",
  OtherRepository:
    "the delivery is of the project with id {id}, but {repository} has id {other} at the host; check who may send deliveries",
  NoWritePermission: "{person} has no write permission on the repository",
  Draft: "the pull request is a draft",
  ChangePaused:
    "{person} paused automatic reviews of this change; resume them with `/aicr resume`, or request one with `/aicr review`",
  NotOpen: "the {kind:target} is {state:state}",
  LabelIgnored: "the {kind:target} has the label {label}",
  NoWorkspaceOfBase: "no workspace reviews pull requests of {repository} into {branch}",
  NoCommentCommands: "workspace {workspace} does not accept comment commands",
  TriageDisabled: "triage of issues is not enabled",
  NoIssue: "the delivery names no issue",
  BranchEmpty: "branch {branch} has no commits",
  DefaultBranchEmpty: "the default branch has no commits",
  NoCommits: "the delivery names no commits",
  RepositoryUnscheduled: "trigger {trigger} no longer has this repository",
  NoNewCommits: "there are no new commits since then",
  FilesExcluded: "no changed file passes {={fields}}",
  ProviderRefuses: "the model provider refuses requests: {reason}",
  ProviderUnreachable: "the model provider cannot be reached: {reason}",
  HostRequestFailed: "the request to the host failed: {reason}",
  RepositoryUnavailable: "the repository could not be fetched: {reason}",
  DiskUnwritable: "the disk of the node takes no writes: {reason}",
  RecordsUnavailable: "the records are unavailable: {reason}",
  AwaitsCi: "waits for the CI runs of the commit[[ ({ended} of {count} have ended)]]",
  GivenUp: "{reason}; given up after {hours} hours",
  GivenUpAfter: "given up after {attempts} attempts: {reason}",
  InternalError: "internal error: {cause}",
  IssueNotTriaged: "the issue was not triaged and stays open: {reason}",
  PatchOverLimit:
    "the patch to analyse is over {=review.max_patch_bytes} ({limit}); exclude generated paths with {=review.exclude} or raise the limit",
  AnalysisCrashed: "the thread that analysed the change ended unexpectedly: {cause}",
  AnalysisOverMemory:
    "the analysis of the change needs more than {megabytes} MiB of memory; exclude generated paths with {=review.exclude} or lower {=review.max_patch_bytes}",
  AnalysisOverTime:
    "one step of the analysis of the change took more than {seconds} seconds; exclude generated paths with {=review.exclude} or lower {=review.max_patch_bytes}"
} as const satisfies Record<keyof typeof runReasons, string>
