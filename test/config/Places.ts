/**
 * Builds a valid document around any field, with the required kind and siblings, and converts a path of the field tables
 * (`triggers[].app.app_id`, `im.connections.<id>.kind`) to a path in it.
 */
import type { Path } from "../../src/config/document/Path.ts"
import { isRecord } from "../../src/config/document/Path.ts"

type Tree = { [key: string]: unknown }

const base = (): Tree => ({
  llm: {
    providers: [{ id: "p", kind: "openai_compatible" }],
    model_chain: { default: [{ provider: "p", model: "m" }] }
  },
  triggers: [{ name: "t", kind: "gitea", base_url: "https://git.example", webhook_secret: "s" }],
  workspaces: { instances: { w: { match: [{ triggers: ["t"], source: { repo_ref: { glob: "a/*" } } }] } } },
  prompts: { system: { x: "prompt" } }
})

const trigger = (fields: Tree) => (tree: Tree) => ({ ...tree, triggers: [{ name: "t", ...fields }] })
const provider = (fields: Tree) => (tree: Tree) => ({
  ...tree,
  llm: { providers: [{ id: "p", ...fields }], model_chain: { default: [{ provider: "p", model: "m" }] } }
})
const channel =
  (fields: Tree, more: Tree = {}) =>
  (tree: Tree) => ({ ...tree, outputs: { templates: { x: "text" }, channels: [{ name: "c", ...fields }] }, ...more })
const swarm = (fields: Tree) =>
  channel(
    { kind: "p4_swarm", base_url: "https://swarm.example", ...fields },
    { triggers: [{ name: "t", kind: "perforce", port: "p4.example:1666" }] }
  )
const connection = (fields: Tree) => (tree: Tree) => ({ ...tree, im: { connections: { x: fields } } })
const binding = (fields: Tree) => (tree: Tree) => ({
  ...tree,
  im: {
    connections: { x: { kind: "feishu_app", app_id: "a", app_secret: "s" } },
    command_bindings: { x: { connection: "x", ...fields } }
  }
})
const repository = (fields: Tree) => (tree: Tree) => ({
  ...tree,
  workspaces: {
    ...(isRecord(tree["workspaces"]) ? tree["workspaces"] : {}),
    defaults: { context_repositories: [{ alias: "a", ...fields }] }
  }
})
const instance = (fields: Tree) => (tree: Tree) => ({ ...tree, workspaces: { instances: { w: fields } } })
const called = { enabled: true, token: "t", encoding_aes_key: "k" }
const feishuApp = { kind: "feishu_app", app_id: "a", app_secret: "s", receive_id: "r" }
const memberFile = {
  source: "file",
  path: "members.yaml",
  directory_id: "d",
  identity_scope: { kind: "feishu_tenant", id: "i" }
}
const issue = channel({ kind: "gitea_problem_issue" })

/** Documents around a field; the first matching pattern applies. */
const surroundings: ReadonlyArray<readonly [RegExp, (tree: Tree) => Tree]> = [
  [/^llm\.providers\[\]\.aws_/, provider({ kind: "bedrock" })],
  [/^llm\.providers\[\]\.(vertex|google)_/, provider({ kind: "vertex_ai" })],
  [/^llm\.providers\[\]\.(anthropic_|cache_control)/, provider({ kind: "anthropic" })],
  [/^llm\.providers\[\]\.kind/, provider({ kind: "ollama", base_url: "https://llm.example" })],
  [
    /^llm\.model_catalog\.cache/,
    (tree) => ({ ...tree, storage: { cache: { kind: "redis", redis: { url_env: "SET" } } } })
  ],
  [/^triggers\[\]\.app\.private_key_/, trigger({ kind: "github", app: { app_id: 1 } })],
  [/^triggers\[\]\.app/, trigger({ kind: "github", app: { app_id: 1, private_key: "k" } })],
  [
    /^triggers\[\]\.(user|ticket|password|port|depot_path|p4_fingerprint|workspace)(_env)?$/,
    trigger({ kind: "perforce" })
  ],
  [/^triggers\[\]\.(username|repository_url|trust_server_cert)/, trigger({ kind: "subversion" })],
  [
    /^triggers\[\]\.(cron|timezone|repositories)/,
    trigger({ kind: "scheduled", cron: "0 3 * * *", repositories: [{ repo: "a/b" }] })
  ],
  [/^triggers\[\]\.kind/, trigger({ kind: "manual" })],
  [/^triggers\[\]\.webhook_secret/, trigger({ kind: "gitea", base_url: "https://git.example" })],
  [/^workspaces\.instances\.<id>\.source_repo/, instance({ source_repo: { trigger: "t", repo: "a/b" } })],
  [/context_repositories\[\]\.(url|ref|token)/, repository({ kind: "git", url: "https://git.example/a" })],
  [/context_repositories\[\]\.repository_url/, repository({ kind: "subversion", repository_url: "svn://a" })],
  [
    /context_repositories\[\]\.(port|user|ticket|password|depot_path|p4_fingerprint)/,
    repository({ kind: "perforce", depot_path: "//a/..." })
  ],
  [/context_repositories\[\]\.revision/, repository({ kind: "subversion", repository_url: "svn://a" })],
  [/context_repositories\[\]\./, repository({ kind: "git", url: "https://git.example/a" })],
  [/^outputs\.channels\[\]\.(label_ids|marker_|issue_mode|resolved_action|assign_|owners_|add_owners)/, issue],
  [/^outputs\.channels\[\]\.(severity_label|notify_)/, issue],
  [/^outputs\.channels\[\]\.labels/, channel({ kind: "github_problem_issue" })],
  [/^outputs\.channels\[\]\.project_id/, channel({ kind: "gitlab_mr_review" })],
  [/^outputs\.channels\[\]\.(webhook_url)/, channel({ kind: "wecom_bot" })],
  [/^outputs\.channels\[\]\.mentioned/, channel({ kind: "wecom_bot", webhook_url: "https://chat.example" })],
  [
    /^outputs\.channels\[\]\.(secret|issue_link_card)/,
    channel({ kind: "feishu_bot", webhook_url: "https://chat.example" })
  ],
  [/^outputs\.channels\[\]\.app_secret/, channel({ kind: "feishu_app", app_id: "a", receive_id: "r" })],
  [
    /^outputs\.channels\[\]\.member_directory\.(source|chat_id|cache)/,
    channel({ ...feishuApp, member_directory: { chat_id: "g" } })
  ],
  [/^outputs\.channels\[\]\.member_directory/, channel({ ...feishuApp, member_directory: memberFile })],
  [
    /^outputs\.channels\[\]\.target\.chat_id/,
    channel(
      { kind: "wecom_app", connection: "x", target: { kind: "appchat" } },
      { im: { connections: { x: { kind: "wecom_app", corp_id: "c", agent_id: 1, app_secret: "s" } } } }
    )
  ],
  [
    /^outputs\.channels\[\]\.target/,
    channel(
      { kind: "wecom_app", connection: "x", target: { kind: "recipients", users: ["u"] } },
      { im: { connections: { x: { kind: "wecom_app", corp_id: "c", agent_id: 1, app_secret: "s" } } } }
    )
  ],
  [
    /^outputs\.channels\[\]\.conversation/,
    channel(
      { kind: "slack_app", connection: "x" },
      { im: { connections: { x: { kind: "slack_app", app_token: "a", bot_token: "b" } } } }
    )
  ],
  [
    /^outputs\.channels\[\]\.direct_message/,
    channel(
      { kind: "slack_app", connection: "x", conversation: "C1", user_mappings: { a: "U1" } },
      { im: { connections: { x: { kind: "slack_app", app_token: "a", bot_token: "b" } } } }
    )
  ],
  [
    /^outputs\.channels\[\]\.connection/,
    channel(
      { kind: "feishu_app", receive_id: "r" },
      { im: { connections: { x: { kind: "feishu_app", app_id: "a", app_secret: "s" } } } }
    )
  ],
  [/^outputs\.channels\[\]\.(app_id|receive_id|user_mappings|author_mappings|guess_author)/, channel(feishuApp)],
  [
    /^outputs\.channels\[\]\.(from|to|smtp_plaintext)$/,
    channel({ kind: "email", smtp_url: "smtps://mail.example", from: "a@b.example", to: ["c@d.example"] })
  ],
  [/^outputs\.channels\[\]\.smtp_url/, channel({ kind: "email", from: "a@b.example", to: ["c@d.example"] })],
  [/^outputs\.channels\[\]\.user(_env)?$/, swarm({ ticket: "t" })],
  [/^outputs\.channels\[\]\.(ticket|password)/, swarm({ user: "u" })],
  [
    /^outputs\.channels\[\]\.(tls_ca|http_proxy|review_wait|problem_tasks|notifications)/,
    swarm({ user: "u", ticket: "t" })
  ],
  [/^outputs\.channels\[\]\.kind/, channel({ kind: "gitea_pr_review" })],
  [/^outputs\.channels\[\]\./, channel({ kind: "gitea_pr_review" })],
  [
    /^outputs\.notifications/,
    (tree: Tree) => ({
      ...tree,
      outputs: {
        channels: [{ name: "c", kind: "feishu_bot", webhook_url: "https://chat.example" }],
        notifications: { routes: [{ channels: ["c"] }] }
      }
    })
  ],
  [/^outputs\.routes/, channel({ kind: "gitea_pr_review" })],
  [/^review\.private/, channel({ kind: "feishu_bot", webhook_url: "https://chat.example" })],
  [
    /^im\.connections\.<id>\.(aibot_id|bot_name|secret)/,
    connection({ kind: "wecom_aibot", corp_id: "c", callback: called })
  ],
  [
    /^im\.connections\.<id>\.(corp_id|agent_id|accounts)/,
    connection({ kind: "wecom_app", corp_id: "c", agent_id: 1, app_secret: "s" })
  ],
  [/^im\.connections\.<id>\.app_token/, connection({ kind: "slack_app", bot_token: "b" })],
  [/^im\.connections\.<id>\.bot_token/, connection({ kind: "slack_app", app_token: "a" })],
  [/^im\.connections\.<id>\.app_secret/, connection({ kind: "feishu_app", app_id: "a" })],
  [
    /^im\.connections\.<id>\.callback\.(token|encoding)/,
    connection({ kind: "wecom_app", corp_id: "c", agent_id: 1, app_secret: "s" })
  ],
  [
    /^im\.connections\.<id>\.callback\.enabled/,
    connection({
      kind: "feishu_app",
      app_id: "a",
      app_secret: "s",
      callback: { verification_token: "v", encrypt_key: "e" }
    })
  ],
  [/^im\.connections\.<id>\./, connection({ kind: "feishu_app", app_id: "a", app_secret: "s" })],
  [/actors\[\]\.(kind|chat_id)/, binding({ actors: [{ kind: "feishu_chat", chat_id: "g" }] })],
  [/actors\[\]\.recursive/, binding({ actors: [{ kind: "feishu_department", id: "d" }] })],
  [
    /actors\[\]\.(name|value)/,
    (tree) => ({
      ...tree,
      im: {
        connections: { x: { kind: "wecom_app", corp_id: "c", agent_id: 1, app_secret: "s" } },
        command_bindings: { x: { connection: "x", actors: [{ kind: "wecom_extattr", name: "n", value: "v" }] } }
      }
    })
  ],
  [/actors\[\]\./, binding({ actors: [{ type: "feishu_open_id", id: "u" }] })],
  [/conversations\[\]\./, binding({ conversations: [{ kind: "group", id: "g" }] })],
  [
    /^im\.command_bindings\.<id>\.enabled/,
    binding({ actors: [{ kind: "any" }], conversations: [{ kind: "group", id: "g" }], commands: ["help"] })
  ],
  [/^im\.command_bindings/, binding({})],
  [
    /^config_sources\.secret_refs/,
    (tree) => ({ ...tree, config_sources: { secret_refs: [{ env: "SET", target: ["a"] }] } })
  ],
  [/^server\.links\.key/, (tree) => ({ ...tree, server: { base_url: "https://aicr.test" } })],
  [
    /^server\.links\./,
    (tree) => ({ ...tree, server: { base_url: "https://aicr.test", links: { key: "k".repeat(32) } } })
  ],
  [
    /^admin\.oidc/,
    (tree) => ({
      ...tree,
      server: { base_url: "https://aicr.test" },
      admin: { oidc: { issuer: "https://id.test", client_id: "aicr", roles: { viewer: ["all"], editor: ["leads"] } } }
    })
  ],
  [/^config_sources\.database\.backend/, (tree) => ({ ...tree, storage: { cache: { redis: { url_env: "SET" } } } })],
  [/^queue\.kind/, (tree) => ({ ...tree, storage: { cache: { redis: { url_env: "SET" } } } })],
  [
    /^storage\.(database|cache|object)\.kind/,
    (tree) => ({
      ...tree,
      storage: {
        database: { postgres: { url_env: "SET" } },
        cache: { redis: { url_env: "SET" } },
        object: {
          s3: { bucket: "b", endpoint_url_env: "SET", access_key_id_env: "SET", secret_access_key_env: "SET" }
        }
      }
    })
  ],
  [
    /schedule\.rules\[\]\./,
    (tree) => {
      const schedule = { schedule: { rules: [{ days: ["mon"], windows: [{ start: "08:00", end: "18:00" }] }] } }
      return { ...tree, review: { auto_commit: schedule, pull_request: schedule } }
    }
  ],
  [
    /exclude_sources\[\]\.(id|vcs|match$)/,
    (tree) => ({
      ...tree,
      review: { auto_commit: { exclude_sources: [{ id: "e", match: { author: { glob: "bot*" } } }] } }
    })
  ],
  [
    /exclude_sources\[\]\.match.*ignore_case/,
    (tree) => ({
      ...tree,
      review: { auto_commit: { exclude_sources: [{ id: "e", match: { branch: { glob: "bot*" } } }] } }
    })
  ],
  [
    /exclude_sources\[\]\.match/,
    (tree) => ({ ...tree, review: { auto_commit: { exclude_sources: [{ id: "e", match: { branch: {} } }] } } })
  ],
  [
    /match\[\]\.source\.<id>\.ignore_case/,
    instance({ match: [{ triggers: ["t"], source: { branch: { glob: "a" } } }] })
  ]
]

/** Returns the key for `<id>`, by the preceding path. */
const keyFor = (before: string): string => {
  if (before.endsWith("source") || before.endsWith("exclude_sources[].match")) return "branch"
  if (before === "workspaces.instances") return "w"
  if (before === "llm.model_chain") return "default"
  if (before === "llm.per_provider_overrides") return "p"
  if (before === "llm.model_catalog.overrides") return "a/b"
  return "x"
}

export interface FieldPlace {
  /** A valid document in which the field may be set. */
  readonly around: Tree
  readonly path: Path
}

export const toPlace = (field: string): FieldPlace => {
  const surround = surroundings.find(([pattern]) => pattern.test(field))?.[1] ?? ((tree: Tree) => tree)
  const path: Array<string | number> = []
  let before = ""
  const parts = field.split(".")
  for (const [index, part] of parts.entries()) {
    const name = part.replace("[]", "")
    path.push(name === "<id>" ? keyFor(before) : name)
    if (part.endsWith("[]") && index < parts.length - 1) path.push(0)
    before = before === "" ? part : `${before}.${part}`
  }
  return { around: surround(base()), path }
}

/** Returns the tree with a value at a path; `undefined` removes the current one. Missing parents are created. */
export const withValue = (tree: unknown, path: Path, value: unknown): unknown => {
  const [head, ...tail] = path
  if (head === undefined) return value
  if (typeof head === "number") {
    const list: ReadonlyArray<unknown> = Array.isArray(tree) ? tree : [undefined]
    return list.map((item, index) => (index === head ? withValue(item, tail, value) : item))
  }
  const holder: Tree = isRecord(tree) ? { ...tree } : {}
  if (tail.length === 0 && value === undefined) delete holder[head]
  else holder[head] = withValue(holder[head], tail, value)
  return holder
}
