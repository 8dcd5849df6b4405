/** Values that a field of a type takes, and values that it refuses: both sides of each limit. */
import { listNames, listSpellings } from "../../src/domain/Vocabulary.ts"
import type { Concept } from "../../src/domain/Vocabulary.ts"

export interface Samples {
  readonly takes: ReadonlyArray<unknown>
  readonly refuses: ReadonlyArray<unknown>
}

/** Enumerations of the specification by field; the others list their values in the meaning. */
const concepts: ReadonlyArray<readonly [RegExp, Concept]> = [
  [/^triggers\[\]\.kind$|exclude_sources\[\]\.vcs$/, "triggerKind"],
  [/^agent\.default$/, "agentMode"],
  [/^agent\.sandbox\.kind$/, "sandboxKind"],
  [/^agent\.sandbox\.engine$/, "sandboxEngine"],
  [/^llm\.providers\[\]\.kind$/, "providerKind"],
  [/^queue\.kind$/, "queueKind"],
  [/^storage\.database\.kind$/, "databaseKind"],
  [/^storage\.cache\.kind$/, "cacheKind"],
  [/^storage\.object\.kind$/, "objectKind"],
  [/model_catalog\.cache\.backend$/, "catalogCache"],
  [/^config_sources\.database\.backend$/, "sourceBackend"],
  [/context_repositories\[\]\.kind$/, "repositoryKind"],
  [/template_engine$/, "templateEngine"],
  [/routes.*target_kind$/, "targetKind"],
  [/member_directory\.source$/, "directorySource"],
  [/identity_scope\.kind$/, "identityScope"],
  [/^im\.connections\.<id>\.kind$/, "connectionKind"],
  [/actors\[\]\.type$/, "principalType"],
  [/actors\[\]\.kind$/, "scopeKind"],
  [/schedule\.rules\[\]\.days$/, "weekday"]
]

/** Samples of fields whose type is not sufficient. */
const special: Readonly<Record<string, Samples>> = {
  "admin.oidc.issuer": { takes: ["https://id.test/realm"], refuses: ["id.test", "http://id.test", 7] },
  "admin.oidc.scopes": { takes: [["openid"]], refuses: [[], ["email"], "openid", 7] },
  "admin.oidc.roles.viewer": { takes: [["all", "staff"]], refuses: [["all", "all"], "all", 7] },
  "llm.providers[].id": { takes: ["p"], refuses: ["", "a b", 7] },
  // Another kind or source in the same document would require other fields: the kinds have separate tests.
  "triggers[].kind": {
    takes: ["manual", "githost_a", "gitea", "p4", "depot_vcs", "tree_vcs"],
    refuses: ["bitbucket", 1]
  },
  "im.connections.<id>.kind": { takes: ["feishu_app", "im_app_a"], refuses: ["slack", 1] },
  "outputs.channels[].kind": {
    takes: ["gitea_pr_review", "githost_a_pr_review", "githost_c_problem_issue"],
    refuses: ["mail", 1]
  },
  "outputs.channels[].conversation": { takes: ["C012ABCDEF"], refuses: ["general", "#c012", "", 7] },
  "outputs.channels[].member_directory.source": { takes: ["feishu_api", "im_a_api"], refuses: ["ldap", 1] },
  "outputs.channels[].target.kind": { takes: ["recipients"], refuses: ["all", 1] },
  "outputs.channels[].resolved_action": { takes: ["none", "close", "mark_resolved", "delete"], refuses: ["reopen"] },
  "im.command_bindings.<id>.actors[].kind": { takes: ["feishu_chat", "im_a_chat"], refuses: ["everyone", 1] },
  "im.command_bindings.<id>.actors[].type": { takes: ["feishu_open_id", "im_a_open_id"], refuses: ["name", 1] },
  "workspaces.defaults.context_repositories[].port": {
    takes: ["host:1666", "1666"],
    refuses: ["", "host", "rsh:p4d -i", "jsh:1666", 7]
  },
  "workspaces.defaults.context_repositories[].url": {
    takes: ["https://git.test/team/app.git"],
    refuses: ["git@git.test:team/app.git", "ssh://git@git.test/team/app", "file:///srv/app", 7]
  },
  "workspaces.defaults.context_repositories[].kind": { takes: ["git"], refuses: ["hg", 1] },
  "llm.default_model_chain": { takes: ["default"], refuses: ["other", 7] },
  "llm.triage_model_chain": { takes: ["default"], refuses: ["other", 7] },
  "llm.author_resolution_model_chain": { takes: ["default"], refuses: ["other", 7] },
  "llm.model_chain": { takes: [{ default: [{ provider: "p", model: "m" }] }], refuses: ["default", []] },
  "llm.model_chain.<id>[]": {
    takes: [[{ provider: "p", model: "m" }]],
    refuses: [[], "m", [{ provider: "q", model: "m" }]]
  },
  "llm.model_chain.<id>[].provider": { takes: ["p"], refuses: ["q", 7] },
  "llm.retry.backoff": {
    takes: [{ kind: "linear", base_ms: 1, max_ms: 1, jitter: false }],
    refuses: [{ base_ms: 2, max_ms: 1 }, 5]
  },
  "queue.retry.backoff": { takes: [{ base_ms: 60_000 }], refuses: [{ base_ms: 60_001 }, 5] },
  "queue.retry.backoff.base_ms": { takes: [0, 60_000], refuses: [-1, 60_001, "5"] },
  "queue.retry.backoff.max_ms": { takes: [5000, 5001], refuses: [4999, -1] },
  "llm.model_catalog.overrides": { takes: [{ "a/b": { cost: { input: 1 } } }], refuses: [{ ab: {} }, 5] },
  "llm.model_catalog.cache.backend": {
    takes: ["embedded_sql", "kv_store", "memory", "sqlite", "redis"],
    refuses: ["disk"]
  },
  "llm.per_provider_overrides": { takes: [{ p: { max_attempts: 1 } }], refuses: [{ q: {} }, 5] },
  "triggers[].name": { takes: ["t"], refuses: ["", 7] },
  "triggers[].commit_url_template": { takes: ["https://h/{{sha}}"], refuses: ["x", 7] },
  "triggers[].revision_url_template": { takes: ["https://h/{{rev}}"], refuses: ["x", 7] },
  "triggers[].change_url_template": { takes: ["https://h/{{change}}"], refuses: ["x", 7] },
  "triggers[].app": {
    takes: [{ client_id: "a", private_key_path: "k.pem" }],
    refuses: [{}, { app_id: 1 }, { private_key: "k" }, 5]
  },
  "triggers[].port": {
    takes: ["host:1666", "ssl:host:1666", 1666],
    refuses: ["", "host", "rsh:p4d -i", "rsh:1666", 0]
  },
  "triggers[].cron": { takes: ["0 3 * * 1-5"], refuses: ["0 3 * *", "x", 7] },
  "triggers[].timezone": { takes: ["UTC", "Europe/Berlin"], refuses: ["Mars/Olympus", "+02:00", 7] },
  "triggers[].repositories[]": { takes: [[{ repo: "a/b" }]], refuses: [[], [{}], 5] },
  "triggers[].repositories[].range": { takes: ["last_run", { days: 7 }], refuses: ["days", { days: 0 }, 7] },
  "workspaces.defaults": { takes: [{}], refuses: [5, { unknown: 1 }] },
  "workspaces.instances": {
    takes: [{}],
    refuses: [{ cache: {} }, { defaults: {} }, { instances: {} }, { w: {} }, 5].map((value) =>
      typeof value === "number"
        ? value
        : Object.fromEntries(
            Object.keys(value).map((key) => [key, key === "w" ? {} : { source_repo: { trigger: "t", repo: "a/b" } }])
          )
    )
  },
  "workspaces.instances.<id>.source_repo.trigger": { takes: ["t"], refuses: ["other", 7] },
  "workspaces.instances.<id>.match[]": {
    takes: [[{ triggers: ["t"] }]],
    refuses: [[], [{}], [{ triggers: ["other"] }], 5]
  },
  "workspaces.instances.<id>.match[].triggers": { takes: [["t"]], refuses: [["other"], [], "t"] },
  "workspaces.instances.<id>.match[].source.<id>.regex": { takes: ["^a/.+$"], refuses: ["(", "(?=a)", "(a)\\1", 7] },
  "workspaces.instances.<id>.work_path": {
    takes: [
      "{{workspace.id}}",
      "a/{{segment source.repo_ref}}",
      '{{lower (default source.branch "x")}}-{{hash source.ref}}'
    ],
    refuses: ["/a", "../a", "{{other}}", "{{#if a}}b{{/if}}", "a//b", "C:/x", "nul", 7]
  },
  "agent.auth.claude-code": { takes: ["default"], refuses: ["other", 7] },
  "agent.auth.codex": { takes: ["default"], refuses: ["other", 7] },
  "agent.auth.copilot-cli": { takes: ["default"], refuses: ["other", 7] },
  "agent.auth.gemini-cli": { takes: ["default"], refuses: ["other", 7] },
  "outputs.routes.rules[].analysis.model_chain": { takes: ["default"], refuses: ["other", 7] },
  "workspaces.instances.<id>.model_chain": { takes: ["default"], refuses: ["other", 7] },
  "workspaces.instances.<id>.triage_model_chain": { takes: ["default"], refuses: ["other", 7] },
  "workspaces.instances.<id>.author_resolution_model_chain": { takes: ["default"], refuses: ["other", 7] },
  "workspaces.instances.<id>.agent": { takes: [{ default: "agent_b" }], refuses: [{ sandbox: { kind: "native" } }, 5] },
  "workspaces.instances.<id>.review": { takes: [{ max_files: 1 }], refuses: [{ max_files: 0 }, 5] },
  "workspaces.instances.<id>.outputs": { takes: [{ channels: [] }], refuses: [{ channels: 1 }, 5] },
  "workspaces.instances.<id>.sandbox": {
    takes: [{ kind: "microvm", engine: "container_b", image: "i" }],
    refuses: [{ kind: "vm" }, 5]
  },
  "workspaces.instances.<id>.triage": { takes: [{ enabled: true }], refuses: [{ actions: ["burn"] }, 5] },
  "workspaces.instances.<id>.prompt": { takes: [{ system_prompt: "x" }], refuses: [{ system_prompt: "y" }, 5] },
  "workspaces.instances.<id>.context_repositories[]": {
    takes: [[], [{ alias: "a", kind: "git", url: "https://git.test/u" }]],
    refuses: [
      [{ alias: "a", kind: "git" }],
      [{ alias: "../a", kind: "git", url: "https://git.test/u" }],
      [1, 2].map(() => ({ alias: "a", kind: "git", url: "https://git.test/u" })),
      5
    ]
  },
  "agent.web_search.credentials": {
    takes: [{ brave: "BRAVE_KEY" }],
    refuses: [{ brave: { value: "literal" } }, { brave: "not a name" }, 5]
  },
  "workspaces.defaults.context_repositories[].alias": { takes: ["A.b_c-1"], refuses: ["-a", "a/b", ".", ""] },
  "workspaces.defaults.prompt.system_prompt": { takes: ["x"], refuses: ["y", 7] },
  "workspaces.defaults.prompt.extra_system_prompt": { takes: ["x"], refuses: ["y", 7] },
  "outputs.author_resolution.email_blacklist": { takes: [["a@b"]], refuses: ["a@b", [1]] },
  "outputs.author_resolution.email_mappings": { takes: [{ "a@b": "a" }], refuses: [{ "a@b": 1 }, []] },
  "outputs.notifications.routes": { takes: [[{ channels: ["c"] }], []], refuses: [[{ channels: ["d"] }], 5] },
  "outputs.notifications.routes[].channels": { takes: [["c"]], refuses: [["d"], [], "c"] },
  "outputs.notifications.routes[].kinds": { takes: [["budget_threshold"]], refuses: [["other"], [], "review_failed"] },
  "outputs.routes.default": { takes: [{ summary: ["c"] }], refuses: [{ summary: ["d"] }, 5] },
  "outputs.routes.default.line_comments": { takes: [["c"], []], refuses: [["d"], "c"] },
  "outputs.routes.default.summary": { takes: [["c"], []], refuses: [["d"], "c"] },
  "outputs.routes.rules[].line_comments": { takes: [["c"], []], refuses: [["d"], "c"] },
  "outputs.routes.rules[].summary": { takes: [["c"], []], refuses: [["d"], "c"] },
  "outputs.routes.rules[].match.trigger": { takes: ["t"], refuses: ["other", 7] },
  "outputs.channels[].name": { takes: ["c"], refuses: ["", 7] },
  "outputs.channels[].trigger": { takes: ["t"], refuses: ["other", 7] },
  "outputs.channels[].templates.problem": { takes: ["x"], refuses: ["y", 7] },
  "outputs.channels[].templates.summary": { takes: ["x"], refuses: ["y", 7] },
  "outputs.channels[].label_ids": { takes: [[1, 2]], refuses: [["1"], 1] },
  "outputs.channels[].severity_label_colors": { takes: [{ high: "#ff0000" }], refuses: [{ high: "red" }, 5] },
  "outputs.channels[].notify_im_a": {
    takes: [{ webhook_url: "u" }, { webhook_url_env: "SET", secret_env: "SET" }],
    refuses: [{}, { secret: "s" }, 5]
  },
  "outputs.channels[].notify_im_a.secret": { takes: [], refuses: [7] },
  "outputs.channels[].notify_im_a.secret_env": { takes: [], refuses: [7] },
  "outputs.channels[].mentioned_mobile_list": { takes: [["13800000000"]], refuses: ["a"] },
  "outputs.channels[].from": {
    takes: ["a@b.example"],
    refuses: ["a", "A <a@b.example>", "a@b.example, c@d.example", 7]
  },
  "outputs.channels[].to": { takes: [["a@b.example", "c@d.example"]], refuses: [["a"], [], "a@b.example"] },
  "outputs.channels[].connection": { takes: ["x"], refuses: ["y", 7] },
  "outputs.channels[].target": {
    takes: [
      { kind: "recipients", parties: ["p"] },
      { kind: "appchat", chat_id: "c" }
    ],
    refuses: [{ kind: "recipients" }, { kind: "appchat" }, { kind: "appchat", chat_id: "c", users: ["u"] }, 5]
  },
  "outputs.channels[].target.chat_id": { takes: ["c"], refuses: [7] },
  "im.connections.<id>": {
    takes: [{ kind: "im_app_a", app_id: "a", app_secret: "s" }],
    refuses: [{ kind: "im_app_a" }, 5]
  },
  "im.connections.<id>.callback": {
    takes: [{ enabled: true, verification_token: "v", encrypt_key: "e" }],
    refuses: [{ enabled: true }, { enabled: true, verification_token: "v" }, 5]
  },
  "im.command_bindings.<id>.connection": { takes: ["x", "draft"], refuses: [7] },
  "im.command_bindings.<id>.actors[]": {
    takes: [[{ kind: "any" }], [{ type: "feishu_open_id", id: "u" }]],
    refuses: [[{}], [{ type: "feishu_open_id" }], [{ kind: "wecom_tag", id: "t" }], 5]
  },
  "im.command_bindings.<id>.actors[].expires_at": {
    takes: ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00.5+02:00"],
    refuses: ["2030-01-31", "soon", 7]
  },
  "im.command_bindings.<id>.conversations[]": {
    takes: [[{ kind: "group", id: "g" }], [{ type: "app_direct", id: "a" }]],
    refuses: [[{ kind: "group" }], [{ kind: "group", id: "" }], 5]
  },
  "im.command_bindings.<id>.conversations[].kind": {
    takes: ["app_direct", "bot_direct", "group"],
    refuses: ["public", 1]
  },
  "review.include": { takes: [["src/**"], []], refuses: [["/a"], ["../a"], [""], "a"] },
  "review.exclude": { takes: [["src/**"], []], refuses: [["/a"], ["../a"], [""], "a"] },
  "review.fetch_extra.allow_paths": { takes: [["src/**"]], refuses: [["/a"], "a"] },
  "review.commit_strategy": { takes: ["aggregate", "per_commit", "head_only"], refuses: ["all", 1] },
  "review.auto_commit.schedule.timezone": { takes: ["UTC", "Asia/Shanghai"], refuses: ["Mars/Olympus", 7] },
  "review.pull_request.schedule.timezone": { takes: ["UTC", "Asia/Shanghai"], refuses: ["Mars/Olympus", 7] },
  ...Object.fromEntries(
    ["auto_commit", "pull_request"].flatMap((part) => {
      const rules = `review.${part}.schedule.rules[]`
      const week = (windows: unknown, days: unknown = ["sat"]): unknown => [{ days, windows }]
      return [
        [
          rules,
          {
            takes: [[], week(["22:00-06:00"]), week([{ start: "00:00", end: "24:00" }], ["mon", "sunday"])],
            refuses: [
              week([]),
              week(["9-17"]),
              week(["08:00-08:00"]),
              week(["24:00-08:00"]),
              week(["08:00-18:00"], []),
              5
            ]
          }
        ],
        [`${rules}.days`, { takes: [["mon", "tuesday"]], refuses: [[], ["someday"], ["mon", "monday"], "mon"] }],
        [`${rules}.windows[]`, { takes: [["08:00-18:00"]], refuses: [[], ["8:00-18:00"], [{ start: "08:00" }], 5] }],
        [`${rules}.windows[].start`, { takes: ["00:00", "23:59"], refuses: ["24:00", "24:01", "9:00", "12:60", 9] }],
        [`${rules}.windows[].end`, { takes: ["00:00", "23:59", "24:00"], refuses: ["24:01", "9:00", 9] }]
      ] as const
    })
  ),
  "review.auto_commit.exclude_sources[]": {
    takes: [[], [{ id: "e", match: { author: { glob: "b*" } } }]],
    refuses: [
      [{ id: "e", match: {} }],
      [{ id: "e", match: { author: {} } }],
      [{ match: { author: { glob: "b" } } }],
      [{ id: "e", match: { author: { glob: "b", regex: "b" } } }],
      5
    ]
  },
  "review.auto_commit.exclude_sources[].match": {
    takes: [{ message: { regex: "^bump" } }],
    refuses: [{}, { colour: { glob: "a" } }, 5]
  },
  "review.auto_commit.exclude_sources[].match.<id>.regex": { takes: ["^a"], refuses: ["(", 7] },
  "review.auto_commit.include_branches": {
    takes: [["main", "feature/x"], []],
    refuses: [["refs/heads/main"], ["a b"], "main"]
  },
  "review.private.categories": { takes: [["security"], ["security", "privacy"]], refuses: [[], "security", [""]] },
  "review.private.channel": { takes: ["c"], refuses: ["d", "", 5] },
  "review.pull_request.include_target_branches": { takes: [["main"], []], refuses: [["refs/heads/main"], "main"] },
  "queue.rate_limit.per_provider_rps": { takes: [{ p: 0.5 }], refuses: [{ p: 0 }, { q: 1 }, 5] },
  "config_sources.database.namespace": {
    takes: ["a", "A.b_c-1", "a".repeat(64)],
    refuses: ["", "-a", "a".repeat(65), "a/b"]
  },
  "config_sources.secret_refs[].target": { takes: [["llm", "providers", "p", "api_key"]], refuses: [[], "a"] },
  "config_sources.secret_refs[].destinations.<id>": { takes: [{ kind: "x" }, "x", 5], refuses: [] },
  "compression.per_model_overrides": {
    takes: [{ m: { trigger_tokens: 1 } }, { m: 1 }],
    refuses: [{ m: 0 }, { m: { trigger_tokens: 0 } }, 5]
  },
  "compression.summarize_model_role": { takes: ["light", "heavy", "any"], refuses: ["medium", 1] },
  "server.port": { takes: [1, 8080, 65_535], refuses: [0, 65_536, -1, 1.5, "8080"] },
  "server.webhook_body_limit_mb": { takes: [1, 25], refuses: [0, 1.5, "25"] },
  "server.trust_proxy": {
    takes: [true, false, "loopback", "linklocal", "uniquelocal", ["loopback", "10.0.0.0/8", "::1/128", "192.0.2.1"]],
    refuses: ["all", ["10.0.0.0/33"], ["x"], 1]
  },
  "server.path_prefix": { takes: ["/aicr", "/a/b"], refuses: ["aicr", "/a b", "//", 7] },
  "server.base_url": { takes: ["https://review.example/aicr"], refuses: ["review.example", 7] },
  "agent.web_search.searxng.endpoint": { takes: ["http://searxng:8080"], refuses: ["searxng", 7] },
  "outputs.channels[].issue_link_card": { takes: ["brief", "titles", "full"], refuses: ["all", 1] },
  "config_sources.secret_refs[].env": { takes: ["SET"], refuses: ["a b", 7] },
  "admin.password_hash": { takes: [`sha256:${"a".repeat(64)}`], refuses: ["sha256:xyz", "a", 7] },
  "workspaces.defaults.triage.actions": { takes: [["close"], []], refuses: [["burn"], "close"] },
  "workspaces.defaults.triage.events": { takes: [["issues"]], refuses: [["push"], "issues"] }
}

const quoted = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([A-Za-z_-]+)`/g)].map((found) => found[1] ?? "")

export const listSamples = (path: string, type: string, meaning: string): Samples => {
  const known = special[path]
  if (known !== undefined) return known
  if (path.endsWith("_env")) return { takes: ["SET", "set_2"], refuses: ["", "2SET", "sk-not-a-name", 7] }
  const concept = concepts.find(([pattern]) => pattern.test(path))?.[1]
  const words =
    concept === undefined
      ? quoted(meaning)
      : listNames(concept).flatMap((name) => [name, ...listSpellings(concept, name)])
  const range = /^int (-?\d+)-(\d+)$/.exec(type)
  if (range !== null) {
    const [least, most] = [Number(range[1]), Number(range[2])]
    return { takes: [least, most], refuses: [least - 1, most + 1, least + 0.5, `${least}`, true] }
  }
  const numbers = /^number ([\d.]+)-(\d+)$/.exec(type)
  if (numbers !== null) {
    const [minimum, maximum] = [Number(numbers[1]), Number(numbers[2])]
    const between = (minimum + maximum) / 2
    return {
      takes: [minimum, between, maximum],
      refuses: [minimum - 0.01, maximum + 0.01, `${maximum}`, Number.NaN]
    }
  }
  switch (type) {
    case "boolean":
      return { takes: [true, false], refuses: ["true", 1, "yes"] }
    case "int > 0":
      return { takes: [1, 2_000_000], refuses: [0, -1, 1.5, "7", true] }
    case "int >= 0":
      return { takes: [0, 1], refuses: [-1, 0.5, "7"] }
    case "int":
      return { takes: [-1, 0, 4096], refuses: [1.5, "7"] }
    case "number > 0":
      return { takes: [0.001, 5], refuses: [0, -1, "5", Number.NaN, Number.POSITIVE_INFINITY] }
    case "number >= 0":
      return { takes: [0, 0.5], refuses: [-0.001, "5"] }
    case "URL":
      return {
        takes: ["https://a.example/b", "http://localhost:1"],
        refuses: ["a", "ftp://a.example", "https://u:p@a.example", 7]
      }
    case "enum":
      return { takes: words, refuses: ["nonsense", "", 1, true] }
    case "enum[]":
      return { takes: [words.slice(0, 1), words.slice(0, 3)], refuses: [["nonsense"], [words[0], words[0]], words[0]] }
    case "string":
      return { takes: ["text", "文字"], refuses: [7, true, [], {}] }
    case "string[]":
      return { takes: [["a", "b"]], refuses: ["a", [1], {}] }
    case "string or int":
      return { takes: ["a", 7], refuses: [true, [], 1.5] }
    case "map":
      return { takes: [{}], refuses: ["a", 5, []] }
    case "unknown":
      return { takes: [1, "a", {}], refuses: [] }
    default:
      return { takes: [], refuses: ["text", 5] }
  }
}
