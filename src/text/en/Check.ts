/** Results of the check of a trigger: its set-up, its host, its webhooks, and the address of the service. */
import type { checkReasons } from "../../domain/reasons/Check.ts"

export const checkTexts = {
  TriggerDisabled: "trigger {trigger} has enabled: false; it starts no reviews",
  TriggerWithoutSecret:
    "trigger {trigger} has no webhook secret: anyone can send it deliveries; set webhook_secret_env",
  NoApiKey: "no API key is configured, so calls are refused; set {=server.auth.api_key_env}",
  TriggerWithoutCredential:
    "trigger {trigger} has no credential for its host or server, so nothing is read or published; set one",
  TriggerWithoutWorkspace: "no workspace names trigger {trigger}; add it to source_repo or match of a workspace",
  TriggerSetUp: "trigger {trigger}: credentials are set, {count} workspaces name it",
  NoServiceUrl: "{=server.base_url} is not set, so links and webhook addresses are not known; set it",
  AddressResponds: "the service responds at {url}",
  AddressFails: "{url}: {why}; hosts may still reach it from another network",
  RespondsWithStatus: "it responds with status {status}",
  RespondsNot: "no response within {seconds} s, or no connection",
  OfTrigger: "trigger {trigger}[[ on {repo}]]: {reason}",
  AuthenticatedAs: "authenticated as {user}",
  NoCiAtHost: "{=review.evidence.ci} reads nothing: the API of {kind} has no artifacts of CI",
  GitReads: "git reads the repository",
  GitFails:
    "git cannot read the repository, so its reviews fail: {why}; git uses http_proxy, https_proxy, all_proxy and no_proxy of the environment (no_proxy for hosts on this machine, too), http_proxy and tls_ca_path of the trigger",
  CiUnreadable: "{=review.evidence.ci} reads nothing: {why}",
  RepositoryMoved:
    "the repository is {to} now; the host no longer delivers under the name {from}, so change it in the workspace",
  NoWriteAccess: "the account may not write to the repository; commit status and labels need write access",
  NotAdministrator:
    "the account does not administer the repository, so the host refuses to it the permissions of others (/aicr commands and dismissals count, and context repositories for members are read, only for members of its own teams that may write code), ending a request for changes, and deleting issues; make it an administrator of the repository",
  InstallationLacks: "the app's installation lacks the permission {permission} ({use}); grant it in the app's settings",
  UseCode: "reading the code",
  UseReviews: "reviews",
  UseIssues: "summaries, issues and labels",
  UseStatus: "the commit status",
  ClassicTokenLacksScope: "the token has {has}; a classic token needs repo[[ or {other}]]",
  TokenLacksApi: "the token has {has}; it needs api",
  NoScope: "no scope",
  HasScopes: "the scopes {scopes}",
  RoleTooLow: "the account {role}; unless it is an administrator, commit status, labels and reviews need Developer",
  NotAMember: "is not a member of the project",
  BelowDeveloper: "has a role in the project below Developer",
  WebhooksNotListed: "webhooks not checked: the credential may not list them, which needs {permission}",
  WebhooksUnreadable: "webhooks not checked: {why}",
  RepositoryAdministrator: "an account that administers the repository",
  WebhooksWrite: "Webhooks: write (read, to check them only), or the scope admin:repo_hook of a classic token",
  MaintainerWithApiScope: "the role Maintainer and the scope api (read_api, to check them only)",
  NoWebhook:
    "no webhook of the repository points to {url}; add one in its settings, unless the organisation or the site has one",
  WebhookElsewhere:
    "the webhook of the repository points to {urls}, and {=server.base_url} gives {address}; change one of them",
  WebhookInactive:
    "the webhook of the repository is not active; activate it in its settings, after its deliveries succeed",
  WebhookLacksEvents: "the webhook of the repository lacks the events {events}; select them in its settings",
  DeliveriesFailed:
    "the host's log has {count} failed deliveries of the last {total}, the newest[[ at {at}]] with {response}; {advice}",
  StatusCode: "status {status}",
  NoResponse: "no response",
  CheckReach: "check that the host reaches the address",
  SecretDiffers: "the secret of the webhook is not that of webhook_secret_env",
  CheckPath: "check the path of its URL, and that the trigger is enabled",
  SeeReadiness: "see /readyz and the log of the service",
  SeeLog: "see the log of the service",
  AnyWebhookPath: "a path /webhooks/…",
  ModelReported: "model {model} (model_chain {chains}): {why}",
  ModelReady: "model {model} (model_chain {chains}) responds, and calls tools",
  SubscriptionUnchecked: "not checked, only the agent of its maker may use the token of its subscription",
  ModelSilent: "no response within {seconds} s: check the server",
  AdviceAndReason: "{advice}. {why}",
  AgentUnavailable: "{count|workspace|workspaces} {workspaces}: {why}",
  AgentReady: "{count|workspace|workspaces} {workspaces}: agent mode {mode} {version} in sandbox {kind}",
  AgentVersionUntested:
    "{count|workspace|workspaces} {workspaces}: agent mode {mode} {version} is not a version that was tested ({range}); run aicr agent check {mode}",
  OfTheImage: "of the image",
  AgentPoint: "agent mode {mode} in sandbox {kind}: {point}: {detail}",
  ServiceReady: "the service on port {port} is ready",
  ServiceWaits: "the service on port {port} waits for its servers[[: {parts}]]",
  ServiceNotReady: "the service on port {port} is not ready[[: {parts}]]; its log has the error",
  SwarmAccepts: "channel {channel}: {version} accepts user {user}"
} as const satisfies Record<keyof typeof checkReasons, string>
