/**
 * Translates what the checks of the configuration report into Chinese: errors and warnings about fields and documents. They are loaded with the pages that edit it.
 * A test holds the table to the sources of the service.
 */
type Row = readonly [english: string, chinese: string]

/** Expected and current values. */
const values: ReadonlyArray<Row> = [
  ["missing; expected {what}", "缺少；应为 {what}"],
  ["expected {what}, found {found}", "应为 {what}，实际为 {found}"],
  ["a value that the schema knows", "模式中已有的值"],
  ["text that is empty or too long", "空的或过长的文本"],
  ["{count} entries", "{count} 项"],
  ["a list", "列表"],
  ["a map", "映射"],
  ["nothing", "无"],
  ["the number {number}", "数字 {number}"],
  ["a value of another kind", "其他类型的值"],
  ["text that is not; write {text}", "不符合的文本；请写 {text}"],
  ['the text "{text}" (without quotes it is a number)', "文本“{text}”（去掉引号即为数字）"],
  ['the text "{text}"', "文本“{text}”"],
  [
    "a sealed value cannot be entered; enter the credential itself, which is sealed when it is stored",
    "不能填写已加密的值；请填写凭据本身，存储时会加密"
  ],
  ["a server address such as host:1666 or ssl:host:1666", "服务器地址，例如 host:1666 或 ssl:host:1666"],
  ["empty text", "空文本"],
  ["other text", "其他文本"],
  ["text of 1 to 4096 characters", "1 至 4096 个字符的文本"],
  ["true or false", "true 或 false"],
  ["a whole number", "整数"],
  ["a whole number of at most {maximum}", "不大于 {maximum} 的整数"],
  ["a whole number above 0", "大于 0 的整数"],
  ["a whole number of at least {minimum}", "不小于 {minimum} 的整数"],
  ["a whole number from {minimum} to {maximum}", "{minimum} 至 {maximum} 的整数"],
  ["a number of at least {minimum}", "不小于 {minimum} 的数字"],
  ["a number from {minimum} to {maximum}", "{minimum} 至 {maximum} 的数字"],
  ["a number above 0", "大于 0 的数字"],
  ["a number of at least 0", "不小于 0 的数字"],
  ["a secret as text that is not blank", "非空白的机密文本"],
  [
    "the name of an environment variable (letters, digits, underscores), not its value",
    "环境变量的名称（字母、数字、下划线），而不是其值"
  ],
  ["an http:// or https:// URL without credentials", "不含凭据的 http:// 或 https:// 地址"],
  ["an IANA time zone such as Europe/Berlin", "IANA 时区，例如 Europe/Berlin"],
  ["a list of {minimum} to {maximum} entries", "含 {minimum} 至 {maximum} 项的列表"],
  ["a list of at least {minimum} entries", "至少含 {minimum} 项的列表"],
  ["a list of at least {minimum} entry", "至少含 {minimum} 项的列表"],
  ["{list} without repetitions", "{list}，不得重复"],
  ["whole number", "整数"],
  ["any value", "任意值"],
  ["a map with {fields}", "含 {fields} 的映射"],
  ["one of {values}", "{values} 之一"],
  ["text of 1 to 4096 characters, or {other}", "1 至 4096 个字符的文本，或 {other}"],
  ["a URL template with {{variables}}", "含 {{variables}} 的地址模板"],
  ["{text}; did you mean {name}?", "{text}；您是指 {name} 吗？"],
  [
    "{name} does not exist in {place}; did you mean {other}?; there are {names}",
    "{place} 中没有 {name}；您是指 {other} 吗？现有 {names}"
  ],
  ["{name} does not exist in {place}; did you mean {other}?", "{place} 中没有 {name}；您是指 {other} 吗？"],
  ["{name} does not exist in {place}; there are {names}", "{place} 中没有 {name}；现有 {names}"],
  ["{name} does not exist in {place}; {other} has none", "{place} 中没有 {name}；{other} 为空"],
  ["{name} does not exist in {place}", "{place} 中没有 {name}"],
  ["{name} is already used by {place}; choose another {key}", "{name} 已被 {place} 使用；请选择其他 {key}"],
  ["a cron expression of five fields such as `0 3 * * 1-5`", "含五个字段的 cron 表达式，例如 `0 3 * * 1-5`"],
  [
    'a path glob of 1 to {maximum} characters, relative, without ".." segments, whose braces expand to at most {count} patterns',
    "1 至 {maximum} 个字符的相对路径 glob，不含“..”段，其花括号最多展开为 {count} 个模式"
  ],
  [
    "a regular expression in RE2 syntax (no backreferences, no lookaround) of at most {maximum} characters",
    "RE2 语法的正则表达式（无反向引用，无环视），最多 {maximum} 个字符"
  ],
  [
    "a glob of 1 to {maximum} characters where * is any text and ? one character",
    "1 至 {maximum} 个字符的 glob，* 为任意文本，? 为一个字符"
  ],
  ["text to be equal to", "要与之相等的文本"],
  ["exactly one of exact, glob and regex", "exact、glob 和 regex 恰好一个"],
  ["exactly one of glob and regex", "glob 和 regex 恰好一个"],
  [
    "loopback, linklocal, uniquelocal, an IP address or a CIDR range",
    "loopback、linklocal、uniquelocal、IP 地址或 CIDR 范围"
  ]
]

/** Fields that do not fit each other. */
const fields: ReadonlyArray<Row> = [
  ["missing; {who} needs it", "缺少；{who} 需要它"],
  ["{field} {value} cannot use this field; only {usable} can", "{field} {value} 不能使用此字段；只有 {usable} 可以"],
  [
    "{field} {value} cannot use this field; these can: {usable}",
    "{field} {value} 不能使用此字段；可以使用的有：{usable}"
  ],
  ["set together with {field}; keep one of them", "与 {field} 同时设置；请保留其中一个"],
  ["wins over {field}, which is not used", "优先于 {field}，后者不被使用"],
  ["reserved: accepted and without effect; {reason}", "保留字段：接受但无效；{reason}"],
  ["{value} is accepted and not implemented; {reason}", "{value} 被接受但未实现；{reason}"],
  ["needs exactly one of {fields}", "{fields} 需要恰好一个"],
  ["without effect in this build: {reason}", "在此版本中无效：{reason}"],
  ["reports go to the routes of the workspace, the only policy", "报告发送到工作区的路由，这是唯一的策略"],
  ["names a file or a folder of the nodes", "指向节点上的文件或目录"],
  ["selects what the nodes execute", "决定节点执行什么"],
  ["names a credential of the nodes", "指向节点的凭据"],
  ["storage.database.kind postgres", "storage.database.kind 为 postgres"],
  ["{field} redis", "{field} 为 redis"],
  ["{who} (endpoint_url_env or region_env)", "{who}（endpoint_url_env 或 region_env）"],
  ["storage.object.kind s3", "storage.object.kind 为 s3"],
  [
    "redis requires storage.cache.kind redis and storage.cache.redis.url_env",
    "redis 需要 storage.cache.kind 为 redis 并设置 storage.cache.redis.url_env"
  ],
  [
    "nats without a connection falls back to memory; set SVC_NATS_URL",
    "没有连接的 nats 会回退到内存；请设置 SVC_NATS_URL"
  ],
  ["expected sha256: followed by 64 hexadecimal digits", "应为 sha256: 加 64 位十六进制数字"],
  [
    "SVC_NATS_URL is set, so nodes work together: {kind} keeps records where only one node sees them; use postgres",
    "已设置 SVC_NATS_URL，多个节点协同工作：{kind} 的记录只有一个节点可见；请使用 postgres"
  ],
  [
    "SVC_NATS_URL is set, so nodes work together: {kind} keeps the queue where only one node sees it; use redis or nats",
    "已设置 SVC_NATS_URL，多个节点协同工作：{kind} 的队列只有一个节点可见；请使用 redis 或 nats"
  ],
  [
    "SVC_NATS_URL is set, so nodes work together: mount the same storage at {path} on every node, or use s3",
    "已设置 SVC_NATS_URL，多个节点协同工作：请在每个节点的 {path} 挂载同一存储，或使用 s3"
  ],
  [
    'no group is named "default"; name one so, or set llm.default_model_chain to one that exists',
    "没有名为“default”的模型组；请命名一个，或将 llm.default_model_chain 设为已有的模型组"
  ],
  [
    "missing; workspace {name} uses agent mode native-llm, which calls the models of a group; add llm.providers and llm.model_chain.default",
    "缺少；工作区 {name} 使用 native-llm，它调用模型组中的模型；请添加 llm.providers 和 llm.model_chain.default"
  ],
  [
    "the group {name} has a provider with subscription: true, which only the agent of its maker may use; name the group in agent.auth, and another group here",
    "模型组 {name} 含有 subscription: true 的提供商，只有其厂商的代理可以使用；请在 agent.auth 中写明该组，并在此处使用其他组"
  ],
  [
    "{mode} may not use the subscription of the provider {id}, which belongs to the agent of another maker; name a group without it",
    "{mode} 不能使用提供商 {id} 的订阅，它属于另一厂商的代理；请写明不含它的模型组"
  ],
  ["base_ms ({base}) is above max_ms ({maximum})", "base_ms（{base}）大于 max_ms（{maximum}）"]
]

/** Channels, chat platforms, triggers and workspaces. */
const entities: ReadonlyArray<Row> = [
  [
    "is of another host than trigger {name}, whose credential is not sent there; set token_env of the channel, or drop base_url",
    "与触发器 {name} 不属于同一主机，其凭据不会发送到那里；请设置渠道的 token_env，或去掉 base_url"
  ],
  [
    "all does not exist for kind wecom_app, whose messages cannot mention everyone; use skip",
    "wecom_app 类型没有 all，其消息不能提及所有人；请使用 skip"
  ],
  [
    "no change is of kind commit, so the rule matches nothing; commits that are pushed are of kind push",
    "没有 commit 类型的变更，因此规则不匹配任何内容；推送的提交为 push 类型"
  ],
  [
    "leaves out channel {name}, which {place} sends to; add it or set routes here too",
    "略去了 {place} 会发送到的渠道 {name}；请添加它，或在此也设置路由"
  ],
  [
    "channel {name} of kind {kind} cannot carry notices{rest}; use one of kind {kinds}",
    "类型为 {kind} 的渠道 {name} 不能发送通知{rest}；请使用 {kinds} 类型的渠道"
  ],
  [
    "notices of kind {kind} are about the service, not about a workspace; name it in outputs.notifications.routes",
    "{kind} 类型的通知关于服务而不是工作区；请在 outputs.notifications.routes 中指定"
  ],
  [
    "without effect on kind {kind}, whose links are made by commit_url_template; set that instead",
    "对 {kind} 类型无效，其链接由 commit_url_template 生成；请改设后者"
  ],
  [
    "without effect on kind p4_swarm, whose links are made by change_url_template; set that instead",
    "对 p4_swarm 类型无效，其链接由 change_url_template 生成；请改设后者"
  ],
  [
    "without effect on kind {kind}, whose links are made by {field}; set that instead",
    "对 {kind} 类型无效，其链接由 {field} 生成；请改设后者"
  ],
  [
    "feishu_api works with kind feishu_app only; kind {kind} needs source: file",
    "feishu_api 仅适用于 feishu_app 类型；{kind} 类型需要 source: file"
  ],
  ["{kind} works with triggers of kind {kinds}, not {other}", "{kind} 适用于 {kinds} 类型的触发器，而不是 {other}"],
  ["missing; kind {kind} needs webhook_url_env or webhook_url", "缺少；{kind} 类型需要 webhook_url_env 或 webhook_url"],
  ["missing; kind feishu_app needs app_id, or a connection", "缺少；feishu_app 类型需要 app_id 或 connection"],
  [
    "missing; kind feishu_app needs app_secret_env or app_secret, or a connection",
    "缺少；feishu_app 类型需要 app_secret_env 或 app_secret，或 connection"
  ],
  ["is of kind {kind}; {who} needs one of kind {kinds}", "类型为 {kind}；{who} 需要 {kinds} 类型"],
  ["delete works with kind gitea_problem_issue only", "delete 仅适用于 gitea_problem_issue 类型"],
  ["needs webhook_url_env or webhook_url", "需要 webhook_url_env 或 webhook_url"],
  ["kind recipients needs users, parties or tags", "recipients 类型需要 users、parties 或 tags"],
  ["not enabled, so the connection receives no messages; it only sends", "未启用，因此该连接不接收消息，只发送"],
  [
    "review needs records on disk; set storage.database.sqlite.path to a file, or remove review",
    "review 需要磁盘上的记录；请将 storage.database.sqlite.path 设为文件，或去掉 review"
  ],
  [
    "{type} matches no one, because a bot reads no member directory; add a connection of kind wecom_app of the same corporation",
    "{type} 不匹配任何人，因为机器人不读取成员目录；请添加同一企业的 wecom_app 类型的连接"
  ],
  ["missing; kind {kind} needs app_secret_env or app_secret", "缺少；{kind} 类型需要 app_secret_env 或 app_secret"],
  ["missing; a long connection needs it (or enable callback)", "缺少；长连接需要它（或启用 callback）"],
  [
    "missing; a long connection needs secret_env or secret (or enable callback)",
    "缺少；长连接需要 secret_env 或 secret（或启用 callback）"
  ],
  [
    "missing; an enabled callback of kind {kind} needs {first}_env or {second}",
    "缺少；{kind} 类型启用的回调需要 {first}_env 或 {second}"
  ],
  ["needs type (an exact principal) or kind (a scope)", "需要 type（确切的主体）或 kind（范围）"],
  ["{name} does not exist on a {kind} connection; use {other}", "{kind} 连接上没有 {name}；请使用 {other}"],
  ["{name} does not exist on a {kind} connection", "{kind} 连接上没有 {name}"],
  ["missing; an enabled binding needs a connection", "缺少；启用的绑定需要连接"],
  ["missing; an enabled binding needs at least one entry", "缺少；启用的绑定至少需要一项"],
  ["missing; name a workspace", "缺少；请指定工作区"],
  [
    "overlaps with {name}: both grant a person a command in a conversation; merge them, or disable one",
    "与 {name} 重叠：两者都授予某人在会话中使用某个命令；请合并，或停用其中一个"
  ],
  ["missing; kind p4_swarm needs user or user_env", "缺少；p4_swarm 类型需要 user 或 user_env"],
  [
    "missing; kind p4_swarm needs ticket_env, ticket, password_env or password",
    "缺少；p4_swarm 类型需要 ticket_env、ticket、password_env 或 password"
  ],
  [
    "p4_swarm publishes reviews of changelists, and no trigger is of kind perforce; add one, or remove the channel",
    "p4_swarm 发布变更列表的评审，但没有 perforce 类型的触发器；请添加一个，或去掉该渠道"
  ],
  [
    "missing; the triggers {names} are of several servers. Name the one whose changelists this Swarm server reviews",
    "缺少；触发器 {names} 属于多个服务器，请指定此 Swarm 服务器评审其变更列表的那一个"
  ],
  [
    "{name} needs base_url; without it nothing is read from the host or written to it",
    "{name} 需要 base_url；没有它就不会读取或写入主机"
  ],
  [
    "missing; {name} is sent to this host only. Set base_url to the web address of the {kind} server, e.g. https://git.example.com",
    "缺少；{name} 只发送到此主机。请将 base_url 设为 {kind} 服务器的网址，例如 https://git.example.com"
  ],
  [
    "no webhook secret: signatures are not checked, anyone can send webhooks; set webhook_secret_env",
    "没有 webhook 密钥：不检查签名，任何人都可以发送 webhook；请设置 webhook_secret_env"
  ],
  ["missing; set app_id or client_id", "缺少；请设置 app_id 或 client_id"],
  [
    "missing; set exactly one of private_key_env, private_key_path, private_key",
    "缺少；private_key_env、private_key_path、private_key 请恰好设置一个"
  ],
  ["the id names the workspace's directory and cannot: {reason}", "该 id 用作工作区目录的名称，但不可用：{reason}"],
  [
    "workspace {name} has repository {repository} of trigger {trigger} already, so its deliveries would be ambiguous; keep one, or set enabled: false on one",
    "工作区 {name} 已有触发器 {trigger} 的仓库 {repository}，其投递会有歧义；请保留一个，或将其中一个设为 enabled: false"
  ],
  [
    "expected a repository as the host names it, such as owner/name, found a URL{rest}",
    "应为主机所用的仓库名，例如 owner/name，实际为地址{rest}"
  ],
  ["missing; set source_repo or match", "缺少；请设置 source_repo 或 match"],
  ["requires match; a workspace of one repository has one path", "需要 match；只有一个仓库的工作区只有一个路径"],
  [
    "a rule without conditions matches everything; name triggers, or fields of the source",
    "没有条件的规则匹配一切；请指定触发器或来源的字段"
  ],
  [
    "trigger {name} is of kind {kind}; triage works with gitea and forgejo only",
    "触发器 {name} 的类型为 {kind}；议题分类仅适用于 gitea 和 forgejo"
  ],
  [
    "belongs to the global agent.sandbox; a workspace sets its own under `sandbox.kind`",
    "属于全局的 agent.sandbox；工作区在 `sandbox.kind` 下设置自己的"
  ],
  ["the window is empty; for a whole day write 00:00-24:00", "时段为空；全天请写 00:00-24:00"],
  ["a window cannot start at 24:00; write 00:00", "时段不能从 24:00 开始；请写 00:00"],
  ["without conditions it would exclude everything", "没有条件时会排除一切"],
  ["the key {key} is refused; choose another name", "不接受键 {key}；请选择其他名称"],
  ["{keys} are two spellings of the same field; keep one", "{keys} 是同一字段的两种写法；请保留一个"],
  ["a key here has 1 to 512 characters", "此处的键有 1 至 512 个字符"],
  [
    "{name} is a reserved word; choose another id (reserved: {names})",
    "{name} 是保留字；请选择其他 id（保留：{names}）"
  ],
  [
    "the key {key} is not allowed: expected {fields}, keys matching {pattern}",
    "不允许键 {key}：应为 {fields}，键匹配 {pattern}"
  ],
  [
    "expected the name of an environment variable, found what looks like a credential; put it into a variable and write the variable's name",
    "应为环境变量的名称，实际像是凭据；请将其放入变量，并填写变量名"
  ],
  ["holds nothing but white space", "只含空白"],
  ["named here", "在此指定"]
]

/** Templates of paths. */
const paths: ReadonlyArray<Row> = [
  ["invalid path in the fixed part of the template: {reason}", "模板固定部分中的路径无效：{reason}"],
  ["`}}` without `{{`", "有 `}}` 而没有 `{{`，请修正"],
  ["`{{` without `}}`", "有 `{{` 而没有 `}}`，请修正"],
  ["cannot read {text}", "无法读取 {text}"],
  ["more than 64 words in one pair of braces", "一对花括号中超过 64 个词"],
  ["nothing between the braces", "花括号之间为空"],
  ["unknown helper {name}; helpers are {names}", "未知的函数 {name}；可用的函数有 {names}"],
  ["{name} takes {count} values, not {found}", "{name} 需要 {count} 个值，而不是 {found} 个"],
  ["{name} takes {count} value, not {found}", "{name} 需要 {count} 个值，而不是 {found} 个"],
  ["`(` without `)`", "有 `(` 而没有 `)`，请修正"],
  ["a value is missing", "缺少值"],
  ["put {name} and its values in parentheses", "请将 {name} 及其值放入括号"],
  ["unknown value {name}; values are {names}", "未知的值 {name}；可用的值有 {names}"],
  ["`)` without `(`", "有 `)` 而没有 `(`，请修正"],
  ["the path is empty", "路径为空"],
  ["the path has more than 1024 bytes", "路径超过 1024 字节"],
  ["the path is absolute", "路径是绝对路径"],
  ['the path holds one of \\ : * ? " < > | or a control character', '路径含有 \\ : * ? " < > | 之一或控制字符'],
  ["the path is not well-formed Unicode", "路径不是有效的 Unicode"],
  ["the path has an empty segment", "路径有空的段"],
  ["the path has a . or .. segment", "路径有 . 或 .. 段"],
  ["a segment starts or ends with a space or ends with a dot", "有段以空格开头或结尾，或以点结尾"],
  ["a segment has more than 255 bytes", "有段超过 255 字节"],
  ["a segment is the name of a device", "有段是设备名"]
]

/** Errors of YAML. */
const yaml: ReadonlyArray<Row> = [
  [
    "the document has {bytes} bytes; at most {maximum} ({size} MiB) are read",
    "文档有 {bytes} 字节；最多读取 {maximum}（{size} MiB）"
  ],
  ["the document is nested too deeply", "文档嵌套过深"],
  ["duplicate key, first at line {line}; keep one", "重复的键，首次出现在第 {line} 行；请保留一个"],
  ["the document repeats aliases without bound", "文档无限重复别名"],
  ["an alias without an anchor before it", "别名之前没有锚点"],
  ["more than {count} aliases; write the value itself", "超过 {count} 个别名；请直接写值"],
  ["a key that is not text", "键不是文本"],
  ["an alias (*name) has no anchor or tag of its own; remove it", "别名（*name）没有自己的锚点或标签；请去掉"],
  [
    "an alias needs a name after the *; quote the text if it begins with *",
    "别名的 * 之后需要名称；以 * 开头的文本请加引号"
  ],
  ["the tag does not fit the list or map after it; remove the tag", "标签与其后的列表或映射不符；请去掉标签"],
  ["a directive (%…) that YAML does not have; remove the line", "YAML 没有的指令（%…）；请去掉该行"],
  [
    "an escape that double quotes do not have; use single quotes, or write \\\\ for a backslash",
    "双引号不支持的转义；请使用单引号，或用 \\\\ 表示反斜杠"
  ],
  [
    "the indentation does not fit the lines above; begin it in the same column as its neighbours",
    "缩进与上面的行不符；请与相邻项在同一列开始"
  ],
  ["an anchor or tag is in the wrong place; write it right before its value", "锚点或标签位置错误；请写在其值之前"],
  ["a text cannot begin with this character; put it in quotes", "文本不能以此字符开头；请加引号"],
  [
    "a map within a line: there is a second `key:` in a value; put the value in quotes, or begin a new line",
    "一行中的映射：值中有第二个 `key:`；请给值加引号，或另起一行"
  ],
  [
    "a block list or map inside brackets; write it with brackets too, or close them before it",
    "括号内有块列表或映射；请也用括号书写，或在其之前闭合括号"
  ],
  ["the key is duplicate; keep one", "键重复；请保留一个"],
  ["this cannot be read; check the lines above it", "无法读取；请检查上面的行"],
  [
    "something is not closed or separated: a quote, a bracket, a comma, or the space after a colon",
    "有未闭合或未分隔的部分：引号、括号、逗号，或冒号后的空格"
  ],
  ["a key that goes over several lines; a `:` or a closing quote is missing", "键跨越多行；缺少 `:` 或右引号"],
  ["two anchors for one value; keep one", "一个值有两个锚点；请保留一个"],
  ["more than one document in the text; one is read", "文本中有多个文档；只读取一个"],
  ["two tags for one value; keep one", "一个值有两个标签；请保留一个"],
  ["a tab is used for indentation; use spaces", "使用了制表符缩进；请使用空格"],
  ["an unresolved tag (!…); tags are not used here, remove it", "无法解析的标签（!…）；此处不使用标签，请去掉"],
  [
    "this does not belong here; a quote, a bracket or a colon before it may be missing or too many",
    "此处不应有此内容；之前的引号、括号或冒号可能缺少或多余"
  ],
  [
    "a quote that begins here is not closed; close it, or escape quotes inside",
    "从此处开始的引号未闭合；请闭合，或转义其中的引号"
  ],
  ["a bracket that begins here is not closed; close it", "从此处开始的括号未闭合；请闭合"],
  ["a key without a value; write `key: value`", "键没有值；请写 `key: value`"],
  ["this cannot be read", "无法读取"],
  ["not valid YAML: {reason}; the line is: {line}", "不是有效的 YAML：{reason}；该行为：{line}"],
  ["not valid YAML: {reason}", "不是有效的 YAML：{reason}"]
]

export const configTexts: ReadonlyArray<Row> = [...values, ...fields, ...entities, ...paths, ...yaml]
