/**
 * Texts of the service in Chinese: reasons, rules, notices and errors that it records in English. `{name}` is a value, which is translated too
 * if it is such a text; `{name:group}` is a value with a text of that group, such as a status. What a host, a model or a person wrote has no row and stays.
 * A test holds the table to the sources of the service.
 */
type Row = readonly [english: string, chinese: string]

/** Reasons for which an entry of the queue waits. */
const queue: ReadonlyArray<Row> = [
  ["requested by {who}", "请求者：{who}"],
  ["administrator {name}", "管理员 {name}"],
  ["chat {id}", "聊天 {id}"],
  ["requested from chat ({connection})", "来自聊天的请求（{connection}）"]
]

/** The part of the configuration or of the delivery that decided. */
const rules: ReadonlyArray<Row> = [
  ["reported by event {id}", "由投递 {id} 报告"],
  ["workspace {name} binds {repository}", "工作区 {name} 绑定了 {repository}"],
  [
    "workspace {name} binds {repository}; review.auto_commit.delay_seconds and its schedule delay the review",
    "工作区 {name} 绑定了 {repository}；评审因 review.auto_commit.delay_seconds 及其时间窗口而推迟"
  ],
  [
    "workspace {name} binds {repository}; the schedule of review.pull_request, or of review.auto_commit, delays the review",
    "工作区 {name} 绑定了 {repository}；评审因 review.pull_request 或 review.auto_commit 的时间窗口而推迟"
  ],
  ["review.skip_drafts is true", "review.skip_drafts 为 true"],
  ["review.labels.ignore contains the label {label}", "review.labels.ignore 包含标签 {label}"],
  [
    "review.pull_request.include_target_branches does not contain {branch}",
    "review.pull_request.include_target_branches 不包含 {branch}"
  ],
  ["its branch", "其分支"],
  [
    "review.auto_commit.include_branches does not contain {branch}, which is new",
    "review.auto_commit.include_branches 不包含新分支 {branch}"
  ],
  [
    "review.auto_commit.include_branches does not contain {branch}",
    "review.auto_commit.include_branches 不包含 {branch}"
  ],
  [
    "review.auto_commit.exclude_sources matches every commit of the push",
    "review.auto_commit.exclude_sources 匹配此推送的所有提交"
  ],
  ["review.comment_commands is false", "review.comment_commands 为 false"],
  ["the delivery does not name the writer of the comment", "投递中没有评论的作者"],
  ["issues of {host} are not triaged", "不对 {host} 的议题进行分类"],
  ["triage is not enabled for issues (workspaces.*.triage)", "未启用议题分类（workspaces.*.triage）"],
  ["the comment was written by this service", "该评论由本服务写入"],
  ["{event} starts no review", "{event} 不触发评审"],
  ["the host tests its webhook", "主机正在测试 webhook"],
  ["an installation of the app changed", "应用的安装发生了变化"],
  ["the pull request was closed or merged", "拉取请求已关闭或合并"],
  ["{account} is the account of trigger {name}", "{account} 是触发器 {name} 的账号"],
  [
    "no workspace{of} binds {repository} with branch {branch} (source_repo or match of workspaces.instances)",
    "没有工作区{of}绑定 {repository} 的分支 {branch}（workspaces.instances 的 source_repo 或 match）"
  ],
  [
    "no workspace{of} binds {repository} (source_repo or match of workspaces.instances)",
    "没有工作区{of}绑定 {repository}（workspaces.instances 的 source_repo 或 match）"
  ],
  [" of trigger {name}", "（触发器 {name}）"],
  ["the enabled workspaces {names} all bind {repository}", "已启用的工作区 {names} 都绑定了 {repository}"],
  ["the workspaces {names} are disabled", "工作区 {names} 已停用"],
  ["workspaces.instances.{name}.enabled is false", "workspaces.instances.{name}.enabled 为 false"],
  ["every trigger of this delivery is disabled", "此投递的所有触发器均已停用"],
  ["trigger {name} has enabled: false", "触发器 {name} 的 enabled 为 false"],
  ["every {kind} trigger has enabled: false", "所有 {kind} 触发器的 enabled 均为 false"],
  ["{names} and {count} more", "{names} 以及另外 {count} 个"],
  ["branch_removed: revision {revision} removes {name}", "修订 {revision} 删除了 {name}"],
  ["tag: {name} is a tag, which is not reviewed", "{name} 是标签，不评审"],
  [
    "repository_not_configured: no workspace of trigger {trigger} matches {name}",
    "触发器 {trigger} 没有与 {name} 匹配的工作区"
  ],
  ["workspace_disabled: workspace {name} is disabled", "工作区 {name} 已停用"],
  ["ambiguous_route: the workspaces {names} match {name}", "多个工作区（{names}）与 {name} 匹配"],
  [
    "branch_not_watched: review.auto_commit.include_branches of workspace {workspace} does not contain {name}",
    "工作区 {workspace} 的 review.auto_commit.include_branches 不包含 {name}"
  ],
  [
    "source_excluded: review.auto_commit.exclude_sources of workspace {name} excludes this change",
    "工作区 {name} 的 review.auto_commit.exclude_sources 排除了此变更"
  ],
  [
    "no_reviewed_path: the filters of trigger {trigger} and workspace {workspace} exclude every changed path",
    "触发器 {trigger} 和工作区 {workspace} 的筛选排除了所有更改的路径"
  ],
  ["the repository", "该仓库"],
  [
    "repository_not_configured: no enabled trigger of kind {kind} has this repository",
    "没有已启用的 {kind} 触发器拥有此仓库"
  ],
  [
    "ambiguous_route: the triggers {names} have revision {revision}; report the depot path",
    "多个触发器（{names}）都有修订 {revision}；请上报 depot 路径"
  ],
  [
    "ambiguous_route: the triggers {names} have revision {revision}; report the repository",
    "多个触发器（{names}）都有修订 {revision}；请上报仓库"
  ],
  [
    "revision_not_found: no trigger's server has changelist {revision}, or its user may not read it",
    "没有触发器的服务器拥有变更列表 {revision}，或其用户无权读取"
  ],
  [
    "revision_not_found: no trigger's repository has revision {revision}, or its user may not read it",
    "没有触发器的仓库拥有修订 {revision}，或其用户无权读取"
  ],
  ["not_readable: {why}", "无法读取：{why}"],
  ["unreachable: trigger {name}: {why}", "无法访问触发器 {name} 的服务器：{why}"],
  ["disk: trigger {name}: {why}", "触发器 {name}：磁盘无法写入：{why}"],
  ["failed: trigger {name}: {why}", "触发器 {name} 失败：{why}"],
  ["missing: trigger {name}: {why}", "触发器 {name} 缺少内容：{why}"],
  ["its server did not reply within {seconds} s", "其服务器在 {seconds} 秒内没有响应"],
  ["it was changelist {number} before its submit", "提交前为变更列表 {number}"],
  ["no_change: revision {revision} changes no file here", "修订 {revision} 在此没有更改文件"],
  [
    "no_change: changelist {revision} has no submitted or shelved file below {paths}",
    "变更列表 {revision} 在 {paths} 下没有已提交或搁置的文件"
  ],
  ["no_change: changelist {revision} has no submitted or shelved file", "变更列表 {revision} 没有已提交或搁置的文件"],
  ["{name} in workspace {workspace}", "工作区 {workspace} 的 {name}"],
  ["reviewed as event {id}: {name}", "已作为投递 {id} 评审：{name}"],
  ["duplicate: {name} is reviewed as event {id}", "重复：{name} 已作为投递 {id} 评审"],
  ["queued as event {id}: {name}", "已作为投递 {id} 排队：{name}"]
]

/** Reasons of the end of a run or a delivery, or of its wait. */
const outcomes: ReadonlyArray<Row> = [
  ["given up after {count} attempts: {error}", "尝试 {count} 次后放弃：{error}"],
  ["variable {name} is not set", "环境变量 {name} 未设置"],
  ["the issue is closed already", "议题已经关闭"],
  ["no result from any model: {error}", "所有模型均无结果：{error}"],
  [
    "no model groups are configured; add llm.providers and llm.model_chain",
    "未配置模型组；请添加 llm.providers 和 llm.model_chain"
  ],
  ["no model groups are configured", "未配置模型组"],
  ["the budget ledger does not respond", "预算账本没有响应"],
  ["the reservation request is too old", "预留请求已过旧"],
  ["the response is prose instead of tool calls", "响应是文字而不是工具调用"],
  ["the limit of {count} tokens is exhausted", "已达到 {count} 个 token 的上限"],
  ["the model did not finish within {count} steps", "模型未在 {count} 步内完成"],
  ["the diff could not be read: {why}", "无法读取差异：{why}"],
  ["it has more than {count} bytes", "超过 {count} 字节"],
  ["trigger {name} is of kind {kind}, which has no repositories", "触发器 {name} 的类型为 {kind}，没有仓库"],
  [
    "trigger {name} has no base_url, so there is nowhere to clone from; set triggers[].base_url to the host's web address",
    "触发器 {name} 没有 base_url，无法克隆；请将 triggers[].base_url 设为主机的网址"
  ],
  [
    "The change was not reviewed, because the budget for model calls is exhausted.",
    "变更未评审：模型调用的预算已用完。"
  ],
  ["The change is empty.", "变更为空。"],
  ["The change moves files or alters their modes; no line is changed.", "变更只移动文件或更改其模式，没有更改任何行。"],
  ["No changed line passes the filters of the review.", "没有更改的行通过评审的筛选。"],
  ["trigger {name}: tls_ca_path {path} cannot be read", "触发器 {name}：无法读取 tls_ca_path {path}"],
  ["no call of it is of use", "其中没有可用的调用"],
  ["the response is empty", "回复为空"]
]

/** Errors of publications, notices and messages. */
const publications: ReadonlyArray<Row> = [
  ["connection {name} is disabled", "连接 {name} 已停用"],
  ["Not reviewed: its author has reached the limit of reviews per hour", "未评审：作者已达到每小时评审次数的上限"],
  ["another user name", "其他用户名"],
  ["trigger {name} is of kind {kind}, which has no host to write to", "触发器 {name} 的类型为 {kind}，没有可写入的主机"]
]

/** Reasons of requests from chat, and states of connections. */
const chat: ReadonlyArray<Row> = [["the host or its publisher is unavailable", "主机或其发布者不可用"]]

/** Notices of a review: what was not read, dropped problems, fallbacks between models. */
const notices: ReadonlyArray<Row> = [
  ["The CI runs of this commit were not read: {why}.", "未读取此提交的 CI 运行：{why}。"],
  [
    "Artifacts of CI (review.evidence.ci) were not read: the API of {host} has none.",
    "未读取 CI 产物（review.evidence.ci）：{host} 的 API 没有产物。"
  ],
  [
    "Only the newest {count} CI runs of this commit were searched for artifacts.",
    "仅在此提交最近的 {count} 个 CI 运行中查找产物。"
  ],
  [
    "No artifact of the CI runs matches review.evidence.ci.artifacts.",
    "CI 运行没有与 review.evidence.ci.artifacts 匹配的产物。"
  ],
  ["The host has no CI run of this commit.", "主机没有此提交的 CI 运行。"],
  [
    "{count} of {total} CI runs of this commit had not ended after {minutes} minutes (review.evidence.ci.wait_minutes); what they store later was not read.",
    "{minutes} 分钟（review.evidence.ci.wait_minutes）后，此提交的 {total} 个 CI 运行中有 {count} 个未结束；其后保存的内容未读取。"
  ],
  [
    "{count} of {total} CI runs of this commit had not ended; what they store later was not read.",
    "此提交的 {total} 个 CI 运行中有 {count} 个未结束；其后保存的内容未读取。"
  ],
  ["A file of a CI artifact was not read: it is not SARIF.", "未读取 CI 产物中的一个文件：不是 SARIF。"],
  ["Results in CI artifacts beyond the first {count} were not read.", "未读取 CI 产物中前 {count} 条之后的结果。"],
  [
    "{count} artifacts that match review.evidence.ci.artifacts were not read: at most {limit} are.",
    "{count} 个与 review.evidence.ci.artifacts 匹配的产物未读取：最多读取 {limit} 个。"
  ],
  ["The artifact {name} of CI was not read: {why}.", "未读取 CI 产物 {name}：{why}。"],
  ["The artifact {name} of CI was read in part: {why}.", "仅读取了 CI 产物 {name} 的一部分：{why}。"],
  ["The artifacts of a CI run were not read: {why}.", "未读取一个 CI 运行的产物：{why}。"],
  [
    "A CI run has more artifacts than the first {count}; only these were searched.",
    "一个 CI 运行的产物多于 {count} 个；仅查找了前 {count} 个。"
  ],
  ["it is larger than {count} bytes", "大于 {count} 字节"],
  ["it has no file .sarif or .sarif.json", "没有 .sarif 或 .sarif.json 文件"],
  ["the host did not return it", "主机未返回"],
  ["the host refused the credential", "主机拒绝了凭据"],
  ["the credential may not read CI", "凭据无权读取 CI"],
  ["the host does not have it, or the credential may not read it", "主机上不存在，或凭据无权读取"],
  ["the host limits the requests of the credential", "主机限制了此凭据的请求"],
  ["the host returned something else", "主机返回了其他内容"],
  ["The context repository {name} was not read: {why}.", "未读取上下文仓库 {name}：{why}。"],
  [
    "{person} has no write access to this repository, and only members may have it read",
    "{person} 没有此仓库的写权限，仅成员可以使其被读取"
  ],
  ["the author of the change, whom the host does not name,", "变更的作者（主机未给出）"],
  ["the variable {name} is not set", "环境变量 {name} 未设置"],
  [
    "its host does not let us in; set its token_env to a token that may read it ({error})",
    "其主机拒绝访问；请将 token_env 设为可读取它的令牌（{error}）"
  ],
  ["its URL is missing", "缺少 URL"],
  ["{count} reported problems without a file or text were discarded.", "丢弃了 {count} 个没有文件或文字的问题。"],
  [
    "The change touches over {count} folders; rules of the others were not searched.",
    "变更涉及超过 {count} 个文件夹；未查找其余文件夹的规则。"
  ],
  [
    "{path} of the base branch is long; {count} of its {total} characters are used.",
    "目标分支的 {path} 过长；仅使用其 {total} 个字符中的 {count} 个。"
  ],
  [
    "{folder}/ holds over {count} rule files; the first {used} are used.",
    "{folder}/ 有超过 {count} 个规则文件；仅使用前 {used} 个。"
  ],
  [
    "{folder}/ holds over {count} skills; the first {used} are used.",
    "{folder}/ 有超过 {count} 个技能；仅使用前 {used} 个。"
  ],
  [
    "The skills of {folder}/ have too many path patterns; {count} of them were not used.",
    "{folder}/ 的技能有过多的路径模式；其中 {count} 个未使用。"
  ],
  [
    "The skill {name} is long; {count} of its {total} characters are used.",
    "技能 {name} 过长；仅使用其 {total} 个字符中的 {count} 个。"
  ],
  [
    "prompt.force_skills names {name}, but the base branch has no {path}.",
    "prompt.force_skills 指定了 {name}，但目标分支没有 {path}。"
  ],
  [
    "The change is larger than {count} passes (review.max_passes): its riskiest parts were read, {hunks} hunks in {files} files were not.",
    "变更超过 {count} 轮（review.max_passes）：已读取风险最高的部分，{files} 个文件中的 {hunks} 个代码块未读取。"
  ],
  [
    "{count} files are over review.max_files ({limit}) and were not read.",
    "{count} 个文件超出 review.max_files（{limit}），未读取。"
  ],
  [
    "{count} files are over review.max_file_bytes ({limit}), or all files together are too large, and were not read.",
    "{count} 个文件超出 review.max_file_bytes（{limit}），或所有文件合计过大，未读取。"
  ],
  [
    "{count} files that {name} lists are reviewed all the same: review.ignore_file_scope is {scope}.",
    "{name} 中列出的 {count} 个文件仍被评审：review.ignore_file_scope 为 {scope}。"
  ],
  [
    "Files that were moved and changed are read as deleted and added ones: too much was deleted and added to compare each with each.",
    "移动并更改的文件按删除和新增读取：删除和新增过多，无法逐一比较。"
  ],
  [
    "The end points are compared: history was rewritten, or it has too many commits to show one by one.",
    "仅比较首尾：历史已被改写，或提交过多，无法逐个显示。"
  ],
  ["{count} of {total} changed lines were read.", "已读取 {total} 行变更中的 {count} 行。"],
  ["The change adds text that was not read, in: {paths}.", "变更新增了未读取的文字：{paths}。"],
  [
    "1 report of the model could not be read, and the model did not correct it: a problem may be missing. Not read in full: {paths}.",
    "模型的 1 份报告无法读取，模型也没有更正：可能遗漏了一个问题。未完整读取：{paths}。"
  ],
  [
    "{count} reports of the model could not be read, and the model did not correct them: problems may be missing. Not read in full: {paths}.",
    "模型的 {count} 份报告无法读取，模型也没有更正：可能遗漏了问题。未完整读取：{paths}。"
  ],
  [
    "The second reading of a part of the change failed: problems may be missing. Not read in full: {paths}.",
    "部分变更的第二次阅读失败：可能遗漏了问题。未完整读取：{paths}。"
  ],
  [
    "The second reading of {count} parts of the change failed: problems may be missing. Not read in full: {paths}.",
    "变更中 {count} 个部分的第二次阅读失败：可能遗漏了问题。未完整读取：{paths}。"
  ],
  ["Of a line {count} characters are read.", "每行读取 {count} 个字符。"],
  [
    "{path} (review.evidence.sarif) was not read: no such text file, or it is too large.",
    "未读取 {path}（review.evidence.sarif）：没有此文本文件，或文件过大。"
  ],
  [
    "{path} (review.evidence.sarif) was not read: it is not SARIF.",
    "未读取 {path}（review.evidence.sarif）：不是 SARIF。"
  ],
  [
    "{count} files are unchanged since the last review and were not read again; {problems} problems found in them still stand.",
    "{count} 个文件自上次评审以来未更改，未再次读取；其中的 {problems} 个问题仍然存在。"
  ],
  [
    "{count} more problems are over review.max_problems ({limit}).",
    "另有 {count} 个问题超出 review.max_problems（{limit}）。"
  ],
  [
    "{count} problems are below review.min_severity ({severity:severity}).",
    "{count} 个问题低于 review.min_severity（{severity:severity}）。"
  ],
  [
    "{count} of {total} passes failed; what it was to read was not reviewed.",
    "{total} 轮中有 {count} 轮失败；其内容未评审。"
  ],
  [
    "{count} of {total} passes failed; what they were to read was not reviewed.",
    "{total} 轮中有 {count} 轮失败；其内容未评审。"
  ],
  ["{count} reported problem was refuted by verification and discarded.", "{count} 个问题经核实不成立，已丢弃。"],
  ["{count} reported problems were refuted by verification and discarded.", "{count} 个问题经核实不成立，已丢弃。"],
  ["1 problem is published unverified, because its verification failed.", "1 个问题未经复核即发布：复核失败。"],
  [
    "{count} problems are published unverified, because their verification failed.",
    "{count} 个问题未经复核即发布：复核失败。"
  ],
  [
    "{count} of {total} summaries of what was cut could not be made.",
    "{total} 份被截去内容的摘要中有 {count} 份未能生成。"
  ],
  ["What was cut is not summarised either in: {paths}.", "以下文件中被截去的内容也没有摘要：{paths}。"],
  [
    "{count} files are shown by their diff only: whole, they are over review.max_patch_bytes or not text.",
    "{count} 个文件仅显示差异：完整内容超出 review.max_patch_bytes 或不是文本。"
  ],
  ["1 problem of a kind dismissed before was omitted.", "省略了 1 个此前被驳回的同类问题。"],
  ["{count} problems of kinds dismissed before were omitted.", "省略了 {count} 个此前被驳回的同类问题。"],
  [
    "{count} sentences of the issue address an automated reader and were not shown to it.",
    "议题中有 {count} 句话针对自动读者，未向其显示。"
  ],
  [
    "Not published to channel {name}: its kind {kind} is not available in this build.",
    "未发布到通道 {name}：此版本不提供类型 {kind}。"
  ],
  [
    "Not published to channel {name}: its kind {kind} does not support {target:target} targets.",
    "未发布到通道 {name}：其类型 {kind} 不支持{target:target}。"
  ],
  ["Not published to channel {name}: {why}.", "未发布到通道 {name}：{why}。"],
  ["fell back from {model}: it sent no valid tool calls", "已从 {model} 切换到备用模型：它没有发出有效的工具调用"],
  ["fell back from {model}: {why}", "已从 {model} 切换到备用模型：{why}"],
  [
    "{count} further problems beyond the limit of {limit} were discarded",
    "超出上限 {limit} 的另外 {count} 个问题已丢弃"
  ],
  ["the model ended without a summary: {why}", "模型结束时没有摘要：{why}"],
  [
    "the responses of the model were cut at their limit of output tokens; what they reported until then is kept",
    "模型的响应在输出 token 上限处被截断；保留此前报告的内容"
  ],
  [
    "the review ended early: the budget for model calls (llm.budget) is exhausted",
    "评审提前结束：模型调用的预算（llm.budget）已用完"
  ],
  ["the review ended early: {why}", "评审提前结束：{why}"],
  ["{file}, {rule}: the rule is not used.", "{file}，{rule}：未使用该规则。"]
]

/** Results of the check of a trigger. */
const checks: ReadonlyArray<Row> = [
  ["trigger {name} has enabled: false; it starts no reviews", "触发器 {name} 的 enabled 为 false，不会触发评审"],
  [
    "trigger {name} has no webhook secret: anyone can send it deliveries; set webhook_secret_env",
    "触发器 {name} 没有 webhook 密钥：任何人都可以向它发送投递；请设置 webhook_secret_env"
  ],
  [
    "no API key is configured, so calls are refused; set server.auth.api_key_env",
    "未配置 API 密钥，调用会被拒绝；请设置 server.auth.api_key_env"
  ],
  [
    "trigger {name} has no credential for its host or server, so nothing is read or published; set one",
    "触发器 {name} 没有主机或服务器的凭据，无法读取或发布；请设置凭据"
  ],
  [
    "no workspace names trigger {name}; add it to source_repo or match of a workspace",
    "没有工作区使用触发器 {name}；请将它添加到某个工作区的 source_repo 或 match"
  ],
  [
    "trigger {name}: credentials are set, {count} workspaces name it",
    "触发器 {name}：凭据已设置，{count} 个工作区使用它"
  ],
  [
    "server.base_url is not set, so links and webhook addresses are not known; set it",
    "未设置 server.base_url，因此链接和 webhook 地址未知；请设置"
  ],
  ["the service responds at {url}", "服务在 {url} 有响应"],
  ["{url}: {why}; hosts may still reach it from another network", "{url}：{why}；主机仍可能从其他网络访问它"],
  ["it responds with status {status}", "返回状态 {status}"],
  ["no response within {seconds} s, or no connection", "{seconds} 秒内没有响应，或无法连接"],
  ["trigger {name} on {repository}: {text}", "触发器 {name}，{repository}：{text}"],
  ["trigger {name}: {text}", "触发器 {name}：{text}"],
  ["authenticated as {name}", "已认证为 {name}"],
  [
    "webhooks not checked: the credential may not list them, which needs {permission}",
    "未检查 webhook：凭据无权列出，需要 {permission}"
  ],
  ["webhooks not checked: {why}", "未检查 webhook：{why}"],
  [
    "no webhook of the repository points to {url}; add one in its settings, unless the organisation or the site has one",
    "仓库没有指向 {url} 的 webhook；请在其设置中添加，除非组织或站点已有"
  ],
  [
    "the webhook of the repository points to {url}, and server.base_url gives {other}; change one of them",
    "仓库的 webhook 指向 {url}，而 server.base_url 得出 {other}；请更改其中之一"
  ],
  [
    "the webhook of the repository is not active; activate it in its settings, after its deliveries succeed",
    "仓库的 webhook 未激活；请在投递成功后在其设置中激活"
  ],
  [
    "the webhook of the repository lacks the events {events}; select them in its settings",
    "仓库的 webhook 缺少事件 {events}；请在其设置中选择"
  ],
  [
    "review.evidence.ci reads nothing: the API of {host} has no artifacts of CI",
    "review.evidence.ci 无可读取：{host} 的 API 没有 CI 产物"
  ],
  ["review.evidence.ci reads nothing: {why}", "review.evidence.ci 无可读取：{why}"],
  [
    "the account may not write to the repository; commit status and labels need write access",
    "账号没有仓库的写权限；提交状态和标签需要写权限"
  ],
  [
    "the host's log has {count} failed deliveries of the last {total}, the newest{at} with {status}; {advice}",
    "主机的日志中最近 {total} 次投递有 {count} 次失败，最新一次{at}：{status}；{advice}"
  ],
  [" at {time}", "（时间：{time}）"],
  ["status {code}", "状态 {code}"],
  ["check that the host reaches the address", "请检查主机能否访问该地址"],
  ["the secret of the webhook is not that of webhook_secret_env", "webhook 的密钥与 webhook_secret_env 的不同"],
  ["check the path of its URL, and that the trigger is enabled", "请检查其 URL 的路径，以及触发器是否启用"],
  ["see /readyz and the log of the service", "请见 /readyz 和服务日志"],
  ["see the log of the service", "请见服务日志"],
  ["an account that administers the repository", "管理该仓库的账号"],
  [
    "Webhooks: read, or the scope admin:repo_hook of a classic token",
    "Webhooks: read，或经典令牌的 admin:repo_hook 范围"
  ],
  ["the role Maintainer and the scope api or read_api", "Maintainer 角色以及 api 或 read_api 范围"],
  ["a path /webhooks/…", "/webhooks/… 路径"]
]

/** Refusals of the administration. */
const refusals: ReadonlyArray<Row> = [
  ["Log in first: this needs the token of a session that has not ended.", "请先登录：需要未结束的会话的令牌。"],
  [
    "Unavailable: {what}. /readyz lists what is not ready, the service's log has the error.",
    "不可用：{what}。/readyz 列出了未就绪的部分，错误见服务日志。"
  ],
  ["{what} ({name} is disconnected)", "{what}（{name} 已断开）"],
  ["the list of nodes", "节点列表"],
  ["the queue", "队列"],
  ["the configuration of the database", "数据库配置"],
  ["the records", "记录"],
  ["No batch with this id exists.", "没有此编号的批次。"],
  ["The queue entry of this batch was removed.", "此批次的队列条目已删除。"],
  ["Only a dead batch can be retried.", "只有彻底失败的批次可以重试。"],
  ["A newer review of this branch is queued already and covers it.", "此分支更新的评审已在排队并包含它。"],
  ["It has ended already.", "它已经结束。"],
  ["No workspace with this id exists; GET /api/admin/config/options/workspaces lists them.", "没有此编号的工作区。"],
  [
    "No such source exists; name a kind of entities, such as triggers, or an enumeration, such as providerKind.",
    "没有此来源。"
  ],
  ["No revision with this number exists, or not any more.", "没有此编号的修订，或已不再保留。"],
  ["This operation id has no final result.", "此操作编号没有最终结果。"],
  ["expected the base revision of the edit", "需要编辑的基准修订"],
  ["expected `next_cursor` of the previous page, in the same order", "需要上一页的 `next_cursor`，且顺序相同"],
  ["expected `next_cursor` of the previous page", "需要上一页的 `next_cursor`"],
  ["the edit is not valid", "编辑无效"],
  [
    "The configuration was changed since the base revision; the newest revision is {number}.",
    "自基准修订以来配置已更改；最新修订为 {number}。"
  ],
  ["No draft with this id exists.", "没有此编号的草稿。"],
  ["The draft was deleted since it was read.", "读取后草稿已被删除。"],
  ["The draft was changed since it was read; its version is {number}.", "读取后草稿已被更改；其版本为 {number}。"],
  [
    "The database source is disabled; set config_sources.database.enabled in the configuration file to true.",
    "数据库来源已停用；请在配置文件中将 config_sources.database.enabled 设为 true。"
  ],
  [
    "Only the running service decides about deliveries. Start it, or name its address with --url",
    "只有运行中的服务才能决定投递。"
  ],
  ["No event with this id exists.", "没有此编号的投递。"],
  [
    "The body of this delivery is not kept: it is too old, or more arrived than storage.retention.payloads keeps.",
    "此投递的正文未保留：已过旧，或数量超出 storage.retention.payloads。"
  ],
  [
    "The delivery was not stored: a store is unavailable, or the queue of its workspace is full.",
    "投递未保存：存储不可用，或其工作区的队列已满。"
  ],
  ["This path does not exist.", "此路径不存在。"],
  ["Allowed here: {methods}.", "此处允许：{methods}。"],
  ["The body may have at most {count} bytes.", "正文最多 {count} 字节。"],
  ["No project with this id exists.", "没有此编号的项目。"],
  ["unknown parameter (there are none)", "未知参数（没有参数）"],
  ["unknown parameter (there are: {names})", "未知参数（可用：{names}）"],
  ["given more than once", "多次给出"],
  ["No queue entry or batch with this id exists.", "没有此编号的队列条目或批次。"],
  ["No queue entry with this id exists.", "没有此编号的队列条目。"],
  ["Only a dead entry can be retried.", "只有彻底失败的条目可以重试。"],
  ["A newer review of this target waits already and replaces it.", "此目标更新的评审已在等待并取代它。"],
  ["No workspace {name} is configured; expected one of {names}.", "未配置工作区 {name}；可选：{names}。"],
  ["The body nests objects and arrays deeper than {count} levels.", "正文的嵌套超过 {count} 层。"],
  ["The body is not JSON in UTF-8.", "正文不是 UTF-8 的 JSON。"],
  ["expected no body", "不应有正文"],
  [
    "Send the body as JSON, with the header content-type: application/json.",
    "请以 JSON 发送正文，并带 content-type: application/json。"
  ],
  ["expected an object", "需要一个对象"],
  [
    "The request comes from a page of another site; only pages of this service may change anything.",
    "请求来自其他网站的页面；只有本服务的页面可以进行更改。"
  ],
  ["unknown field", "未知字段"],
  ["Missing key", "缺少字段"],
  ["invalid request", "请求无效"],
  ["No run with this id exists.", "没有此编号的评审。"],
  [
    "This change has no earlier run with a stored analysis; name a run in `with`.",
    "此变更没有保存了分析结果的较早评审。"
  ],
  ["Its workspace or its trigger is no longer configured.", "其工作区或触发器已不在配置中。"],
  [
    "Only a pull request can be reviewed again; a push is reviewed with the next one.",
    "只有拉取请求可以重新评审；推送会与下一次一起评审。"
  ],
  [
    "expected created or -created together with {names}; {name} can be combined with workspace",
    "与 {names} 一起时需要 created 或 -created；{name} 可与 workspace 组合"
  ],
  ["Too many failures. Try again in {seconds} seconds.", "失败次数过多。请在 {seconds} 秒后重试。"],
  ["The user name or the password is wrong.", "用户名或密码错误。"],
  [
    "The link was used before, or has expired. Make another one, or log in with the password.",
    "该链接已使用或已过期。请生成新链接，或使用密码登录。"
  ],
  [
    "Login links are made on the machine of the service only; run aicr dashboard there.",
    "登录链接只能在服务所在的机器上生成；请在那里运行 aicr dashboard。"
  ],
  ["No trigger {name} is configured.", "未配置触发器 {name}。"],
  ["This session has {count} open streams of events; close some.", "此会话已打开 {count} 个事件流，请关闭一些。"],
  ["This trigger was checked a moment ago.", "刚刚检查过此触发器。"],
  [
    "the admin API is disabled; set {name} and {other} to enable it",
    "管理 API 已停用；请设置 {name} 和 {other} 以启用"
  ],
  ["Expected no excess property", "不应有多余的字段"]
]

/** Reasons for which an edit of the configuration is refused, apart from the messages about values. */
const edits: ReadonlyArray<Row> = [
  [
    "{name} is defined in the configuration file ({place}); edit it there",
    "{name} 在配置文件中定义（{place}）；请在那里编辑"
  ],
  ["{name} does not exist in the database configuration; create it first", "数据库配置中没有 {name}；请先创建"],
  ["{name} exists; update it, or choose another name", "{name} 已存在；请更新它，或选择其他名称"],
  ["{name} is not allowed as a name", "{name} 不能用作名称"],
  ["the value is missing", "缺少值"],
  ["{name} differs from the entity's name; rename the entity instead", "{name} 与实体的名称不同；请重命名实体"],
  ["{name} is the entity's name; rename the entity instead", "{name} 是实体的名称；请重命名实体"],
  [
    "the mask of a credential is not a value; omit the field to keep the credential, or send null to clear it",
    "凭据的掩码不是值；省略字段以保留凭据，或发送 null 以清除"
  ],
  ["{path} is set in the configuration file; edit it there", "{path} 在配置文件中设置；请在那里编辑"],
  ["expected a map of globals, entities", "需要 globals 和 entities 的映射"],
  ["unknown key {name} (allowed here: globals, entities)", "未知键 {name}（允许：globals、entities）"],
  ["expected a map of {names}", "需要 {names} 的映射"],
  ["unknown kind {name} (kinds: {names})", "未知类型 {name}（可用：{names}）"],
  ["expected a map from name to value", "需要从名称到值的映射"],
  ["title has {count} characters; 1 to {limit} are allowed", "标题有 {count} 个字符；允许 1 到 {limit} 个"],
  ["reason has {count} characters; at most {limit} are allowed", "原因有 {count} 个字符；最多 {limit} 个"],
  ["the operations have {count} bytes; at most {limit} are stored", "操作有 {count} 字节；最多保存 {limit} 字节"],
  ["the edit has {count} operations; at most {limit} are stored", "编辑有 {count} 个操作；最多保存 {limit} 个"],
  [
    "revision {number}, for which the edit was made, does not exist any more; begin with the newest revision",
    "此编辑所基于的修订 {number} 已不再保留；请从最新修订开始"
  ],
  ["the destination of a credential in the draft is unknown; enter it again", "草稿中某个凭据的目的地未知；请重新填写"],
  ["expected either operations or yaml", "需要 operations 或 yaml 之一"],
  ["there are {count} drafts; delete one first", "已有 {count} 个草稿；请先删除一个"],
  ["the drafts have over {count} bytes together; delete one first", "草稿合计超过 {count} 字节；请先删除一个"],
  [
    "who wrote a part of a draft cannot approve it; another administrator can",
    "草稿的作者不能批准它；请由另一位管理员批准"
  ],
  ["the id belongs to a resealing; choose a new one", "此编号属于重新加密；请选择新的编号"],
  ["revision {number} was removed by now", "修订 {number} 已被删除"],
  ["draft {id} does not exist; list the drafts", "草稿 {id} 不存在"],
  ["the draft has version {number}, not {other}; read it again", "草稿的版本是 {number}，不是 {other}；请重新读取"],
  [
    "revision {number} does not exist, or not any more; read the newest revision",
    "修订 {number} 不存在或已不再保留；请读取最新修订"
  ],
  ["a field of this edit was changed by others", "其他人更改了此编辑中的字段"],
  [
    "operation_id has {count} characters; 1 to {limit} are allowed",
    "operation_id 有 {count} 个字符；允许 1 到 {limit} 个"
  ],
  ["publishing without approvals needs a reason", "未经批准的发布需要原因"],
  [
    "{count} approvals are required (config_sources.database.approvals) and there are {given}; save a draft and have it approved",
    "需要 {count} 个批准（config_sources.database.approvals），现有 {given} 个；请保存草稿并获得批准"
  ],
  ["published without approvals: {reason}", "未经批准发布：{reason}"],
  ["{path} has no element {number}", "{path} 没有第 {number} 个元素"],
  ["{path} has no fields, so {name} cannot be set in it", "{path} 没有字段，无法在其中设置 {name}"],
  ["the value", "该值"],
  [
    "config_sources.database.enabled is false in the configuration file of this node",
    "此节点的配置文件中 config_sources.database.enabled 为 false"
  ],
  [
    "this can only be set in the configuration file, because it {why}; remove it here, or move the entity into the file",
    "只能在配置文件中设置，因为它{why}；请在此删除，或将实体移入文件"
  ],
  [
    "{name} would be sent to another destination; enter the credential again",
    "{name} 会发送到其他目的地；请重新输入凭据"
  ],
  ["the path has no such field; correct it", "路径中没有此字段；请更正"],
  ["a credential is text", "凭据必须是文本"],
  [
    "the database configuration would have {count} bytes; at most {limit} are stored",
    "数据库配置将有 {count} 字节；最多保存 {limit} 字节"
  ],
  ["others published at the same time, again and again; repeat the request", "其他人一再同时发布；请重复请求"],
  [
    "the operation id {id} belongs to another request; choose a new one",
    "操作编号 {id} 属于另一个请求；请选择新的编号"
  ],
  ["revision {number} of this operation was removed by now", "此操作的修订 {number} 已被删除"],
  ["the document is empty; write `entities: {}` to remove everything", "文档为空；写入 `entities: {}` 可移除全部内容"],
  ["line {number}: {message}", "第 {number} 行：{message}"],
  ["database revision {number} by {name}", "数据库修订 {number}，作者：{name}"],
  ["database revision before {number}", "数据库修订 {number} 之前"],
  ["{path} has no field {name}", "{path} 没有字段 {name}"],
  ["the configuration of the database cannot be read: {error}", "无法读取数据库配置：{error}"],
  ["the document is not a map", "文档不是映射"],
  ["the document has no field {name}", "文档没有字段 {name}"],
  [
    "grants {name} to {entity}, which does not use it; remove the grant, or publish what it is for",
    "将 {name} 授予了不使用它的 {entity}；请移除授权，或发布其用途"
  ],
  [
    "grants {name} to {entity} for another destination than {url}; correct its destinations, or remove it",
    "将 {name} 授予 {entity} 的目的地不是 {url}；请更正其目的地或移除"
  ],
  [
    "the newest revision of the database is {number}, but this node works with revision {other}: the database has lost revisions; restore it from a backup, or restart every node to use revision {third}",
    "数据库的最新修订是 {number}，而此节点使用修订 {other}：数据库丢失了修订；请从备份恢复，或重启所有节点以使用修订 {third}"
  ],
  [
    "revision {number} was written by a newer release: {why}; edit it with that release",
    "修订 {number} 由更新的版本写入：{why}；请使用该版本编辑"
  ],
  [
    "the operation id {id} has a result, and this node lacks the key to compare the credentials of its request; read that result, or choose a new id",
    "操作编号 {id} 已有结果，而此节点没有比较其凭据的密钥；请读取该结果，或选择新的编号"
  ],
  ["a credential is not sealed", "有凭据未加密"],
  ["the stored document is not JSON; restore the database from a backup", "存储的文档不是 JSON；请从备份恢复数据库"],
  [
    "hides {path} of the database, which has no effect; delete one of them",
    "隐藏了数据库中的 {path}，后者不起作用；请删除其中之一"
  ],
  [
    "hides the value of the database, which has no effect; remove one of them",
    "隐藏了数据库中的值，后者不起作用；请移除其中之一"
  ],
  [
    "this channel serves {count} triggers; set its trigger, then grant the variable for it in the file (config_sources.secret_refs)",
    "此通道服务于 {count} 个触发器；请设置其触发器，然后在文件中为它授予该变量（config_sources.secret_refs）"
  ],
  [
    "grant it in the file: config_sources.secret_refs: [{env: {name}, target: {target}, destinations: {any-id: {destination}}}]",
    "请在文件中授权：config_sources.secret_refs: [{env: {name}, target: {target}, destinations: {any-id: {destination}}}]"
  ],
  [
    "the database may not use the environment variable of {path} here; {advice}",
    "数据库不能在此使用 {path} 的环境变量；{advice}"
  ],
  [
    "{count} more problems are not listed; correct the listed ones and validate again",
    "还有 {count} 个问题未列出；请更正已列出的问题后再次验证"
  ],
  [
    "the name has a control or invisible character, or begins or ends with white space; choose another name",
    "名称含有控制字符或不可见字符，或以空白开头或结尾；请选择其他名称"
  ]
]

export const serviceTexts: ReadonlyArray<Row> = [
  ...queue,
  ...rules,
  ...outcomes,
  ...publications,
  ...chat,
  ...notices,
  ...checks,
  ...refusals,
  ...edits
]
