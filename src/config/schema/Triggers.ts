/** Schema of `triggers[]`: sources of changes, one profile per host or account. */
import { Cron, Result, Schema } from "effect"
import { defaulted, group, kinds, nodeFile, optional, required } from "../fields/Field.ts"
import type { FileOnly, Resolved } from "../fields/Field.ts"
import {
  checked,
  choice,
  EnvName,
  Flag,
  int,
  list,
  named,
  P4Port,
  PositiveInt,
  Secret,
  Text,
  TimeZone,
  Url
} from "../fields/Scalars.ts"

/** Validates five-field cron expressions of `triggers[].cron`. */

const CronExpression = checked(
  { _tag: "CronForm" },
  "cron",
  (value) => value.trim().split(/\s+/).length === 5 && Result.isSuccess(Cron.parse(value))
)

const git = { when: kinds("gitea", "forgejo", "github", "gitlab") }
const perforce = { when: kinds("perforce") }
const subversion = { when: kinds("subversion") }
/** Kinds whose servers are reached over HTTP. */
const http = { when: kinds("gitea", "forgejo", "github", "gitlab", "subversion") }
/** Kinds whose changes are reported by deliveries or hooks. */
const reported = { when: kinds("gitea", "forgejo", "github", "gitlab", "perforce", "subversion") }
const scheduled = { when: kinds("scheduled") }

/** Repositories of this machine, and ssh with its keys. */
export const localRepository: FileOnly = {
  because: { _tag: "ReadsNodeRepository" },
  applies: (value: unknown) => typeof value === "string" && !/^\s*(?:https?|svn):/i.test(value)
}

const Identifier = Schema.Union([Text, PositiveInt])
const Template = checked({ _tag: "UrlTemplate", sample: "{{variables}}" }, "uri-template", (value) =>
  /^https?:\/\//.test(value)
)

const AppCredential = Schema.Struct({
  app_id: optional(Identifier, "triggers[].app.app_id"),
  client_id: optional(Text, "triggers[].app.client_id"),
  private_key_env: optional(EnvName, "triggers[].app.private_key_env", {
    exclusive: ["private_key_path", "private_key"]
  }),
  private_key_path: optional(Text, "triggers[].app.private_key_path", {
    exclusive: ["private_key"],
    fileOnly: nodeFile
  }),
  private_key: optional(Secret, "triggers[].app.private_key"),
  installation_id: optional(Identifier, "triggers[].app.installation_id")
})
type AppCredential = Resolved<typeof AppCredential>

export const ScheduledRepository = Schema.Struct({
  repo: required(Text, "triggers[].repositories[].repo"),
  branch: optional(Text, "triggers[].repositories[].branch"),
  range: defaulted(
    Schema.Union([
      choice("last_run"),
      Schema.Struct({ days: required(PositiveInt, "triggers[].repositories[].range.days") })
    ]),
    "last_run",
    "triggers[].repositories[].range"
  )
})
export type ScheduledRepository = Resolved<typeof ScheduledRepository>

export const Trigger = Schema.Struct({
  name: required(Text, "triggers[].name"),
  kind: required(named("triggerKind"), "triggers[].kind"),
  enabled: defaulted(Flag, true, "triggers[].enabled"),
  watch_path: optional(list(Text), "triggers[].watch_path"),
  include_cr_file: optional(list(Text), "triggers[].include_cr_file"),
  exclude_cr_file: optional(list(Text), "triggers[].exclude_cr_file"),
  commit_url_template: optional(Template, "triggers[].commit_url_template"),
  revision_url_template: optional(Template, "triggers[].revision_url_template"),
  change_url_template: optional(Template, "triggers[].change_url_template"),
  app: optional(AppCredential, "triggers[].app", {
    when: kinds("github"),
    exclusive: ["token", "token_env"]
  }),
  token_env: optional(EnvName, "triggers[].token_env", git),
  token: optional(Secret, "triggers[].token", {
    ...git,
    exclusive: ["token_env"]
  }),
  webhook_secret_env: optional(EnvName, "triggers[].webhook_secret_env", git),
  webhook_secret: optional(Secret, "triggers[].webhook_secret", {
    ...git,
    exclusive: ["webhook_secret_env"]
  }),
  base_url: optional(Url, "triggers[].base_url", { ...git, destination: true }),
  write_interval_ms: optional(int(0, 60_000), "triggers[].write_interval_ms", git),
  tls_ca_path: optional(Text, "triggers[].tls_ca_path", {
    ...http,
    fileOnly: nodeFile
  }),
  http_proxy: optional(Url, "triggers[].http_proxy", { ...http, destination: true }),
  port: optional(Schema.Union([P4Port, PositiveInt]), "triggers[].port", { ...perforce, destination: true }),
  user_env: optional(EnvName, "triggers[].user_env", perforce),
  user: optional(Text, "triggers[].user", { ...perforce, exclusive: ["user_env"] }),
  ticket_env: optional(EnvName, "triggers[].ticket_env", perforce),
  ticket: optional(Secret, "triggers[].ticket", { ...perforce, exclusive: ["ticket_env"] }),
  password_env: optional(EnvName, "triggers[].password_env", {
    when: kinds("perforce", "subversion")
  }),
  password: optional(Secret, "triggers[].password", {
    when: kinds("perforce", "subversion"),
    exclusive: ["password_env"]
  }),
  p4_fingerprint: optional(Text, "triggers[].p4_fingerprint", { ...perforce, destination: true }),
  depot_path: optional(Text, "triggers[].depot_path", perforce),
  workspace: optional(Text, "triggers[].workspace", perforce),
  repository_url: optional(Text, "triggers[].repository_url", {
    ...subversion,
    destination: true,
    fileOnly: localRepository
  }),
  username_env: optional(EnvName, "triggers[].username_env", subversion),
  username: optional(Text, "triggers[].username", {
    ...subversion,
    exclusive: ["username_env"]
  }),
  trust_server_cert: defaulted(Flag, false, "triggers[].trust_server_cert", { ...subversion, destination: true }),
  catch_up: group(
    {
      every_seconds: defaulted(int(0, 86_400), 3600, "triggers[].catch_up.every_seconds"),
      max_age_hours: defaulted(int(1, 8760), 72, "triggers[].catch_up.max_age_hours"),
      max_changes: defaulted(int(1, 10_000), 200, "triggers[].catch_up.max_changes")
    },
    "triggers[].catch_up",
    reported
  ),
  inventory: group(
    {
      owners: optional(list(Text, { minItems: 1 }), "triggers[].inventory.owners"),
      hooks: defaulted(choice("off", "report", "repair", "create"), "report", "triggers[].inventory.hooks")
    },
    "triggers[].inventory",
    git
  ),
  cron: optional(CronExpression, "triggers[].cron", {
    ...scheduled,
    requiredWhen: kinds("scheduled")
  }),
  timezone: optional(TimeZone, "triggers[].timezone", { ...scheduled, runtimeDefault: "UTC" }),
  repositories: optional(list(ScheduledRepository, { minItems: 1 }), "triggers[].repositories", {
    ...scheduled,
    requiredWhen: kinds("scheduled")
  })
})
export type Trigger = Resolved<typeof Trigger>

export const Triggers = list(Trigger)
