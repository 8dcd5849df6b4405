/** Rules across fields: exclusive pairs, kinds, references, requirements, reserved fields, variables. */
import { describe, expect, it } from "vitest"
import { formatPath } from "../../../src/config/document/Path.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { roles } from "../../../src/domain/Role.ts"
import type { Role } from "../../../src/domain/Role.ts"
import { toPlace, withValue } from "../Places.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const read = (document: unknown, env = { SET: "value" }, unset: "errors" | "warnings" = "warnings") =>
  readDocument(document, env, { baseDir: "/base", unset })

const errors = (document: unknown): ReadonlyArray<string> =>
  read(document)
    .issues.filter(({ severity }) => severity === "error")
    .map(({ path, reason }) => `${path}: ${inEnglish(reason)}`)

const warnings = (document: unknown): ReadonlyArray<string> =>
  read(document)
    .issues.filter(({ severity }) => severity === "warning")
    .map(({ path, reason }) => `${path}: ${inEnglish(reason)}`)

/** Field, its exclusive neighbours; all are set to a value that is right alone. */
const exclusive: ReadonlyArray<readonly [field: string, others: ReadonlyArray<string>]> = [
  ["llm.providers[].aws_access_key", ["aws_access_key_env"]],
  ["llm.providers[].aws_secret_key", ["aws_secret_key_env"]],
  ["llm.providers[].aws_session_token", ["aws_session_token_env"]],
  ["llm.providers[].google_application_credentials", ["google_application_credentials_env"]],
  ["triggers[].token", ["token_env"]],
  ["triggers[].webhook_secret", ["webhook_secret_env"]],
  ["triggers[].user", ["user_env"]],
  ["triggers[].ticket", ["ticket_env"]],
  ["triggers[].password", ["password_env"]],
  ["triggers[].username", ["username_env"]],
  ["triggers[].app.private_key_path", ["private_key"]],
  ["triggers[].app.private_key_env", ["private_key", "private_key_path"]],
  ["server.statements.private_key", ["private_key_env"]],
  ["server.links.key", ["key_env"]],
  ["workspaces.instances.<id>.auth.api_key", ["api_key_env"]],
  ["workspaces.defaults.context_repositories[].token", ["token_env"]],
  ["workspaces.defaults.context_repositories[].user", ["user_env"]],
  ["workspaces.defaults.context_repositories[].ticket", ["ticket_env"]],
  ["workspaces.defaults.context_repositories[].password", ["password_env", "ticket", "ticket_env"]],
  ["outputs.channels[].token", ["token_env"]],
  ["outputs.channels[].user", ["user_env"]],
  ["outputs.channels[].ticket", ["ticket_env"]],
  ["outputs.channels[].password", ["password_env", "ticket", "ticket_env"]],
  ["outputs.channels[].webhook_url", ["webhook_url_env"]],
  ["outputs.channels[].secret", ["secret_env"]],
  ["outputs.channels[].app_secret", ["app_secret_env"]],
  ["outputs.channels[].smtp_url", ["smtp_url_env"]],
  ["outputs.channels[].notify_feishu.webhook_url", ["webhook_url_env"]],
  ["outputs.channels[].notify_feishu.secret", ["secret_env"]],
  ["im.connections.<id>.app_secret", ["app_secret_env"]],
  ["im.connections.<id>.secret", ["secret_env"]],
  ["im.connections.<id>.callback.token", ["token_env"]],
  ["im.connections.<id>.callback.encoding_aes_key", ["encoding_aes_key_env"]],
  ["im.connections.<id>.callback.verification_token", ["verification_token_env"]],
  ["im.connections.<id>.callback.encrypt_key", ["encrypt_key_env"]],
  ["admin.password_hash", ["password_hash_env"]],
  ["admin.oidc.client_secret", ["client_secret_env"]]
]

describe("exclusive pairs", () => {
  it.each(exclusive.flatMap(([field, others]) => others.map((other) => [field, other] as const)))(
    "%s and %s",
    (field, other) => {
      const { around, path } = toPlace(field)
      const neighbour = [...path.slice(0, -1), other]
      const value = field === "admin.password_hash" ? `sha256:${"0".repeat(64)}` : "literal"
      const one = withValue(around, path, value)
      const both = withValue(one, neighbour, other.endsWith("_env") ? "SET" : "literal")
      expect(errors(one).filter((error) => error.includes("set together"))).toEqual([])
      expect(errors(both).filter((error) => error.includes("set together"))).toEqual([
        expect.stringContaining("keep one of them")
      ])
    }
  )

  it.each([
    ["llm.providers[].api_key", "api_key_env"],
    ["server.auth.api_key", "api_key_env"],
    ["admin.password", "password_env"]
  ])("%s wins over %s, with a warning", (field, other) => {
    const { around, path } = toPlace(field)
    const both = withValue(withValue(around, path, "literal"), [...path.slice(0, -1), other], "SET")
    expect(errors(both)).toEqual([])
    expect(warnings(both)).toContainEqual(expect.stringContaining("wins over"))
    const { snapshot } = read(both)
    const holder = field.startsWith("llm")
      ? snapshot?.document.llm.providers[0]
      : field.startsWith("server")
        ? snapshot?.document.server.auth
        : snapshot?.document.admin
    expect(snapshot?.credential(holder ?? {}, path.at(-1)?.toString() ?? "")?.toString()).toBe("<redacted>")
  })

  const trigger = { name: "t", kind: "githost_c", webhook_secret: "s" }
  const app = { app_id: 1, private_key: "k" }
  const source_repo = { trigger: "t", repo: "a/b" }
  const match = [{ triggers: ["t"] }]
  const feishu = { name: "c", kind: "im_app_a", receive_id: "r", app_id: "a", app_secret: "s" }
  it.each([
    ["app and token", { triggers: [{ ...trigger, app, token: "x" }] }, "triggers[0].app"],
    ["app and token_env", { triggers: [{ ...trigger, app, token_env: "SET" }] }, "triggers[0].app"],
    [
      "source_repo and match",
      { triggers: [trigger], workspaces: { instances: { w: { source_repo, match } } } },
      "workspaces.instances.w.source_repo"
    ],
    [
      "user_mappings and author_mappings",
      { outputs: { channels: [{ ...feishu, user_mappings: { a: "b" }, author_mappings: { a: "b" } }] } },
      "outputs.channels[0].user_mappings"
    ],
    [
      "connection and inline credentials",
      {
        outputs: { channels: [{ ...feishu, connection: "x" }] },
        im: { connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } } }
      },
      "outputs.channels[0].app_id"
    ],
    [
      "exact and glob and regex",
      {
        triggers: [trigger],
        workspaces: { instances: { w: { match: [{ source: { branch: { exact: "a", glob: "a", regex: "a" } } }] } } }
      },
      "workspaces.instances.w.match[0].source.branch.exact"
    ],
    [
      "type and kind of an actor",
      { im: { command_bindings: { b: { actors: [{ type: "im_a_open_id", id: "u", kind: "any" }] } } } },
      "im.command_bindings.b.actors[0].type"
    ],
    [
      "recipients and appchat",
      {
        outputs: {
          channels: [
            { name: "c", kind: "im_app_b", connection: "x", target: { kind: "recipients", users: ["u"], chat_id: "g" } }
          ]
        },
        im: { connections: { x: { kind: "im_app_b", corp_id: "c", agent_id: 1, app_secret: "s" } } }
      },
      "outputs.channels[0].target.chat_id"
    ],
    ["a name under token and product", { queue: { embedded_sql: {}, sqlite: {} } }, "queue.sqlite"],
    ["attempts and max_attempts", { queue: { retry: { attempts: 1, max_attempts: 1 } } }, "queue.retry.max_attempts"]
  ])("%s", (_, document, path) => {
    expect(errors(document)).toContainEqual(expect.stringContaining(`${path}: `))
  })
})

/** Each document has exactly this one thing wrong. */
const wrong: ReadonlyArray<readonly [what: string, document: unknown, error: string]> = [
  ["a misspelt namespace", { quue: {} }, 'quue: unknown key "quue"; did you mean "queue"?'],
  ["a misspelt key", { server: { prot: 1 } }, 'server.prot: unknown key "prot"; did you mean "port"?'],
  [
    "a misspelt value",
    { queue: { kind: "memry" } },
    'queue.kind: expected one of memory, sqlite, redis, nats, found "memry"; did you mean "memory"?'
  ],
  [
    "a prototype key",
    JSON.parse('{"prompts":{"system":{"__proto__":"x"}}}'),
    'prompts.system.__proto__: the key "__proto__" is refused; choose another name'
  ],
  [
    "constructor as an id",
    { workspaces: { instances: { constructor: {} } } },
    'workspaces.instances.constructor: the key "constructor" is refused; choose another name'
  ],
  [
    "a number as text",
    { server: { port: "8080" } },
    'server.port: expected a whole number from 1 to 65535, found the text "8080" (without quotes it is a number)'
  ],
  [
    "1 as true",
    { server: { metrics: { enabled: 1 } } },
    "server.metrics.enabled: expected true or false, found the number 1"
  ],
  [
    "the document as a list",
    [],
    ": expected a map of llm, triggers, workspaces, outputs, prompts, im, agent, review, queue, config_sources, storage, compression, server, perforce, admin, allow_empty"
  ],
  [
    "a trigger twice",
    {
      triggers: [
        { name: "a", kind: "manual" },
        { name: "a", kind: "manual" }
      ]
    },
    'triggers[1].name: "a" is already used by triggers[0]; choose another name'
  ],
  [
    "a token without a host to send it to",
    { triggers: [{ name: "a", kind: "forgejo", webhook_secret: "s", token: "t" }] },
    "triggers[0].base_url: missing; token is sent to this host only. Set base_url to the web address of the forgejo server, e.g. https://git.example.com"
  ],
  [
    "the address of the API for that of the host",
    { triggers: [{ name: "a", kind: "gitea", base_url: "https://git.test/api/v1/", webhook_secret: "s", token: "t" }] },
    "triggers[0].base_url: must be the web address of the host, without /api/v1/: the service derives the address of the API"
  ],
  [
    "a variable in a value",
    { triggers: [{ name: "a", kind: "gitea", base_url: "${GITEA_URL}", webhook_secret: "s", token: "t" }] },
    "triggers[0].base_url: expected an http:// or https:// URL without credentials, found a variable in the text, which is not replaced; a field whose name ends with _env takes the name of a variable"
  ],
  [
    "the name of a token without a host to send it to",
    { triggers: [{ name: "a", kind: "githost_a", webhook_secret: "s", token_env: "TOKEN" }] },
    "triggers[0].base_url: missing; token_env is sent to this host only. Set base_url to the web address of the gitea server, e.g. https://git.example.com"
  ],
  [
    "a channel that would send the credential of a trigger to another host",
    {
      triggers: [{ name: "a", kind: "gitea", base_url: "https://git.test", webhook_secret: "s", token_env: "TOKEN" }],
      outputs: { channels: [{ name: "c", kind: "gitea_pr_review", base_url: "https://other.test" }] }
    },
    "outputs.channels[0].base_url: is of another host than trigger a, whose credential is not sent there; set token_env of the channel, or drop base_url"
  ],
  [
    "a channel of a workspace that would send the credential of its trigger over an unencrypted connection",
    {
      triggers: [
        { name: "a", kind: "gitea", base_url: "http://git.test", webhook_secret: "s" },
        { name: "b", kind: "gitea", base_url: "https://git.test", webhook_secret: "s", token: "t" }
      ],
      workspaces: {
        defaults: {
          outputs: { channels: [{ name: "c", kind: "gitea_issue", trigger: "b", base_url: "http://git.test" }] }
        }
      }
    },
    "workspaces.defaults.outputs.channels[0].base_url: is of another host than trigger b, whose credential is not sent there; set token_env of the channel, or drop base_url"
  ],
  [
    "a channel twice",
    { outputs: { channels: [1, 2].map(() => ({ name: "c", kind: "gitea_pr_review" })) } },
    'outputs.channels[1].name: "c" is already used by outputs.channels[0]; choose another name'
  ],
  [
    "a provider twice",
    { llm: { providers: [1, 2].map(() => ({ id: "p", kind: "ollama" })) } },
    'llm.providers[1].id: "p" is already used by llm.providers[0]; choose another id'
  ],
  [
    "groups without the default one",
    { llm: { providers: [{ id: "p", kind: "ollama" }], model_chain: { main: [{ provider: "p", model: "m" }] } } },
    'llm.model_chain: no group is named "default"; name one so, or set llm.default_model_chain to one that exists'
  ],
  [
    "a provider without rps",
    { queue: { rate_limit: { per_provider_rps: { q: 1 } } } },
    'queue.rate_limit.per_provider_rps.q: "q" does not exist in llm.providers; llm.providers has none'
  ],
  [
    "an unbound workspace",
    { workspaces: { instances: { w: {} } } },
    "workspaces.instances.w.source_repo: missing; set source_repo or match"
  ],
  [
    "work_path without match",
    {
      triggers: [{ name: "t", kind: "manual" }],
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a" }, work_path: "a" } } }
    },
    "workspaces.instances.w.work_path: requires match; a workspace of one repository has one path"
  ],
  [
    "an id that is no path",
    {
      triggers: [{ name: "t", kind: "manual" }],
      workspaces: { instances: { "../w": { source_repo: { trigger: "t", repo: "a" } } } }
    },
    'workspaces.instances["../w"]: the id names the workspace\'s directory and cannot: the path has a . or .. segment'
  ],
  [
    "a match id twice",
    {
      triggers: [{ name: "t", kind: "manual" }],
      workspaces: {
        instances: {
          w: {
            match: [
              { id: "a", triggers: ["t"] },
              { id: "a", triggers: ["t"] }
            ]
          }
        }
      }
    },
    'workspaces.instances.w.match[1].id: "a" is already used by workspaces.instances.w.match[0]; choose another id'
  ],
  [
    "triage elsewhere",
    {
      triggers: [{ name: "t", kind: "githost_d", webhook_secret: "s" }],
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a" }, triage: { enabled: true } } } }
    },
    'workspaces.instances.w.triage: trigger "t" is of kind gitlab; triage works with gitea and forgejo only'
  ],
  [
    "the sandbox kind of a layer",
    { workspaces: { defaults: { agent: { sandbox: { kind: "native" } } } } },
    "workspaces.defaults.agent.sandbox.kind: belongs to the global agent.sandbox; a workspace sets its own under `sandbox.kind`"
  ],
  [
    "a field of another trigger kind",
    { triggers: [{ name: "t", kind: "manual", depot_path: "//a" }] },
    "triggers[0].depot_path: kind manual cannot use this field; only perforce can"
  ],
  [
    "a field of other channel kinds",
    { outputs: { channels: [{ name: "c", kind: "im_bot_a", webhook_url: "u", review_mode: "auto" }] } },
    "outputs.channels[0].review_mode: kind feishu_bot cannot use this field; these can: gitea_pr_review, github_pr_review, gitlab_mr_review"
  ],
  [
    "an app without id",
    { triggers: [{ name: "t", kind: "github", webhook_secret: "s", app: { private_key: "k" } }] },
    "triggers[0].app.app_id: missing; set app_id or client_id"
  ],
  [
    "a channel on a foreign trigger",
    {
      triggers: [{ name: "t", kind: "github", webhook_secret: "s" }],
      outputs: { channels: [{ name: "c", kind: "gitea_pr_review", trigger: "t" }] }
    },
    "outputs.channels[0].trigger: gitea_pr_review works with triggers of kind gitea, forgejo, not github"
  ],
  [
    "a bot without address",
    { outputs: { channels: [{ name: "c", kind: "im_bot_b" }] } },
    "outputs.channels[0].webhook_url_env: missing; kind wecom_bot needs webhook_url_env or webhook_url"
  ],
  [
    "a webhook without address",
    { outputs: { channels: [{ name: "c", kind: "slack_webhook" }] } },
    "outputs.channels[0].webhook_url_env: missing; kind slack_webhook needs webhook_url_env or webhook_url"
  ],
  [
    "a plain webhook without a key for its signature",
    { outputs: { channels: [{ name: "c", kind: "webhook", webhook_url: "https://program.example" }] } },
    "outputs.channels[0].secret_env: missing; kind webhook needs secret_env or secret, with which its requests are signed"
  ],
  [
    "a mention of everyone in Teams",
    {
      outputs: {
        channels: [
          {
            name: "c",
            kind: "teams_webhook",
            webhook_url: "https://teams.example",
            mention_author: true,
            mention_fallback: "all"
          }
        ]
      }
    },
    "outputs.channels[0].mention_fallback: all does not exist for kind teams_webhook, whose messages cannot mention everyone; use skip"
  ],
  [
    "delete elsewhere",
    { outputs: { channels: [{ name: "c", kind: "githost_c_problem_issue", resolved_action: "delete" }] } },
    "outputs.channels[0].resolved_action: delete works with kind gitea_problem_issue only"
  ],
  [
    "a connection of another kind",
    {
      outputs: {
        channels: [{ name: "c", kind: "im_app_b", connection: "x", target: { kind: "appchat", chat_id: "g" } }]
      },
      im: { connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } } }
    },
    "outputs.channels[0].connection: is of kind feishu_app; wecom_app needs one of kind wecom_app"
  ],
  [
    "a direct message without people",
    {
      outputs: {
        channels: [{ name: "c", kind: "slack_app", connection: "x", conversation: "C1", direct_message: true }]
      },
      im: { connections: { x: { kind: "slack_app", app_token: "a", bot_token: "b" } } }
    },
    "outputs.channels[0].direct_message: needs the people that it may be sent to: set user_mappings, or member_directory with vcs_accounts of its members"
  ],
  [
    "a direct message that its recipient cannot stop",
    {
      outputs: {
        channels: [
          {
            name: "c",
            kind: "feishu_app",
            app_id: "a",
            app_secret: "s",
            receive_id: "r",
            user_mappings: { a: "b" },
            direct_message: true
          }
        ]
      }
    },
    "outputs.channels[0].direct_message: needs a connection that receives messages, because a person stops direct messages with a command: set connection, and of kind wecom_app its callback"
  ],
  [
    "a notification to an unknown channel",
    { outputs: { notifications: { routes: [{ channels: ["ops"] }] } } },
    'outputs.notifications.routes[0].channels[0]: "ops" does not exist in outputs.channels; outputs.channels has none'
  ],
  [
    "a notification to a channel of a host",
    {
      outputs: {
        channels: [{ name: "c", kind: "gitea_pr_review" }],
        notifications: { routes: [{ channels: ["c"] }] }
      }
    },
    'outputs.notifications.routes[0].channels[0]: channel "c" of kind gitea_pr_review cannot carry notices; use one of kind feishu_bot, feishu_app, wecom_bot, wecom_app, slack_webhook, slack_app, teams_webhook, webhook, email'
  ],
  [
    "a notification about the service in a workspace",
    {
      triggers: [{ name: "t", kind: "manual" }],
      outputs: { channels: [{ name: "c", kind: "feishu_bot", webhook_url: "https://chat.example/hook" }] },
      workspaces: {
        instances: {
          w: {
            source_repo: { trigger: "t", repo: "a" },
            outputs: { notifications: { routes: [{ kinds: ["budget_threshold"], channels: ["c"] }] } }
          }
        }
      }
    },
    "workspaces.instances.w.outputs.notifications.routes[0].kinds[0]: notices of kind budget_threshold are about the service, not about a workspace; name it in outputs.notifications.routes"
  ],
  [
    "problems for maintainers on an unknown channel",
    { review: { private: { channel: "ops" } } },
    'review.private.channel: "ops" does not exist in outputs.channels; outputs.channels has none'
  ],
  [
    "problems for maintainers as comments on the change",
    { outputs: { channels: [{ name: "c", kind: "gitea_issue" }] }, review: { private: { channel: "c" } } },
    'review.private.channel: channel "c" of kind gitea_issue cannot carry problems for maintainers only; use one of kind feishu_bot, feishu_app, wecom_bot, wecom_app, slack_webhook, slack_app, teams_webhook, email, gitea_problem_issue, github_problem_issue, gitlab_problem_issue'
  ],
  [
    "problems for maintainers in the repository of the change",
    { outputs: { channels: [{ name: "c", kind: "gitea_problem_issue" }] }, review: { private: { channel: "c" } } },
    'review.private.channel: channel "c" of kind gitea_problem_issue writes to the repository of the change, which its readers read; set owner and repo, or project_id, of a private repository'
  ],
  [
    "problems for maintainers where a workspace publishes reviews",
    {
      triggers: [{ name: "t", kind: "manual" }],
      outputs: { channels: [{ name: "c", kind: "feishu_bot", webhook_url: "https://chat.example/hook" }] },
      review: { private: { channel: "c" } },
      workspaces: {
        instances: {
          w: { source_repo: { trigger: "t", repo: "a" }, outputs: { routes: { default: { summary: ["c"] } } } }
        }
      }
    },
    'workspaces.instances.w.outputs: channel "c" is for problems that only maintainers get, and workspaces.instances.w.outputs.routes.default.summary[0] publishes reviews to it; use a channel that no route names'
  ],
  [
    "problems for maintainers on a channel that a workspace replaces",
    {
      triggers: [{ name: "t", kind: "manual" }],
      outputs: { channels: [{ name: "c", kind: "feishu_bot", webhook_url: "https://chat.example/hook" }] },
      review: { private: { channel: "c" } },
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a" }, outputs: { channels: [] } } } }
    },
    'workspaces.instances.w.outputs: leaves out channel "c", which review.private.channel sends to; add it or set routes here too'
  ],
  [
    "a notification to a channel that a workspace replaces",
    {
      triggers: [{ name: "t", kind: "manual" }],
      outputs: {
        channels: [{ name: "c", kind: "feishu_bot", webhook_url: "https://chat.example/hook" }],
        notifications: { routes: [{ channels: ["c"] }] }
      },
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a" }, outputs: { channels: [] } } } }
    },
    'workspaces.instances.w.outputs.channels: leaves out channel "c", which outputs.notifications.routes[0].channels[0] sends to; add it or set routes here too'
  ],
  [
    "a hidden channel",
    {
      triggers: [{ name: "t", kind: "manual" }],
      outputs: { channels: [{ name: "c", kind: "gitea_pr_review" }], routes: { default: { summary: ["c"] } } },
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a" }, outputs: { channels: [] } } } }
    },
    'workspaces.instances.w.outputs.channels: leaves out channel "c", which outputs.routes.default.summary[0] sends to; add it or set routes here too'
  ],
  [
    "a binding to nothing",
    {
      im: {
        command_bindings: {
          b: {
            enabled: true,
            connection: "x",
            actors: [{ kind: "any" }],
            conversations: [{ kind: "group", id: "g" }],
            commands: ["help"]
          }
        }
      }
    },
    'im.command_bindings.b.connection: "x" does not exist in im.connections; im.connections has none'
  ],
  [
    "a binding to a disabled connection",
    {
      im: {
        connections: { x: { kind: "im_app_a", enabled: false, app_id: "a" } },
        command_bindings: {
          b: {
            enabled: true,
            connection: "x",
            actors: [{ kind: "any" }],
            conversations: [{ kind: "group", id: "g" }],
            commands: ["help"]
          }
        }
      }
    },
    'im.command_bindings.b.connection: connection "x" is disabled'
  ],
  [
    "bindings that overlap",
    {
      im: {
        connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } },
        command_bindings: Object.fromEntries(
          ["one", "two"].map((name) => [
            name,
            {
              enabled: true,
              connection: "x",
              actors: [name === "one" ? { kind: "any" } : { type: "im_a_open_id", id: "u" }],
              conversations: [{ kind: "group", id: "g" }],
              commands: ["help", name === "one" ? "review" : "queue"]
            }
          ])
        )
      }
    },
    'im.command_bindings.two: overlaps with "one": both grant a person a command in a conversation; merge them, or disable one'
  ],
  [
    "reviews from chat without records on disk",
    {
      storage: { database: { embedded_sql: { path: ":memory:" } } },
      im: {
        connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } },
        command_bindings: {
          b: {
            enabled: true,
            connection: "x",
            actors: [{ kind: "any" }],
            conversations: [{ kind: "group", id: "g" }],
            commands: ["help", "review"]
          }
        }
      }
    },
    "im.command_bindings.b.commands: review needs records on disk; set storage.database.sqlite.path to a file, or remove review"
  ],
  [
    "a conversation of another protocol",
    {
      im: {
        connections: { x: { kind: "im_app_a", app_id: "a", app_secret: "s" } },
        command_bindings: {
          b: {
            connection: "x",
            conversations: [{ kind: "bot_direct", id: "g" }],
            actors: [{ kind: "im_b_tag", id: "t" }]
          }
        }
      }
    },
    "im.command_bindings.b.actors[0]: wecom_tag does not exist on a feishu_app connection"
  ],
  [
    "a long connection without secret",
    { im: { connections: { x: { kind: "im_aibot_b", corp_id: "c", aibot_id: "b" } } } },
    "im.connections.x.secret_env: missing; a long connection needs secret_env or secret (or enable callback)"
  ],
  [
    "redis without connection",
    { queue: { kind: "kv_store" } },
    "storage.cache.redis.url_env: missing; queue.kind redis needs it"
  ],
  [
    "postgres without connection",
    { storage: { database: { kind: "server_sql" } } },
    "storage.database.postgres.url_env: missing; storage.database.kind postgres needs it"
  ],
  [
    "the catalog's cache without the cache",
    {
      storage: { cache: { kv_store: { url_env: "SET" } } },
      llm: { model_catalog: { cache: { backend: "kv_store" } } }
    },
    "llm.model_catalog.cache.backend: redis requires storage.cache.kind redis and storage.cache.redis.url_env"
  ],
  [
    "an alias twice",
    {
      workspaces: {
        defaults: { context_repositories: [1, 2].map(() => ({ alias: "a", kind: "git", url: "https://git.test/u" })) }
      }
    },
    'workspaces.defaults.context_repositories[1].alias: "a" is already used by workspaces.defaults.context_repositories[0]; choose another alias'
  ],
  [
    "a template that is not there",
    {
      outputs: {
        templates: { one: "" },
        channels: [{ name: "c", kind: "gitea_pr_review", templates: { summary: "on" } }]
      }
    },
    'outputs.channels[0].templates.summary: "on" does not exist in outputs.templates; did you mean "one"?; there are one'
  ]
]

describe("an error is reported once, with the next step", () => {
  it.each(wrong)("%s", (_, document, error) => {
    expect(errors(document)).toEqual([error])
  })

  it.each([
    ["another path of the trigger's host", { base_url: "https://git.test/git" }],
    ["another host with a token of the channel", { base_url: "https://other.test", token: "own" }],
    ["another host with the name of a token of the channel", { base_url: "https://other.test", token_env: "SET" }]
  ])("a channel may write to %s", (_, own) => {
    const triggers = [{ name: "a", kind: "gitea", base_url: "https://git.test", webhook_secret: "s", token: "t" }]
    expect(errors({ triggers, outputs: { channels: [{ name: "c", kind: "gitea_pr_review", ...own }] } })).toEqual([])
  })

  it("all together", () => {
    const found = errors({
      server: { port: 0 },
      trigers: [],
      queue: { kind: "kv_store" },
      triggers: [{ name: 1, kind: "manual", cron: "x" }]
    })
    expect(found.map((error) => error.split(": ")[0]).toSorted()).toEqual(
      ["server.port", "storage.cache.redis.url_env", "triggers[0].cron", "triggers[0].name", "trigers"].toSorted()
    )
  })

  it("in the words of the document", () => {
    expect(errors({ storage: { database: { embedded_sql: { path: 7 } } } })).toEqual([
      "storage.database.embedded_sql.path: expected text of 1 to 4096 characters, found the number 7"
    ])
  })
})

describe("kind conditions", () => {
  const kinds: ReadonlyArray<readonly [field: string, kind: string, value: unknown]> = [
    ["app", "gitea", { app_id: 1, private_key: "k" }],
    ["token", "perforce", "x"],
    ["webhook_secret", "subversion", "x"],
    ["user", "subversion", "x"],
    ["ticket", "gitlab", "x"],
    ["password", "github", "x"],
    ["username", "perforce", "x"],
    ["trust_server_cert", "perforce", true],
    ["cron", "manual", "0 3 * * *"]
  ]
  it.each(kinds)("triggers[].%s is refused for %s", (field, kind, value) => {
    const { around } = toPlace("triggers[].enabled")
    const trigger = { name: "t", kind, webhook_secret: undefined, [field]: value }
    expect(errors(withValue(around, ["triggers"], [trigger]))).toContainEqual(
      expect.stringContaining(`triggers[0].${field}: kind ${kind} cannot use this field`)
    )
  })
})

describe("warnings", () => {
  it.each([
    [
      "a reserved lock time",
      { queue: { workers: { lock_ttl_seconds: 5 } } },
      "queue.workers.lock_ttl_seconds: reserved"
    ],
    ["reserved dead letters", { queue: { dead_letter: { enabled: true } } }, "queue.dead_letter.enabled: reserved"],
    [
      "an engine that is not there",
      { outputs: { template_engine: "engine_b" } },
      "outputs.template_engine: eta is accepted and not implemented"
    ],
    [
      "nats without connection",
      { queue: { kind: "broker" } },
      "queue.kind: nats without a connection falls back to memory"
    ],
    ["an open entrance", { triggers: [{ name: "t", kind: "github" }] }, "triggers[0]: no webhook secret"],
    ["calls without a key", { triggers: [{ name: "t", kind: "manual" }] }, "triggers[0]: no API key is configured"],
    [
      "a host that cannot be written to",
      { triggers: [{ name: "t", kind: "gitea", webhook_secret: "s" }] },
      "triggers[0]: gitea needs base_url"
    ],
    [
      "an unset variable",
      { llm: { providers: [{ id: "p", kind: "ollama", api_key_env: "UNSET" }] } },
      "llm.providers[0].api_key_env: the environment variable UNSET is not set"
    ]
  ])("%s", (_, document, warning) => {
    expect(errors(document)).toEqual([])
    expect(warnings(document)).toEqual([expect.stringContaining(warning)])
    expect(read(document).snapshot?.warnings).toHaveLength(1)
  })
})

describe("blank credentials", () => {
  const names = /^(user|username|private_key_path|private_key_env)$/
  const secrets = [
    ...exclusive.map(([field]) => field).filter((field) => !names.test(field.split(".").at(-1) ?? "")),
    "llm.providers[].api_key",
    "server.auth.api_key",
    "admin.password"
  ]

  it.each(secrets)("%s is an error, given literally or by a variable", (field) => {
    const { around, path } = toPlace(field)
    const messages = (document: unknown, at: ReadonlyArray<string | number>) =>
      read(document, { SET: "value", BLANK: " \t\n" } as { SET: string }, "errors")
        .issues.filter((issue) => issue.severity === "error" && issue.path === formatPath(at))
        .map(({ reason }) => inEnglish(reason))
    for (const blank of [" ", "\u00a0\n", ""]) {
      expect(messages(withValue(around, path, blank), path)).toContainEqual(expect.stringContaining("not blank"))
    }
    expect(messages(withValue(around, path, `sha256:${"0".repeat(64)}`), path)).toEqual([])
    const variable = [...path.slice(0, -1), `${String(path.at(-1))}_env`]
    expect(messages(withValue(around, variable, "BLANK"), variable)).toEqual([
      "the environment variable BLANK holds nothing but white space; set it"
    ])
  })
})

describe("variables that the service needs to start", () => {
  const callback = { enabled: true, verification_token_env: "UNSET", encrypt_key: "e" }
  it.each([
    [
      "webhook secret",
      { triggers: [{ name: "t", kind: "github", webhook_secret_env: "UNSET" }] },
      "triggers[0].webhook_secret_env"
    ],
    [
      "key of statements",
      { server: { statements: { private_key_env: "UNSET" } } },
      "server.statements.private_key_env"
    ],
    [
      "secret of logins",
      {
        server: { base_url: "https://aicr.test" },
        admin: {
          oidc: { issuer: "https://id.test", client_id: "a", client_secret_env: "UNSET", roles: { viewer: ["g"] } }
        }
      },
      "admin.oidc.client_secret_env"
    ],
    ["global key", { server: { auth: { api_key_env: "UNSET" } } }, "server.auth.api_key_env"],
    [
      "workspace key",
      withValue(toPlace("workspaces.instances.<id>.auth.enabled").around, ["workspaces", "instances", "w", "auth"], {
        api_key_env: "UNSET"
      }),
      "workspaces.instances.w.auth.api_key_env"
    ],
    [
      "database",
      { storage: { database: { kind: "postgres", postgres: { url_env: "UNSET" } } } },
      "storage.database.postgres.url_env"
    ],
    [
      "redis",
      { queue: { kind: "redis" }, storage: { cache: { redis: { url_env: "UNSET" } } } },
      "storage.cache.redis.url_env"
    ],
    [
      "callback",
      { im: { connections: { x: { kind: "feishu_app", app_id: "a", app_secret: "s", callback } } } },
      "im.connections.x.callback.verification_token_env"
    ]
  ])("%s", (_, document, path) => {
    expect(read(document, { SET: "value" }, "errors").snapshot).toBeUndefined()
    expect(read(document, { SET: "value" }, "errors").issues).toContainEqual(
      expect.objectContaining({
        severity: "error",
        path,
        reason: { _tag: "VariableNeeded", variable: verbatimReason("UNSET") }
      })
    )
    expect(read(document).snapshot, "the document itself is valid").toBeDefined()
  })

  it.each([
    ["a disabled trigger", { triggers: [{ name: "t", kind: "github", enabled: false, webhook_secret_env: "UNSET" }] }],
    ["a disabled key", { server: { auth: { enabled: false, api_key_env: "UNSET" } } }],
    ["a store that is not used", { storage: { database: { postgres: { url_env: "UNSET" } } } }],
    ["an outbound token", { triggers: [{ name: "t", kind: "github", webhook_secret: "s", token_env: "UNSET" }] }]
  ])("not for %s", (_, document) => {
    const { snapshot, issues } = read(document, { SET: "value" }, "errors")
    expect(snapshot).toBeDefined()
    expect(issues).toContainEqual(expect.objectContaining({ severity: "warning" }))
  })

  it("not what guards deliveries, on a node that takes none", () => {
    const document = {
      server: { auth: { api_key_env: "UNSET" }, statements: { private_key_env: "UNSET" } },
      storage: { database: { kind: "postgres", postgres: { url_env: "UNSET" } } },
      triggers: [{ name: "t", kind: "github", webhook_secret_env: "UNSET" }]
    }
    const errorsOf = (held: ReadonlySet<Role>) =>
      readDocument(document, {}, { roles: held })
        .issues.filter(({ severity }) => severity === "error")
        .map(({ path }) => path)
        .toSorted()
    const store = "storage.database.postgres.url_env"
    expect(errorsOf(new Set(["ingress"]))).toEqual(["server.auth.api_key_env", store, "triggers[0].webhook_secret_env"])
    expect(errorsOf(new Set(["executor"]))).toEqual([store])
    expect(errorsOf(new Set(["publisher"]))).toEqual(["server.statements.private_key_env", store])
  })

  it("credentials that the roles of a node do not use are not reported", () => {
    const document = {
      admin: { username_env: "A", password_env: "B" },
      triggers: [
        { name: "t", kind: "gitea", base_url: "https://git.example.com", token_env: "C", webhook_secret_env: "D" },
        { name: "u", kind: "github", webhook_secret: "s", app: { id: "1", private_key_env: "E" } }
      ],
      llm: {
        providers: [{ id: "p", kind: "openai_compatible", base_url: "https://llm.example.com", api_key_env: "F" }]
      },
      im: { connections: { lark: { kind: "feishu_app", app_id: "a", app_secret_env: "G" } } }
    }
    const namedOn = (held: ReadonlyArray<Role>, more: object = {}) =>
      readDocument({ ...document, ...more }, {}, { roles: new Set(held), unset: "warnings" })
        .issues.flatMap(({ reason }) => /variable (\w) is not set/.exec(inEnglish(reason))?.[1] ?? [])
        .toSorted()
        .join("")
    expect(namedOn(roles)).toBe("ABCDEFG")
    expect(namedOn(["ingress"])).toBe("D")
    expect(namedOn(["dashboard"])).toBe("AB")
    expect(namedOn(["actors"])).toBe("")
    expect(namedOn(["executor"])).toBe("CEF")
    expect(namedOn(["publisher"])).toBe("CEG")
    expect(namedOn(["chat"])).toBe("G")
    const asking = { command_bindings: { team: { connection: "lark", ask: true } } }
    // Executors reply to the questions.
    expect(namedOn(["chat"], { im: { ...document.im, ...asking } })).toBe("G")
    const chain = { author_resolution_model_chain: "names", model_chain: { names: [{ provider: "p", model: "m" }] } }
    expect(namedOn(["publisher"], { llm: { ...document.llm, ...chain } })).toBe("CEFG")
  })

  it("an empty variable is unset", () => {
    const document = { server: { auth: { api_key_env: "EMPTY" } } }
    expect(readDocument(document, { EMPTY: "" }).snapshot).toBeUndefined()
    expect(readDocument(document, { EMPTY: "x" }).snapshot).toBeDefined()
  })
})

it("null is the same as absent, everywhere", () => {
  for (const field of [
    "server.port",
    "queue.retry.backoff",
    "agent.sandbox.kind",
    "review.include",
    "outputs.channels[]",
    "im.connections.<id>"
  ]) {
    const { around, path } = toPlace(field)
    expect([formatPath(path), errors(withValue(around, path, null))]).toEqual([formatPath(path), []])
  }
})
