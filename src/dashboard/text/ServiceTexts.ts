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

/** Locations at which a value of the configuration is set. */
const origins: ReadonlyArray<Row> = [
  ["database revision {number} by {name}", "数据库修订 {number}，作者：{name}"],
  ["database revision before {number}", "数据库修订 {number} 之前"]
]

export const serviceTexts: ReadonlyArray<Row> = [...queue, ...rules, ...outcomes, ...publications, ...chat, ...origins]
