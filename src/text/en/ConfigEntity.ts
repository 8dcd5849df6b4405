/** Channels, chat, triggers and workspaces of the configuration. */
import type { configEntityReasons } from "../../domain/reasons/ConfigEntity.ts"

export const configEntityTexts = {
  HostDiffers:
    "is of another host than trigger {trigger}, whose credential is not sent there; set token_env of the channel, or drop base_url",
  NobodyMentionsAll: "all does not exist for kind {kind}, whose messages cannot mention everyone; use skip",
  MentionNeedsMembers:
    "has no effect on kind {kind} without members, because accounts of a git host are no ids of Feishu; set member_directory or user_mappings",
  NoCommitChanges: "no change is of kind commit, so the rule matches nothing; commits that are pushed are of kind push",
  PrivateChannelUnfit:
    "channel {channel} of kind {kind} cannot carry problems for maintainers only; use one of kind {kinds}",
  PrivateRepositoryMissing:
    "channel {channel} of kind {kind} writes to the repository of the change, which its readers read; set owner and repo, or project_id, of a private repository",
  PrivateChannelRouted:
    "channel {channel} is for problems that only maintainers get, and {place} publishes reviews to it; use a channel that no route names",
  ChannelOmitted: "leaves out channel {channel}, which {place} sends to; add it or set routes here too",
  NoNoticesBy: "channel {channel} of kind {kind} cannot carry notices[[ of {place}]]; use one of kind {kinds}",
  NoticeOfService:
    "notices of kind {kind} are about the service, not about a workspace; name it in outputs.notifications.routes",
  LinksMadeBy: "without effect on kind {kind}, whose links are made by {field}; set that instead",
  BudgetOfNoTeam: "has no effect: no workspace has team {team}; set workspaces.instances.<id>.team, or remove it",
  DirectMessageWithoutMembers:
    "needs the people that it may be sent to: set user_mappings, or member_directory with vcs_accounts of its members",
  DirectMessageUnstoppable:
    "needs a connection that receives messages, because a person stops direct messages with a command: set connection, and of kind wecom_app its callback",
  DirectoryOfFeishu: "feishu_api works with kind feishu_app only; kind {kind} needs source: file",
  TriggerKindUnfit: "{kind} works with triggers of kind {kinds}, not {actual}",
  WebhookUrlMissing: "missing; kind {kind} needs webhook_url_env or webhook_url",
  HookSecretMissing: "missing; kind webhook needs secret_env or secret, with which its requests are signed",
  SmtpUrlMissing: "missing; kind email needs smtp_url_env or smtp_url",
  ChannelAppIdMissing: "missing; kind feishu_app needs app_id, or a connection",
  AppSecretMissing: "missing; kind feishu_app needs app_secret_env or app_secret, or a connection",
  ConnectionKindUnfit: "is of kind {actual}; {kind} needs one of kind {kind}",
  DeleteOfGiteaOnly: "delete works with kind gitea_problem_issue only",
  NotifyUrlMissing: "needs webhook_url_env or webhook_url",
  RecipientsMissing: "kind recipients needs users, parties or tags",
  SwarmUserMissing: "missing; kind p4_swarm needs user or user_env",
  SwarmTicketMissing: "missing; kind p4_swarm needs ticket_env, ticket, password_env or password",
  SwarmWithoutTrigger:
    "p4_swarm publishes reviews of changelists, and no trigger is of kind perforce; add one, or remove the channel",
  SwarmServerUnclear:
    "missing; the triggers {triggers} are of several servers. Name the one whose changelists this Swarm server reviews",
  SendsOnly: "not enabled, so the connection receives no messages; it only sends",
  ReviewNeedsRecords: "review needs records on disk; set storage.database.sqlite.path to a file, or remove review",
  ActorMatchesNobody:
    "{kind} matches no one, because a bot reads no member directory; add a connection of kind wecom_app of the same corporation",
  ConnectionSecretMissing: "missing; kind {kind} needs app_secret_env or app_secret",
  BotIdMissing: "missing; a long connection needs it (or enable callback)",
  ConnectionTokenMissing: "missing; kind {kind} needs {key}_env or {key}",
  BotSecretMissing: "missing; a long connection needs secret_env or secret (or enable callback)",
  CallbackKeyMissing: "missing; an enabled callback of kind {kind} needs {key}_env or {key}",
  ActorWithoutType: "needs type (an exact principal) or kind (a scope)",
  NotOnConnection: "{name} does not exist on a {protocol} connection[[; use {usable}]]",
  Alternatives: "{first} or {other}",
  BindingConnectionMissing: "missing; an enabled binding needs a connection",
  ConnectionDisabled: "connection {connection} is disabled",
  BindingIncomplete: "missing; an enabled binding needs at least one entry",
  WorkspaceMissing: "missing; name a workspace",
  AliasIncomplete: "workspace {workspace} selects its repositories by rules; set source_trigger and repo_ref",
  AliasOutside:
    "leads outside of its workspace: {workspace} does not review {repo} of trigger {trigger}; name a repository that its source_repo or match selects",
  BindingsOverlap:
    "overlaps with {binding}: both grant a person a command in a conversation; merge them, or disable one",
  BaseUrlIsApi: "must be the web address of the host, without {api}: the service derives the address of the API",
  BaseUrlUnset: "{kind} needs base_url; without it nothing is read from the host or written to it",
  BaseUrlMissing:
    "missing; {credential} is sent to this host only. Set base_url to the web address of the {kind} server, e.g. https://git.example.com",
  SignaturesUnchecked:
    "no webhook secret: signatures are not checked, anyone can send webhooks; set webhook_secret_env",
  AppWithoutId: "missing; set app_id or client_id",
  AppWithoutKey: "missing; set exactly one of private_key_env, private_key_path, private_key",
  IdIsNoFolder: "the id names the workspace's directory and cannot: {why}",
  RepositoryTaken:
    "workspace {workspace} has repository {repo} of trigger {trigger} already, so its deliveries would be ambiguous; keep one, or set enabled: false on one",
  UrlForRepository: "expected a repository as the host names it, such as owner/name, found a URL[[; write {name}]]",
  SourceMissing: "missing; set source_repo or match",
  WorkPathNeedsMatch: "requires match; a workspace of one repository has one path",
  RuleMatchesAll: "a rule without conditions matches everything; name triggers, or fields of the source",
  NoTriageOfKind: "trigger {trigger} is of kind {kind}; triage works with gitea and forgejo only",
  SandboxIsGlobal: "belongs to the global agent.sandbox; a workspace sets its own under `sandbox.kind`",
  WindowEmpty: "the window is empty; for a whole day write 00:00-24:00",
  WindowStart: "a window cannot start at 24:00; write 00:00",
  ExcludesAll: "without conditions it would exclude everything",
  ExcludesNothing: "changes of {kinds} have no {field}, so the rule excludes none of them",
  BotNameMissing:
    "not set, so in groups a mention of the bot is taken as one word; set the name of the bot if it has spaces"
} as const satisfies Record<keyof typeof configEntityReasons, string>
