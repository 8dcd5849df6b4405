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
  ["{repository} by match rule {rule}", "{repository}（匹配规则 {rule}）"],
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
  ["the host tests its webhook", "代码托管平台正在测试 webhook"],
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
    "repository_not_configured: no enabled trigger of kind {kind} has this repository at the server of trigger {trigger}, which the hook names",
    "钩子指定的触发器 {trigger} 的服务器上，没有已启用的 {kind} 触发器包含此仓库"
  ],
  [
    "ambiguous_route: the triggers {names} have different servers or repositories; set AICR_TRIGGER in the settings of the hook to its own trigger",
    "触发器 {names} 的服务器或仓库不同；请在钩子设置中将 AICR_TRIGGER 设为其自己的触发器"
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
    "触发器 {name} 没有 base_url，无法克隆；请将 triggers[].base_url 设为代码托管平台的网址"
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
  [
    "trigger {name} is of kind {kind}, which has no host to write to",
    "触发器 {name} 的类型为 {kind}，没有可写入的代码托管平台"
  ]
]

/** Reasons of requests from chat, and states of connections. */
const chat: ReadonlyArray<Row> = [["the host or its publisher is unavailable", "代码托管平台或其发布者不可用"]]

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
  ["The host has no CI run of this commit.", "代码托管平台没有此提交的 CI 运行。"],
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
  ["the host did not return it", "代码托管平台未返回"],
  ["the host refused the credential", "代码托管平台拒绝了凭据"],
  ["the credential may not read CI", "凭据无权读取 CI"],
  ["the host does not have it, or the credential may not read it", "代码托管平台上不存在，或凭据无权读取"],
  ["the host limits the requests of the credential", "代码托管平台限制了此凭据的请求"],
  ["the host returned something else", "代码托管平台返回了其他内容"],
  ["The context repository {name} was not read: {why}.", "未读取上下文仓库 {name}：{why}。"],
  [
    "{person} has no write access to this repository, and only members may have it read",
    "{person} 没有此仓库的写权限，仅成员可以使其被读取"
  ],
  ["the author of the change, whom the host does not name,", "变更的作者（代码托管平台未给出）"],
  ["the variable {name} is not set", "环境变量 {name} 未设置"],
  [
    "its host does not let us in; set its token_env to a token that may read it ({error})",
    "其代码托管平台拒绝访问；请将 token_env 设为可读取它的令牌（{error}）"
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
    "未发布到渠道 {name}：此版本不提供类型 {kind}。"
  ],
  [
    "Not published to channel {name}: its kind {kind} does not support {target:target} targets.",
    "未发布到渠道 {name}：其类型 {kind} 不支持{target:target}。"
  ],
  ["Not published to channel {name}: {why}.", "未发布到渠道 {name}：{why}。"],
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

/** Locations at which a value of the configuration is set. */
const origins: ReadonlyArray<Row> = [
  ["database revision {number} by {name}", "数据库修订 {number}，作者：{name}"],
  ["database revision before {number}", "数据库修订 {number} 之前"]
]

export const serviceTexts: ReadonlyArray<Row> = [
  ...queue,
  ...rules,
  ...outcomes,
  ...publications,
  ...chat,
  ...notices,
  ...origins
]
