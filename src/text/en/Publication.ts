/** Reasons for which something is not published, or not yet. */
import type { publicationReasons } from "../../domain/reasons/Publication.ts"

export const publicationTexts = {
  OnlySummaryPublished: "the pull request is closed: only the summary is published",
  HeadMovedOn: "the head moved on to {head}",
  PublishersCrashed:
    "quarantined: {count} processes in a row ended while they handled it; see their last log lines, then request the review again",
  NothingPublished: "nothing of the review was published",
  NotDelivered: "problems for maintainers only were not delivered to them, and nothing is published before that",
  RepositoryNotPrivate:
    "channel {channel} is for problems that only maintainers get ({=review.private}), and the host does not call {repository} private; use a private repository, or a chat",
  RunNotOnRecord: "its run is no longer on record",
  ChangeMovedOn: "the change moved on before this was sent",
  OtherNodePublishes: "another node publishes to this change now",
  OtherPublisherWrites: "another publisher writes the status of this commit",
  StatusChanged: "the status of this commit has changed since then",
  ChangeRequestStays: "the request for changes stays, because of the same commit: {status}",
  PersonHasDraft:
    "a person has an unpublished review or draft with {count} texts under the account of the service, which would be published together with this review; publish or delete it with that account, then request the review again",
  AwaitsCredential: "waits until the host accepts the credential of trigger {trigger} again: {why}",
  CredentialNotRestored: "the host refused the credential of trigger {trigger} for {hours} hours: {why}",
  NoNumber: "a {kind:target} has no number, so no review can be written on it",
  IssueChanged: "issue #{number} was changed after its triage; it is left unchanged",
  InShadow: "not published, because the workspace reviews in shadow ({=outputs.shadow})",
  NoSummaryToUpdate: "no problem was found, and no earlier summary exists",
  CommentsExist: "all of its comments are at the host, or were dismissed",
  NoCommentToResolve: "no comment of an earlier review has to be resolved",
  NoChangeRequest: "no request for changes is in effect",
  IssuesCurrent: "the managed issues are up to date",
  CheckRefused:
    "a commit status took the place of the check run, which the installation of the app may not write: grant it checks: write",
  GoneAtHost: "it is closed or no longer exists at the host",
  NoReactionsAtHost: "the host has no reactions to comments",
  AuthorNotMapped:
    "no direct message: channel {channel} has no single member with the account of the author; add it to user_mappings, author_mappings or vcs_accounts",
  AuthorOptedOut: "no direct message: the author has stopped direct messages",
  ChannelMissing: "channel {channel} of workspace {workspace} is no longer configured",
  NoticeChannelMissing: "channel {channel} is no longer configured as a channel of notices",
  ChannelKindChanged: "channel {channel} changed its kind and does not support {operation}; request the review again",
  ChannelUnusable: "channel {channel}: {why}",
  CredentialOfOtherHost:
    "base_url is on another host than trigger {trigger}, whose credential is not sent there; set token_env of the channel",
  NoPullRequests: "trigger {trigger} is of kind {kind}, which has no pull requests",
  OtherHostKind: "kind {kind} does not write to {host} (trigger {trigger})",
  OtherHost:
    "it writes to the host of trigger {trigger}, and the change is on the host of trigger {own}; to publish it there, set repo or project_id of the channel",
  OtherServer:
    "it writes to reviews of the server of trigger {trigger}, and the changelist is on that of trigger {own}",
  ConnectionMissing: "connection {connection} is not configured, or is disabled",
  NoApplicationSecret: "has no application secret; set app_secret_env to its variable",
  NoConnectionOrTarget: "needs connection and target",
  NoWebhookUrl: "channel {channel} has no webhook_url; set webhook_url_env to its variable",
  NoMailServer: "channel {channel} has no smtp_url, from or to; set smtp_url_env to its variable",
  SwarmWithoutAddress: "channel {channel} has no base_url; set it to the web address of the Swarm server",
  SwarmWithoutUser: "channel {channel} has no user; set user, or user_env to its variable",
  SwarmWithoutCredential: "channel {channel} has no credential; set ticket_env or password_env to its variable"
} as const satisfies Record<keyof typeof publicationReasons, string>
