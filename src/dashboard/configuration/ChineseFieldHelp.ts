/** Descriptions of fields of the forms in Chinese. A description without one does not compile. */
import type { FieldHelp } from "./FieldHelp.ts"

export const chineseFieldHelp: Readonly<Record<FieldHelp, string>> = {
  "Write no comment if a review found no problem; only the summary of an earlier review is updated. no_problems.action takes precedence.":
    "没有问题的评审不单独写评论；早先评审的摘要会被更新。no_problems.action 优先。",
  "API key of this workspace for /triggers/*.": "此工作区用于 /triggers/* 的 API 密钥。",
  "API version, for providers that need one.": "API 版本，用于需要它的提供商。",
  "AWS profile of the shared credentials file.": "共享凭据文件中的 AWS 配置名。",
  "AWS region.": "AWS 区域。",
  "Accept a server certificate of an unknown authority. Other failures, such as another host name, remain errors.":
    "接受由未知颁发机构签发的服务器证书。其他问题（例如主机名不符）仍为错误。",
  "Allow deepening of shallow clones.": "允许加深浅克隆。",
  "Analyse only files under these depot- or repository-relative paths.": "只分析这些相对于仓库的路径下的文件。",
  "App client id, in place of app_id.": "应用的客户端 id，代替 app_id。",
  "App credential.": "应用的凭据。",
  "App id. This or client_id is required.": "应用 id。需要此项或 client_id。",
  "Application id.": "应用 id。",
  "Applied when no rule matches.": "没有规则匹配时应用。",
  "Assign matched owners too.": "同时分配给匹配的所有者。",
  "Assign new managed issues to the author that was found. The e-mail blacklist blocks the fallback to API and pusher; OWNERS are independent.":
    "将新的受管议题分配给所找到的作者。电子邮件黑名单会阻止回退到 API 和推送者；与 OWNERS 无关。",
  "Bots and CI whose commits are not reviewed; `[]` clears inherited rules.":
    "不评审其提交的机器人和 CI；`[]` 清除继承的规则。",
  "Bounds of the memory.": "记忆的上限。",
  "Branch to review. Default: the default branch.": "要评审的分支。默认：默认分支。",
  "Branch without refs/heads/.": "不含 refs/heads/ 的分支名。",
  "Branch.": "分支。",
  "Case-sensitive equality.": "区分大小写的完全相等。",
  "Categories that close an issue.": "使议题关闭的类别。",
  "Categories, comma-separated.": "类别，以逗号分隔。",
  "Channel kind.": "渠道类型。",
  "Channels that receive line comments.": "接收行评论的渠道。",
  "Channels that receive the notices: kinds feishu_bot, feishu_app, wecom_bot and wecom_app.":
    "接收通知的渠道，类型为 feishu_bot、feishu_app、wecom_bot 和 wecom_app。",
  "Channels that receive the summary.": "接收摘要的渠道。",
  "Channels.": "渠道。",
  "Chat message when an issue is created.": "创建议题时的聊天消息。",
  "Commit message or change description.": "提交消息或变更描述。",
  "Commits reviewed by themselves, outside pull requests.": "在拉取请求之外单独评审的提交。",
  "Commits to review: those since the last run, or of the last days (`{days: N}`).":
    "要评审的提交：自上次运行以来的，或最近若干天的（`{days: N}`）。",
  "Compact the context by itself.": "自动压缩上下文。",
  "Compaction of the agent's context.": "代理上下文的压缩。",
  "Conditions, all of which must hold; none holds always.": "必须全部满足的条件；没有条件时总是满足。",
  "Container engine.": "容器引擎。",
  "Container image, with node in its PATH. Default: aicr-agents with the version of this service, which is built from deploy/agents.":
    "容器镜像，其 PATH 中有 node。默认：与本服务版本相同的 aicr-agents，由 deploy/agents 构建。",
  "Content of the chat card when the summary route also records a managed issue.":
    "摘要路由同时记录受管议题时聊天卡片的内容。",
  "Context window in tokens; takes precedence over the catalog.": "上下文窗口（token），优先于目录数据。",
  "Create and attach a label of this prefix and the severity.": "创建并附加由此前缀和严重程度组成的标签。",
  "Custom base prompt file, relative to the deployment root.": "自定义的基础提示词文件，相对于部署根目录。",
  "Days an entry is kept.": "条目保留的天数。",
  "Days back from the time of the run.": "从运行时间起往回的天数。",
  "Department ids.": "部门 id。",
  "Depot path to watch, usually ending in `/...`. Without streams it is also the branch whose changes are reviewed together.":
    "要关注的仓库路径，通常以 `/...` 结尾。没有流时，它也是一起评审的变更所在的分支。",
  "Depot path, usually ending in `/...`.": "仓库路径，通常以 `/...` 结尾。",
  "Detect languages.": "检测语言。",
  "Directory name inside the member file.": "成员文件中的目录名。",
  "Directory of members, in which authors are found to mention them.": "成员目录，在其中查找作者以提及他们。",
  "Directory that the file's real path must stay in.": "文件的真实路径必须位于的目录。",
  "Distinct paths of extra context per run.": "每次运行中额外上下文的不同路径数。",
  "Drop compacted history.": "丢弃已压缩的历史。",
  "E-mail address of the author.": "作者的电子邮件地址。",
  "E-mail address to account.": "从电子邮件地址到账号。",
  "E-mail addresses of commits that are resolved to nobody.": "不为其查询主机 API 和推送者的电子邮件地址。",
  "E-mail messages of Swarm about comments: one for all of them after its delay, one for each, or none.":
    "Swarm 关于评论的电子邮件：延迟后合为一封、每条一封，或不发送。",
  "End of the window, HH:mm, not included. Before start: the window crosses midnight.":
    "时段的结束时间，HH:mm，不含在内。早于 start：时段跨越午夜。",
  "Endpoint of a self-hosted SearXNG.": "自托管 SearXNG 的地址。",
  "Engines, comma-separated.": "搜索引擎，以逗号分隔。",
  "Entries of the memory.": "记忆的条目数。",
  "Environment variable that holds a ticket of the user (`p4 login -p`). Put the user into a group whose tickets do not expire, or renew the ticket.":
    "保存用户票据（`p4 login -p`）的环境变量。请将其加入票据不过期的组，或定期更新。",
  "Environment variable that holds a token for git over HTTP; sent as a header, never written to disk.":
    "保存 HTTP 上 git 令牌的环境变量；作为请求头发送，从不写入磁盘。",
  "Environment variable that holds the API key.": "保存 API 密钥的环境变量。",
  "Environment variable that holds the AWS access key id.": "保存 AWS 访问密钥 id 的环境变量。",
  "Environment variable that holds the AWS secret key.": "保存 AWS 私有密钥的环境变量。",
  "Environment variable that holds the AWS session token.": "保存 AWS 会话令牌的环境变量。",
  "Environment variable that holds the Perforce password.": "保存 Perforce 密码的环境变量。",
  "Environment variable that holds the Perforce ticket.": "保存 Perforce 票据的环境变量。",
  "Environment variable that holds the Perforce user.": "保存 Perforce 用户的环境变量。",
  "Environment variable that holds the application secret.": "保存应用密钥的环境变量。",
  "Environment variable that holds the bot's webhook URL.": "保存机器人 webhook 地址的环境变量。",
  "Environment variable that holds the channel's own API token.": "保存渠道自己的 API 令牌的环境变量。",
  "Environment variable that holds the password.": "保存密码的环境变量。",
  "Environment variable that holds the private key (PEM or base64 PEM). Exactly one of private_key_env, private_key_path and private_key.":
    "保存私钥（PEM 或 base64 编码的 PEM）的环境变量。private_key_env、private_key_path 和 private_key 恰好设置一个。",
  "Environment variable that holds the secret of incoming webhooks. No secret at all: signatures are not checked.":
    "保存 webhook 密钥的环境变量。完全没有密钥：不检查签名。",
  "Environment variable that holds the service account key (JSON, or the path of its file).":
    "保存服务账号密钥（JSON，或其文件路径）的环境变量。",
  "Environment variable that holds the signing secret.": "保存签名密钥的环境变量。",
  "Environment variable that holds the ticket.": "保存票据的环境变量。",
  "Environment variable that holds the token for the host's API.": "保存主机 API 令牌的环境变量。",
  "Environment variable that holds the user name.": "保存用户名的环境变量。",
  "Environment variable that holds the user's password, which servers of security level 3 and above refuse.":
    "保存用户密码的环境变量；安全级别 3 及以上的服务器不接受密码。",
  "Environment variable that holds the user.": "保存用户的环境变量。",
  "Environment variable that holds the workspace's API key.": "保存工作区 API 密钥的环境变量。",
  "Events that start triage.": "触发分类的事件。",
  "Branches whose pushes are reviewed, by exact name; pushes to others start no review. The most specific list applies; `[]` accepts all.":
    "精确的分支名；对其他分支的自动推送在接收时被忽略。取最近一层的列表；`[]` 接受所有分支。",
  "Exact identifier (login, e-mail address, name, Perforce client) to a member key of the directory.":
    "从精确标识（登录名、电子邮件地址、姓名、Perforce 客户端）到目录的成员键。",
  "Exact identifier (login, e-mail address, name, Perforce client) to the application's open_id.":
    "从精确标识（登录名、电子邮件地址、姓名、Perforce 客户端）到应用的 open_id。",
  "Target branches whose pull requests are reviewed, by exact name; others start no review. The most specific list applies; `[]` accepts all.":
    "精确的目标分支名；目标为其他分支的拉取请求在接收时被忽略。取最近一层的列表；`[]` 接受所有分支。",
  "Execution mode of these reviews, in place of agent.default of the workspace.":
    "这些评审的执行方式，代替工作区的 agent.default。",
  "Execution mode.": "执行方式。",
  "Explicit thinking budget in tokens, passed through to the provider.": "明确的思考预算（token），传给提供商。",
  "Extra context that a model may request.": "模型可以请求的额外上下文。",
  "With false, the model also gets the complete changed files, within max_patch_bytes.":
    "false 会在 max_patch_bytes 内加入完整的最新文件。",
  "False stops new admission and keeps what exists.": "false 时不再接收新的评审，已有的保留。",
  "With false, deliveries of this trigger start no more reviews; existing work continues.":
    "false 时此触发器不再接收新的评审，已有的保留。",
  "Fields added to each request body.": "添加到每个请求体的字段。",
  "Fields of the source; all given matchers must hit.": "来源的字段，所有给定的匹配条件都必须满足。",
  "File in the repository that lists paths to leave out.": "仓库中列出要略去的路径的文件。",
  "Fill of the context window that starts compaction.": "上下文窗口用到多少时开始压缩。",
  "Fingerprint of the key of a Perforce server over TLS. No other key is accepted.":
    "使用 TLS 的 Perforce 服务器的密钥指纹。不接受其他密钥。",
  "Fingerprint of the key of a server over TLS (`ssl:host:port`), as `p4 trust -l` prints it. No other key is accepted.":
    "使用 TLS 的服务器（`ssl:host:port`）的密钥指纹，即 `p4 trust -l` 的输出。不接受其他密钥。",
  "First minute of the window, HH:mm.": "时段的第一分钟，HH:mm。",
  "Fixed installation id. Default: looked up per owner and repository.": "固定的安装 id。默认：按所有者和仓库查找。",
  "Ignore upper and lower case in the comparison.": "仅在匹配时忽略大小写。",
  "Folder with the kernel's modules, if virtio and overlay are modules, for example /lib/modules/6.1.0-56-cloud-amd64.":
    "内核模块的目录（如果 virtio 和 overlay 是模块），例如 /lib/modules/6.1.0-56-cloud-amd64。",
  "Folder with token, ca.crt and namespace of the service account that creates the pods.":
    "包含创建 pod 的服务账号的 token、ca.crt 和 namespace 的目录。",
  "Full ref.": "完整的引用。",
  "Further repositories that the model may read. If one cannot be read, the review names it and continues without it. The list of a workspace replaces that of workspaces.defaults.":
    "模型可以读取但不能写入的其他仓库；无法读取的会在评审中注明，评审继续进行。实例的列表整体取代 workspaces.defaults 的列表。",
  "Git URL, http or https, without credentials.": "Git 地址，http 或 https，不含凭据。",
  "Git branch, tag or full commit id.": "Git 分支、标签或完整的提交 id。",
  "Git checkout.": "Git 检出。",
  "Glob over the whole field; `*` also matches `/`, `?` matches one character, all others match themselves.":
    "匹配整个字段的 glob：`*` 可跨越 `/`，`?` 为一个码点，其他字符没有特殊含义。",
  "Globs over the names of artifacts (GitLab: of jobs) whose files `.sarif` and `.sarif.json` are read, from CI runs of exactly the reviewed commit in the same repository. Unset or `[]`: none. GitHub, GitLab, Gitea 1.25 or later.":
    "制品（GitLab：作业）名称的 glob，读取其中的 `.sarif` 和 `.sarif.json` 文件，仅限同一仓库中所评审提交的 CI 运行。未设置或 `[]`：无。需要 GitHub、GitLab、Gitea 1.25 或更高版本。",
  "Globs; a file must match at least one.": "glob；文件必须至少匹配一个。",
  "Globs; a matching file is skipped.": "glob；匹配的文件会被跳过。",
  "Google Cloud location.": "Google Cloud 位置。",
  "Google Cloud project.": "Google Cloud 项目。",
  "Group chat id.": "群聊 id。",
  "Group for identity analysis. Falls back to workspaces.defaults, the global identity group, then llm.default_model_chain.":
    "用于身份分析的模型组。依次回退到 workspaces.defaults、全局身份分析组、llm.default_model_chain。",
  "Group for lifecycle analysis. Absent in all layers: the main group.":
    "用于生命周期分析的模型组。各层均未设置时：主模型组。",
  "Group whose members form the identity directory.": "其成员构成身份目录的群聊。",
  "HTTP headers added to each request. Not a place for secrets: values are shown in the configuration.":
    "添加到每个请求的 HTTP 头。不要放机密：值会在配置中显示。",
  "HTTP proxy for requests to the host.": "对主机的请求使用的 HTTP 代理。",
  "HTTP proxy for requests to the server.": "对服务器的请求使用的 HTTP 代理。",
  "HTTP proxy for requests to this provider.": "对此提供商的请求使用的 HTTP 代理。",
  "Hard timeout of one CLI pass; then its whole process tree is killed. Unused by native-llm.":
    "一轮 CLI 的最长时间，之后其整个进程树被终止。native-llm 不使用。",
  "Name that groups managed issues, written into each as a hidden marker.": "正文中用于标识受管议题的隐藏标记。",
  "Hours for which pushes and chat requests may wait; then they end with `queued_timeout`. 0: no limit. A changed value also applies to what waits already.":
    "自动任务和聊天请求从接收起最多等待的小时数，之后以 `queued_timeout` 关闭。0 表示永不过期。以工作区当前的值为准，也适用于已在等待的。",
  "Minutes for which a review waits for the CI runs of its commit, from its first attempt on; 0: not at all. It holds no slot while it waits. After that it continues without the missing artifacts, and names them.":
    "评审等待其提交的 CI 运行的时间，从首次尝试算起，不占用执行器；0：不等待。之后评审在缺少结果的情况下继续，并注明缺少什么。",
  "How much later reviews use of the lessons; `light` if unset.": "之后的评审使用多少经验；未设置时为 `light`。",
  "How reviews that match are executed.": "匹配的评审如何执行。",
  "How the author of a commit is found.": "如何找到提交的作者。",
  "IANA time zone of the automatic commit schedule.": "自动提交时间表的 IANA 时区。",
  "IANA time zone of the pull request schedule.": "拉取请求时间表的 IANA 时区。",
  "Id of a provider in llm.providers.": "llm.providers 中提供商的 id。",
  "Identifier referenced from model_chain. Unique.": "由 model_chain 引用的标识，唯一。",
  "Ids of labels to attach.": "要附加的标签的 id。",
  "Instructions added to the triage prompt.": "添加到分类提示词的说明。",
  "Kind of namespace.": "命名空间的类型。",
  "Kind of repository.": "仓库的类型。",
  "Kind of trigger.": "触发器的类型。",
  "Kinds of notices. Default: all. A list of a workspace takes queue_expired and review_failed only.":
    "通知的类型。默认：全部。工作区的列表只接受 queue_expired 和 review_failed。",
  "LLM provider kind.": "模型提供商的类型。",
  "Label added when a review is complete.": "评审完成时添加的标签。",
  "Label added when a review starts.": "评审开始时添加的标签。",
  "Labels at the host.": "主机上的标签。",
  "Labels of the nodes on which the pods may run.": "可运行 pod 的节点的标签。",
  "Labels that skip the review.": "使评审跳过的标签。",
  "Language code.": "语言代码。",
  "Language of summaries and comments.": "摘要和评论的语言。",
  "Maximum size of a file, before and after the change; larger files are not read, and the summary names them.":
    "参与比较的文件在变更前后的最大大小；更大的文件在覆盖范围中注明而不读取。",
  "Largest size of all files together in MiB; a larger repository is not read, and what was fetched of it is removed.":
    "所有文件合计的最大大小，单位 MiB；更大的仓库不读取，已获取的部分会被删除。",
  "Lowest severity that makes the commit status a failure. Unset: problems never do.":
    "使提交状态为失败的最低严重程度。未设置：问题不会使其失败。",
  "Least severity that is published.": "发布的最低严重程度。",
  "Least severity that this channel publishes.": "此渠道发布的最低严重程度。",
  "Limits of one pass. A pass that exceeds one is ended. The time is agent.timeout_seconds.":
    "单次执行的上限。超过任一上限即被终止。时间由 agent.timeout_seconds 限定。",
  "Maximum number of model calls of a pass. Further calls are refused, and the pass ends with what was reported.":
    "单次执行的模型调用次数上限。之后的调用会被拒绝，执行以已报告的内容结束。",
  "Maximum number of tool calls of a pass. After it, only reports are accepted.":
    "单次执行的工具调用次数上限。之后只接受报告。",
  "First of the 65536 user and group ids of the agents of a service that runs as root: each pass gets one of its own. No user of the machine may have one of them.":
    "以 root 运行的服务为其代理使用的 65536 个用户和组 id 中的第一个：每次执行使用各自的 id。机器上的用户不得占用其中任何一个。",
  "Linear-time regular expression; matches anywhere unless anchored with ^ and $.":
    "线性时间的正则表达式；除非用 ^ 和 $ 锚定，否则可在任意位置匹配。",
  "Link to a changelist.": "变更列表的链接。",
  "Link to a changelist. Variables are URL-encoded.": "变更列表的链接。变量会进行 URL 编码。",
  "Link to a commit.": "提交的链接。",
  "Link to a commit. Variables are URL-encoded.": "提交的链接。变量会进行 URL 编码。",
  "Link to a revision.": "修订的链接。",
  "Link to a revision. Variables are URL-encoded.": "修订的链接。变量会进行 URL 编码。",
  "Literal API key of the workspace. Sealed when published.": "工作区 API 密钥的字面值，发布时加密。",
  "Literal API key. Sealed when published to the database.": "API 密钥的字面值，发布到数据库时加密。",
  "Literal API token of the channel. Sealed when published.": "渠道的 API 令牌的字面值，发布时加密。",
  "Literal AWS access key id.": "AWS 访问密钥 id 的字面值。",
  "Literal AWS secret key.": "AWS 私有密钥的字面值。",
  "Literal AWS session token.": "AWS 会话令牌的字面值。",
  "Literal PEM or base64 PEM. Sealed when published.": "PEM 或 base64 编码的 PEM 的字面值，发布时加密。",
  "Literal Perforce password, in place of a ticket. Sealed when published.":
    "Perforce 密码的字面值，代替票据，发布时加密。",
  "Literal Perforce ticket. Sealed when published.": "Perforce 票据的字面值，发布时加密。",
  "Literal application secret. Sealed when published.": "应用密钥的字面值，发布时加密。",
  "Literal git token. Sealed when published.": "git 令牌的字面值，发布时加密。",
  "Literal password. Sealed when published.": "密码的字面值，发布时加密。",
  "Literal secret of incoming webhooks. Sealed when published.": "webhook 密钥的字面值，发布时加密。",
  "Literal service account key, or the path of its file.": "服务账号密钥的字面值，或其文件路径。",
  "Literal signing secret. Sealed when published.": "签名密钥的字面值，发布时加密。",
  "Literal ticket. Sealed when published.": "票据的字面值，发布时加密。",
  "Literal token for the host's API. Sealed when published.": "主机 API 令牌的字面值，发布时加密。",
  "Literal webhook URL of the bot. Sealed when published.": "机器人 webhook 地址的字面值，发布时加密。",
  "Literal webhook URL. Sealed when published.": "webhook 地址的字面值，发布时加密。",
  "Log traces of the orchestration.": "记录编排过程的轨迹。",
  "Longest silence in milliseconds: between two pieces of a response, and before its first piece, for which Ollama and servers on private addresses have 12 times as long. Default: 5 minutes between pieces, 15 minutes before the first.":
    "最长的无响应毫秒数：响应的两段之间，以及第一段之前；Ollama 和私有地址上的服务器在第一段之前有 12 倍的时间。默认：两段之间 5 分钟，第一段之前 15 分钟。",
  "Main model group.": "主模型组。",
  "Managed issues.": "由本服务管理的议题。",
  "Maximum memory of all processes of a run, with the files that they write.":
    "一次运行的所有进程及其写入文件的最大内存。",
  "Maximum number of processes and threads of a run.": "一次运行的最大进程和线程数。",
  "Maximum number of reviews per author and clock hour (UTC), over all repositories of a trigger; 0: no limit. Further changes are not reviewed, and their commit status names the reason. Somebody else with write access may request the review.":
    "每位变更作者每个整点小时（UTC）的最大评审数，跨主机触发器的所有仓库计算；0：不限制。超出时不评审该变更，其运行和提交状态会说明；其他有写权限的人可以请求评审。",
  "Maximum response length in tokens. Default: that of the catalog, else 16384, reduced to the room in the context window.":
    "响应的最大长度（token），优先于目录数据。两者都没有时为 16384，以窗口可容纳为限。",
  "Maximum size of all files that a run writes.": "一次运行写入的所有文件的最大大小。",
  "Maximum size of the output of a run.": "一次运行的最大输出大小。",
  "Maximum time until a pod runs, with the pull of its image.": "包括拉取镜像在内，pod 开始运行的最长时间。",
  "Maximum time until a virtual machine runs.": "虚拟机开始运行的最长时间。",
  "Member file, relative to the configuration file's directory.": "成员文件，相对于配置文件所在目录。",
  "Mention the author that was found for the commit.": "提及所找到的提交作者。",
  "Minimum time in milliseconds between the starts of two writes with this account that people see, over all nodes. Public hosts limit bursts of comments: less than 1000 is for hosts of your own.":
    "使用此账号的两次对人可见的写入的开始时间之间的最小毫秒数，跨所有节点。公共主机限制密集的评论：小于 1000 适用于您自己的主机。",
  "Mobile numbers to mention.": "要提及的手机号码。",
  "Model group of the mode claude-code, for a Claude subscription, Bedrock or Vertex AI, in place of the workspace's.":
    "claude-code 模式的模型组，用于 Claude 订阅、Bedrock 或 Vertex AI，代替工作区的模型组。",
  "Model group of the mode codex, for a ChatGPT workspace, in place of the workspace's.":
    "codex 模式的模型组，用于 ChatGPT 工作区，代替工作区的模型组。",
  "Model group of the mode copilot-cli, for GitHub Copilot, in place of the workspace's.":
    "copilot-cli 模式的模型组，用于 GitHub Copilot，代替工作区的模型组。",
  "Model group of the mode gemini-cli, for Vertex AI, in place of the workspace's.":
    "gemini-cli 模式的模型组，用于 Vertex AI，代替工作区的模型组。",
  "Model groups of agents that sign in with what their maker sells for automation. The credentials stay in the service.":
    "使用厂商为自动化出售的登录方式的代理的模型组。凭据留在服务内。",
  "Whether the key is the token of a subscription instead of an API key: of Claude (claude setup-token) with kind anthropic, of a ChatGPT workspace (Codex access token) with kind openai_compatible. Only the agent of its maker may use it, through agent.auth.":
    "密钥是否为订阅的令牌而不是 API 密钥：kind 为 anthropic 时是 Claude 的令牌（claude setup-token），kind 为 openai_compatible 时是 ChatGPT 工作区的令牌（Codex access token）。只有其厂商的代理可以通过 agent.auth 使用它。",
  "Model group of these reviews, in place of the workspace's.": "这些评审的模型组，代替工作区的模型组。",
  "Model name as the provider knows it.": "提供商所用的模型名称。",
  "Maximum number of files that are read, of those that pass the filters. The summary names the others.":
    "通过筛选的文件中最多分析的文件数；其余会被略去并注明。",
  "Most line comments per run.": "每次运行最多的行评论数。",
  "Maximum number of passes of a review. A pass is one conversation with the model about a part of a large change, the riskiest files first. What does not fit is compressed (`compression`), and the summary names it.":
    "一次评审最多的轮数：超过几千 token 的变更分多轮同时读取，风险最高的文件优先。放不下的会被压缩（`compression`），并在覆盖范围中注明。",
  "Maximum number of files and folders that a change may touch, excluded ones included. A larger change fails before it is read.":
    "一次变更最多可涉及的文件和目录路径数，无论读取多少；超出时在读取之前失败。",
  "Most problems published per run.": "每次运行最多发布的问题数。",
  "Most recent open managed issues reconciled per run.": "每次运行最多核对的最近未关闭的受管议题数。",
  "Name in im.connections. Takes the place of inline credentials on feishu_app.":
    "im.connections 中的名称。在 feishu_app 上代替内联凭据。",
  "Name in outputs.templates for a problem. Takes precedence over the folder of the workspace and the built-in one.":
    "outputs.templates 中用于问题的模板名。优先于工作区目录和内置模板。",
  "Name in outputs.templates for a summary. Takes precedence over the folder of the workspace and the built-in one.":
    "outputs.templates 中用于摘要的模板名。优先于工作区目录和内置模板。",
  "Name in prompts.system; appended after the base.": "prompts.system 中的名称，附加在基础提示词之后。",
  "Name in prompts.system; replaces the base prompt. Takes precedence over base_system_prompt_file and the built-in base.":
    "prompts.system 中的名称，取代基础提示词。优先于 base_system_prompt_file 和内置的基础提示词。",
  "Name of the rule, shown in messages. Unique in the workspace.":
    "规则名称，供人阅读和用于消息；在工作区内唯一，不参与匹配。",
  "Name used in routes and templates. Unique.": "路由和模板中使用的名称，唯一。",
  "Named templates (markdown, frontmatter allowed; only the body is rendered) that channels refer to.":
    "供渠道引用的命名模板（Markdown，可含 frontmatter，只渲染正文）。",
  "Names of Secrets for the registry of the image.": "镜像仓库所用 Secret 的名称。",
  "Names of labels to attach.": "要附加的标签的名称。",
  "Names the mount path: the model reads `alias:path`. Unique in the workspace.":
    "挂载路径的名称：模型读取 `alias:path`。在工作区内唯一。",
  "Namespace id. Equal ids in different scopes are different people.":
    "命名空间 id。不同命名空间中相同的 id 是不同的人。",
  "Namespace of the identities.": "身份的命名空间。",
  "Namespace of the pods of sandboxes. Default: the namespace of the service account.":
    "沙箱 pod 的命名空间。默认：服务账号的命名空间。",
  "What is compared for several commits: the state before the first with that after the last, each commit by itself in one review, or the newest commit only. After a force push, always the two states.":
    "比较两个端点、在一次分析中包含带标记的各提交补丁，或只看最新提交。历史被改写时仍比较端点。",
  "Only changes of this kind of trigger.": "仅限此类触发器的变更。",
  "Open a task for each problem. It is marked as addressed when the problem is gone; without tasks the comment is archived.":
    "为每个问题建立一个任务。问题消失时标记为已处理；没有任务时评论会被归档。",
  "Open windows of these days, `HH:mm-HH:mm`.": "这些日子的开放时段，`HH:mm-HH:mm`。",
  "Ordered rules; the first that matches applies.": "有序的规则，应用第一条匹配的规则。",
  "Ordered search providers; others are never called. kilo uses one of exa, parallel and kilo-exa, opencode the first of exa and parallel, the others the whole chain. Default: those with a credential or an endpoint; if there is none, exa and parallel without an account.":
    "按顺序排列的搜索提供商；其他提供商从不调用。kilo 使用 exa、parallel 和 kilo-exa 中的一个，opencode 使用 exa 和 parallel 中的第一个，其余模式使用整个列表。默认：已配置凭据或端点的提供商；若都没有，则使用无需账号的 exa 和 parallel。",
  "Organization id sent with each request.": "随每个请求发送的组织 id。",
  "Overrides of `agent`.": "对 `agent` 的覆盖。",
  "Overrides of `outputs`.": "对 `outputs` 的覆盖。",
  "Overrides of `review`.": "对 `review` 的覆盖。",
  "Overrides outputs.author_resolution.directory_cache_ttl_seconds.":
    "覆盖 outputs.author_resolution.directory_cache_ttl_seconds。",
  "Overrides the catalog's `<provider>/<model>` id.": "覆盖目录中的 `<provider>/<model>` id。",
  "Overrides the catalog's provider id used for metadata.": "覆盖用于元数据的目录提供商 id。",
  "Owner of the repository, in place of the change's.": "仓库的所有者，代替变更的所有者。",
  "Owner, organisation or group path.": "所有者、组织或群组的路径。",
  "Passed to the adapter; false removes automatic approval where it can be removed. Unused by native-llm.":
    "传给适配器；false 会在可行处取消自动批准。native-llm 不使用。",
  "Path globs that may be fetched.": "可以获取的路径 glob。",
  "Path globs, applied after include.": "路径 glob，在 include 之后应用。",
  "Path globs; `*` stays within a directory, `**` spans any number of them.":
    "路径 glob：`*` 不跨越目录，`**` 跨越任意多级目录。",
  "Path of a PEM file with certificate authorities to trust in addition to the system's.":
    "PEM 文件的路径，其中的证书颁发机构在系统信任的之外也受信任。",
  "Path of an ext4 file system with node, sh, tar, setpriv and the agents in /opt/aicr/agents.":
    "ext4 文件系统的路径，其中有 node、sh、tar、setpriv，代理位于 /opt/aicr/agents。",
  "Path of the Linux kernel: bzImage for QEMU, an uncompressed vmlinux for Firecracker.":
    "Linux 内核的路径：QEMU 用 bzImage，Firecracker 用未压缩的 vmlinux。",
  "Path of the owners file.": "所有者文件的路径。",
  "Path of the private key's PEM file.": "私钥 PEM 文件的路径。",
  "Perforce client workspace (P4CLIENT). Files are read from the depot, so none is needed.":
    "Perforce 客户端工作区（P4CLIENT）。文件从仓库读取，因此不需要。",
  "Perforce client workspace.": "Perforce 客户端工作区。",
  "Perforce server address: `host:1666`, or `ssl:host:1666` with p4_fingerprint.":
    "Perforce 服务器地址：`host:1666`，或有 p4_fingerprint 时 `ssl:host:1666`。",
  "Perforce user (an identifier, not sealed).": "Perforce 用户（是标识符，不加密）。",
  "If no exact match is found, also match words of the Perforce client's name, and call a model.":
    "精确匹配之后，允许使用 Perforce 客户端名中的词以及模型。",
  "Processors that all processes of a run may use. Native: only where the service may create cgroups.":
    "一次运行的所有进程可用的处理器数。native：仅在服务可以创建 cgroup 时有效。",
  "Profile name, referenced by workspaces. Unique.": "配置名称，由工作区引用，唯一。",
  "Project id or path, in place of the change's.": "项目 id 或路径，代替变更的项目。",
  "Project key, where the host has one.": "项目键（如果主机有）。",
  "Prompt caching.": "提示词缓存。",
  "Prompts.": "提示词。",
  "Provider API base URL.": "提供商 API 的基础地址。",
  "Maximum number of queries that one pass sends to search providers. Further ones are refused.":
    "一次分析最多向搜索提供商发送的查询数。超出的查询会被拒绝。",
  "Provider ids removed from the chain.": "从列表中移除的提供商 id。",
  "Pull and merge requests.": "拉取请求和合并请求。",
  "Reasoning effort, passed through to the provider.": "推理强度，传给提供商。",
  "Recipient.": "接收者。",
  "Recipients, or one group chat.": "接收者，或一个群聊。",
  "Record what would be done and do nothing.": "只记录会做什么，不执行。",
  "Reflection memory.": "评审的经验记忆。",
  "Reload when the file changes; false keeps only the periodic check.": "文件更改时重新加载；false 只保留定期检查。",
  "Remember lessons of earlier reviews.": "记住早先评审的经验。",
  "Report a commit status or check run on pull requests.": "在拉取请求上报告提交状态或检查。",
  "Repository URL: http, https, svn, svn+ssh or file, of the whole repository or of a folder in it, without credentials.":
    "仓库地址：http、https、svn、svn+ssh 或 file，整个仓库或其中的目录，不含凭据。",
  "Repository as the host names it, `owner/name`.": "主机所用的仓库名，`owner/name`。",
  "Repository name without its owner.": "不含所有者的仓库名。",
  "Repository reference.": "仓库的引用。",
  "Repository, in place of the change's.": "仓库，代替变更的仓库。",
  "Results of other tools.": "其他工具的结果。",
  "Revision.": "修订。",
  "Routes of notices. A notice goes to the channels of every route that matches, once to each. A workspace's own list replaces it for notices about its reviews.":
    "通知的路由。通知发送到每条匹配路由的渠道，每个渠道一次。工作区自己的列表对其评审的通知取代此列表。",
  "Rule id. Unique in the list.": "规则 id，在列表中唯一。",
  "Rules that select several repositories; one match is enough. Not together with source_repo.":
    "用于多个仓库的规则，匹配任意一条即可，不能与 source_repo 同时使用。",
  "RuntimeClass of the pods, for example gvisor or kata.": "pod 的 RuntimeClass，例如 gvisor 或 kata。",
  "SARIF files with results of other tools, as paths in the repository: at the reviewed commit, for `aicr review` also in the work tree. Results on changed lines are shown to the model, and problems on the same lines cite them.":
    "含其他工具结果的 SARIF 文件在仓库中的路径：取自所评审的提交，`aicr review` 也取自工作目录。已更改行上的结果会提供给模型，同一行上的问题会引用它们。",
  "SARIF in artifacts of CI.": "CI 制品中的 SARIF。",
  "Safe-search level.": "安全搜索级别。",
  "Sandbox kind kubernetes: a pod for each pass, in the cluster in which the service runs.":
    "kubernetes 类型的沙箱：在服务所在的集群中，每一轮一个 pod。",
  "Sandbox kind microvm: a virtual machine for each pass, with Firecracker or QEMU.":
    "microvm 类型的沙箱：每一轮一台虚拟机，使用 Firecracker 或 QEMU。",
  "Sandbox kind native, which needs bubblewrap (bwrap).": "native 类型的沙箱，需要 bubblewrap（bwrap）。",
  "Sandbox kind. Unused by native-llm. Default: native, unless engine selects another.":
    "沙箱类型。native-llm 不使用。默认：native，除非 engine 选择了另一种。",
  "Sandbox of agent CLIs for all workspaces. A workspace sets its own under `sandbox`; kind is refused here below the global level.":
    "所有工作区的代理 CLI 沙箱。工作区在 `sandbox` 下设置自己的；在全局以下的层级，此处不接受 kind。",
  "Sandbox, merged per field over the global one, defaults and instance.":
    "沙箱，逐字段合并到全局、默认值和实例的设置之上。",
  "Search credential id to the name of an environment variable, or `{value}` with a literal.":
    "从搜索凭据 id 到环境变量名，或含字面值的 `{value}`。",
  "Let the model verify problems before they are published; auto: high and critical ones.":
    "发布前对问题的复核；auto：复核高和严重级别的问题。",
  "Second, independent reading of files, whose problems join those of the first; auto: of the passes that show a file with a security-sensitive path (sign-in, permissions, payments, migrations); always: of all. A pass that is read twice costs about twice as much.":
    "对文件独立地再读一遍，其问题与第一遍的合并；auto：仅限包含安全敏感路径（登录、权限、支付、迁移）文件的轮次；always：所有轮次。读两遍的一轮费用约为两倍。",
  "Seconds from the first push until the review of its batch may start; 0: immediately.":
    "首次收到自动提交后到期的秒数；0 不等待。",
  "Seconds between checks of the file's digest.": "两次检查文件摘要之间的秒数。",
  "Seconds that a member directory is kept; 0 disables reuse.": "成员目录保留的秒数；0 表示不重用。",
  "Self-hosted meta-search.": "自托管的元搜索。",
  "Server address (P4PORT): `host:1666`, or `ssl:host:1666` with p4_fingerprint. Forms that start a program (`rsh:`) are refused.":
    "服务器地址（P4PORT）：`host:1666`，或有 p4_fingerprint 时 `ssl:host:1666`。会启动程序的形式（`rsh:`）会被拒绝。",
  "Severity to colour of labels that are created.": "从严重程度到所创建标签的颜色。",
  "Single recipients or one group chat.": "个人接收者或一个群聊。",
  "Size of the memory in KiB.": "记忆的大小，单位 KiB。",
  "Skills that are always active, whatever their Applies To globs say.":
    "始终启用的技能，无论其 Applies To 的 glob 如何。",
  "Subversion repository URL.": "Subversion 仓库的地址。",
  "Tag ids.": "标签 id。",
  "Take commands from comments.": "接受评论中的命令。",
  "Template engine. `eta` is accepted and handlebars is used, with a warning.":
    "模板引擎。接受 `eta`，但会使用 handlebars 并给出警告。",
  "Template of the workspace's directory under workspaces.root, where its `templates/` are looked up, with the helpers segment, default, hash and lower. Requires match.":
    "工作区目录的模板，位于 workspaces.root 下，在其中查找 `templates/`；可用函数 segment、default、hash 和 lower。需要 match。",
  "Templates of this channel.": "此渠道的模板。",
  "The repository of this workspace. For several repositories, use match.":
    "此工作区的唯一仓库，不能与 match 同时使用。",
  "Thinking level, passed through to the provider.": "思考级别，传给提供商。",
  "Seconds to wait until Swarm has created the review of a changelist. After that nothing is published, and the run names the reason.":
    "等待变更列表的评审出现的时间，因为 Swarm 在后台创建评审。之后不发布任何内容，运行会说明。",
  "Time zone of cron.": "cron 的时区。",
  "Search tool for reviews. claude-code, codex and gemini-cli search with the provider of the model; in every other mode but native-llm this service searches for the agent. The switch is always written out for the CLI.":
    "评审可用的搜索工具。claude-code、codex 和 gemini-cli 由模型提供商搜索；除 native-llm 外的其他模式由本服务代智能体搜索。开关总会明确传给 CLI。",
  "Timeout of one provider in seconds. Default: 30.": "一个提供商的超时秒数。默认：30。",
  "Title prefix of managed issues.": "受管议题的标题前缀。",
  "Triage issues.": "对议题进行分类。",
  "Triage of issues; gitea and forgejo only.": "议题分类，仅限 gitea 和 forgejo。",
  "Trigger kind.": "触发器类型。",
  "Trigger name.": "触发器的名称。",
  "Trigger profile name.": "触发器的名称。",
  "Trigger profiles. Default: any.": "触发器。默认：任意。",
  "Trigger whose host and credential the channel uses. Default: the change's own.":
    "渠道使用其主机和凭据的触发器。默认：变更自己的触发器。",
  "Maximum size in bytes (UTF-8) of what the model reads in addition to the diff, per review.":
    "每次运行中额外上下文的 UTF-8 字节数，所有请求合计。",
  "Maximum size of the diff in bytes (UTF-8). A larger change fails before any model is called.":
    "所分析 diff 的 UTF-8 字节数；更大时在调用模型之前失败。",
  "User ids.": "用户 id。",
  "User name (an identifier, not sealed).": "用户名（是标识符，不加密）。",
  "User name of the author or submitter.": "作者或提交者的用户名。",
  "User of the Perforce server as whom comments are written (an identifier, not sealed).":
    "以其身份写评论的 Perforce 服务器用户（是标识符，不加密）。",
  "Value of the anthropic-version header.": "anthropic-version 请求头的值。",
  "Values of the anthropic-beta header.": "anthropic-beta 请求头的值。",
  "Verdict of the review.": "评审的结论。",
  "Wait after a change before reloading, in milliseconds.": "更改后重新加载前等待的毫秒数。",
  "Wait with a draft until it is marked ready.": "草稿标记为就绪后才评审。",
  "Web URL of the host, in place of the trigger's. One of another origin needs token or token_env of the channel. Of kind feishu_app: base URL of the platform's API, for Lark; with connection that of the connection. Of kind p4_swarm: web URL of the Swarm (P4 Code Review) server, to which alone its credential is sent.":
    "主机的网址，代替触发器的网址。其他来源的网址需要渠道的 token 或 token_env。feishu_app 类型：平台 API 的基础地址，用于 Lark；有 connection 时为该连接的地址。p4_swarm 类型：Swarm（P4 Code Review）服务器的网址，其凭据只发送到那里。",
  "Web URL of the host. github and gitlab default to the public ones; gitea and forgejo need it with a credential. The API's URL and clone URLs are derived from it, and credentials go nowhere else.":
    "主机的网址。github 和 gitlab 默认为公共网址；gitea 和 forgejo 有凭据时需要设置。API 地址和克隆地址由此得出，凭据不会发送到其他地方。",
  "Web search of the agent.": "代理的网络搜索。",
  "Weekdays, mon to sun.": "星期，mon 至 sun。",
  "Weekly groups, joined; `[]` lifts all limits.": "每周的时段组，合并使用；`[]` 取消所有限制。",
  "Weekly groups, joined; `[]` lifts all limits. Unset everywhere: auto_commit.schedule.":
    "每周的时段组，合并使用；`[]` 取消所有限制。各处均未设置：auto_commit.schedule。",
  "What a clean later head does to our request for changes: never dismisses it, when_clean approves.":
    "之后的提交没有问题时如何处理我们提出的修改请求：never 撤销它，when_clean 批准。",
  "What happens to a managed issue whose problem is gone. `delete` on gitea_problem_issue only.":
    "问题消失后如何处理受管议题。`delete` 仅限 gitea_problem_issue。",
  "What happens when no problem was found, for all channels.": "没有发现问题时的处理，适用于所有渠道。",
  "What happens when no problem was found.": "没有发现问题时的处理。",
  "What is reviewed.": "评审的对象。",
  "What one managed issue represents.": "一个受管议题代表什么。",
  "What receive_id is.": "receive_id 的类型。",
  "What the change looks like; all given matchers must hit. Each has exactly one of glob and regex.":
    "变更的特征，所有给定的匹配条件都必须满足。每个条件恰有 glob 和 regex 之一。",
  "What the commit status says when the change adds text that was not read (over a limit, or in no known encoding), or a report of the model could not be read: neutral (Gitea and Forgejo `warning`, GitHub `error`, GitLab `skipped`), failed, or ignored. Whatever it is, the summary names the files.":
    "变更中有未读取的文本（超出限制，或编码未知）或模型的报告无法读取时提交状态如何显示：neutral（Gitea 和 Forgejo 为 `warning`，GitHub 为 `error`，GitLab 为 `skipped`）、failed 或 ignored。无论哪种，摘要都会注明这些文件。",
  "What the ignore file may hide: everything but security-relevant paths (CI workflows, container files, dependency manifests, build scripts, the rules of reviews themselves), all paths, or none. Whatever it hides is named in the coverage with the rule.":
    "忽略文件可以隐藏什么：除安全相关路径（CI 工作流、容器文件、依赖清单、构建脚本、评审规则本身）以外的一切、所有路径，或什么都不隐藏。被隐藏的内容会连同规则在覆盖范围中注明。",
  "What this channel does when no problem was found. Default: outputs.no_problems.":
    "没有发现问题时此渠道的处理。默认：outputs.no_problems。",
  "What to review on schedule.": "按计划评审什么。",
  "What triage may do.": "分类可以做什么。",
  "When automatic commits are reviewed.": "何时评审自动提交。",
  "When pull requests are reviewed.": "何时评审拉取请求。",
  "When to run: five fields (minute, hour, day, month, weekday).": "何时运行：五个字段（分、时、日、月、星期）。",
  "Where members come from.": "成员的来源。",
  "Whether QEMU emulates the processor instead of using /dev/kvm. About ten times slower.":
    "QEMU 是否模拟处理器而不使用 /dev/kvm。约慢十倍。",
  "Whether a later review of the same target updates its summary.": "同一目标的后续评审是否更新其摘要。",
  "Whether agent CLIs run without any sandbox where bubblewrap is missing. They can then read every file and reach every network that the service can.":
    "缺少 bubblewrap 时，代理 CLI 是否在没有沙箱的情况下运行。此时它们可以读取服务能读取的所有文件，访问服务能访问的所有网络。",
  "Whether the workspace's key opens anything.": "工作区的密钥是否有效。",
  "Which channels receive notices to operators.": "哪些渠道接收给运维人员的通知。",
  "Which channels receive what.": "哪些渠道接收什么。",
  "Which stages may use the model.": "哪些阶段可以使用该模型。",
  "Who dismisses a problem for good, by resolving its comment or with a thumbs-down. maintainers: who may write to the repository and did not open the change.":
    "谁可以通过解决评论或点踩来永久忽略一个问题。maintainers：可以写入仓库且不是变更发起者的人。",
  "Whom to mention when no author was found.": "没有找到作者时提及谁。",
  "Whose changes may have it read. `members`: pull requests of authors who may write to their repository, as the host says; `any_author`: all. What a review read may be quoted on the pull request.":
    "谁的变更可以读取它。`members`：主机认定可写入其仓库的作者的拉取请求；`any_author`：所有人。评审读取的内容可能在拉取请求中被引用。",
  "`auto` and `review`: problems as comments at their lines, in one review. `comment`: all of them in the summary comment, none at a line.":
    "`auto` 和 `review`：在一次评审中将问题作为所在行的评论。`comment`：所有问题都在摘要评论中，不写行评论。"
}
