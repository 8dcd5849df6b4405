/**
 * Every row of the field tables of the interface, in neutral tokens. A row that names several fields occurs once for each of them; a row
 * that describes an object is followed by the fields that it names.
 */

/** Path, type, default (`—` for none), meaning. */
export type Row = readonly [path: string, type: string, byDefault: string, meaning: string]

export const specification: ReadonlyArray<Row> = [
  [
    "llm.providers[]",
    "array",
    "[]",
    "Provider connections; each has id, kind, optional base_url, api_key_env, api_version, catalog_provider, catalog_id"
  ],
  ["llm.providers[].id", "string", "—", "Identifier referenced from model_chain"],
  ["llm.providers[].kind", "enum", "—", "LLM provider kind"],
  ["llm.providers[].base_url", "URL", "—", "Provider API base URL"],
  ["llm.providers[].api_key_env", "string", "—", "Env var holding the API key"],
  [
    "llm.providers[].api_key",
    "string",
    "—",
    "Literal key; exclusive with api_key_env (literal wins); sealed when published to the database"
  ],
  ["llm.providers[].api_version", "string", "—", "API version (for providers that need one)"],
  ["llm.providers[].catalog_provider", "string", "—", "Overrides the catalog provider id used for metadata lookup"],
  ["llm.providers[].catalog_id", "string", "—", "Overrides the catalog `<provider>/<model>` id"],
  ["llm.providers[].reasoning_effort", "enum", "—", "`minimal`, `low`, `medium`, `high`, `max` (passthrough)"],
  ["llm.providers[].thinking_level", "enum", "—", "`off`, `minimal`, `low`, `medium`, `high`, `max` (passthrough)"],
  ["llm.providers[].thinking_budget_tokens", "int", "—", "Explicit thinking budget in tokens (passthrough)"],
  ["llm.model_chain", "map", "{}", "Group name to ordered model list"],
  [
    "llm.model_chain.<id>[]",
    "array",
    "—",
    "Non-empty; first entry primary, later entries tried in order; each entry has provider, model, role (`light`, `heavy`, `any`)"
  ],
  [
    "llm.model_chain.<id>[].provider",
    "string",
    "—",
    "Non-empty; first entry primary, later entries tried in order; each entry has provider, model, role (`light`, `heavy`, `any`)"
  ],
  [
    "llm.model_chain.<id>[].model",
    "string",
    "—",
    "Non-empty; first entry primary, later entries tried in order; each entry has provider, model, role (`light`, `heavy`, `any`)"
  ],
  [
    "llm.model_chain.<id>[].role",
    "enum",
    "any",
    "Non-empty; first entry primary, later entries tried in order; each entry has provider, model, role (`light`, `heavy`, `any`)"
  ],
  ["llm.default_model_chain", "string", "default", "Global main group name; must exist when groups are configured"],
  [
    "llm.triage_model_chain",
    "string",
    "inherit",
    "Lifecycle-analysis group; omitted inherits the workspace main group"
  ],
  [
    "llm.author_resolution_model_chain",
    "string",
    "inherit",
    "Directory identity-analysis group; omitted uses llm.default_model_chain"
  ],
  ["llm.retry.max_attempts", "int > 0", "—", "Max attempts per LLM call"],
  ["llm.retry.respect_retry_after", "boolean", "—", "Honor Retry-After headers"],
  ["llm.retry.backoff", "object", "—", "kind (`exponential`, `linear`, `constant`), base_ms, max_ms, jitter"],
  ["llm.retry.backoff.kind", "enum", "—", "kind (`exponential`, `linear`, `constant`), base_ms, max_ms, jitter"],
  ["llm.retry.backoff.base_ms", "int >= 0", "—", "kind (`exponential`, `linear`, `constant`), base_ms, max_ms, jitter"],
  ["llm.retry.backoff.max_ms", "int >= 0", "—", "kind (`exponential`, `linear`, `constant`), base_ms, max_ms, jitter"],
  ["llm.retry.backoff.jitter", "boolean", "—", "kind (`exponential`, `linear`, `constant`), base_ms, max_ms, jitter"],
  ["llm.retry.give_up_after_seconds", "number > 0", "—", "Hard wall-clock give-up"],
  ["llm.budget.per_run_usd", "number >= 0", "—", "Per-run USD cap"],
  ["llm.budget.per_repo_daily_usd", "number >= 0", "—", "Per-repo daily USD cap"],
  ["llm.per_provider_overrides", "map", "—", "Per provider id: max_attempts, give_up_after_seconds"],
  [
    "llm.per_provider_overrides.<id>.max_attempts",
    "int > 0",
    "—",
    "Per provider id: max_attempts, give_up_after_seconds"
  ],
  [
    "llm.per_provider_overrides.<id>.give_up_after_seconds",
    "number > 0",
    "—",
    "Per provider id: max_attempts, give_up_after_seconds"
  ],
  ["llm.model_catalog.enabled", "boolean", "false", "Enable catalog metadata lookup"],
  ["llm.model_catalog.source_url", "URL", "{catalog_url}", "Catalog source"],
  ["llm.model_catalog.refresh_interval_hours", "int > 0", "24", "Refresh interval"],
  ["llm.model_catalog.fetch_timeout_ms", "int > 0", "10000", "Fetch timeout"],
  ["llm.model_catalog.offline", "boolean", "false", "Never use the network; cache and bundled snapshot only"],
  ["llm.model_catalog.apply_to_model_spec", "boolean", "true", "Merge catalog metadata into the resolved model spec"],
  [
    "llm.model_catalog.cache.backend",
    "enum",
    "embedded_sql",
    "Refresh cache backend; `kv_store` requires storage.cache.kind `kv_store` and storage.cache.kv_store.url_env"
  ],
  [
    "llm.model_catalog.overrides",
    "map",
    "{}",
    "Hand-edited per `<provider>/<model>` overrides; explicit values beat catalog data; supports supported_reasoning_efforts, default_reasoning_effort"
  ],
  [
    "llm.model_catalog.overrides.<id>.supported_reasoning_efforts",
    "string[]",
    "—",
    "Hand-edited per `<provider>/<model>` overrides; explicit values beat catalog data; supports supported_reasoning_efforts, default_reasoning_effort"
  ],
  [
    "llm.model_catalog.overrides.<id>.default_reasoning_effort",
    "string",
    "—",
    "Hand-edited per `<provider>/<model>` overrides; explicit values beat catalog data; supports supported_reasoning_efforts, default_reasoning_effort"
  ],
  ["triggers[].name", "string", "—", "Profile name; referenced by workspaces.instances.<id>.source_repo.trigger"],
  ["triggers[].kind", "enum", "—", "Trigger kind"],
  [
    "triggers[].enabled",
    "boolean",
    "true",
    "Enabled when omitted; false stops new admission for the profile and keeps historical snapshots"
  ],
  ["triggers[].watch_path", "string[]", "—", "Analyze only files under these depot/repo-relative subpaths"],
  ["triggers[].include_cr_file", "string[]", "—", "Globs; a file must match at least one"],
  ["triggers[].exclude_cr_file", "string[]", "—", "Globs; a matching file is skipped"],
  ["triggers[].commit_url_template", "string", "—", "Commit link template (variables URL-encoded)"],
  ["triggers[].revision_url_template", "string", "—", "Revision link template"],
  ["triggers[].change_url_template", "string", "—", "Changelist link template"],
  ["triggers[].app", "object", "—", "App credential block; kind `githost_c` only; exclusive with token/token_env"],
  ["triggers[].app.app_id", "string or int", "—", "App id (this or client_id required)"],
  ["triggers[].app.client_id", "string", "—", "App client id (alternative to app_id)"],
  [
    "triggers[].app.private_key_env",
    "string",
    "—",
    "Env var holding the private key PEM; exactly one of private_key_env, private_key_path, private_key"
  ],
  ["triggers[].app.private_key_path", "string", "—", "Path to the private key PEM"],
  ["triggers[].app.private_key", "string", "—", "Literal PEM or base64 PEM; sealed when published"],
  [
    "triggers[].app.installation_id",
    "string or int",
    "—",
    "Fixed installation id; resolved per owner/repo when omitted"
  ],
  [
    "triggers[].token",
    "string",
    "—",
    "Literal outbound VCS token (git kinds); exclusive with token_env and app; sealed"
  ],
  [
    "triggers[].webhook_secret",
    "string",
    "—",
    "Literal inbound webhook secret (git kinds); exclusive with webhook_secret_env; sealed"
  ],
  ["triggers[].user", "string", "—", "Literal depot_vcs user (identifier, not sealed); exclusive with user_env"],
  ["triggers[].ticket", "string", "—", "Literal depot_vcs ticket; exclusive with ticket_env; sealed"],
  ["triggers[].password", "string", "—", "Literal depot_vcs/tree_vcs password; exclusive with password_env; sealed"],
  ["triggers[].username", "string", "—", "Literal tree_vcs username (identifier); exclusive with username_env"],
  [
    "workspaces.root",
    "string",
    "<baseDir>/workspaces",
    "Layout root; relative paths resolve against the server base directory"
  ],
  ["workspaces.cache.max_total_gb", "number > 0", "50", "Max total workspace cache size"],
  ["workspaces.cache.eviction", "enum", "lru", "`lru`, `mru`, `ttl`"],
  ["workspaces.cache.ttl_days", "int > 0", "30", "TTL for `ttl` eviction"],
  [
    "workspaces.defaults",
    "object",
    "{}",
    "Merged into every instance: sandbox, review, agent, outputs, prompt, context_repositories, model_chain, triage_model_chain, author_resolution_model_chain"
  ],
  ["workspaces.instances", "map", "{}", "Instances keyed by workspace id"],
  ["workspaces.instances.<id>.source_repo.trigger", "string", "—", "Trigger profile name"],
  ["workspaces.instances.<id>.source_repo.repo", "string", "—", "Repository reference"],
  [
    "workspaces.instances.<id>.match[]",
    "array",
    "—",
    "Multi-project match rules, OR-ed; fields inside one rule AND-ed; exclusive with source_repo. Admission-time matching is live for git webhooks (kinds githost_a to githost_d); depot_vcs/tree_vcs use background routing receipts"
  ],
  ["workspaces.instances.<id>.match[].id", "string", "—", "Optional rule id, unique per definition"],
  [
    "workspaces.instances.<id>.match[].triggers",
    "string[]",
    "—",
    "Trigger profile names; each must exist in triggers[]"
  ],
  [
    "workspaces.instances.<id>.match[].source.<id>.exact",
    "string",
    "—",
    "Case-sensitive equality on a source field (`vcs`, `repo_ref`, `repository`, `namespace`, `project_key`, `branch`, `ref`); exactly one of exact/glob/regex per matcher"
  ],
  [
    "workspaces.instances.<id>.match[].source.<id>.glob",
    "string",
    "—",
    "Full-field glob; `*` crosses `/`, `?` matches one code point; no extglob, brace or class semantics"
  ],
  [
    "workspaces.instances.<id>.match[].source.<id>.regex",
    "string",
    "—",
    "Linear-time regular expression; substring match unless anchored with `^`/`$`"
  ],
  [
    "workspaces.instances.<id>.match[].source.<id>.ignore_case",
    "boolean",
    "—",
    "Case folding for matching only; never rewrites identity"
  ],
  [
    "workspaces.instances.<id>.work_path",
    "string",
    "{{workspace.id}}",
    "Template path; allowed constructs are segment, default, hash, lower helpers only; output must be a relative `/` path; requires match"
  ],
  [
    "workspaces.instances.<id>.enabled",
    "boolean",
    "true",
    "Enabled when omitted; false stops new admission, keeps existing snapshots"
  ],
  ["workspaces.instances.<id>.model_chain", "string", "inherit", "Main group override referencing llm.model_chain"],
  [
    "workspaces.instances.<id>.triage_model_chain",
    "string",
    "inherit",
    "Lifecycle group override; absent at all layers means the workspace main group"
  ],
  [
    "workspaces.instances.<id>.author_resolution_model_chain",
    "string",
    "inherit",
    "Identity group; falls back to defaults, then global identity group, then llm.default_model_chain"
  ],
  ["workspaces.instances.<id>.agent", "object", "—", "Agent block (below)"],
  ["workspaces.instances.<id>.review", "object", "—", "Review override (see review)"],
  ["workspaces.instances.<id>.outputs", "object", "—", "Outputs override"],
  ["workspaces.instances.<id>.sandbox", "object", "—", "Deep-merged per run over global, defaults, instance"],
  ["workspaces.instances.<id>.triage", "object", "—", "Issue triage override; kinds githost_a and githost_b only"],
  ["workspaces.instances.<id>.prompt", "object", "—", "Same shape as workspaces.defaults.prompt"],
  ["workspaces.instances.<id>.context_repositories[]", "array", "—", "Context repository block (below)"],
  ["workspaces.instances.<id>.auth.api_key_env", "string", "—", "Per-workspace API key env var"],
  [
    "workspaces.instances.<id>.auth.api_key",
    "string",
    "—",
    "Literal per-workspace key; exclusive with api_key_env; sealed"
  ],
  ["workspaces.instances.<id>.auth.enabled", "boolean", "true", "Toggle the per-workspace key"],
  ["agent.default", "enum", "agent_a", "Execution mode (agent mode enum)"],
  [
    "agent.timeout_seconds",
    "int > 0",
    "1800",
    "Hard timeout per CLI pass; on timeout the whole process tree is killed; unused by native-llm"
  ],
  [
    "agent.auto_approve",
    "boolean",
    "true",
    "Passed to the adapter; false removes automatic approval where supported; unused by native-llm"
  ],
  ["agent.sandbox.kind", "enum", "—", "Sandbox kind (global only; unused by native-llm)"],
  ["agent.sandbox.engine", "enum", "—", "Container engine selection"],
  ["agent.sandbox.image", "string", "—", "Container image"],
  ["agent.context_compaction.auto", "boolean", "true", "Enable auto-compaction"],
  ["agent.context_compaction.threshold_percent", "int 1-100", "—", "Compaction trigger threshold"],
  ["agent.context_compaction.prune", "boolean", "true", "Prune compacted history"],
  [
    "agent.web_search.enabled",
    "boolean",
    "false",
    "Built-in search tool for reviews; the switch is always materialized explicitly. agent_g: config switch; agent_a and agent_b: permission plus activation env; agent_e and agent_d: CLI switch only; agent_c and agent_f: no control"
  ],
  [
    "agent.web_search.providers",
    "string[]",
    "[]",
    "Ordered providers: full chain for agent_g; agent_a accepts one provider id; agent_b picks the first of two supported ids"
  ],
  ["agent.web_search.exclude", "string[]", "[]", "Provider ids removed from the chain"],
  ["agent.web_search.timeout_seconds", "int 1-300", "—", "Per-provider transport timeout"],
  [
    "agent.web_search.credentials",
    "map",
    "{}",
    "Search credential id to host env var name, or object with `value` literal (workspace layers); literals are sealed when published"
  ],
  ["agent.web_search.searxng.endpoint", "string", "—", "Self-hosted meta-search endpoint URL"],
  ["agent.web_search.searxng.categories", "string", "—", "Filters"],
  ["agent.web_search.searxng.engines", "string", "—", "Filters"],
  ["agent.web_search.searxng.language", "string", "—", "Filters"],
  ["agent.web_search.searxng.safesearch", "int 0-2", "—", "Safe-search level"],
  [
    "workspaces.defaults.context_repositories[].alias",
    "string",
    "—",
    "Path-safe, matches `^[A-Za-z0-9][A-Za-z0-9._-]*$`, unique per workspace; names the mount path"
  ],
  ["workspaces.defaults.context_repositories[].kind", "enum", "—", "`git`, `depot_vcs`, `tree_vcs`"],
  ["workspaces.defaults.context_repositories[].url", "string", "—", "Git URL; required for `git`"],
  ["workspaces.defaults.context_repositories[].ref", "string", "remote default branch", "Git branch/tag pin"],
  [
    "workspaces.defaults.context_repositories[].token_env",
    "string",
    "—",
    "Env var with git http(s) token; injected via an extra header, never written to disk"
  ],
  [
    "workspaces.defaults.context_repositories[].token",
    "string",
    "—",
    "Literal git token; exclusive with token_env; sealed"
  ],
  ["workspaces.defaults.context_repositories[].repository_url", "string", "—", "Required for `tree_vcs`"],
  [
    "workspaces.defaults.context_repositories[].revision",
    "string or int",
    "latest",
    "Revision pin for tree_vcs/depot_vcs"
  ],
  ["workspaces.defaults.context_repositories[].port", "string", "—", "depot_vcs server address"],
  [
    "workspaces.defaults.context_repositories[].user_env",
    "string",
    "—",
    "depot_vcs user (env name or literal identifier, exclusive)"
  ],
  [
    "workspaces.defaults.context_repositories[].user",
    "string",
    "—",
    "depot_vcs user (env name or literal identifier, exclusive)"
  ],
  [
    "workspaces.defaults.context_repositories[].ticket_env",
    "string",
    "—",
    "depot_vcs ticket (literal sealed, exclusive)"
  ],
  ["workspaces.defaults.context_repositories[].ticket", "string", "—", "depot_vcs ticket (literal sealed, exclusive)"],
  [
    "workspaces.defaults.context_repositories[].password_env",
    "string",
    "—",
    "depot_vcs password, alternative to ticket (literal sealed, exclusive)"
  ],
  [
    "workspaces.defaults.context_repositories[].password",
    "string",
    "—",
    "depot_vcs password, alternative to ticket (literal sealed, exclusive)"
  ],
  [
    "workspaces.defaults.context_repositories[].depot_path",
    "string",
    "—",
    "Required for `depot_vcs`, usually ending in `/...`"
  ],
  [
    "workspaces.defaults.context_repositories[].max_mb",
    "int > 0",
    "512",
    "Per-repository size cap after materialization; exceeding it fails and cleans up"
  ],
  [
    "workspaces.defaults.prompt.base_system_prompt_file",
    "string",
    "—",
    "Custom base prompt file, relative to the deployment root"
  ],
  [
    "workspaces.defaults.prompt.system_prompt",
    "string",
    "—",
    "Name in prompts.system.<name>; replaces the base prompt; wins over base_system_prompt_file and the built-in base"
  ],
  [
    "workspaces.defaults.prompt.extra_system_prompt",
    "string",
    "—",
    "Name in prompts.system.<name>; appended after the resolved base"
  ],
  [
    "workspaces.defaults.prompt.force_skills",
    "string[]",
    "—",
    "Skill names always activated, ignoring Applies To globs"
  ],
  [
    "prompts.system.<id>",
    "string",
    "—",
    "`prompts.system.<id>`: string; a named system-prompt document (markdown with optional frontmatter metadata; only the body reaches the model). The built-in base prompt is never stored and is offered read-only by the management UI with a copy-as-new action."
  ],
  [
    "outputs.template_engine",
    "enum",
    "engine_a",
    "`engine_a` works; `engine_b` is accepted by validation but unimplemented"
  ],
  [
    "outputs.templates.<id>",
    "string",
    "—",
    "Named template document (markdown, optional frontmatter; only body rendered) referenced by channel templates"
  ],
  [
    "outputs.no_problems.action",
    "enum",
    "—",
    "`publish`, `suppress`, `publish_if_summary`; global zero-problem policy"
  ],
  ["outputs.author_resolution.email_mappings", "map", "—", "Email mappings"],
  ["outputs.author_resolution.email_blacklist", "string[]", "—", "Blocks API/pusher fallback for listed emails"],
  [
    "outputs.author_resolution.directory_cache_ttl_seconds",
    "int 0-604800",
    "43200",
    "Member-directory cache duration; 0 disables reuse"
  ],
  ["outputs.routes.default", "object", "—", "Route applied when no rule matches"],
  ["outputs.routes.default.line_comments", "string[]", "—", "Channels receiving line comments"],
  ["outputs.routes.default.summary", "string[]", "—", "Channels receiving summaries"],
  ["outputs.routes.rules[]", "array", "[]", "Ordered rules"],
  ["outputs.routes.rules[].match.trigger", "string", "—", "Trigger name"],
  [
    "outputs.routes.rules[].match.target_kind",
    "enum",
    "—",
    "`pull_request`, `push`, `commit`, `issue`, `manual`, `scheduled`; `pr` normalizes to `pull_request`"
  ],
  ["outputs.routes.rules[].line_comments", "string[]", "—", "Channels receiving line comments"],
  ["outputs.routes.rules[].summary", "string[]", "—", "Channels receiving summaries"],
  ["outputs.channels[]", "array", "[]", "Channel definitions"],
  ["outputs.channels[].name", "string", "—", "Name used in routes and template resolution"],
  [
    "outputs.channels[].kind",
    "string",
    "—",
    "Free-form, constrained by the output registry; named kinds include `githost_c_problem_issue`, `im_bot_a`, `im_bot_b`, `im_app_a`, `im_app_b`"
  ],
  ["outputs.channels[].trigger", "string", "—", "Bound trigger name"],
  ["outputs.channels[].mention_author", "boolean", "—", "Mention the resolved commit author"],
  ["outputs.channels[].mention_fallback", "enum", "—", "`all` or `skip` when author unresolved"],
  ["outputs.channels[].no_problems", "object", "—", "Per-channel zero-problem policy"],
  ["outputs.channels[].no_problems.action", "enum", "—", "`publish`, `suppress`, `publish_if_summary`"],
  ["outputs.channels[].commit_url_template", "string", "—", "Link templates"],
  ["outputs.channels[].revision_url_template", "string", "—", "Link templates"],
  ["outputs.channels[].change_url_template", "string", "—", "Link templates"],
  [
    "outputs.channels[].templates.problem",
    "string",
    "—",
    "References into outputs.templates; win over workspace-directory and built-in lookup"
  ],
  [
    "outputs.channels[].templates.summary",
    "string",
    "—",
    "References into outputs.templates; win over workspace-directory and built-in lookup"
  ],
  ["outputs.channels[].marker_prefix", "string", "[AICR]", "Managed-issue title prefix"],
  ["outputs.channels[].marker_label", "string", "—", "Hidden body marker scoping managed issues"],
  ["outputs.channels[].label_ids", "int[]", "—", "Label ids to attach (githost_a)"],
  ["outputs.channels[].labels", "string[]", "—", "Label names to attach (githost_c)"],
  ["outputs.channels[].issue_mode", "enum", "—", "`per_problem`, `consolidated`, `per_commit`"],
  [
    "outputs.channels[].issue_link_card",
    "enum",
    "titles (runtime)",
    "Chat card content when the summary route also records a managed issue: `brief`, `titles`, `full`; `im_bot_a`/`im_app_a` only"
  ],
  ["outputs.channels[].resolved_action", "enum", "—", "`none`, `close`, `mark_resolved`, `delete` (githost_a only)"],
  [
    "outputs.channels[].assign_committer",
    "boolean",
    "true",
    "Assign resolved author to new managed issues; email blacklist blocks API/pusher fallback; OWNERS independent"
  ],
  ["outputs.channels[].owners_file", "string", "OWNERS", "Owners file path"],
  ["outputs.channels[].add_owners_as_assignees", "boolean", "—", "Add matched owners as assignees"],
  ["outputs.channels[].severity_label_prefix", "string", "—", "Auto-create/attach a severity label"],
  ["outputs.channels[].severity_label_colors", "map", "—", "Severity to color for auto-created labels"],
  ["outputs.channels[].review_mode", "enum", "—", "`auto`, `review`, `comment`"],
  ["outputs.channels[].review_event", "enum", "—", "`COMMENT`, `REQUEST_CHANGES`"],
  ["outputs.channels[].review_update_strategy", "enum", "—", "`always_new`, `update_existing`"],
  [
    "outputs.channels[].notify_im_a",
    "object",
    "—",
    "Issue-created notification: webhook_url_env or literal webhook_url; optional secret_env or literal secret"
  ],
  [
    "outputs.channels[].notify_im_a.webhook_url_env",
    "string",
    "—",
    "Issue-created notification: webhook_url_env or literal webhook_url; optional secret_env or literal secret"
  ],
  [
    "outputs.channels[].notify_im_a.webhook_url",
    "string",
    "—",
    "Issue-created notification: webhook_url_env or literal webhook_url; optional secret_env or literal secret"
  ],
  [
    "outputs.channels[].notify_im_a.secret_env",
    "string",
    "—",
    "Issue-created notification: webhook_url_env or literal webhook_url; optional secret_env or literal secret"
  ],
  [
    "outputs.channels[].notify_im_a.secret",
    "string",
    "—",
    "Issue-created notification: webhook_url_env or literal webhook_url; optional secret_env or literal secret"
  ],
  ["outputs.channels[].token", "string", "—", "Channel API token (literal sealed, exclusive)"],
  ["outputs.channels[].token_env", "string", "—", "Channel API token (literal sealed, exclusive)"],
  [
    "outputs.channels[].webhook_url",
    "string",
    "—",
    "Bot webhook URL for `im_bot_a`/`im_bot_b` (literal sealed, exclusive)"
  ],
  [
    "outputs.channels[].webhook_url_env",
    "string",
    "—",
    "Bot webhook URL for `im_bot_a`/`im_bot_b` (literal sealed, exclusive)"
  ],
  ["outputs.channels[].secret", "string", "—", "Signing secret (literal sealed, exclusive)"],
  ["outputs.channels[].secret_env", "string", "—", "Signing secret (literal sealed, exclusive)"],
  ["outputs.channels[].app_id", "string", "—", "Required application id"],
  ["outputs.channels[].app_secret", "string", "—", "App secret (literal sealed, exclusive)"],
  ["outputs.channels[].app_secret_env", "string", "—", "App secret (literal sealed, exclusive)"],
  ["outputs.channels[].receive_id", "string", "—", "Required recipient"],
  [
    "outputs.channels[].receive_id_type",
    "enum",
    "chat_id (runtime)",
    "`chat_id`, `open_id`, `user_id`, `union_id`, `email`"
  ],
  [
    "outputs.channels[].member_directory.chat_id",
    "string",
    "—",
    "Source group whose members form the identity directory"
  ],
  [
    "outputs.channels[].member_directory.cache_ttl_seconds",
    "int 0-604800",
    "43200 (runtime)",
    "Overrides outputs.author_resolution.directory_cache_ttl_seconds"
  ],
  ["outputs.channels[].user_mappings.<id>", "string", "—", "Exact author/workspace identifier to application open_id"],
  [
    "outputs.channels[].guess_author",
    "boolean",
    "true (runtime)",
    "Permits workspace heuristics and model fallback after exact matching; mention_author separately enables notifications"
  ],
  ["outputs.channels[].member_directory.source", "enum", "legacy form", "`im_a_api` or `file`"],
  [
    "outputs.channels[].member_directory.path",
    "string",
    "—",
    "file only: resolved against the config file's base directory"
  ],
  [
    "outputs.channels[].member_directory.directory_id",
    "string",
    "—",
    "file only: directory name inside the member file"
  ],
  [
    "outputs.channels[].member_directory.identity_scope.kind",
    "enum",
    "—",
    "file only: `im_b_corp`, `im_a_app`, `im_a_tenant`"
  ],
  [
    "outputs.channels[].member_directory.identity_scope.id",
    "string",
    "—",
    "file only: namespace id; equal ids in different scopes never merge"
  ],
  [
    "outputs.channels[].member_directory.watch",
    "boolean",
    "true (runtime)",
    "file only: false keeps only periodic reload"
  ],
  ["outputs.channels[].member_directory.debounce_ms", "int 50-2000", "300 (runtime)", "file only: watch debounce"],
  [
    "outputs.channels[].member_directory.poll_interval_seconds",
    "int 5-300",
    "30 (runtime)",
    "file only: digest check interval"
  ],
  [
    "outputs.channels[].member_directory.allowed_root",
    "string",
    "config base dir",
    "file only: trusted root for real-path checks"
  ],
  [
    "outputs.channels[].author_mappings.<id>",
    "string",
    "—",
    "Exact identifier to a file member key; exclusive with user_mappings"
  ],
  [
    "outputs.channels[].connection",
    "string",
    "—",
    "Reference into im.connections; required for `im_app_b`; replaces inline credentials on `im_app_a`"
  ],
  [
    "outputs.channels[].target",
    "object",
    "—",
    "`im_app_b` only: `{kind: recipients, users/parties/tags}` or `{kind: appchat, chat_id}`; mutually exclusive"
  ],
  ["outputs.channels[].target.kind", "enum", "—", "`recipients` or `appchat`"],
  [
    "outputs.channels[].target.users",
    "string[]",
    "—",
    "`im_app_b` only: `{kind: recipients, users/parties/tags}` or `{kind: appchat, chat_id}`; mutually exclusive"
  ],
  [
    "outputs.channels[].target.parties",
    "string[]",
    "—",
    "`im_app_b` only: `{kind: recipients, users/parties/tags}` or `{kind: appchat, chat_id}`; mutually exclusive"
  ],
  [
    "outputs.channels[].target.tags",
    "string[]",
    "—",
    "`im_app_b` only: `{kind: recipients, users/parties/tags}` or `{kind: appchat, chat_id}`; mutually exclusive"
  ],
  [
    "outputs.channels[].target.chat_id",
    "string",
    "—",
    "`im_app_b` only: `{kind: recipients, users/parties/tags}` or `{kind: appchat, chat_id}`; mutually exclusive"
  ],
  [
    "im.connections.<id>",
    "object",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.kind",
    "enum",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.corp_id",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.agent_id",
    "string or int",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.app_secret",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.app_secret_env",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.aibot_id",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.secret",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.secret_env",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.app_id",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.base_url",
    "URL",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  [
    "im.connections.<id>.tenant_key",
    "string",
    "—",
    "Connection id matches `[A-Za-z0-9][A-Za-z0-9_-]*`; kind is `im_app_b` (corp_id, agent_id, app_secret/app_secret_env), `im_aibot_b` (corp_id; callback mode adds callback and optional aibot_id; long-connection mode adds aibot_id plus secret/secret_env) or `im_app_a` (app_id, app_secret/app_secret_env, optional base_url, tenant_key)"
  ],
  ["im.connections.<id>.callback", "object", "—", "Per connection callback"],
  [
    "im.connections.<id>.callback.enabled",
    "boolean",
    "false (runtime)",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.token_env",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.token",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.encoding_aes_key_env",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.encoding_aes_key",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.verification_token_env",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.verification_token",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.encrypt_key_env",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  [
    "im.connections.<id>.callback.encrypt_key",
    "string",
    "—",
    "Per connection; credentials are token/encoding_aes_key (second platform) or verification_token/encrypt_key (first platform), each literal or `_env`; enabled callbacks must provide them"
  ],
  ["im.command_bindings.<id>.enabled", "boolean", "false (runtime)", "Disabled drafts stay savable"],
  [
    "im.command_bindings.<id>.connection",
    "string",
    "—",
    "Reference to im.connections; enabling needs an existing enabled connection"
  ],
  [
    "im.command_bindings.<id>.actors[]",
    "object",
    "—",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].kind",
    "enum",
    "—",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].chat_id",
    "string",
    "—",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].recursive",
    "boolean",
    "true (runtime)",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].name",
    "string",
    "—",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].value",
    "string",
    "—",
    "Any hit authorizes. Scope matchers by `kind`: `any`, `im_b_department` (recursive default true), `im_b_tag`, `im_b_position`, `im_b_extattr` (name+value), `im_a_chat` (chat_id), `im_a_department`, `im_a_job_title`; a missing directory snapshot fails that dimension closed"
  ],
  [
    "im.command_bindings.<id>.actors[].type",
    "enum",
    "—",
    "Exact principal: `im_b_userid`, `im_b_encrypted_userid`, `im_a_open_id`"
  ],
  ["im.command_bindings.<id>.actors[].id", "string", "—", "Exact typed platform id; no fuzzy authorization"],
  ["im.command_bindings.<id>.actors[].expires_at", "string", "—", "RFC 3339; an expired matcher stops matching"],
  [
    "im.command_bindings.<id>.conversations[]",
    "object",
    "—",
    "`app_direct`, `bot_direct` or `group` with non-empty id; must match the connection protocol"
  ],
  [
    "im.command_bindings.<id>.conversations[].kind",
    "enum",
    "—",
    "`app_direct`, `bot_direct` or `group` with non-empty id; must match the connection protocol"
  ],
  [
    "im.command_bindings.<id>.conversations[].id",
    "string",
    "—",
    "`app_direct`, `bot_direct` or `group` with non-empty id; must match the connection protocol"
  ],
  [
    "im.command_bindings.<id>.allow_all_repositories",
    "boolean",
    "false (runtime)",
    "When true, repo aliases also resolve by exact workspace id or full repo name against observed projects; applies to query and review commands"
  ],
  [
    "im.command_bindings.<id>.commands",
    "enum[]",
    "—",
    "Unique subset of `help`, `chat-id`, `review`, `status`, `cancel`, `projects`, `reviews`, `commits`, `prs`, `detail`, `prdetail`, `queue`, `running`"
  ],
  [
    "im.command_bindings.<id>.repositories.<id>.workspace",
    "string",
    "—",
    "Repo alias targets, validated against routing/VCS scope at publish"
  ],
  [
    "im.command_bindings.<id>.repositories.<id>.source_trigger",
    "string",
    "—",
    "Repo alias targets, validated against routing/VCS scope at publish"
  ],
  [
    "im.command_bindings.<id>.repositories.<id>.repo_ref",
    "string",
    "—",
    "Repo alias targets, validated against routing/VCS scope at publish"
  ],
  ["im.command_bindings.<id>.report_policy", "enum", "workspace_routes", "Only `workspace_routes`"],
  ["review.languages_auto_detect", "boolean", "true", "Auto-detect languages"],
  ["review.include", "string[]", '["**/*"]', "Path globs; `*` stays in a directory, `**` spans zero or more"],
  ["review.exclude", "string[]", '["**/vendor/**", "**/*.min.js", "**/*.lock"]', "Applied after include"],
  [
    "review.max_files",
    "int > 0",
    "2000",
    "Max analyzed files; counts only filter-passing files; extras dropped with a visible truncation log"
  ],
  [
    "review.max_patch_bytes",
    "int > 0",
    "20971520",
    "UTF-8 patch budget (20 MiB) over the analyzed diff only; oversized patches are rejected before model calls and show as a failed run"
  ],
  ["review.incremental", "boolean", "true", "False adds complete head files, bounded by max_patch_bytes"],
  ["review.skip_lgtm", "boolean", "true", "Skip clean-looking reviews"],
  ["review.output_language", "string", "zh-CN", "Summary language"],
  [
    "review.commit_strategy",
    "enum",
    "aggregate",
    "Chooses between aggregated endpoint comparison, labelled per-commit patches in one analysis, or head-only; rewritten history keeps endpoint comparison"
  ],
  ["review.log_thinking", "boolean", "true", "Log orchestrator traces"],
  ["review.git.allow_deepen", "boolean", "false", "Allow deepening shallow clones"],
  ["review.labels.ignore", "string[]", '["aicr:ignore", "aicr-ignore"]', "Labels that skip review"],
  ["review.labels.auto_tag", "string", "—", "Tag added when review starts"],
  ["review.labels.reviewed_tag", "string", "—", "Tag added when review completes"],
  ["review.problem_issue.max_recent_issues", "int 1-200", "30", "Cap on recent open managed issues reconciled per run"],
  [
    "review.fetch_extra.max_bytes",
    "int > 0",
    "—",
    "Total UTF-8 extra-context bytes per run, including concurrent requests"
  ],
  ["review.fetch_extra.max_files", "int > 0", "—", "Distinct extra-context paths per run"],
  ["review.fetch_extra.allow_paths", "string[]", "—", "Allowed path globs"],
  ["review.reflection.enabled", "boolean", "false", "Enable reflection memory"],
  ["review.reflection.mode", "enum", "—", "`off`, `light`, `thorough`"],
  ["review.reflection.memory.max_size_kb", "int > 0", "—", "Memory bounds"],
  ["review.reflection.memory.max_entries", "int > 0", "—", "Memory bounds"],
  ["review.reflection.memory.retention_days", "int > 0", "90", "Memory TTL"],
  [
    "review.auto_commit.delay_seconds",
    "int 0-31536000",
    "300",
    "Delay after first receive before an automatic commit is due; 0 disables the wait"
  ],
  [
    "review.auto_commit.queued_timeout_hours",
    "int 0-8760",
    "72",
    "Max wait since admission for automatic entries/batches and chat requests; expired work closes with `queued_timeout` plus chat notification; running work with a valid lease is kept; 0 disables"
  ],
  ["review.auto_commit.schedule.timezone", "string", "UTC", "IANA timezone"],
  [
    "review.auto_commit.schedule.rules[]",
    "object[]",
    "—",
    "Weekly groups (`days` weekday set, `windows` HH:mm ranges; union across groups); `[]` lifts all weekly limits"
  ],
  ["review.auto_commit.schedule.rules[].days", "enum[]", "—", "weekday set"],
  ["review.auto_commit.schedule.rules[].windows[]", "object[]", "—", "HH:mm ranges"],
  ["review.auto_commit.schedule.rules[].windows[].start", "string", "—", "HH:mm"],
  ["review.auto_commit.schedule.rules[].windows[].end", "string", "—", "HH:mm"],
  [
    "review.auto_commit.exclude_sources[]",
    "object[]",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].id",
    "string",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].vcs",
    "enum",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].match",
    "object",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].match.<id>.glob",
    "string",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].match.<id>.regex",
    "string",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.exclude_sources[].match.<id>.ignore_case",
    "boolean",
    "—",
    "Bot/CI exclusion rules (id, vcs, match matchers with exactly one of glob/regex); `[]` clears inherited rules"
  ],
  [
    "review.auto_commit.include_branches",
    "string[]",
    "—",
    "Exact case-sensitive branch names without `refs/heads/`; unlisted automatic pushes are ignored before receipt persistence; PR/MR/comment flows and branchless hooks unaffected; nearest layer wins; `[]` accepts all"
  ],
  ["review.pull_request.schedule.timezone", "string", "UTC", "IANA timezone for PR/MR schedule"],
  [
    "review.pull_request.schedule.rules[]",
    "object[]",
    "—",
    "Weekly groups for PR/MR review; `[]` lifts limits; unset everywhere falls back to auto_commit.schedule"
  ],
  ["review.pull_request.schedule.rules[].days", "enum[]", "—", "weekday set"],
  ["review.pull_request.schedule.rules[].windows[]", "object[]", "—", "HH:mm ranges"],
  ["review.pull_request.schedule.rules[].windows[].start", "string", "—", "HH:mm"],
  ["review.pull_request.schedule.rules[].windows[].end", "string", "—", "HH:mm"],
  [
    "review.pull_request.include_target_branches",
    "string[]",
    "—",
    "Exact case-sensitive target branch names; unlisted targets ignored at reception; unknown targets allowed; push/issue/manual flows unaffected; nearest layer wins; `[]` accepts all"
  ],
  ["queue.kind", "enum", "memory", "Queue backend"],
  ["queue.embedded_sql.path", "string", "data/queue.db", "Queue DB path"],
  ["queue.embedded_sql.lock_ttl_seconds", "int > 0", "300", "Stale-running job reclaim TTL"],
  ["queue.workers.concurrency", "int > 0", "4", "Global worker concurrency"],
  ["queue.workers.per_workspace_concurrency", "int > 0", "1", "Per-workspace cap"],
  ["queue.workers.lock_ttl_seconds", "int > 0", "1800", "Reserved; lock expiry is set by the backend"],
  ["queue.rate_limit.per_provider_rps", "map", "—", "Per-provider requests-per-second cap"],
  ["queue.retry.attempts", "int > 0", "3", "Trigger-level retry attempts (legacy max_attempts normalized)"],
  ["queue.retry.backoff", "object", "—", "kind, base_ms, max_ms, jitter"],
  ["queue.retry.backoff.kind", "enum", "exponential", "kind, base_ms, max_ms, jitter"],
  ["queue.retry.backoff.base_ms", "int >= 0", "5000", "kind, base_ms, max_ms, jitter"],
  ["queue.retry.backoff.max_ms", "int >= 0", "60000", "kind, base_ms, max_ms, jitter"],
  ["queue.retry.backoff.jitter", "boolean", "true", "kind, base_ms, max_ms, jitter"],
  ["queue.dead_letter.enabled", "boolean", "—", "Reserved; accepted, not consumed at runtime"],
  ["queue.dead_letter.max_age_hours", "int > 0", "—", "Reserved; accepted, not consumed at runtime"],
  [
    "config_sources.database.enabled",
    "boolean",
    "false",
    "Enable the database source; admissions adopt the durable config head and the admin config API can publish revisions; disabled means file-only"
  ],
  [
    "config_sources.database.backend",
    "enum",
    "storage",
    "`storage` (uses storage.database) or `kv_store` (reuses the storage.cache.kv_store connection)"
  ],
  [
    "config_sources.database.namespace",
    "string",
    "default",
    "1-64 letters, digits, dots, underscores, hyphens; starts with letter or digit"
  ],
  [
    "config_sources.runtime.refresh_interval_seconds",
    "int 1-3600",
    "5",
    "Background refresh cadence; every webhook admission re-reads the durable head regardless"
  ],
  ["config_sources.secret_refs[].env", "string", "—", "Deployment-authorized env var name"],
  [
    "config_sources.secret_refs[].target",
    "string[]",
    "—",
    "Exact path tokens; entity ids/names and context repository aliases replace array indices"
  ],
  [
    "config_sources.secret_refs[].destinations.<id>",
    "unknown",
    "—",
    "Exact destination context: kind, endpoints, linked trigger destination"
  ],
  ["storage.database.kind", "enum", "embedded_sql", "Backend"],
  ["storage.database.embedded_sql.path", "string", "/app/data/svc.db", "DB path"],
  ["storage.database.server_sql.url_env", "string", "—", "Connection-string env var"],
  [
    "storage.database.migrate",
    "enum",
    "auto",
    "`auto` applies migrations at startup; `verify` checks config and business schemas"
  ],
  ["storage.cache.kind", "enum", "memory", "Cache backend"],
  ["storage.cache.kv_store.url_env", "string", "—", "Connection-string env var"],
  ["storage.cache.ttl_seconds", "int > 0", "—", "Cache TTL"],
  ["storage.object.kind", "enum", "filesystem", "Object backend"],
  ["storage.object.filesystem.root", "string", "/app/data/objects", "Root"],
  ["storage.object.object_api.endpoint_url_env", "string", "—", "Env var names for S3-compatible storage"],
  ["storage.object.object_api.region_env", "string", "—", "Env var names for S3-compatible storage"],
  ["storage.object.object_api.access_key_id_env", "string", "—", "Env var names for S3-compatible storage"],
  ["storage.object.object_api.secret_access_key_env", "string", "—", "Env var names for S3-compatible storage"],
  ["storage.object.object_api.bucket", "string", "—", "Bucket"],
  ["storage.object.object_api.force_path_style", "boolean", "—", "Path-style addressing"],
  [
    "storage.retention.deleted_project_grace_days",
    "int >= 0",
    "30",
    "Grace before hard delete of soft-deleted projects"
  ],
  ["storage.retention.recent_runs.max_count", "int 1-1000000", "2000", "Run details kept; aggregates remain"],
  ["storage.retention.recent_runs.max_age_months", "int 1-1200", "6", "UTC calendar months from start time"],
  ["storage.retention.events.max_count", "int 1-1000000", "2000", "Received events kept"],
  ["storage.retention.events.max_age_months", "int 1-1200", "6", "Months from receipt"],
  [
    "storage.retention.queue.max_count",
    "int 1-1000000",
    "1000",
    "Terminal automatic-commit batches kept; active and retrying work protected"
  ],
  ["storage.retention.queue.max_age_months", "int 1-1200", "6", "Months from creation"],
  ["compression.trigger_tokens", "int > 0", "derived", "Threshold that triggers diff compression"],
  ["compression.max_input_ratio", "number 0-1", "0.6", "Max input ratio before compression"],
  ["compression.summarize_model_role", "string", "light", "Role for the summarize stage (`light`, `heavy`, `any`)"],
  ["compression.keep_hunks_top_k", "int > 0", "30", "Highest-risk hunks kept verbatim"],
  ["compression.context_lines", "int > 0", "5", "Context lines around kept hunks"],
  ["compression.per_model_overrides", "map", "—", "Per-model trigger_tokens"],
  ["compression.per_model_overrides.<id>.trigger_tokens", "int > 0", "—", "Per-model trigger_tokens"],
  ["server.port", "int > 0", "8080", "HTTP listen port"],
  ["server.hostname", "string", "0.0.0.0", "Listen hostname"],
  [
    "server.trust_proxy",
    "boolean, enum or string[]",
    "false",
    "Trust-proxy setting (loopback, linklocal, uniquelocal, or CIDR list)"
  ],
  ["server.base_url", "string", "—", "External base URL"],
  ["server.path_prefix", "string", "—", "Reverse-proxy subpath prefix"],
  ["server.auth.api_key_env", "string", "—", "Global API key env var"],
  ["server.auth.api_key", "string", "—", "Literal global key; exclusive with api_key_env (literal wins)"],
  ["server.auth.enabled", "boolean", "true", "Toggle global key"],
  ["admin.username_env", "string", "SVC_ADMIN_USERNAME", "Admin username env var"],
  ["admin.password_env", "string", "SVC_ADMIN_PASSWORD", "Admin password env var"],
  ["admin.password_hash_env", "string", "—", "Hash env var, format `sha256:<hex>`; takes precedence over password_env"],
  ["admin.password", "string", "—", "Literal password; exclusive with password_env (literal wins)"],
  ["admin.password_hash", "string", "—", "Literal hash `sha256:<hex>`; exclusive with password_hash_env"],
  ["admin.session_ttl_seconds", "int > 0", "86400", "Session TTL in seconds"]
]
