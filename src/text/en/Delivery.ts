/** Reasons why a delivery started work or none, and what became of it. */
import type { deliveryReasons } from "../../domain/reasons/Delivery.ts"

export const deliveryTexts = {
  WriterUnnamed: "the delivery does not name the writer of the comment",
  CommandCancelled: "waiting reviews are cancelled, running ones are stopped",
  ReportedRevisionUnknown:
    "revision_not_found: no trigger's repository has revision {revision}, or its user may not read it",
  ReportedChangelistUnknown:
    "revision_not_found: no trigger's server has changelist {revision}, or its user may not read it",
  HelpPosted: "the help text is posted",
  FindingDismissed: "{name} dismissed the finding[[: {reason}]]",
  NoFindingNamed: "the comment is not in the thread of an open finding",
  NotInOwnThread: "the comment is not in a thread of the service",
  MayNotDismiss: "{person} may not dismiss findings of this change ({=review.dismissal})",
  ReportedBy: "reported by event {event}",
  RequestedBy: "requested by {name}",
  RequestedFromChat: "requested from chat ({connection})",
  BoundBy: "workspace {workspace} binds {repository}[[ by match rule {rule}]]",
  BoundPushDelayed:
    "workspace {workspace} binds {repository}[[ by match rule {rule}]]; {=review.auto_commit.delay_seconds} and its schedule delay the review",
  BoundPullDelayed:
    "workspace {workspace} binds {repository}[[ by match rule {rule}]]; the schedule of {=review.pull_request}, or of {=review.auto_commit}, delays the review",
  DraftsSkipped: "{=review.skip_drafts} is true",
  LabelListed: '{=review.labels.ignore} contains the label "{label}"',
  TargetBranchUnlisted: "{=review.pull_request.include_target_branches} does not contain {branch}",
  NewBranchUnlisted: "{=review.auto_commit.include_branches} does not contain {branch}, which is new",
  BranchUnlisted: "{=review.auto_commit.include_branches} does not contain {branch}",
  SourcesExcluded: "{=review.auto_commit.exclude_sources} matches every commit of the push",
  CommentCommandsOff: "{=review.comment_commands} is false",
  IssuesUnsupported: "issues of {host} are not triaged",
  IssuesNotTriaged: "triage is not enabled for issues ({=workspaces.*.triage})",
  OwnComment: "the comment was written by this service",
  EventIgnored: "{event} starts no review",
  QueueKeptForDeliveries: "the last tenth of the queue of workspace {workspace} is kept for deliveries",
  FoundChangesNotStored: "the records or the queue took no changes",
  WebhookTested: "the host tests its webhook",
  InstallationChanged: "an installation of the app changed",
  RepositoriesChanged: "a repository was created, removed, archived, renamed or moved",
  PullRequestEnded: "the pull request was closed or merged",
  OwnAccount: "{account} is the account of trigger {trigger}",
  NoWorkspaceBinds:
    "no workspace[[ of trigger {trigger}]] binds {repository}[[ with branch {branch}]] (source_repo or match of {=workspaces.instances})",
  RepositoryRenamed:
    "{repository} was {before} before it was renamed or transferred, and {=workspaces.instances.{workspace}} has that name",
  SeveralWorkspacesBind: "the enabled workspaces {names}[[ and {more} more]] all bind {repository}",
  WorkspacesDisabled: "the workspaces {names}[[ and {more} more]] are disabled",
  WorkspaceDisabled: "{=workspaces.instances.{workspace}.enabled} is false",
  TriggersDisabled: "every trigger of this delivery is disabled",
  TriggerOff: "trigger {trigger} has enabled: false",
  KindDisabled: "every {kind} trigger has enabled: false",
  WholeRepository: "the repository",
  BranchRemoved: "branch_removed: revision {revision} removes {name}",
  TagPushed: "tag: {name} is a tag, which is not reviewed",
  NoWorkspaceMatches: "repository_not_configured: no workspace of trigger {trigger} matches {name}",
  MatchingWorkspaceDisabled: "workspace_disabled: workspace {workspace} is disabled",
  SeveralWorkspacesMatch: "ambiguous_route: the workspaces {names} match {name}",
  BranchNotWatched:
    "branch_not_watched: {=review.auto_commit.include_branches} of workspace {workspace} does not contain {name}",
  ChangeExcluded:
    "source_excluded: {=review.auto_commit.exclude_sources} of workspace {workspace} excludes this change",
  PathsExcluded:
    "no_reviewed_path: the filters of trigger {trigger} and workspace {workspace} exclude every changed path",
  FoundBySearch: "found without a delivery (search {occasion:occasion})",
  SentAgain: "the host was requested to send delivery {delivery} again, which had failed",
  FoundWithoutReport: "found at the server of trigger {trigger}: no hook reported it",
  ReportsWait:
    "{count} changes that no hook reported wait: almost as many reports wait as {=queue.limits.per_workspace} allows",
  NoTriggerOfKind: "repository_not_configured: no enabled trigger of kind {kind} has this repository",
  NoTriggerAtServer:
    "repository_not_configured: no enabled trigger of kind {kind} has this repository at the server of trigger {trigger}, which the hook names",
  TriggersDiffer:
    "ambiguous_route: the triggers {names} have different servers or repositories; set AICR_TRIGGER in the settings of the hook to its own trigger",
  SeveralHaveChangelist: "ambiguous_route: the triggers {names} have revision {revision}; report the depot path",
  SeveralHaveRevision: "ambiguous_route: the triggers {names} have revision {revision}; report the repository",
  ServerNotReadable: "not_readable: {reason}",
  ServerFailed: "{failure}: trigger {trigger}: {reason}",
  Renumbered: "it was changelist {changelist} before its submit",
  RevisionWithoutFiles: "no_change: revision {revision} changes no file here",
  ChangelistWithoutFiles: "no_change: changelist {revision} has no submitted or shelved file[[ below {paths}]]",
  ReviewedAs: "reviewed as event {event}: {name} in workspace {workspace}[[ by match rule {rule}]]",
  DuplicateOf: "duplicate: {name} in workspace {workspace}[[ by match rule {rule}]] is reviewed as event {event}",
  QueuedAs: "queued as event {event}: {name} in workspace {workspace}[[ by match rule {rule}]]"
} as const satisfies Record<keyof typeof deliveryReasons, string>
