/**
 * Texts of the service in Chinese: reasons, rules, notices and errors that it records in English. `{name}` is a value, which is translated too
 * if it is such a text; `{name:group}` is a value with a text of that group, such as a status. What a host, a model or a person wrote has no row and stays.
 * A test holds the table to the sources of the service.
 */
type Row = readonly [english: string, chinese: string]

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

export const serviceTexts: ReadonlyArray<Row> = [...outcomes, ...publications, ...chat, ...origins]
