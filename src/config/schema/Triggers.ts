/** Schema of `triggers[]`: sources of changes, one profile per host or account. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, kinds, nodeFile, optional, required } from "../Field.ts"
import {
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
  Url,
  checked
} from "../Scalars.ts"
import { CronExpression } from "../formats/Cron.ts"

const git = { when: kinds("gitea", "forgejo", "github", "gitlab") }
const perforce = { when: kinds("perforce") }
const subversion = { when: kinds("subversion") }
/** Kinds whose servers are reached over HTTP. */
const http = { when: kinds("gitea", "forgejo", "github", "gitlab", "subversion") }
const scheduled = { when: kinds("scheduled") }

/** Repositories of this machine, and ssh with its keys. */
export const localRepository = {
  because: "reads a repository or a key of the nodes (file, svn+ssh)",
  applies: (value: unknown) => typeof value === "string" && !/^\s*(?:https?|svn):/i.test(value)
}

const Identifier = Schema.Union([Text, PositiveInt])
const Template = checked("a URL template with {{variables}}", "uri-template", (value) => /^https?:\/\//.test(value))

export const AppCredential = Schema.Struct({
  app_id: optional(Identifier, "App id. This or client_id is required."),
  client_id: optional(Text, "App client id, in place of app_id."),
  private_key_env: optional(
    EnvName,
    "Environment variable that holds the private key (PEM or base64 PEM). Exactly one of private_key_env, private_key_path and private_key.",
    { exclusive: ["private_key_path", "private_key"] }
  ),
  private_key_path: optional(Text, "Path of the private key's PEM file.", {
    exclusive: ["private_key"],
    fileOnly: nodeFile
  }),
  private_key: optional(Secret, "Literal PEM or base64 PEM. Sealed when published."),
  installation_id: optional(Identifier, "Fixed installation id. Default: looked up per owner and repository.")
})
export type AppCredential = Resolved<typeof AppCredential>

export const ScheduledRepository = Schema.Struct({
  repo: required(Text, "Repository reference."),
  branch: optional(Text, "Branch to review. Default: the default branch."),
  range: defaulted(
    Schema.Union([
      choice("last_run"),
      Schema.Struct({ days: required(PositiveInt, "Days back from the time of the run.") })
    ]),
    "last_run",
    "Commits to review: those since the last run, or of the last days (`{days: N}`)."
  )
})
export type ScheduledRepository = Resolved<typeof ScheduledRepository>

export const Trigger = Schema.Struct({
  name: required(Text, "Profile name, referenced by workspaces. Unique."),
  kind: required(named("triggerKind"), "Trigger kind."),
  enabled: defaulted(
    Flag,
    true,
    "With false, deliveries of this trigger start no more reviews; existing work continues."
  ),
  watch_path: optional(list(Text), "Analyse only files under these depot- or repository-relative paths."),
  include_cr_file: optional(list(Text), "Globs; a file must match at least one."),
  exclude_cr_file: optional(list(Text), "Globs; a matching file is skipped."),
  commit_url_template: optional(Template, "Link to a commit. Variables are URL-encoded."),
  revision_url_template: optional(Template, "Link to a revision. Variables are URL-encoded."),
  change_url_template: optional(Template, "Link to a changelist. Variables are URL-encoded."),
  app: optional(AppCredential, "App credential.", {
    when: kinds("github"),
    exclusive: ["token", "token_env"]
  }),
  token_env: optional(EnvName, "Environment variable that holds the token for the host's API.", git),
  token: optional(Secret, "Literal token for the host's API. Sealed when published.", {
    ...git,
    exclusive: ["token_env"]
  }),
  webhook_secret_env: optional(
    EnvName,
    "Environment variable that holds the secret of incoming webhooks. No secret at all: signatures are not checked.",
    git
  ),
  webhook_secret: optional(Secret, "Literal secret of incoming webhooks. Sealed when published.", {
    ...git,
    exclusive: ["webhook_secret_env"]
  }),
  base_url: optional(
    Url,
    "Web URL of the host. github and gitlab default to the public ones; gitea and forgejo need it with a credential. The API's URL and clone URLs are derived from it, and credentials go nowhere else.",
    { ...git, destination: true }
  ),
  write_interval_ms: optional(
    int(0, 60_000),
    "Minimum time in milliseconds between the starts of two writes with this account that people see, over all nodes. Public hosts limit bursts of comments: less than 1000 is for hosts of your own.",
    { ...git, runtimeDefault: 1000 }
  ),
  tls_ca_path: optional(Text, "Path of a PEM file with certificate authorities to trust in addition to the system's.", {
    ...http,
    fileOnly: nodeFile
  }),
  http_proxy: optional(Url, "HTTP proxy for requests to the host.", { ...http, destination: true }),
  port: optional(
    Schema.Union([P4Port, PositiveInt]),
    "Server address (P4PORT): `host:1666`, or `ssl:host:1666` with p4_fingerprint. Forms that start a program (`rsh:`) are refused.",
    { ...perforce, destination: true }
  ),
  user_env: optional(EnvName, "Environment variable that holds the user.", perforce),
  user: optional(Text, "User name (an identifier, not sealed).", { ...perforce, exclusive: ["user_env"] }),
  ticket_env: optional(EnvName, "Environment variable that holds the ticket.", perforce),
  ticket: optional(Secret, "Literal ticket. Sealed when published.", { ...perforce, exclusive: ["ticket_env"] }),
  password_env: optional(EnvName, "Environment variable that holds the password.", {
    when: kinds("perforce", "subversion")
  }),
  password: optional(Secret, "Literal password. Sealed when published.", {
    when: kinds("perforce", "subversion"),
    exclusive: ["password_env"]
  }),
  p4_fingerprint: optional(
    Text,
    "Fingerprint of the key of a server over TLS (`ssl:host:port`), as `p4 trust -l` prints it. No other key is accepted.",
    { ...perforce, destination: true }
  ),
  depot_path: optional(
    Text,
    "Depot path to watch, usually ending in `/...`. Without streams it is also the branch whose changes are reviewed together.",
    perforce
  ),
  workspace: optional(
    Text,
    "Perforce client workspace (P4CLIENT). Files are read from the depot, so none is needed.",
    perforce
  ),
  repository_url: optional(
    Text,
    "Repository URL: http, https, svn, svn+ssh or file, of the whole repository or of a folder in it, without credentials.",
    { ...subversion, destination: true, fileOnly: localRepository }
  ),
  username_env: optional(EnvName, "Environment variable that holds the user name.", subversion),
  username: optional(Text, "User name (an identifier, not sealed).", {
    ...subversion,
    exclusive: ["username_env"]
  }),
  trust_server_cert: defaulted(
    Flag,
    false,
    "Accept a server certificate of an unknown authority. Other failures, such as another host name, remain errors.",
    { ...subversion, destination: true }
  ),
  cron: optional(CronExpression, "When to run: five fields (minute, hour, day, month, weekday).", {
    ...scheduled,
    requiredWhen: kinds("scheduled")
  }),
  timezone: optional(TimeZone, "Time zone of cron.", { ...scheduled, runtimeDefault: "UTC" }),
  repositories: optional(list(ScheduledRepository, { minItems: 1 }), "What to review on schedule.", {
    ...scheduled,
    requiredWhen: kinds("scheduled")
  })
})
export type Trigger = Resolved<typeof Trigger>

export const Triggers = list(Trigger)
