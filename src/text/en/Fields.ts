/** Descriptions of the fields of the configuration, by path. */
export const fieldTexts = {
  admin: "Login of the dashboard.",
  "admin.oidc":
    "Login of people by OpenID Connect, beside the administrator of `admin.username_env` (see docs/let-others-in.md). Off without `issuer`. Needs `server.base_url`.",
  "admin.oidc.client_id": "Id of the client that is registered at the provider.",
  "admin.oidc.client_secret": "Literal secret of the client. Without a secret the client is a public one.",
  "admin.oidc.client_secret_env": "Environment variable that holds the secret of the client.",
  "admin.oidc.groups_claim":
    "Claim with the groups of a person: its name, or the path to it in claims that are objects, such as `realm_access.roles`.",
  "admin.oidc.issuer": "Address of the provider, below which it has `/.well-known/openid-configuration`.",
  "admin.oidc.roles": "Groups of each role. A person gets the highest matching role, and without one no access.",
  "admin.oidc.roles.administrator": "Groups whose members are administrators.",
  "admin.oidc.roles.editor": "Groups whose members are editors.",
  "admin.oidc.roles.operator": "Groups whose members are operators.",
  "admin.oidc.roles.viewer": "Groups whose members are viewers.",
  "admin.oidc.scopes": "Scopes that are requested from the provider. `openid` is required.",
  "admin.oidc.username_claim":
    "Claim with the name of a person in the audit. It must identify one person; an e-mail address has to be verified.",
  "admin.password": "Literal password.",
  "admin.password_env": "Environment variable that holds the password.",
  "admin.password_hash": "Literal hash `sha256:<hex>` of the password.",
  "admin.password_hash_env":
    "Environment variable that holds `sha256:<hex>` of the password. Takes precedence over password_env.",
  "admin.figures_by_author":
    "Shows administrators findings by the author of the change, in the statistics. Other roles, metrics and exports never have them.",
  "admin.session_ttl_seconds": "Seconds a session lasts.",
  "admin.username_env": "Environment variable that holds the user name.",
  agent: "How reviews are executed.",
  "agent.auth":
    "Model groups of agents that sign in with what their maker sells for automation. The credentials stay in the service.",
  "agent.auth.claude-code":
    "Model group of the mode claude-code, for a Claude subscription, Bedrock or Vertex AI, in place of the workspace's.",
  "agent.auth.codex": "Model group of the mode codex, for a ChatGPT workspace, in place of the workspace's.",
  "agent.auth.copilot-cli": "Model group of the mode copilot-cli, for GitHub Copilot, in place of the workspace's.",
  "agent.auth.gemini-cli": "Model group of the mode gemini-cli, for Vertex AI, in place of the workspace's.",
  "agent.auto_approve":
    "Passed to the adapter; false removes automatic approval where it can be removed. Unused by native-llm.",
  "agent.context_compaction": "Compaction of the agent's context.",
  "agent.context_compaction.auto": "Compact the context by itself.",
  "agent.context_compaction.prune": "Drop compacted history.",
  "agent.context_compaction.threshold_percent": "Fill of the context window that starts compaction.",
  "agent.default": "Execution mode.",
  "agent.sandbox":
    "Sandbox of agent CLIs for all workspaces. A workspace sets its own under `sandbox`; kind is refused here below the global level.",
  "agent.sandbox.engine": "Container engine.",
  "agent.sandbox.image":
    "Container image, with node in its PATH. Default: aicr-agents with the version of this service, which is built from deploy/agents.",
  "agent.sandbox.kind": "Sandbox kind. Unused by native-llm. Default: native, unless engine selects another.",
  "agent.sandbox.kubernetes": "Sandbox kind kubernetes: a pod for each pass, in the cluster in which the service runs.",
  "agent.sandbox.kubernetes.image_pull_secrets": "Names of Secrets for the registry of the image.",
  "agent.sandbox.kubernetes.namespace":
    "Namespace of the pods of sandboxes. Default: the namespace of the service account.",
  "agent.sandbox.kubernetes.node_selector": "Labels of the nodes on which the pods may run.",
  "agent.sandbox.kubernetes.runtime_class": "RuntimeClass of the pods, for example gvisor or kata.",
  "agent.sandbox.kubernetes.service_account_dir":
    "Folder with token, ca.crt and namespace of the service account that creates the pods.",
  "agent.sandbox.kubernetes.start_timeout_seconds": "Maximum time until a pod runs, with the pull of its image.",
  "agent.sandbox.limits": "Limits of one pass. A pass that exceeds one is ended. The time is agent.timeout_seconds.",
  "agent.sandbox.limits.cpus":
    "Processors that all processes of a run may use. Native: only where the service may create cgroups.",
  "agent.sandbox.limits.file_mb": "Maximum size of all files that a run writes.",
  "agent.sandbox.limits.memory_mb": "Maximum memory of all processes of a run, with the files that they write.",
  "agent.sandbox.limits.model_calls":
    "Maximum number of model calls of a pass. Further calls are refused, and the pass ends with what was reported.",
  "agent.sandbox.limits.output_mb": "Maximum size of the output of a run.",
  "agent.sandbox.limits.processes": "Maximum number of processes and threads of a run.",
  "agent.sandbox.limits.tool_calls": "Maximum number of tool calls of a pass. After it, only reports are accepted.",
  "agent.sandbox.microvm": "Sandbox kind microvm: a virtual machine for each pass, with Firecracker or QEMU.",
  "agent.sandbox.microvm.emulation":
    "Whether QEMU emulates the processor instead of using /dev/kvm. About ten times slower.",
  "agent.sandbox.microvm.kernel":
    "Path of the Linux kernel: bzImage for QEMU, an uncompressed vmlinux for Firecracker.",
  "agent.sandbox.microvm.modules_dir":
    "Folder with the kernel's modules, if virtio and overlay are modules, for example /lib/modules/6.1.0-56-cloud-amd64.",
  "agent.sandbox.microvm.root_image":
    "Path of an ext4 file system with node, sh, tar, setpriv and the agents in /opt/aicr/agents.",
  "agent.sandbox.microvm.start_timeout_seconds": "Maximum time until a virtual machine runs.",
  "agent.sandbox.native": "Sandbox kind native, which needs bubblewrap (bwrap).",
  "agent.sandbox.native.first_uid":
    "First of the 65536 user and group ids of the agents of a service that runs as root: each pass gets one of its own. No user of the machine may have one of them.",
  "agent.sandbox.native.unconfined":
    "Whether agent CLIs run without any sandbox where bubblewrap is missing. They can then read every file and reach every network that the service can.",
  "agent.timeout_seconds": "Hard timeout of one CLI pass; then its whole process tree is killed. Unused by native-llm.",
  "agent.web_search": "Web search of the agent.",
  "agent.web_search.credentials": "Search credential id to the name of an environment variable.",
  "agent.web_search.credentials.<id>.value": "Literal search credential. Sealed when published.",
  "agent.web_search.enabled":
    "Search tool for reviews. claude-code, codex and gemini-cli search with the provider of the model; in every other mode but native-llm this service searches for the agent. The switch is always written out for the CLI.",
  "agent.web_search.exclude": "Provider ids removed from the chain.",
  "agent.web_search.max_queries":
    "Maximum number of queries that one pass sends to search providers. Further ones are refused.",
  "agent.web_search.providers":
    "Ordered search providers; others are never called. kilo uses one of exa, parallel and kilo-exa, opencode the first of exa and parallel, the others the whole chain. Default: those with a credential or an endpoint; if there is none, exa and parallel without an account.",
  "agent.web_search.searxng": "Self-hosted meta-search.",
  "agent.web_search.searxng.categories": "Categories, comma-separated.",
  "agent.web_search.searxng.endpoint": "Endpoint of a self-hosted SearXNG.",
  "agent.web_search.searxng.engines": "Engines, comma-separated.",
  "agent.web_search.searxng.language": "Language code.",
  "agent.web_search.searxng.safesearch": "Safe-search level.",
  "agent.web_search.timeout_seconds": "Timeout of one provider in seconds.",
  allow_empty:
    "Accept a document without anything else, or one without triggers in place of one that had some. Otherwise both are refused: a truncated file looks the same.",
  compression: "Diffs that are too large for the model.",
  "compression.context_lines": "Lines of context around hunks that are kept.",
  "compression.keep_hunks_top_k":
    "Of a diff that is compressed, hunks of highest risk that are read word for word, whatever file they are in; the other passes read whole files, the riskiest first.",
  "compression.max_input_ratio": "Share of the context window that the input of a pass may fill.",
  "compression.per_model_overrides": "trigger_tokens per model.",
  "compression.per_model_overrides.<id>.trigger_tokens":
    "Maximum number of tokens of a pass with this model; otherwise like compression.trigger_tokens.",
  "compression.summarize_model_role": "Role of the model that summarises what no pass shows.",
  "compression.trigger_tokens":
    "Maximum number of tokens of a pass. Once it is set, a larger diff is compressed into one pass, unless review.max_passes is set, too. By default a larger diff is read in several passes.",
  config_sources: "Where configuration comes from.",
  "config_sources.database": "Database source.",
  "config_sources.database.approvals":
    "Approvals that a draft needs before it is published, from administrators other than its owner. Direct publishing is refused if it is not 0.",
  "config_sources.database.backend": "`storage` uses storage.database, `redis` the connection of storage.cache.redis.",
  "config_sources.database.enabled":
    "Also read configuration from the database, which the dashboard, commands and the admin API edit.",
  "config_sources.database.namespace": "Namespace of the revisions.",
  "config_sources.runtime": "Refresh.",
  "config_sources.runtime.refresh_interval_seconds":
    "Seconds between checks for a new revision. Each delivery also checks for one.",
  "config_sources.secret_refs": "Which environment variables database edits may use, and for what.",
  "config_sources.secret_refs[].destinations": "Exact destination: kind, endpoints, linked trigger.",
  "config_sources.secret_refs[].env": "Environment variable that edits may refer to.",
  "config_sources.secret_refs[].target":
    "Exact path of the field, part by part; ids, names and aliases replace array indices.",
  im: "Chat platforms.",
  "im.command_bindings": "Command bindings by id. Each is disabled until enabled.",
  "im.command_bindings.<id>.actors": "Who may command; any hit authorises.",
  "im.command_bindings.<id>.actors[].chat_id": "Chat whose members are included.",
  "im.command_bindings.<id>.actors[].expires_at": "RFC 3339 time after which the matcher stops matching.",
  "im.command_bindings.<id>.actors[].id":
    "Exact platform id of the principal, or id of the department, tag, position or job title.",
  "im.command_bindings.<id>.actors[].kind": "Scope of principals.",
  "im.command_bindings.<id>.actors[].name": "Name of the extended attribute.",
  "im.command_bindings.<id>.actors[].recursive": "Include departments below.",
  "im.command_bindings.<id>.actors[].type": "Exact principal.",
  "im.command_bindings.<id>.actors[].value": "Value of the extended attribute.",
  "im.command_bindings.<id>.allow_all_repositories":
    "Repository aliases also resolve by exact workspace id or full repository name.",
  "im.command_bindings.<id>.ask":
    "Permits questions to a model about reviews that the person may list with detail or prdetail: ask <alias> <rev> <question>. At most 10 an hour and person, 30 an hour and conversation; the budgets of llm apply.",
  "im.command_bindings.<id>.commands": "Commands that may be used.",
  "im.command_bindings.<id>.connection": "Name in im.connections. Enabling needs an existing, enabled one.",
  "im.command_bindings.<id>.conversations": "Where commands are taken.",
  "im.command_bindings.<id>.conversations[].id": "Conversation id.",
  "im.command_bindings.<id>.conversations[].kind": "Kind of conversation.",
  "im.command_bindings.<id>.enabled": "Disabled drafts stay savable.",
  "im.command_bindings.<id>.report_policy": "Where reports go.",
  "im.command_bindings.<id>.repositories": "Repository aliases.",
  "im.command_bindings.<id>.repositories.<id>.repo_ref": "Repository as the host names it.",
  "im.command_bindings.<id>.repositories.<id>.source_trigger": "Trigger name.",
  "im.command_bindings.<id>.repositories.<id>.workspace": "Workspace id.",
  "im.connections": "Connections by id.",
  "im.connections.<id>.accounts":
    "Accounts that the corporation may have. WeCom accepts messages of an application to 200 times as many persons a day; further ones wait for the next day.",
  "im.connections.<id>.agent_id": "Agent id of the application.",
  "im.connections.<id>.aibot_id": "Bot id.",
  "im.connections.<id>.bot_name":
    "Name of the bot as people mention it. Needed if it contains a space: messages do not show where the name ends.",
  "im.connections.<id>.app_id": "Application id.",
  "im.connections.<id>.app_secret": "Literal application secret. Sealed when published.",
  "im.connections.<id>.app_secret_env": "Environment variable that holds the application secret.",
  "im.connections.<id>.app_token": "Literal token of the app (`xapp-`) for its long connection. Sealed when published.",
  "im.connections.<id>.app_token_env":
    "Environment variable that holds the token of the app (`xapp-`) for its long connection.",
  "im.connections.<id>.base_url": "Base URL of the platform's API: of Lark, or of a private deployment.",
  "im.connections.<id>.bot_token": "Literal token of the bot (`xoxb-`). Sealed when published.",
  "im.connections.<id>.bot_token_env": "Environment variable that holds the token of the bot (`xoxb-`).",
  "im.connections.<id>.callback":
    "Receive messages by callback. Omitted or disabled: the service opens a long connection, if the platform supports it.",
  "im.connections.<id>.callback.enabled": "Serve GET and POST /callbacks/im/<connection>.",
  "im.connections.<id>.callback.encoding_aes_key": "Literal EncodingAESKey (WeCom).",
  "im.connections.<id>.callback.encoding_aes_key_env": "Environment variable that holds the EncodingAESKey (WeCom).",
  "im.connections.<id>.callback.encrypt_key": "Literal encrypt key (Feishu).",
  "im.connections.<id>.callback.encrypt_key_env": "Environment variable that holds the encrypt key (Feishu).",
  "im.connections.<id>.callback.token": "Literal callback token (WeCom).",
  "im.connections.<id>.callback.token_env": "Environment variable that holds the callback token (WeCom).",
  "im.connections.<id>.callback.verification_token": "Literal verification token (Feishu).",
  "im.connections.<id>.callback.verification_token_env":
    "Environment variable that holds the verification token (Feishu).",
  "im.connections.<id>.corp_id": "Corporation id.",
  "im.connections.<id>.enabled": "False keeps the connection configured and unused.",
  "im.connections.<id>.kind": "Platform and protocol.",
  "im.connections.<id>.secret": "Literal secret of the long connection. Sealed when published.",
  "im.connections.<id>.secret_env": "Environment variable that holds the long connection's secret.",
  "im.connections.<id>.tenant_key": "Tenant key.",
  llm: "LLM providers, model groups, retry, budgets, catalog.",
  "llm.author_resolution_model_chain": "Group for directory identity analysis. Default: llm.default_model_chain.",
  "llm.budget": "Caps on spend.",
  "llm.budget.per_team_daily_usd":
    "Maximum cost in US dollars per team (workspaces.instances.<id>.team) and UTC day, over all of its workspaces.",
  "llm.budget.team_daily_usd":
    "Maximum cost in US dollars per UTC day of single teams, by the name of the team, in place of llm.budget.per_team_daily_usd.",
  "llm.budget.per_author_daily_usd":
    "Maximum cost in US dollars per author of changes and UTC day, over all repositories of a trigger.",
  "llm.budget.per_repo_daily_usd": "Most US dollars per repository and UTC day.",
  "llm.budget.per_run_usd": "Most US dollars per run.",
  "llm.default_model_chain":
    "Model group that is used unless a workspace or a route names another one. Must exist when groups are configured.",
  "llm.model_catalog": "Model metadata from a catalog.",
  "llm.model_catalog.apply_to_model_spec": "Merge catalog metadata into the resolved model.",
  "llm.model_catalog.cache": "Cache of the catalog.",
  "llm.model_catalog.cache.backend":
    "Where refreshed data is kept. `redis` needs storage.cache.kind `redis` and storage.cache.redis.url_env.",
  "llm.model_catalog.enabled": "Look up model metadata in a catalog.",
  "llm.model_catalog.fetch_timeout_ms": "Deadline of a fetch in milliseconds.",
  "llm.model_catalog.offline": "Never use the network: cache and bundled snapshot only.",
  "llm.model_catalog.overrides":
    "Metadata of models by `<provider>/<model>`, in the form of the catalog's records, over which they take precedence.",
  "llm.model_catalog.overrides.<id>.default_reasoning_effort": "Reasoning effort used when none is configured.",
  "llm.model_catalog.overrides.<id>.supported_reasoning_efforts": "Reasoning efforts that the model takes.",
  "llm.model_catalog.refresh_interval_hours": "Hours between refreshes.",
  "llm.model_catalog.source_url": "Catalog source.",
  "llm.model_chain": "Model groups: name to ordered list. The first entry is primary, later ones are tried in order.",
  "llm.model_chain.<id>[].model": "Model name as the provider knows it.",
  "llm.model_chain.<id>[].provider": "Id of a provider in llm.providers.",
  "llm.model_chain.<id>[].role": "Which stages may use the model.",
  "llm.per_provider_overrides": "Retry limits per provider id.",
  "llm.per_provider_overrides.<id>.give_up_after_seconds": "Hard wall-clock limit of a call with all its attempts.",
  "llm.per_provider_overrides.<id>.max_attempts": "Most attempts per LLM call.",
  "llm.providers": "Provider connections.",
  "llm.providers[].anthropic_beta": "Values of the anthropic-beta header.",
  "llm.providers[].anthropic_version": "Value of the anthropic-version header.",
  "llm.providers[].api_key": "Literal API key. Sealed when published to the database.",
  "llm.providers[].api_key_env": "Environment variable that holds the API key.",
  "llm.providers[].api_version": "API version, for providers that need one.",
  "llm.providers[].aws_access_key": "Literal AWS access key id.",
  "llm.providers[].aws_access_key_env": "Environment variable that holds the AWS access key id.",
  "llm.providers[].aws_profile": "AWS profile of the shared credentials file.",
  "llm.providers[].aws_region": "AWS region.",
  "llm.providers[].aws_secret_key": "Literal AWS secret key.",
  "llm.providers[].aws_secret_key_env": "Environment variable that holds the AWS secret key.",
  "llm.providers[].aws_session_token": "Literal AWS session token.",
  "llm.providers[].aws_session_token_env": "Environment variable that holds the AWS session token.",
  "llm.providers[].base_url": "Provider API base URL.",
  "llm.providers[].cache_control": "Prompt caching.",
  "llm.providers[].catalog_id": "Overrides the catalog's `<provider>/<model>` id.",
  "llm.providers[].catalog_provider": "Overrides the catalog's provider id used for metadata.",
  "llm.providers[].context_window": "Context window in tokens; takes precedence over the catalog.",
  "llm.providers[].refused_fields":
    "Optional fields of requests that the server refuses: tool_choice is sent as auto, max_tokens and max_completion_tokens under the other name, system messages as part of the first message of the user, others not at all. What a 400 names is learnt without it.",
  "llm.providers[].extra_body": "Fields added to each request body.",
  "llm.providers[].extra_headers":
    "HTTP headers added to each request. Not a place for secrets: values are shown in the configuration.",
  "llm.providers[].google_application_credentials": "Literal service account key, or the path of its file.",
  "llm.providers[].google_application_credentials_env":
    "Environment variable that holds the service account key (JSON, or the path of its file).",
  "llm.providers[].http_proxy": "HTTP proxy for requests to this provider.",
  "llm.providers[].id": "Identifier referenced from model_chain. Unique.",
  "llm.providers[].kind": "LLM provider kind.",
  "llm.providers[].max_output_tokens":
    "Maximum response length in tokens. Default: that of the catalog, else 16384, reduced to the room in the context window.",
  "llm.providers[].organization": "Organization id sent with each request.",
  "llm.providers[].reasoning_effort": "Reasoning effort, passed through to the provider.",
  "llm.providers[].subscription":
    "Whether the key is the token of a subscription instead of an API key: of Claude (claude setup-token) with kind anthropic, of a ChatGPT workspace (Codex access token) with kind openai_compatible. Only the agent of its maker may use it, through agent.auth.",
  "llm.providers[].thinking_budget_tokens": "Explicit thinking budget in tokens, passed through to the provider.",
  "llm.providers[].thinking_level": "Thinking level, passed through to the provider.",
  "llm.providers[].timeout_ms":
    "Longest silence in milliseconds: between two pieces of a response, and before its first piece, for which Ollama and servers on private addresses have 12 times as long. Default: 5 minutes between pieces, 15 minutes before the first.",
  "llm.providers[].vertex_location": "Google Cloud location.",
  "llm.providers[].vertex_project": "Google Cloud project.",
  "llm.retry": "Retry of LLM calls.",
  "llm.retry.backoff": "Waiting between attempts.",
  "llm.retry.backoff.base_ms": "First wait in milliseconds. At most max_ms.",
  "llm.retry.backoff.jitter": "Randomise each wait.",
  "llm.retry.backoff.kind": "How the wait grows.",
  "llm.retry.backoff.max_ms": "Longest wait in milliseconds.",
  "llm.retry.give_up_after_seconds": "Hard wall-clock limit of a call with all its attempts.",
  "llm.retry.max_attempts": "Most attempts per LLM call.",
  "llm.retry.respect_retry_after": "Honour Retry-After headers.",
  "llm.triage_model_chain": "Group for lifecycle analysis. Default: the workspace's main group.",
  outputs: "Where results go.",
  "outputs.author_resolution": "How the author of a commit is found.",
  "outputs.author_resolution.directory_cache_ttl_seconds": "Seconds that a member directory is kept; 0 disables reuse.",
  "outputs.author_resolution.email_blacklist": "E-mail addresses of commits that are resolved to nobody.",
  "outputs.author_resolution.email_mappings": "E-mail address to account.",
  "outputs.channels": "Channels.",
  "outputs.channels[].add_owners_as_assignees": "Assign matched owners too.",
  "outputs.channels[].app_id": "Application id.",
  "outputs.channels[].app_secret": "Literal application secret. Sealed when published.",
  "outputs.channels[].app_secret_env": "Environment variable that holds the application secret.",
  "outputs.channels[].assign_committer":
    "Assign new managed issues to the author that was found. The e-mail blacklist blocks the fallback to API and pusher; OWNERS are independent.",
  "outputs.channels[].author_mappings":
    "Exact identifier (login, e-mail address, name, Perforce client) to a member key of the directory.",
  "outputs.channels[].base_url":
    "Web URL of the host, in place of the trigger's. One of another origin needs token or token_env of the channel. Of kind feishu_app: base URL of the platform's API, for Lark; with connection that of the connection. Of kind p4_swarm: web URL of the Swarm (P4 Code Review) server, to which alone its credential is sent.",
  "outputs.channels[].change_url_template": "Link to a changelist.",
  "outputs.channels[].commit_url_template": "Link to a commit.",
  "outputs.channels[].conversation":
    "Id of the conversation of Slack that gets the messages; the app has to be a member.",
  "outputs.channels[].connection": "Name in im.connections. Takes the place of inline credentials on feishu_app.",
  "outputs.channels[].direct_message":
    "Also send a review with problems to the author of the change alone: to the person whom user_mappings, author_mappings or vcs_accounts name for the account that opened or pushed it. The person stops such messages with the command stop.",
  "outputs.channels[].from": "Address of the sender.",
  "outputs.channels[].guess_author":
    "If no exact match is found, also match words of the Perforce client's name, and call a model.",
  "outputs.channels[].http_proxy": "HTTP proxy for requests to the server.",
  "outputs.channels[].inline_min_severity":
    "Least severity of problems that get a comment at their line. The summary has the others, folded.",
  "outputs.channels[].issue_link_card": "Content of the chat card when the summary route also records a managed issue.",
  "outputs.channels[].issue_mode": "What one managed issue represents.",
  "outputs.channels[].kind": "Channel kind.",
  "outputs.channels[].label_ids": "Ids of labels to attach.",
  "outputs.channels[].labels": "Names of labels to attach.",
  "outputs.channels[].marker_label": "Name that groups managed issues, written into each as a hidden marker.",
  "outputs.channels[].marker_prefix": "Title prefix of managed issues.",
  "outputs.channels[].max_comments":
    "Maximum number of line comments, messages or issues per run, the most severe problems first; the summary lists the others. Default: 10 line comments on a pull request or in Swarm, elsewhere no limit.",
  "outputs.channels[].member_directory": "Directory of members, in which authors are found to mention them.",
  "outputs.channels[].member_directory.allowed_root": "Directory that the file's real path must stay in.",
  "outputs.channels[].member_directory.cache_ttl_seconds":
    "Overrides outputs.author_resolution.directory_cache_ttl_seconds.",
  "outputs.channels[].member_directory.chat_id": "Group whose members form the identity directory.",
  "outputs.channels[].member_directory.debounce_ms": "Wait after a change before reloading, in milliseconds.",
  "outputs.channels[].member_directory.directory_id": "Directory name inside the member file.",
  "outputs.channels[].member_directory.identity_scope": "Namespace of the identities.",
  "outputs.channels[].member_directory.identity_scope.id":
    "Namespace id. Equal ids in different scopes are different people.",
  "outputs.channels[].member_directory.identity_scope.kind": "Kind of namespace.",
  "outputs.channels[].member_directory.path": "Member file, relative to the configuration file's directory.",
  "outputs.channels[].member_directory.poll_interval_seconds": "Seconds between checks of the file's digest.",
  "outputs.channels[].member_directory.source": "Where members come from.",
  "outputs.channels[].member_directory.watch": "Reload when the file changes; false keeps only the periodic check.",
  "outputs.channels[].mention_author": "Mention the author that was found for the commit.",
  "outputs.channels[].mention_fallback": "Whom to mention when no author was found.",
  "outputs.channels[].mentioned_mobile_list": "Mobile numbers to mention.",
  "outputs.channels[].min_severity": "Least severity that this channel publishes.",
  "outputs.channels[].name": "Name used in routes and templates. Unique.",
  "outputs.channels[].no_problems": "What this channel does when no problem was found. Default: outputs.no_problems.",
  "outputs.channels[].no_problems.action": "What happens when no problem was found.",
  "outputs.channels[].notifications":
    "E-mail messages of Swarm about comments: one for all of them after its delay, one for each, or none.",
  "outputs.channels[].notify_feishu": "Chat message when an issue is created.",
  "outputs.channels[].notify_feishu.secret": "Literal signing secret. Sealed when published.",
  "outputs.channels[].notify_feishu.secret_env": "Environment variable that holds the signing secret.",
  "outputs.channels[].notify_feishu.webhook_url": "Literal webhook URL. Sealed when published.",
  "outputs.channels[].notify_feishu.webhook_url_env": "Environment variable that holds the bot's webhook URL.",
  "outputs.channels[].owner": "Owner of the repository, in place of the change's.",
  "outputs.channels[].owners_file": "Path of the owners file.",
  "outputs.channels[].password": "Literal password. Sealed when published.",
  "outputs.channels[].password_env":
    "Environment variable that holds the user's password, which servers of security level 3 and above refuse.",
  "outputs.channels[].problem_tasks":
    "Open a task for each problem. It is marked as addressed when the problem is gone; without tasks the comment is archived.",
  "outputs.channels[].project_id": "Project id or path, in place of the change's.",
  "outputs.channels[].receive_id": "Recipient.",
  "outputs.channels[].receive_id_type": "What receive_id is.",
  "outputs.channels[].repo": "Repository, in place of the change's.",
  "outputs.channels[].resolved_action":
    "What happens to a managed issue whose problem is gone. `delete` on gitea_problem_issue only.",
  "outputs.channels[].review_approve":
    "What a clean later head does to our request for changes: never dismisses it, when_clean approves.",
  "outputs.channels[].review_event": "Verdict of the review.",
  "outputs.channels[].review_mode":
    "`auto` and `review`: problems as comments at their lines, in one review. `comment`: all of them in the summary comment, none at a line.",
  "outputs.channels[].review_update_strategy": "Whether a later review of the same target updates its summary.",
  "outputs.channels[].review_wait_seconds":
    "Seconds to wait until Swarm has created the review of a changelist. After that nothing is published, and the run names the reason.",
  "outputs.channels[].revision_url_template": "Link to a revision.",
  "outputs.channels[].secret": "Literal signing secret. Sealed when published.",
  "outputs.channels[].secret_env": "Environment variable that holds the signing secret.",
  "outputs.channels[].severity_label_colors": "Severity to colour of labels that are created.",
  "outputs.channels[].severity_label_prefix": "Create and attach a label of this prefix and the severity.",
  "outputs.channels[].smtp_plaintext": "Send the login and the message without TLS, for a server in the same network.",
  "outputs.channels[].smtp_url": "Literal URL of the mail server. Sealed when published.",
  "outputs.channels[].smtp_url_env":
    "Environment variable that holds the URL of the mail server: `smtp://user:password@host:587` with STARTTLS, or `smtps://user:password@host`.",
  "outputs.channels[].target": "Recipients, or one group chat.",
  "outputs.channels[].target.chat_id": "Group chat id.",
  "outputs.channels[].target.kind": "Single recipients or one group chat.",
  "outputs.channels[].target.parties": "Department ids.",
  "outputs.channels[].target.tags": "Tag ids.",
  "outputs.channels[].target.users": "User ids.",
  "outputs.channels[].templates": "Templates of this channel.",
  "outputs.channels[].templates.problem":
    "Name in outputs.templates for a problem. Takes precedence over the folder of the workspace and the built-in one.",
  "outputs.channels[].templates.summary":
    "Name in outputs.templates for a summary. Takes precedence over the folder of the workspace and the built-in one.",
  "outputs.channels[].ticket": "Literal ticket. Sealed when published.",
  "outputs.channels[].ticket_env":
    "Environment variable that holds a ticket of the user (`p4 login -p`). Put the user into a group whose tickets do not expire, or renew the ticket.",
  "outputs.channels[].tls_ca_path":
    "Path of a PEM file with certificate authorities to trust in addition to the system's.",
  "outputs.channels[].to": "Addresses of the recipients.",
  "outputs.channels[].token": "Literal API token of the channel. Sealed when published.",
  "outputs.channels[].token_env": "Environment variable that holds the channel's own API token.",
  "outputs.channels[].trigger": "Trigger whose host and credential the channel uses. Default: the change's own.",
  "outputs.channels[].user": "User of the Perforce server as whom comments are written (an identifier, not sealed).",
  "outputs.channels[].user_env": "Environment variable that holds the user.",
  "outputs.channels[].user_mappings":
    "Exact identifier (login, e-mail address, name, Perforce client) to the application's open_id.",
  "outputs.channels[].webhook_url": "Literal URL of the webhook. Sealed when published.",
  "outputs.channels[].webhook_url_env": "Environment variable that holds the URL of the webhook.",
  "outputs.no_problems": "What happens when no problem was found, for all channels.",
  "outputs.notifications": "Which channels receive notices to operators.",
  "outputs.notifications.routes":
    "Routes of notices. A notice goes to the channels of every route that matches, once to each. A workspace's own list replaces it for notices about its reviews.",
  "outputs.notifications.routes[].channels":
    "Channels that receive the notices: kinds feishu_bot, feishu_app, wecom_bot, wecom_app, slack_webhook, slack_app, teams_webhook, webhook and email.",
  "outputs.notifications.routes[].kinds":
    "Kinds of notices. Default: all. A list of a workspace takes queue_expired and review_failed only.",
  "outputs.routes": "Which channels receive what.",
  "outputs.routes.default": "Applied when no rule matches.",
  "outputs.routes.rules": "Ordered rules; the first that matches applies.",
  "outputs.routes.rules[].analysis": "How reviews that match are executed.",
  "outputs.routes.rules[].analysis.agent":
    "Execution mode of these reviews, in place of agent.default of the workspace.",
  "outputs.routes.rules[].analysis.model_chain": "Model group of these reviews, in place of the workspace's.",
  "outputs.routes.rules[].line_comments": "Channels that receive line comments.",
  "outputs.routes.rules[].match": "Conditions, all of which must hold; none holds always.",
  "outputs.routes.rules[].match.target_kind": "What is reviewed.",
  "outputs.routes.rules[].match.trigger": "Trigger name.",
  "outputs.routes.rules[].summary": "Channels that receive the summary.",
  "outputs.shadow":
    "Review without publishing: no status, comment, reaction, label, issue, message, description or reply is written, and the page of each review shows what would have been. Only a comment command to review is executed. Applies to work that is admitted from then on.",
  "outputs.template_engine": "Template engine. `eta` is accepted and handlebars is used, with a warning.",
  "outputs.templates":
    "Named templates (markdown, frontmatter allowed; only the body is rendered) that channels refer to.",
  perforce: "Client program of Perforce.",
  "perforce.client_path": "Path of the command-line client `p4`, absolute or relative to this file.",
  prompts: "Named system prompts.",
  "prompts.system":
    "Named system prompts (markdown, frontmatter allowed; only the body reaches the model). The built-in base prompt is not stored here.",
  queue: "Where work waits.",
  "queue.dead_letter": "Dead letters.",
  "queue.dead_letter.enabled": "Keep dead entries aside.",
  "queue.dead_letter.max_age_hours": "Hours a dead entry is kept.",
  "queue.kind":
    "Queue backend. `redis` uses the connection of storage.cache.redis; `nats` without a NATS connection warns and falls back to memory.",
  "queue.limits": "Bounds of the queue.",
  "queue.limits.per_workspace":
    "Maximum number of waiting reviews per workspace, and of waiting reports of Subversion and Perforce hooks per API key.",
  "queue.limits.total": "Most waiting entries in all.",
  "queue.rate_limit": "Rate limits.",
  "queue.rate_limit.per_provider_rps": "Requests per second per provider id, in the whole cluster.",
  "queue.retry": "Retry of runs.",
  "queue.retry.attempts": "Attempts of a run.",
  "queue.retry.backoff": "Waiting between attempts.",
  "queue.retry.backoff.base_ms": "First wait in milliseconds. At most max_ms.",
  "queue.retry.backoff.jitter": "Randomise each wait.",
  "queue.retry.backoff.kind": "How the wait grows.",
  "queue.retry.backoff.max_ms": "Longest wait in milliseconds.",
  "queue.sqlite": "SQLite queue.",
  "queue.sqlite.lock_ttl_seconds": "Seconds after which the job of a lost worker is released.",
  "queue.sqlite.path": "Path of the queue's database.",
  "queue.workers": "Workers.",
  "queue.workers.concurrency":
    "Reviews at the same time per executor node. Once it is set, those that wait for a model count, unless max_waiting_for_model is set, too.",
  "queue.workers.lock_ttl_seconds": "Lock expiry.",
  "queue.workers.max_waiting_for_model":
    "Maximum number of reviews per executor node that wait for a model, in addition to concurrency; each holds its change in memory. A workspace has at most half of them in the whole cluster. 0: they count towards concurrency. Default: 16, or 0 where concurrency or per_workspace_concurrency is set.",
  "queue.workers.replies":
    "Maximum number of replies to comments at the same time, per executor node and, in the whole cluster, per workspace. Reviews do not count.",
  "queue.workers.per_workspace_concurrency":
    "Reviews at the same time per workspace, in the whole cluster. Once it is set, those that wait for a model count, unless max_waiting_for_model is set, too.",
  review: "What is read, how much and when.",
  "review.acceptance_floor":
    "Share of findings that the people of a repository accept, below which findings of a category and severity are listed folded in the summary: they get no comment, issue or message and do not count. 5 % are shown all the same, and critical ones always. 0: nothing is folded. 0.2 is recommended.",
  "review.auto_commit": "Commits reviewed by themselves, outside pull requests.",
  "review.auto_commit.delay_seconds":
    "Seconds from the first push until the review of its batch may start; 0: immediately.",
  "review.auto_commit.exclude_sources": "Bots and CI whose commits are not reviewed; `[]` clears inherited rules.",
  "review.auto_commit.exclude_sources[].id": "Rule id. Unique in the list.",
  "review.auto_commit.exclude_sources[].match":
    "What the change looks like; all given matchers must hit. Each has exactly one of glob and regex.",
  "review.auto_commit.exclude_sources[].match.author": "User name of the author or submitter.",
  "review.auto_commit.exclude_sources[].match.author.glob":
    "Glob over the whole field; `*` also matches `/`, `?` matches one character, all others match themselves.",
  "review.auto_commit.exclude_sources[].match.author.ignore_case": "Ignore upper and lower case in the comparison.",
  "review.auto_commit.exclude_sources[].match.author.regex":
    "Linear-time regular expression; matches anywhere unless anchored with ^ and $.",
  "review.auto_commit.exclude_sources[].match.branch": "Branch.",
  "review.auto_commit.exclude_sources[].match.client": "Perforce client workspace.",
  "review.auto_commit.exclude_sources[].match.email": "E-mail address of the author.",
  "review.auto_commit.exclude_sources[].match.message": "Commit message or change description.",
  "review.auto_commit.exclude_sources[].vcs": "Only changes of this kind of trigger.",
  "review.auto_commit.include_branches":
    "Branches whose pushes are reviewed, by exact name; pushes to others start no review. The most specific list applies; `[]` accepts all.",
  "review.auto_commit.queued_timeout_hours":
    "Hours for which pushes and chat requests may wait; then they end with `queued_timeout`. 0: no limit. A changed value also applies to what waits already.",
  "review.auto_commit.schedule": "When automatic commits are reviewed.",
  "review.auto_commit.schedule.rules": "Weekly groups, joined; `[]` lifts all limits.",
  "review.auto_commit.schedule.rules[].days": "Weekdays, mon to sun.",
  "review.auto_commit.schedule.rules[].windows": "Open windows of these days, `HH:mm-HH:mm`.",
  "review.auto_commit.schedule.rules[].windows[].end":
    "End of the window, HH:mm, not included. Before start: the window crosses midnight.",
  "review.auto_commit.schedule.rules[].windows[].start": "First minute of the window, HH:mm.",
  "review.auto_commit.schedule.timezone": "IANA time zone of the automatic commit schedule.",
  "review.commands_ignore_windows":
    "Start reviews that comments and chat request outside of the windows of the schedules too.",
  "review.blind":
    "Files that are read without what the author writes about the change: no title, description, messages, comments or texts for people, which parsers remove from the code. auto: files with a security-sensitive path (sign-in, permissions, payments, migrations), and verification of high and critical problems; always: all files. What no parser reads is read with them, and the coverage names it.",
  "review.comment_commands": "Take commands and questions from comments.",
  "review.conversation": "Replies to comments of people.",
  "review.conversation.enabled":
    "Reply to questions and objections: in threads that a finding opened, and elsewhere to `/aicr ask` and to mentions of the account.",
  "review.conversation.from":
    "Who may get a reply. Default: everybody in a private repository; in others, and where the host does not say, people with write access.",
  "review.conversation.limits":
    "Limits of replies. Those of a person, a change and strangers are per calendar hour or day (UTC).",
  "review.conversation.limits.agent_rounds":
    "Reviewed commits of a change per day whose findings coding agents get (`aicr mcp`). 0: none.",
  "review.conversation.limits.change_day": "Replies on a change per day.",
  "review.conversation.limits.person_hour": "Replies to a person per hour.",
  "review.conversation.limits.strangers_day":
    "Replies to people without write access, per repository and day. 0: none.",
  "review.conversation.limits.thread": "Replies in a thread.",
  "review.commit_strategy":
    "What is compared for several commits: the state before the first with that after the last, each commit by itself in one review, or the newest commit only. After a force push, always the two states.",
  "review.dismissal":
    "Who dismisses a problem for good, by resolving its comment or with a thumbs-down. maintainers: who may write to the repository and did not open the change.",
  "review.evidence": "Results of other tools.",
  "review.evidence.ci": "SARIF in artifacts of CI.",
  "review.evidence.ci.artifacts":
    "Globs over the names of artifacts (GitLab: of jobs) whose files `.sarif` and `.sarif.json` are read, from CI runs of exactly the reviewed commit in the same repository. Unset or `[]`: none. GitHub, GitLab, Gitea 1.25 or later.",
  "review.evidence.ci.wait_minutes":
    "Minutes for which a review waits for the CI runs of its commit, from its first attempt on; 0: not at all. It holds no slot while it waits. After that it continues without the missing artifacts, and names them.",
  "review.evidence.sarif":
    "SARIF files with results of other tools, as paths in the repository: at the reviewed commit, for `aicr review` also in the work tree. Results on changed lines are shown to the model, and problems on the same lines cite them.",
  "review.exclude": "Path globs, applied after include.",
  "review.fetch_extra": "Extra context that a model may request.",
  "review.fetch_extra.allow_paths": "Path globs that may be fetched.",
  "review.fetch_extra.max_bytes":
    "Maximum size in bytes (UTF-8) of what the model reads in addition to the diff, per review.",
  "review.fetch_extra.max_files": "Distinct paths of extra context per run.",
  "review.git": "Git checkout.",
  "review.git.allow_deepen": "Allow deepening of shallow clones.",
  "review.ignore_file": "File in the repository that lists paths to leave out.",
  "review.ignore_file_scope":
    "What the ignore file may hide: everything but security-relevant paths (CI workflows, container files, dependency manifests, build scripts, the rules of reviews themselves), all paths, or none. Whatever it hides is named in the coverage with the rule.",
  "review.include": "Path globs; `*` stays within a directory, `**` spans any number of them.",
  "review.incremental": "With false, the model also gets the complete changed files, within max_patch_bytes.",
  "review.labels": "Labels at the host.",
  "review.labels.auto_tag": "Label added when a review starts.",
  "review.labels.ignore": "Labels that skip the review.",
  "review.labels.reviewed_tag": "Label added when a review is complete.",
  "review.languages_auto_detect": "Detect languages.",
  "review.log_thinking": "Log traces of the orchestration.",
  "review.max_changed_paths":
    "Maximum number of files and folders that a change may touch, excluded ones included. A larger change fails before it is read.",
  "review.max_file_bytes":
    "Maximum size of a file, before and after the change; larger files are not read, and the summary names them.",
  "review.max_files":
    "Maximum number of files that are read, of those that pass the filters. The summary names the others.",
  "review.max_passes":
    "Maximum number of passes of a review. A pass is one conversation with the model about a part of a large change, the riskiest files first. What does not fit is compressed (`compression`), and the summary names it. 1 where compression.trigger_tokens is set.",
  "review.max_patch_bytes":
    "Maximum size of the diff in bytes (UTF-8). A larger change fails before any model is called.",
  "review.max_per_author_hour":
    "Maximum number of reviews per author and clock hour (UTC), over all repositories of a trigger; 0: no limit. Further changes are not reviewed, and their commit status names the reason. Somebody else with write access may request the review.",
  "review.max_problems": "Most problems published per run.",
  "review.min_severity": "Least severity that is published.",
  "review.output_language": "Language of summaries, comments and commit statuses.",
  "review.private":
    "Problems that only maintainers get: they go to a channel of their own, and nothing else says what they are. They count like others. Nothing of the review is published before they are delivered.",
  "review.private.categories": "Categories of such problems, in any of their spellings. Only with channel.",
  "review.private.channel":
    "Name of the channel that gets them: a chat, e-mail, or the issues of a private repository (owner and repo, or project_id). No route may name it. Unset: no problem is for maintainers only.",
  "review.private.severity": "Lowest severity of such problems. Only with channel.",
  "review.problem_issue": "Managed issues.",
  "review.problem_issue.max_recent_issues": "Most recent open managed issues reconciled per run.",
  "review.pull_request": "Pull and merge requests.",
  "review.pull_request.include_target_branches":
    "Target branches whose pull requests are reviewed, by exact name; others start no review. The most specific list applies; `[]` accepts all.",
  "review.pull_request.schedule": "When pull requests are reviewed.",
  "review.pull_request.schedule.rules":
    "Weekly groups, joined; `[]` lifts all limits. Unset everywhere: auto_commit.schedule.",
  "review.pull_request.schedule.timezone": "IANA time zone of the pull request schedule.",
  "review.reflection": "Reflection memory.",
  "review.reflection.enabled": "Remember lessons of earlier reviews.",
  "review.reflection.memory": "Bounds of the memory.",
  "review.reflection.memory.max_entries": "Entries of the memory.",
  "review.reflection.memory.max_size_kb": "Size of the memory in KiB.",
  "review.reflection.memory.retention_days": "Days an entry is kept.",
  "review.reflection.mode": "How much later reviews use of the lessons; `light` if unset.",
  "review.skip_drafts": "Wait with a draft until it is marked ready.",
  "review.skip_lgtm":
    "Write no comment if a review found no problem; only the summary of an earlier review is updated. no_problems.action takes precedence.",
  "review.status_check": "Report a commit status or check run on pull requests.",
  "review.status_fail_on": "Lowest severity that makes the commit status a failure. Unset: problems never do.",
  "review.credentials":
    "Report credentials in added lines as critical problems, without a model: tokens and keys of a known format, and private keys. Files and values that `.aicr/allowed-credentials` of the base branch lists are permitted.",
  "review.verdict_timeout":
    "Minutes for which the commit status or check of a review may be pending. Then it is a failure that says so, until the review ends. 0: no limit.",
  "review.unread":
    "What the commit status says when the change adds text that was not read (over a limit, or in no known encoding), or a report of the model could not be read: neutral (Gitea and Forgejo `warning`, GitHub `error`, as a check `action_required`, GitLab `skipped`), failed, or ignored. Whatever it is, the summary names the files.",
  "review.verification": "Let the model verify problems before they are published; auto: high and critical ones.",
  server: "HTTP listener and global API key.",
  "review.walkthrough":
    "How the summary shows what the change does, in the words of the model, with measured facts: folded, open, or not at all.",
  "server.admin_port":
    "Port of its own for the dashboard and `/api/admin`, which `port` then does not serve. Probes are served on every port.",
  "server.auth": "Global API key for /triggers/*.",
  "server.auth.api_key": "Literal global API key.",
  "server.auth.api_key_env": "Environment variable that holds the global API key.",
  "server.auth.enabled": "Whether the global key opens anything.",
  "server.base_url":
    "External base URL. Links to the dashboard in comments, statuses and chats begin with it, and aicr doctor compares the webhooks of repositories with it.",
  "server.hostname": "Address to listen on.",
  "server.limits": "Limits of what clients can hold without being verified.",
  "server.limits.body_mb_per_client":
    "MiB of bodies of one client address that are received at once. One body of `webhook_body_limit_mb` always fits.",
  "server.limits.body_min_rate":
    "Minimum speed of a body in bytes per second, as an average after five seconds; a slower request gets 408. 0: no minimum.",
  "server.limits.connections": "Open connections. At the limit idle and slow ones are closed for new ones.",
  "server.limits.connections_per_client":
    "Open connections of one client address, or of one /64 of IPv6 addresses. Proxies that `trust_proxy` names have no limit of their own.",
  "server.links":
    "Signed links to what the comments of a review show, which need no login (see docs/let-others-in.md). Off without a key and `server.base_url`. Nodes that review, publish or serve the dashboard need the key.",
  "server.links.days": "Days for which a link is valid.",
  "server.links.in_summaries": "Summaries link to the shared review in place of the page of the run.",
  "server.links.key": "Literal key of at least 32 characters. Sealed when published.",
  "server.links.key_env":
    "Environment variable that holds the key, at least 32 characters, such as from `openssl rand -base64 32`. Either it or key.",
  "server.metrics": "Metrics.",
  "server.metrics.enabled": "Serve /metrics.",
  "server.metrics_port":
    "Port of its own for `/metrics`, which `port` then does not serve. May be the same as `admin_port`.",
  "server.path_prefix": "Path prefix of a reverse proxy.",
  "server.port": "HTTP port to listen on.",
  "server.trust_proxy":
    "Proxies whose `X-Forwarded-For` is used: `loopback`, `linklocal`, `uniquelocal` or a list of these and CIDR ranges. `true`: exactly the proxy before this server, whatever its address; for servers that only that proxy can reach.",
  "server.webhook_body_limit_mb": "Largest webhook or trigger body in MiB.",
  "server.statements":
    "Signed statements of verdicts (see docs/verdicts.md). Without a key no statement is made. Nodes with the role `publisher` need the key.",
  "server.statements.private_key": "Literal PEM or base64 PEM of an Ed25519 private key. Sealed when published.",
  "server.statements.private_key_env":
    "Environment variable that holds the Ed25519 private key (PEM or base64 PEM), such as from `openssl genpkey -algorithm ed25519`. Either it or private_key.",
  storage: "Database, cache, objects, retention.",
  "storage.cache": "Cache.",
  "storage.cache.kind": "Cache for responses of hosts and models: in each process, in Redis for all nodes, or none.",
  "storage.cache.redis":
    "Redis connection, shared with queue, catalog cache and configuration source where those use redis.",
  "storage.cache.redis.url_env": "Environment variable that holds the connection string.",
  "storage.cache.ttl_seconds": "Seconds that a response is cached.",
  "storage.database": "Database.",
  "storage.database.kind": "Database backend.",
  "storage.database.migrate": "`auto` applies migrations at start, `verify` only checks that they are applied.",
  "storage.database.postgres": "Postgres database.",
  "storage.database.postgres.url_env": "Environment variable that holds the connection string.",
  "storage.database.sqlite": "SQLite database.",
  "storage.database.sqlite.path": "Path of the database.",
  "storage.object": "Objects.",
  "storage.object.filesystem": "Files.",
  "storage.object.filesystem.root": "Directory of the objects.",
  "storage.object.kind": "Object backend.",
  "storage.object.s3": "S3-compatible storage.",
  "storage.object.s3.access_key_id_env": "Environment variable that holds the access key id.",
  "storage.object.s3.bucket": "Bucket.",
  "storage.object.s3.endpoint_url_env": "Environment variable that holds the endpoint's URL.",
  "storage.object.s3.force_path_style":
    "Address buckets by path instead of by host name. Default: by path at a configured endpoint, by host name at AWS.",
  "storage.object.s3.region_env": "Environment variable that holds the region.",
  "storage.object.s3.secret_access_key_env": "Environment variable that holds the secret access key.",
  "storage.retention": "How long records are kept.",
  "storage.retention.config_revisions": "Retention: revisions of the database's configuration.",
  "storage.retention.config_revisions.max_age_months":
    "UTC calendar months kept, from publication; the newest 10 and those that unfinished work uses are protected. Audit records and results of operations have the same age.",
  "storage.retention.config_revisions.max_count": "Revisions of the database's configuration kept.",
  "storage.retention.deleted_project_grace_days":
    "Days after which a project whose workspace or trigger is no longer configured, or that an administrator deleted, is removed with its statistics.",
  "storage.retention.events": "Retention: received events.",
  "storage.retention.events.max_age_months": "UTC calendar months kept, from receipt.",
  "storage.retention.events.max_count": "Received events kept.",
  "storage.retention.payloads":
    "Retention: bodies of deliveries, with `[redacted]` in place of credentials, for `/api/admin/events/:id/payload` and replays.",
  "storage.retention.payloads.max_age_days": "Days kept, from receipt.",
  "storage.retention.payloads.max_count": "Bodies kept, the newest ones. 0 keeps none.",
  "storage.retention.payloads.max_kb": "Size of a kept body in KiB; the rest of a larger one is cut off.",
  "storage.retention.queue": "Retention: ended automatic-commit batches.",
  "storage.retention.queue.max_age_months":
    "UTC calendar months kept, from creation; active and retrying work is protected.",
  "storage.retention.queue.max_count": "Ended automatic-commit batches kept.",
  "storage.retention.recent_runs": "Retention: run details.",
  "storage.retention.recent_runs.max_age_months": "UTC calendar months kept, from the run's start; statistics remain.",
  "storage.retention.recent_runs.max_count": "Run details kept.",
  "storage.retention.statements": "Retention: signed statements of verdicts.",
  "storage.retention.statements.max_age_months":
    "UTC calendar months kept, from the verdict, whole months at a time. Independent of the details of the run.",
  triggers: "Where changes come from.",
  "triggers[].app": "App credential.",
  "triggers[].app.app_id": "App id. This or client_id is required.",
  "triggers[].app.client_id": "App client id, in place of app_id.",
  "triggers[].app.installation_id": "Fixed installation id. Default: looked up per owner and repository.",
  "triggers[].app.private_key": "Literal PEM or base64 PEM. Sealed when published.",
  "triggers[].app.private_key_env":
    "Environment variable that holds the private key (PEM or base64 PEM). Exactly one of private_key_env, private_key_path and private_key.",
  "triggers[].app.private_key_path": "Path of the private key's PEM file.",
  "triggers[].base_url":
    "Web URL of the host. github and gitlab default to the public ones; gitea and forgejo need it with a credential. The API's URL and clone URLs are derived from it, and credentials go nowhere else.",
  "triggers[].change_url_template": "Link to a changelist. Variables are URL-encoded.",
  "triggers[].commit_url_template": "Link to a commit. Variables are URL-encoded.",
  "triggers[].catch_up":
    "Search for changes whose deliveries never arrived: at the start, after refused deliveries, and regularly.",
  "triggers[].catch_up.every_seconds":
    "Seconds between two regular searches. 0: none; searches at the start and after refused deliveries remain.",
  "triggers[].catch_up.max_age_hours": "Older changes are counted and not reviewed.",
  "triggers[].catch_up.max_changes":
    "Maximum number of changes of a repository, or of a depot, that one search reviews. Further ones are counted.",
  "triggers[].cron": "When to run: five fields (minute, hour, day, month, weekday).",
  "triggers[].depot_path":
    "Depot path to watch, usually ending in `/...`. Without streams it is also the branch whose changes are reviewed together.",
  "triggers[].enabled": "With false, deliveries of this trigger start no more reviews; existing work continues.",
  "triggers[].exclude_cr_file": "Globs; a matching file is skipped.",
  "triggers[].http_proxy": "HTTP proxy for requests to the host.",
  "triggers[].include_cr_file": "Globs; a file must match at least one.",
  "triggers[].kind": "Trigger kind.",
  "triggers[].inventory":
    "Inventory of repositories and of their webhooks, which notices new repositories within a minute.",
  "triggers[].inventory.hooks":
    "off: no inventory. report: problems of webhooks are reported, nothing is written. repair: broken webhooks of the service are repaired. create: missing ones are created, too. Needs server.base_url, and on nodes with the role publisher the webhook secret.",
  "triggers[].inventory.owners":
    "Organisations, groups and users whose repositories are listed. Default: those that the workspaces of the trigger match.",
  "triggers[].name": "Profile name, referenced by workspaces. Unique.",
  "triggers[].p4_fingerprint":
    "Fingerprint of the key of a server over TLS (`ssl:host:port`), as `p4 trust -l` prints it. No other key is accepted.",
  "triggers[].password": "Literal password. Sealed when published.",
  "triggers[].password_env": "Environment variable that holds the password.",
  "triggers[].port":
    "Server address (P4PORT): `host:1666`, or `ssl:host:1666` with p4_fingerprint. Forms that start a program (`rsh:`) are refused.",
  "triggers[].repositories": "What to review on schedule.",
  "triggers[].repositories[].branch": "Branch to review. Default: the default branch.",
  "triggers[].repositories[].range": "Commits to review: those since the last run, or of the last days (`{days: N}`).",
  "triggers[].repositories[].range.days": "Days back from the time of the run.",
  "triggers[].repositories[].repo": "Repository reference.",
  "triggers[].repository_url":
    "Repository URL: http, https, svn, svn+ssh or file, of the whole repository or of a folder in it, without credentials.",
  "triggers[].revision_url_template": "Link to a revision. Variables are URL-encoded.",
  "triggers[].ticket": "Literal ticket. Sealed when published.",
  "triggers[].ticket_env": "Environment variable that holds the ticket.",
  "triggers[].timezone": "Time zone of cron.",
  "triggers[].tls_ca_path": "Path of a PEM file with certificate authorities to trust in addition to the system's.",
  "triggers[].token": "Literal token for the host's API. Sealed when published.",
  "triggers[].token_env": "Environment variable that holds the token for the host's API.",
  "triggers[].trust_server_cert":
    "Accept a server certificate of an unknown authority. Other failures, such as another host name, remain errors.",
  "triggers[].user": "User name (an identifier, not sealed).",
  "triggers[].user_env": "Environment variable that holds the user.",
  "triggers[].username": "User name (an identifier, not sealed).",
  "triggers[].username_env": "Environment variable that holds the user name.",
  "triggers[].watch_path": "Analyse only files under these depot- or repository-relative paths.",
  "triggers[].webhook_secret": "Literal secret of incoming webhooks. Sealed when published.",
  "triggers[].webhook_secret_env":
    "Environment variable that holds the secret of incoming webhooks. No secret at all: signatures are not checked.",
  "triggers[].workspace": "Perforce client workspace (P4CLIENT). Files are read from the depot, so none is needed.",
  "triggers[].write_interval_ms":
    "Minimum time in milliseconds between the starts of two writes with this account that people see, over all nodes. Unset: 1000 for GitHub and gitlab.com, which limit bursts of comments, else 0; 1000 for ten minutes after a host has limited the account or has reported that less than a tenth of its requests is left.",
  workspaces: "What is reviewed.",
  "workspaces.cache": "Cache of checkouts.",
  "workspaces.cache.eviction":
    "What is removed first when the cache exceeds its size: the least recently used (`lru`, `ttl`) or the most recently used (`mru`). `ttl` also removes what was not used for ttl_days.",
  "workspaces.cache.max_total_gb":
    "Largest size in GiB of everything kept under workspaces.root on one node. What a running review uses is never evicted.",
  "workspaces.cache.ttl_days": "Days unused before `ttl` evicts.",
  "workspaces.defaults": "Merged into every instance.",
  "workspaces.defaults.agent": "Overrides of `agent`.",
  "workspaces.defaults.agent.web_search.credentials":
    "Search credential id to the name of an environment variable, or `{value}` with a literal.",
  "workspaces.defaults.outputs": "Overrides of `outputs`.",
  "workspaces.defaults.review": "Overrides of `review`.",
  "workspaces.instances": "Workspaces by id.",
  "workspaces.instances.<id>.auth": "API key of this workspace for /triggers/*.",
  "workspaces.instances.<id>.auth.api_key": "Literal API key of the workspace. Sealed when published.",
  "workspaces.instances.<id>.auth.api_key_env": "Environment variable that holds the workspace's API key.",
  "workspaces.instances.<id>.auth.enabled": "Whether the workspace's key opens anything.",
  "workspaces.instances.<id>.author_resolution_model_chain":
    "Group for identity analysis. Falls back to workspaces.defaults, the global identity group, then llm.default_model_chain.",
  "workspaces.instances.<id>.context_repositories":
    "Further repositories that the model may read. If one cannot be read, the review names it and continues without it. The list of a workspace replaces that of workspaces.defaults.",
  "workspaces.instances.<id>.context_repositories[].alias":
    "Names the mount path: the model reads `alias:path`. Unique in the workspace.",
  "workspaces.instances.<id>.context_repositories[].depot_path": "Depot path, usually ending in `/...`.",
  "workspaces.instances.<id>.context_repositories[].kind": "Kind of repository.",
  "workspaces.instances.<id>.context_repositories[].max_mb":
    "Largest size of all files together in MiB; a larger repository is not read, and what was fetched of it is removed.",
  "workspaces.instances.<id>.context_repositories[].p4_fingerprint":
    "Fingerprint of the key of a Perforce server over TLS. No other key is accepted.",
  "workspaces.instances.<id>.context_repositories[].password":
    "Literal Perforce password, in place of a ticket. Sealed when published.",
  "workspaces.instances.<id>.context_repositories[].password_env":
    "Environment variable that holds the Perforce password.",
  "workspaces.instances.<id>.context_repositories[].port":
    "Perforce server address: `host:1666`, or `ssl:host:1666` with p4_fingerprint.",
  "workspaces.instances.<id>.context_repositories[].ref": "Git branch, tag or full commit id.",
  "workspaces.instances.<id>.context_repositories[].repository_url": "Subversion repository URL.",
  "workspaces.instances.<id>.context_repositories[].revision": "Revision.",
  "workspaces.instances.<id>.context_repositories[].ticket": "Literal Perforce ticket. Sealed when published.",
  "workspaces.instances.<id>.context_repositories[].ticket_env": "Environment variable that holds the Perforce ticket.",
  "workspaces.instances.<id>.context_repositories[].token": "Literal git token. Sealed when published.",
  "workspaces.instances.<id>.context_repositories[].token_env":
    "Environment variable that holds a token for git over HTTP; sent as a header, never written to disk.",
  "workspaces.instances.<id>.context_repositories[].url": "Git URL, http or https, without credentials.",
  "workspaces.instances.<id>.context_repositories[].user": "Perforce user (an identifier, not sealed).",
  "workspaces.instances.<id>.context_repositories[].user_env": "Environment variable that holds the Perforce user.",
  "workspaces.instances.<id>.context_repositories[].visibility":
    "Whose changes may have it read. `members`: pull requests of authors who may write to their repository, as the host says; `any_author`: all. What a review read may be quoted on the pull request.",
  "workspaces.instances.<id>.team":
    "Team that owns the workspace, for statistics, metrics and llm.budget.per_team_daily_usd. Reviews count for the team that the workspace has when they begin.",
  "workspaces.instances.<id>.enabled": "False stops new admission and keeps what exists.",
  "workspaces.instances.<id>.match":
    "Rules that select several repositories; one match is enough. Not together with source_repo.",
  "workspaces.instances.<id>.match[].id": "Name of the rule, shown in messages. Unique in the workspace.",
  "workspaces.instances.<id>.match[].source": "Fields of the source; all given matchers must hit.",
  "workspaces.instances.<id>.match[].source.branch": "Branch without refs/heads/.",
  "workspaces.instances.<id>.match[].source.namespace": "Owner, organisation or group path.",
  "workspaces.instances.<id>.match[].source.project_key": "Project key, where the host has one.",
  "workspaces.instances.<id>.match[].source.ref": "Full ref.",
  "workspaces.instances.<id>.match[].source.repo_ref": "Repository as the host names it, `owner/name`.",
  "workspaces.instances.<id>.match[].source.repo_ref.exact": "Case-sensitive equality.",
  "workspaces.instances.<id>.match[].source.repository": "Repository name without its owner.",
  "workspaces.instances.<id>.match[].source.vcs": "Kind of trigger.",
  "workspaces.instances.<id>.match[].triggers": "Trigger profiles. Default: any.",
  "workspaces.instances.<id>.model_chain": "Main model group.",
  "workspaces.instances.<id>.prompt": "Prompts.",
  "workspaces.instances.<id>.prompt.base_system_prompt_file":
    "Custom base prompt file, relative to the deployment root.",
  "workspaces.instances.<id>.prompt.extra_system_prompt": "Name in prompts.system; appended after the base.",
  "workspaces.instances.<id>.prompt.force_skills":
    "Skills that are always active, whatever their Applies To globs say.",
  "workspaces.instances.<id>.prompt.system_prompt":
    "Name in prompts.system; replaces the base prompt. Takes precedence over base_system_prompt_file and the built-in base.",
  "workspaces.instances.<id>.repository_settings":
    "Fields of reviews that a repository may set in .aicr/settings.yaml of its protected base branch. max_problems may only be lowered and min_severity only raised; exclude adds patterns and never hides a protected path.",
  "workspaces.instances.<id>.sandbox": "Sandbox, merged per field over the global one, defaults and instance.",
  "workspaces.instances.<id>.source_repo": "The repository of this workspace. For several repositories, use match.",
  "workspaces.instances.<id>.source_repo.repo": "Repository reference.",
  "workspaces.instances.<id>.source_repo.trigger": "Trigger profile name.",
  "workspaces.instances.<id>.triage": "Triage of issues; gitea and forgejo only.",
  "workspaces.instances.<id>.triage.actions": "What triage may do.",
  "workspaces.instances.<id>.triage.categories_close": "Categories that close an issue.",
  "workspaces.instances.<id>.triage.custom_prompt": "Instructions added to the triage prompt.",
  "workspaces.instances.<id>.triage.dry_run": "Record what would be done and do nothing.",
  "workspaces.instances.<id>.triage.enabled": "Triage issues.",
  "workspaces.instances.<id>.triage.events": "Events that start triage.",
  "workspaces.instances.<id>.triage_model_chain": "Group for lifecycle analysis. Absent in all layers: the main group.",
  "workspaces.instances.<id>.work_path":
    "Template of the workspace's directory under workspaces.root, where its `templates/` are looked up, with the helpers segment, default, hash and lower. Requires match.",
  "workspaces.limits": "What git may use on one node.",
  "workspaces.limits.git_cpu_seconds": "Seconds of processor time of one git process.",
  "workspaces.limits.git_file_mb": "Size in MiB of a file that git writes: what one fetch may bring.",
  "workspaces.limits.git_memory_mb":
    "Memory in MiB of one git command with the processes that it starts. A review whose repository needs more fails.",
  "workspaces.limits.git_total_memory_mb":
    "Memory in MiB of all git commands of a node together; over it the largest is ended, and its review fails.",
  "workspaces.root": "Root of the layout on disk. Relative paths start at the base directory."
} as const
