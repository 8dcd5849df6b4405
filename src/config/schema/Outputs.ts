/** Schema of `outputs`: channels, routes of results to them, and templates. */
import { Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import { noticeKinds } from "../../domain/Notice.ts"
import type { Resolved } from "../Field.ts"
import { defaulted, group, kinds, nodeFile, optional, required } from "../Field.ts"
import {
  choice,
  EnvName,
  Flag,
  int,
  list,
  LongText,
  map,
  matching,
  named,
  PositiveInt,
  Secret,
  Text,
  Url
} from "../Scalars.ts"

const gitea = ["gitea_pr_review", "gitea_issue", "gitea_problem_issue"]
const github = ["github_pr_review", "github_issue", "github_problem_issue"]
const gitlab = ["gitlab_mr_review", "gitlab_problem_issue"]
const hosts = { when: kinds(...gitea, ...github, ...gitlab) }
const reviews = { when: kinds("gitea_pr_review", "github_pr_review", "gitlab_mr_review") }
const issues = { when: kinds("gitea_problem_issue", "github_problem_issue", "gitlab_problem_issue") }
const bots = { when: kinds("feishu_bot", "wecom_bot") }
const feishuApp = { when: kinds("feishu_app") }
const chats = { when: kinds("feishu_app", "wecom_app", "wecom_bot", "feishu_bot") }
const swarm = { when: kinds("p4_swarm") }
const file = { when: { field: "source", values: ["file"], absent: "feishu_api" } }
const api = { when: { field: "source", values: ["feishu_api"], absent: "feishu_api" } }

/** Separate fields for each use, as with `routeTargets`: tests observe the effect of each. */
const noProblems = () => ({
  action: optional(choice("publish", "suppress", "publish_if_summary"), "What happens when no problem was found.")
})

export const MemberDirectory = Schema.Struct({
  source: optional(named("directorySource"), "Where members come from.", { defaultText: "feishu_api" }),
  chat_id: optional(Text, "Group whose members form the identity directory.", {
    ...api,
    requiredWhen: api.when
  }),
  cache_ttl_seconds: optional(int(0, 604_800), "Overrides outputs.author_resolution.directory_cache_ttl_seconds.", {
    ...api,
    runtimeDefault: 43_200
  }),
  path: optional(Text, "Member file, relative to the configuration file's directory.", {
    ...file,
    requiredWhen: file.when,
    fileOnly: nodeFile
  }),
  directory_id: optional(Text, "Directory name inside the member file.", { ...file, requiredWhen: file.when }),
  identity_scope: optional(
    Schema.Struct({
      kind: required(named("identityScope"), "Kind of namespace."),
      id: required(Text, "Namespace id. Equal ids in different scopes are different people.")
    }),
    "Namespace of the identities.",
    { ...file, requiredWhen: file.when }
  ),
  watch: optional(Flag, "Reload when the file changes; false keeps only the periodic check.", {
    ...file,
    runtimeDefault: true
  }),
  debounce_ms: optional(int(50, 2000), "Wait after a change before reloading, in milliseconds.", {
    ...file,
    runtimeDefault: 300
  }),
  poll_interval_seconds: optional(int(5, 300), "Seconds between checks of the file's digest.", {
    ...file,
    runtimeDefault: 30
  }),
  allowed_root: optional(Text, "Directory that the file's real path must stay in.", {
    ...file,
    defaultText: "directory of the configuration file",
    fileOnly: nodeFile
  })
})
export type MemberDirectory = Resolved<typeof MemberDirectory>

const recipients = { when: kinds("recipients") }
export const ChatTarget = Schema.Struct({
  kind: required(choice("recipients", "appchat"), "Single recipients or one group chat."),
  users: optional(list(Text), "User ids.", recipients),
  parties: optional(list(Text), "Department ids.", recipients),
  tags: optional(list(Text), "Tag ids.", recipients),
  chat_id: optional(Text, "Group chat id.", { when: kinds("appchat"), requiredWhen: kinds("appchat") })
})
export type ChatTarget = Resolved<typeof ChatTarget>

export const Channel = Schema.Struct({
  name: required(Text, "Name used in routes and templates. Unique."),
  kind: required(named("channelKind"), "Channel kind."),
  trigger: optional(Text, "Trigger whose host and credential the channel uses. Default: the change's own.", {
    refers: "trigger"
  }),
  mention_author: optional(Flag, "Mention the author that was found for the commit."),
  mention_fallback: optional(choice("all", "skip"), "Whom to mention when no author was found."),
  no_problems: optional(
    Schema.Struct(noProblems()),
    "What this channel does when no problem was found. Default: outputs.no_problems."
  ),
  commit_url_template: optional(Text, "Link to a commit."),
  revision_url_template: optional(Text, "Link to a revision."),
  change_url_template: optional(Text, "Link to a changelist."),
  templates: group(
    {
      problem: optional(
        Text,
        "Name in outputs.templates for a problem. Takes precedence over the folder of the workspace and the built-in one.",
        {
          refers: "template"
        }
      ),
      summary: optional(
        Text,
        "Name in outputs.templates for a summary. Takes precedence over the folder of the workspace and the built-in one.",
        {
          refers: "template"
        }
      )
    },
    "Templates of this channel."
  ),
  marker_prefix: defaulted(Text, "[AICR]", "Title prefix of managed issues.", issues),
  marker_label: optional(Text, "Name that groups managed issues, written into each as a hidden marker.", issues),
  label_ids: optional(list(int(0)), "Ids of labels to attach.", {
    when: kinds("gitea_problem_issue", "gitea_issue")
  }),
  labels: optional(list(Text), "Names of labels to attach.", {
    when: kinds("github_problem_issue", "github_issue", "gitlab_problem_issue")
  }),
  issue_mode: optional(
    choice("per_problem", "consolidated", "per_commit"),
    "What one managed issue represents.",
    issues
  ),
  issue_link_card: optional(
    choice("brief", "titles", "full"),
    "Content of the chat card when the summary route also records a managed issue.",
    { when: kinds("feishu_bot", "feishu_app"), runtimeDefault: "titles" }
  ),
  resolved_action: optional(
    choice("none", "close", "mark_resolved", "delete"),
    "What happens to a managed issue whose problem is gone. `delete` on gitea_problem_issue only.",
    issues
  ),
  assign_committer: defaulted(
    Flag,
    true,
    "Assign new managed issues to the author that was found. The e-mail blacklist blocks the fallback to API and pusher; OWNERS are independent.",
    issues
  ),
  owners_file: defaulted(Text, "OWNERS", "Path of the owners file.", issues),
  add_owners_as_assignees: optional(Flag, "Assign matched owners too.", issues),
  severity_label_prefix: optional(Text, "Create and attach a label of this prefix and the severity.", issues),
  severity_label_colors: optional(
    map(matching(/^#?[0-9A-Fa-f]{6}$/, "a colour of six hexadecimal digits")),
    "Severity to colour of labels that are created.",
    issues
  ),
  review_mode: optional(
    choice("auto", "review", "comment"),
    "`auto` and `review`: problems as comments at their lines, in one review. `comment`: all of them in the summary comment, none at a line.",
    reviews
  ),
  review_event: optional(choice("COMMENT", "REQUEST_CHANGES"), "Verdict of the review.", reviews),
  review_approve: optional(
    choice("never", "when_clean"),
    "What a clean later head does to our request for changes: never dismisses it, when_clean approves.",
    { ...reviews, runtimeDefault: "never" }
  ),
  review_update_strategy: optional(
    choice("always_new", "update_existing"),
    "Whether a later review of the same target updates its summary.",
    { ...reviews, runtimeDefault: "update_existing" }
  ),
  notify_feishu: optional(
    Schema.Struct({
      webhook_url_env: optional(EnvName, "Environment variable that holds the bot's webhook URL."),
      webhook_url: optional(Secret, "Literal webhook URL. Sealed when published.", { exclusive: ["webhook_url_env"] }),
      secret_env: optional(EnvName, "Environment variable that holds the signing secret."),
      secret: optional(Secret, "Literal signing secret. Sealed when published.", { exclusive: ["secret_env"] })
    }),
    "Chat message when an issue is created.",
    issues
  ),
  token_env: optional(EnvName, "Environment variable that holds the channel's own API token.", hosts),
  token: optional(Secret, "Literal API token of the channel. Sealed when published.", {
    ...hosts,
    exclusive: ["token_env"]
  }),
  webhook_url_env: optional(EnvName, "Environment variable that holds the bot's webhook URL.", bots),
  webhook_url: optional(Secret, "Literal webhook URL of the bot. Sealed when published.", {
    ...bots,
    exclusive: ["webhook_url_env"]
  }),
  secret_env: optional(EnvName, "Environment variable that holds the signing secret.", bots),
  secret: optional(Secret, "Literal signing secret. Sealed when published.", { ...bots, exclusive: ["secret_env"] }),
  base_url: optional(
    Url,
    "Web URL of the host, in place of the trigger's. One of another origin needs token or token_env of the channel. Of kind feishu_app: base URL of the platform's API, for Lark; with connection that of the connection. Of kind p4_swarm: web URL of the Swarm (P4 Code Review) server, to which alone its credential is sent.",
    {
      when: kinds(...gitea, ...github, ...gitlab, "feishu_app", "p4_swarm"),
      requiredWhen: kinds("p4_swarm"),
      destination: true
    }
  ),
  user_env: optional(EnvName, "Environment variable that holds the user.", swarm),
  user: optional(Text, "User of the Perforce server as whom comments are written (an identifier, not sealed).", {
    ...swarm,
    exclusive: ["user_env"]
  }),
  ticket_env: optional(
    EnvName,
    "Environment variable that holds a ticket of the user (`p4 login -p`). Put the user into a group whose tickets do not expire, or renew the ticket.",
    swarm
  ),
  ticket: optional(Secret, "Literal ticket. Sealed when published.", { ...swarm, exclusive: ["ticket_env"] }),
  password_env: optional(
    EnvName,
    "Environment variable that holds the user's password, which servers of security level 3 and above refuse.",
    { ...swarm, exclusive: ["ticket_env", "ticket"] }
  ),
  password: optional(Secret, "Literal password. Sealed when published.", {
    ...swarm,
    exclusive: ["ticket_env", "ticket", "password_env"]
  }),
  tls_ca_path: optional(Text, "Path of a PEM file with certificate authorities to trust in addition to the system's.", {
    ...swarm,
    fileOnly: nodeFile
  }),
  http_proxy: optional(Url, "HTTP proxy for requests to the server.", { ...swarm, destination: true }),
  review_wait_seconds: optional(
    int(0, 3600),
    "Seconds to wait until Swarm has created the review of a changelist. After that nothing is published, and the run names the reason.",
    { ...swarm, runtimeDefault: 30 }
  ),
  problem_tasks: optional(
    Flag,
    "Open a task for each problem. It is marked as addressed when the problem is gone; without tasks the comment is archived.",
    { ...swarm, runtimeDefault: true }
  ),
  notifications: optional(
    choice("batched", "immediate", "none"),
    "E-mail messages of Swarm about comments: one for all of them after its delay, one for each, or none.",
    { ...swarm, runtimeDefault: "batched" }
  ),
  owner: optional(Text, "Owner of the repository, in place of the change's.", {
    when: kinds(...gitea, ...github)
  }),
  repo: optional(Text, "Repository, in place of the change's.", { when: kinds(...gitea, ...github) }),
  project_id: optional(Schema.Union([Text, PositiveInt]), "Project id or path, in place of the change's.", {
    when: kinds(...gitlab)
  }),
  mentioned_mobile_list: optional(list(Text), "Mobile numbers to mention.", { when: kinds("wecom_bot") }),
  min_severity: optional(Severity, "Least severity that this channel publishes."),
  max_comments: optional(PositiveInt, "Most line comments per run."),
  app_id: optional(Text, "Application id.", { ...feishuApp, exclusive: ["connection"] }),
  app_secret_env: optional(EnvName, "Environment variable that holds the application secret.", {
    ...feishuApp,
    exclusive: ["connection"]
  }),
  app_secret: optional(Secret, "Literal application secret. Sealed when published.", {
    ...feishuApp,
    exclusive: ["app_secret_env", "connection"]
  }),
  receive_id: optional(Text, "Recipient.", { ...feishuApp, requiredWhen: kinds("feishu_app") }),
  receive_id_type: optional(choice("chat_id", "open_id", "user_id", "union_id", "email"), "What receive_id is.", {
    ...feishuApp,
    runtimeDefault: "chat_id"
  }),
  member_directory: optional(
    MemberDirectory,
    "Directory of members, in which authors are found to mention them.",
    chats
  ),
  user_mappings: optional(
    map(Text),
    "Exact identifier (login, e-mail address, name, Perforce client) to the application's open_id.",
    {
      ...feishuApp,
      exclusive: ["author_mappings"]
    }
  ),
  author_mappings: optional(
    map(Text),
    "Exact identifier (login, e-mail address, name, Perforce client) to a member key of the directory.",
    chats
  ),
  guess_author: optional(
    Flag,
    "If no exact match is found, also match words of the Perforce client's name, and call a model.",
    {
      ...chats,
      runtimeDefault: true
    }
  ),
  connection: optional(Text, "Name in im.connections. Takes the place of inline credentials on feishu_app.", {
    when: kinds("feishu_app", "wecom_app"),
    requiredWhen: kinds("wecom_app"),
    refers: "connection"
  }),
  target: optional(ChatTarget, "Recipients, or one group chat.", {
    when: kinds("wecom_app"),
    requiredWhen: kinds("wecom_app")
  })
})
export type Channel = Resolved<typeof Channel>

const routeTargets = () => ({
  line_comments: optional(list(Text), "Channels that receive line comments.", { refers: "channel" }),
  summary: optional(list(Text), "Channels that receive the summary.", { refers: "channel" })
})

export const RouteRule = Schema.Struct({
  match: group(
    {
      trigger: optional(Text, "Trigger name.", { refers: "trigger" }),
      target_kind: optional(named("targetKind"), "What is reviewed.")
    },
    "Conditions, all of which must hold; none holds always."
  ),
  analysis: group(
    {
      agent: optional(
        named("agentMode"),
        "Execution mode of these reviews, in place of agent.default of the workspace."
      ),
      model_chain: optional(Text, "Model group of these reviews, in place of the workspace's.", { refers: "chain" })
    },
    "How reviews that match are executed."
  ),
  ...routeTargets()
})
export type RouteRule = Resolved<typeof RouteRule>

export const NotificationRoute = Schema.Struct({
  kinds: optional(
    list(choice(...noticeKinds), { minItems: 1, unique: true }),
    "Kinds of notices. Default: all. A list of a workspace takes queue_expired and review_failed only."
  ),
  channels: required(
    list(Text, { minItems: 1, unique: true }),
    "Channels that receive the notices: kinds feishu_bot, feishu_app, wecom_bot and wecom_app.",
    { refers: "channel" }
  )
})

export const OutputsConfig = Schema.Struct({
  template_engine: defaulted(
    named("templateEngine"),
    "handlebars",
    "Template engine. `eta` is accepted and handlebars is used, with a warning.",
    { unimplemented: { value: "eta", instead: "templates are rendered with handlebars" } }
  ),
  templates: defaulted(
    map(LongText),
    {},
    "Named templates (markdown, frontmatter allowed; only the body is rendered) that channels refer to."
  ),
  no_problems: group(noProblems(), "What happens when no problem was found, for all channels."),
  author_resolution: group(
    {
      email_mappings: optional(map(Text), "E-mail address to account."),
      email_blacklist: optional(list(Text), "E-mail addresses of commits that are resolved to nobody."),
      directory_cache_ttl_seconds: defaulted(
        int(0, 604_800),
        43_200,
        "Seconds that a member directory is kept; 0 disables reuse."
      )
    },
    "How the author of a commit is found."
  ),
  routes: group(
    {
      default: optional(Schema.Struct(routeTargets()), "Applied when no rule matches."),
      rules: defaulted(list(RouteRule, { maxItems: 1000 }), [], "Ordered rules; the first that matches applies.")
    },
    "Which channels receive what."
  ),
  notifications: group(
    {
      routes: defaulted(
        list(NotificationRoute, { maxItems: 100 }),
        [],
        "Routes of notices. A notice goes to the channels of every route that matches, once to each. A workspace's own list replaces it for notices about its reviews."
      )
    },
    "Which channels receive notices to operators."
  ),
  channels: defaulted(list(Channel), [], "Channels.")
})
export type OutputsConfig = Resolved<typeof OutputsConfig>
