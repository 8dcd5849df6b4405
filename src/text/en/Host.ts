/** Reasons for which a request to a host or a chat platform fails, and next steps. */
import type { hostReasons } from "../../domain/reasons/Host.ts"

export const hostTexts = {
  HostRefused: "{operation} returned {status}[[ with code {code}]][[: {words}]][[: needs {permissions}]][[: {advice}]]",
  HostSilent: "{operation} failed without a response: {error}[[; {advice}]]",
  ConnectionClosed: "connection closed",
  HostTooLarge: "{operation}: the response is larger than {mebibytes} MiB",
  HostUnreadable: "{operation}: unexpected response with status {status}: {detail}[[; {advice}]]",
  RequestFailed: "{operation}: {why}",
  RateLimitHolds: "{operation} was not sent: the host's rate limit holds this token for another {seconds} s",
  AccountLimited: "the host rate-limits this account for another {seconds} s",
  PermitsUnavailable: "permits to write with this account are unavailable[[: {error}]]",
  CheckCredential: "the credential is wrong or has expired; check token_env or app of the trigger",
  GrantAccess: "the credential lacks a permission; grant it access to this repository",
  MissingOrHidden: "it does not exist, or the credential may not read it",
  CredentialLimited: "the host limits the requests of this credential; the service retries later",
  CheckBaseUrl: "check base_url of the trigger",
  BaseUrlHasApiPath: "base_url of the trigger ends with {path}, which the service adds itself; remove it there",
  CheckChannelBaseUrl: "check base_url of channel {channel}",
  CertificateUntrusted:
    "its certificate is not trusted: name that of its authority in {=triggers[].tls_ca_path} for a git host, else in NODE_EXTRA_CA_CERTS",
  NameUnresolved: "its name does not resolve: check the address and DNS",
  NothingListens: "nothing listens at its address: check the address and the server",
  Unreachable: "it cannot be reached: check the address, the network and the proxy",
  NoTls: "it does not use TLS: check http and https in the address",
  NoBaseUrl: "trigger {trigger} has no base_url; set {=triggers[].base_url} to the host's web address",
  NoOutboundCredential: "trigger {trigger} has no outbound credential; set {=triggers[].token_env}",
  CertificatesUnreadable: "[[trigger {trigger}]][[channel {channel}]]: tls_ca_path {path} cannot be read",
  AppKeyVariableUnset: "trigger {trigger}: environment variable {variable} ({=app.private_key_env}) is not set",
  AppKeyMissing: "trigger {trigger}: app has no private key",
  AppKeyUnreadable: "trigger {trigger}: {=app.private_key_path} {path} cannot be read",
  AppKeyInvalid: "trigger {trigger}: the app's private key is not a PEM key",
  AppIdMissing: "trigger {trigger}: app needs app_id or client_id",
  AppNotInstalled:
    "the app of trigger {trigger} is not installed on {repository}; select the repository in the app's installation",
  NoAccountNamed: "GET /user names no account; check token_env of the trigger",
  NoVersionOfHead: "merge request !{number} has no version with head {head}; it was replaced before GitLab recorded it",
  DifferenceNotComputed: "the host has not computed the difference of !{number} yet",
  NoCommitsOnBranch: "branch {branch} of {repository} has no commits",
  WriteAccessUnknown:
    "whether {person} may write is unknown: only an administrator of the repository may read the permissions of others, and the teams that the account of the trigger may read do not have {person} with write access to code; make the account an administrator of the repository",
  SwarmRefusesUser:
    "Swarm refuses user {user}; renew the ticket (`p4 login -p`) in ticket_env of channel {channel}, or check its password_env",
  SwarmUserLacksPermission: "user {user} of channel {channel} lacks the permission in Perforce or in Swarm",
  HiddenFromSwarmUser: "it does not exist, or user {user} of channel {channel} may not see it",
  SwarmLimitsUser: "the server limits the requests of this user; the service retries later",
  SwarmCommentsMissing: "review {review} has {count} comments, and Swarm returned none of them",
  SwarmCommentsTooLong:
    "the comments of review {review} have over {count} characters; nothing is written to it, because existing comments cannot all be read",
  SwarmCommentsTooMany:
    "review {review} has over {count} comments; nothing is written to it, because existing comments cannot all be read",
  SwarmCommentWritten: "the comment was written by another publication since it was searched for",
  NoSwarmReview:
    "Swarm has no review of changelist {changelist} that user {user} of channel {channel} may see; request one in Swarm, then review it again"
} as const satisfies Record<keyof typeof hostReasons, string>
