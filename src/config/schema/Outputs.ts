/** Schema of `outputs`: channels, routes of results to them, and templates. */
import { Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import { noticeKinds } from "../../domain/Notice.ts"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, kinds, nodeFile, optional, required } from "../fields/Field.ts"
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
} from "../fields/Scalars.ts"

const gitea = ["gitea_pr_review", "gitea_issue", "gitea_problem_issue"]
const github = ["github_pr_review", "github_issue", "github_problem_issue"]
const gitlab = ["gitlab_mr_review", "gitlab_problem_issue"]
const hosts = { when: kinds(...gitea, ...github, ...gitlab) }
const reviews = { when: kinds("gitea_pr_review", "github_pr_review", "gitlab_mr_review") }
const issues = { when: kinds("gitea_problem_issue", "github_problem_issue", "gitlab_problem_issue") }
/** Kinds that post to a URL. */
export const hookKinds: ReadonlyArray<string> = ["feishu_bot", "wecom_bot", "slack_webhook", "teams_webhook", "webhook"]
const hooks = { when: kinds(...hookKinds) }
const signed = { when: kinds("feishu_bot", "wecom_bot", "webhook") }
const feishuApp = { when: kinds("feishu_app") }
const chats = { when: kinds("feishu_app", "wecom_app", "wecom_bot", "feishu_bot") }
/** Kinds whose application sends messages to single persons and receives their commands. */
const apps = { when: kinds("feishu_app", "wecom_app", "slack_app") }
const mail = { when: kinds("email") }
const swarm = { when: kinds("p4_swarm") }
const file = { when: { field: "source", values: ["file"], absent: "feishu_api" } }
const api = { when: { field: "source", values: ["feishu_api"], absent: "feishu_api" } }

/** An address without a display name, which cannot end the line of its header. */
const EmailAddress = matching(/^[^\s@<>(),;:"\\[\]]{1,64}@[A-Za-z0-9.-]{1,253}$/, { _tag: "MailAddress" })

/** Separate fields for each use, as with `routeTargets`: tests observe the effect of each. */
const noProblems = () => ({
  action: optional(choice("publish", "suppress", "publish_if_summary"), "outputs.channels[].no_problems.action")
})

export const MemberDirectory = Schema.Struct({
  source: optional(named("directorySource"), "outputs.channels[].member_directory.source", {
    defaultText: "feishu_api"
  }),
  chat_id: optional(Text, "outputs.channels[].member_directory.chat_id", {
    ...api,
    requiredWhen: api.when
  }),
  cache_ttl_seconds: optional(int(0, 604_800), "outputs.channels[].member_directory.cache_ttl_seconds", {
    ...api,
    runtimeDefault: 43_200
  }),
  path: optional(Text, "outputs.channels[].member_directory.path", {
    ...file,
    requiredWhen: file.when,
    fileOnly: nodeFile
  }),
  directory_id: optional(Text, "outputs.channels[].member_directory.directory_id", {
    ...file,
    requiredWhen: file.when
  }),
  identity_scope: optional(
    Schema.Struct({
      kind: required(named("identityScope"), "outputs.channels[].member_directory.identity_scope.kind"),
      id: required(Text, "outputs.channels[].member_directory.identity_scope.id")
    }),
    "outputs.channels[].member_directory.identity_scope",
    { ...file, requiredWhen: file.when }
  ),
  watch: optional(Flag, "outputs.channels[].member_directory.watch", {
    ...file,
    runtimeDefault: true
  }),
  debounce_ms: optional(int(50, 2000), "outputs.channels[].member_directory.debounce_ms", {
    ...file,
    runtimeDefault: 300
  }),
  poll_interval_seconds: optional(int(5, 300), "outputs.channels[].member_directory.poll_interval_seconds", {
    ...file,
    runtimeDefault: 30
  }),
  allowed_root: optional(Text, "outputs.channels[].member_directory.allowed_root", {
    ...file,
    defaultText: "directory of the configuration file",
    fileOnly: nodeFile
  })
})
export type MemberDirectory = Resolved<typeof MemberDirectory>

const recipients = { when: kinds("recipients") }
const ChatTarget = Schema.Struct({
  kind: required(choice("recipients", "appchat"), "outputs.channels[].target.kind"),
  users: optional(list(Text), "outputs.channels[].target.users", recipients),
  parties: optional(list(Text), "outputs.channels[].target.parties", recipients),
  tags: optional(list(Text), "outputs.channels[].target.tags", recipients),
  chat_id: optional(Text, "outputs.channels[].target.chat_id", {
    when: kinds("appchat"),
    requiredWhen: kinds("appchat")
  })
})
type ChatTarget = Resolved<typeof ChatTarget>

export const Channel = Schema.Struct({
  name: required(Text, "outputs.channels[].name"),
  kind: required(named("channelKind"), "outputs.channels[].kind"),
  trigger: optional(Text, "outputs.channels[].trigger", {
    refers: "trigger"
  }),
  mention_author: optional(Flag, "outputs.channels[].mention_author", { runtimeDefault: false }),
  direct_message: optional(Flag, "outputs.channels[].direct_message", { ...apps, runtimeDefault: false }),
  mention_fallback: optional(choice("all", "skip"), "outputs.channels[].mention_fallback", {
    runtimeDefault: "skip"
  }),
  no_problems: optional(Schema.Struct(noProblems()), "outputs.channels[].no_problems"),
  commit_url_template: optional(Text, "outputs.channels[].commit_url_template"),
  revision_url_template: optional(Text, "outputs.channels[].revision_url_template"),
  change_url_template: optional(Text, "outputs.channels[].change_url_template"),
  templates: group(
    {
      problem: optional(Text, "outputs.channels[].templates.problem", {
        refers: "template"
      }),
      summary: optional(Text, "outputs.channels[].templates.summary", {
        refers: "template"
      })
    },
    "outputs.channels[].templates"
  ),
  marker_prefix: defaulted(Text, "[AICR]", "outputs.channels[].marker_prefix", issues),
  marker_label: optional(Text, "outputs.channels[].marker_label", issues),
  label_ids: optional(list(int(0)), "outputs.channels[].label_ids", {
    when: kinds("gitea_problem_issue", "gitea_issue")
  }),
  labels: optional(list(Text), "outputs.channels[].labels", {
    when: kinds("github_problem_issue", "github_issue", "gitlab_problem_issue")
  }),
  issue_mode: optional(choice("per_problem", "consolidated", "per_commit"), "outputs.channels[].issue_mode", {
    ...issues,
    runtimeDefault: "per_problem"
  }),
  issue_link_card: optional(choice("brief", "titles", "full"), "outputs.channels[].issue_link_card", {
    when: kinds("feishu_bot", "feishu_app"),
    runtimeDefault: "titles"
  }),
  resolved_action: optional(choice("none", "close", "mark_resolved", "delete"), "outputs.channels[].resolved_action", {
    ...issues,
    runtimeDefault: "close"
  }),
  assign_committer: defaulted(Flag, true, "outputs.channels[].assign_committer", issues),
  owners_file: defaulted(Text, "OWNERS", "outputs.channels[].owners_file", issues),
  add_owners_as_assignees: optional(Flag, "outputs.channels[].add_owners_as_assignees", {
    ...issues,
    runtimeDefault: false
  }),
  severity_label_prefix: optional(Text, "outputs.channels[].severity_label_prefix", issues),
  severity_label_colors: optional(
    map(matching(/^#?[0-9A-Fa-f]{6}$/, { _tag: "HexColour" })),
    "outputs.channels[].severity_label_colors",
    issues
  ),
  review_mode: optional(choice("auto", "review", "comment"), "outputs.channels[].review_mode", {
    ...reviews,
    runtimeDefault: "auto"
  }),
  review_event: optional(choice("COMMENT", "REQUEST_CHANGES"), "outputs.channels[].review_event", {
    ...reviews,
    runtimeDefault: "COMMENT"
  }),
  review_approve: optional(choice("never", "when_clean"), "outputs.channels[].review_approve", {
    ...reviews,
    runtimeDefault: "never"
  }),
  review_update_strategy: optional(
    choice("always_new", "update_existing"),
    "outputs.channels[].review_update_strategy",
    { ...reviews, runtimeDefault: "update_existing" }
  ),
  notify_feishu: optional(
    Schema.Struct({
      webhook_url_env: optional(EnvName, "outputs.channels[].notify_feishu.webhook_url_env"),
      webhook_url: optional(Secret, "outputs.channels[].notify_feishu.webhook_url", { exclusive: ["webhook_url_env"] }),
      secret_env: optional(EnvName, "outputs.channels[].notify_feishu.secret_env"),
      secret: optional(Secret, "outputs.channels[].notify_feishu.secret", { exclusive: ["secret_env"] })
    }),
    "outputs.channels[].notify_feishu",
    issues
  ),
  token_env: optional(EnvName, "outputs.channels[].token_env", hosts),
  token: optional(Secret, "outputs.channels[].token", {
    ...hosts,
    exclusive: ["token_env"]
  }),
  webhook_url_env: optional(EnvName, "outputs.channels[].webhook_url_env", hooks),
  webhook_url: optional(Secret, "outputs.channels[].webhook_url", {
    ...hooks,
    exclusive: ["webhook_url_env"]
  }),
  secret_env: optional(EnvName, "outputs.channels[].secret_env", signed),
  secret: optional(Secret, "outputs.channels[].secret", { ...signed, exclusive: ["secret_env"] }),
  smtp_url_env: optional(EnvName, "outputs.channels[].smtp_url_env", mail),
  smtp_url: optional(Secret, "outputs.channels[].smtp_url", { ...mail, exclusive: ["smtp_url_env"] }),
  smtp_plaintext: optional(Flag, "outputs.channels[].smtp_plaintext", {
    ...mail,
    runtimeDefault: false,
    destination: true
  }),
  from: optional(EmailAddress, "outputs.channels[].from", { ...mail, requiredWhen: mail.when }),
  to: optional(list(EmailAddress, { minItems: 1, unique: true }), "outputs.channels[].to", {
    ...mail,
    requiredWhen: mail.when
  }),
  base_url: optional(Url, "outputs.channels[].base_url", {
    when: kinds(...gitea, ...github, ...gitlab, "feishu_app", "p4_swarm"),
    requiredWhen: kinds("p4_swarm"),
    destination: true
  }),
  user_env: optional(EnvName, "outputs.channels[].user_env", swarm),
  user: optional(Text, "outputs.channels[].user", {
    ...swarm,
    exclusive: ["user_env"]
  }),
  ticket_env: optional(EnvName, "outputs.channels[].ticket_env", swarm),
  ticket: optional(Secret, "outputs.channels[].ticket", { ...swarm, exclusive: ["ticket_env"] }),
  password_env: optional(EnvName, "outputs.channels[].password_env", { ...swarm, exclusive: ["ticket_env", "ticket"] }),
  password: optional(Secret, "outputs.channels[].password", {
    ...swarm,
    exclusive: ["ticket_env", "ticket", "password_env"]
  }),
  tls_ca_path: optional(Text, "outputs.channels[].tls_ca_path", {
    ...swarm,
    fileOnly: nodeFile
  }),
  http_proxy: optional(Url, "outputs.channels[].http_proxy", { ...swarm, destination: true }),
  review_wait_seconds: optional(int(0, 3600), "outputs.channels[].review_wait_seconds", {
    ...swarm,
    runtimeDefault: 30
  }),
  problem_tasks: optional(Flag, "outputs.channels[].problem_tasks", { ...swarm, runtimeDefault: true }),
  notifications: optional(choice("batched", "immediate", "none"), "outputs.channels[].notifications", {
    ...swarm,
    runtimeDefault: "batched"
  }),
  owner: optional(Text, "outputs.channels[].owner", {
    when: kinds(...gitea, ...github)
  }),
  repo: optional(Text, "outputs.channels[].repo", { when: kinds(...gitea, ...github) }),
  project_id: optional(Schema.Union([Text, PositiveInt]), "outputs.channels[].project_id", {
    when: kinds(...gitlab)
  }),
  mentioned_mobile_list: optional(list(Text), "outputs.channels[].mentioned_mobile_list", { when: kinds("wecom_bot") }),
  min_severity: optional(Severity, "outputs.channels[].min_severity"),
  max_comments: optional(PositiveInt, "outputs.channels[].max_comments"),
  inline_min_severity: optional(Severity, "outputs.channels[].inline_min_severity", {
    when: kinds("gitea_pr_review", "github_pr_review", "gitlab_mr_review", "p4_swarm"),
    runtimeDefault: "medium"
  }),
  app_id: optional(Text, "outputs.channels[].app_id", { ...feishuApp, exclusive: ["connection"] }),
  app_secret_env: optional(EnvName, "outputs.channels[].app_secret_env", {
    ...feishuApp,
    exclusive: ["connection"]
  }),
  app_secret: optional(Secret, "outputs.channels[].app_secret", {
    ...feishuApp,
    exclusive: ["app_secret_env", "connection"]
  }),
  receive_id: optional(Text, "outputs.channels[].receive_id", { ...feishuApp, requiredWhen: kinds("feishu_app") }),
  receive_id_type: optional(
    choice("chat_id", "open_id", "user_id", "union_id", "email"),
    "outputs.channels[].receive_id_type",
    {
      ...feishuApp,
      runtimeDefault: "chat_id"
    }
  ),
  member_directory: optional(MemberDirectory, "outputs.channels[].member_directory", chats),
  user_mappings: optional(map(Text), "outputs.channels[].user_mappings", {
    when: kinds("feishu_app", "slack_app"),
    exclusive: ["author_mappings"]
  }),
  author_mappings: optional(map(Text), "outputs.channels[].author_mappings", chats),
  guess_author: optional(Flag, "outputs.channels[].guess_author", {
    ...chats,
    runtimeDefault: true
  }),
  connection: optional(Text, "outputs.channels[].connection", {
    ...apps,
    requiredWhen: kinds("wecom_app", "slack_app"),
    refers: "connection"
  }),
  conversation: optional(
    matching(/^[A-Z][A-Z0-9]{1,30}$/, { _tag: "SlackConversation" }),
    "outputs.channels[].conversation",
    { when: kinds("slack_app"), requiredWhen: kinds("slack_app") }
  ),
  target: optional(ChatTarget, "outputs.channels[].target", {
    when: kinds("wecom_app"),
    requiredWhen: kinds("wecom_app")
  })
})
export type Channel = Resolved<typeof Channel>

const routeTargets = () => ({
  line_comments: optional(list(Text), "outputs.routes.rules[].line_comments", { refers: "channel" }),
  summary: optional(list(Text), "outputs.routes.rules[].summary", { refers: "channel" })
})

const RouteRule = Schema.Struct({
  match: group(
    {
      trigger: optional(Text, "outputs.routes.rules[].match.trigger", { refers: "trigger" }),
      target_kind: optional(named("targetKind"), "outputs.routes.rules[].match.target_kind")
    },
    "outputs.routes.rules[].match"
  ),
  analysis: group(
    {
      agent: optional(named("agentMode"), "outputs.routes.rules[].analysis.agent"),
      model_chain: optional(Text, "outputs.routes.rules[].analysis.model_chain", { refers: "chain" })
    },
    "outputs.routes.rules[].analysis"
  ),
  ...routeTargets()
})
type RouteRule = Resolved<typeof RouteRule>

const NotificationRoute = Schema.Struct({
  kinds: optional(list(choice(...noticeKinds), { minItems: 1, unique: true }), "outputs.notifications.routes[].kinds"),
  channels: required(list(Text, { minItems: 1, unique: true }), "outputs.notifications.routes[].channels", {
    refers: "channel"
  })
})

export const OutputsConfig = Schema.Struct({
  shadow: defaulted(Flag, false, "outputs.shadow"),
  template_engine: defaulted(named("templateEngine"), "handlebars", "outputs.template_engine", {
    unimplemented: { value: "eta", instead: { _tag: "RenderedWithHandlebars" } }
  }),
  templates: defaulted(map(LongText), {}, "outputs.templates"),
  no_problems: group(noProblems(), "outputs.no_problems"),
  author_resolution: group(
    {
      email_mappings: optional(map(Text), "outputs.author_resolution.email_mappings"),
      email_blacklist: optional(list(Text), "outputs.author_resolution.email_blacklist"),
      directory_cache_ttl_seconds: defaulted(
        int(0, 604_800),
        43_200,
        "outputs.author_resolution.directory_cache_ttl_seconds"
      )
    },
    "outputs.author_resolution"
  ),
  routes: group(
    {
      default: optional(Schema.Struct(routeTargets()), "outputs.routes.default"),
      rules: defaulted(list(RouteRule, { maxItems: 1000 }), [], "outputs.routes.rules")
    },
    "outputs.routes"
  ),
  notifications: group(
    {
      routes: defaulted(list(NotificationRoute, { maxItems: 100 }), [], "outputs.notifications.routes")
    },
    "outputs.notifications"
  ),
  channels: defaulted(list(Channel), [], "outputs.channels")
})
export type OutputsConfig = Resolved<typeof OutputsConfig>
