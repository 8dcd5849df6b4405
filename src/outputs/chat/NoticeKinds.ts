/**
 * Table of the kinds of notices: severity, key and text. Texts of outsiders are sanitised with the grammar of the platform. Pure.
 */
import { createHash } from "node:crypto"
import type { Severity } from "../../domain/Kinds.ts"
import type { NoticeFactsBy, NoticeFacts, NoticeKind } from "../../domain/Notice.ts"
import { truncate } from "../../domain/Text.ts"
import { inEnglish } from "../../text/en.ts"
import { inChinese } from "../../text/zh.ts"
import { deliveryUrl, publicUrl } from "../../domain/RunLink.ts"
import { safeUrl } from "../text/Links.ts"
import type { SafeText } from "../SafeText.ts"
import { isChinese } from "../../text/InLanguage.ts"

/** Longest reason in a notice. */
const maxReason = 300
/** Longest problem of one of several webhooks. */
const maxProblem = 150

/** Labels in front of values. */
type Label = keyof (typeof words)["en"]["labels"]
type Line = readonly [Label, string]

interface NoticeRow<Facts> {
  readonly severity: (facts: Facts) => Severity
  /** A notice with the same key is sent once to a channel. */
  readonly key: (facts: Facts) => string
  /** Text after the heading: what the notice is about. */
  readonly subject: (facts: Facts) => string
  readonly lines: (facts: Facts, safe: SafeText, language: NoticeLanguage) => ReadonlyArray<Line>
  /** Returns the URL of the page of the dashboard about it; undefined if the service has no public address. */
  readonly page: (facts: Facts, server: Parameters<typeof publicUrl>[0]) => string | undefined
}

const words = {
  en: {
    headings: {
      queue_expired: "Not reviewed",
      review_failed: "Review failed",
      budget_threshold: "Budget",
      config_refused: "Configuration refused",
      webhook_silent: "No webhooks",
      webhook_broken: "Webhooks broken",
      found_without_delivery: "Changes without a delivery",
      repository_renamed: "Repository renamed",
      credential_refused: "Credential refused",
      rule_muted: "Rule muted"
    },
    labels: {
      author: "Author",
      before: "Configured as",
      change: "Change",
      current: "In force",
      dashboard: "Dashboard",
      details: "Details",
      errors: "Errors",
      event: "Event",
      gap: "Between",
      last: "Last delivery",
      next: "Next step",
      node: "Node",
      owner: "Owner",
      reason: "Reason",
      repository: "Repository",
      rule: "Rule",
      run: "Run",
      source: "Source",
      spent: "Spent",
      team: "Team",
      trigger: "Trigger",
      workspace: "Workspace"
    },
    show: inEnglish,
    waited: (hours: number) => `it waited longer than ${hours} ${hours === 1 ? "hour" : "hours"} (queued_timeout)`,
    more: (events: number) => ` and ${events - 1} more`,
    request: "Request a review to try again",
    spent: (spent: string, cap: string, day: string) => `${spent} of ${cap} USD on ${day} (UTC)`,
    exhausted: "Model calls over the limit are refused until the day ends",
    file: (name: string) => `file ${name}`,
    revision: (name: string) => `revision ${name} of the database`,
    line: (errors: number, line: number | undefined) =>
      line === undefined ? `${errors}` : `${errors}, the first at line ${line}`,
    kept: "the configuration before it",
    check: "Run aicr config check, or read the log of the node",
    silent: (hours: number) => `No delivery for ${hours} hours`,
    missed: (found: number, skipped: number) =>
      `Found ${found} ${found === 1 ? "change" : "changes"} that no delivery reported${skipped > 0 ? `; ${skipped} more are too old or too many, and are not reviewed` : ""}`,
    broken: (count: number) =>
      count === 1 ? "1 webhook is missing or broken" : `${count} webhooks are missing or broken`,
    fix: "Repair them, or set inventory.hooks to repair or create; aicr setup prints what each needs",
    hooks: "Check the webhook, or the hook of the server, and what failed at that time",
    open: "open",
    settings: "Check the webhook and its recent deliveries in the settings of the host",
    rename: "Correct the name in the workspace; until then no change of it is reviewed",
    renew: "Renew the credential: reviews and what they publish wait for up to 24 hours",
    tooFew: (accepted: number, judged: number, floor: number) =>
      `${accepted} of ${judged} findings were repaired, below its floor of ${Math.round(floor * 100)} %: reviews do not use it any more`,
    rewrite: "Correct or remove the rule; a changed file counts from the beginning"
  },
  zh: {
    headings: {
      queue_expired: "未评审",
      review_failed: "评审失败",
      budget_threshold: "预算",
      config_refused: "配置被拒绝",
      webhook_silent: "没有收到 Webhook",
      webhook_broken: "Webhook 有问题",
      found_without_delivery: "没有投递的变更",
      repository_renamed: "仓库已改名",
      credential_refused: "凭据被拒绝",
      rule_muted: "规则已静默"
    },
    labels: {
      author: "作者",
      before: "配置中的名称",
      change: "变更",
      current: "生效中",
      dashboard: "控制台",
      details: "详情",
      errors: "错误",
      event: "事件",
      gap: "期间",
      last: "最近一次投递",
      next: "下一步",
      node: "节点",
      owner: "负责人",
      reason: "原因",
      repository: "仓库",
      rule: "规则",
      run: "评审",
      source: "来源",
      spent: "已花费",
      team: "团队",
      trigger: "触发器",
      workspace: "工作区"
    },
    show: inChinese,
    waited: (hours: number) => `等待超过 ${hours} 小时（queued_timeout）`,
    more: (events: number) => ` 等 ${events} 个`,
    request: "如仍需要，请重新请求评审",
    spent: (spent: string, cap: string, day: string) => `${day}（UTC）${spent} / ${cap} USD`,
    exhausted: "超出限额的模型调用在当天结束前会被拒绝",
    file: (name: string) => `文件 ${name}`,
    revision: (name: string) => `数据库修订 ${name}`,
    line: (errors: number, line: number | undefined) =>
      line === undefined ? `${errors}` : `${errors}，第一个在第 ${line} 行`,
    kept: "之前的配置",
    check: "运行 aicr config check，或查看节点日志",
    silent: (hours: number) => `${hours} 小时没有投递`,
    missed: (found: number, skipped: number) =>
      `找到 ${found} 个没有投递的变更${skipped > 0 ? `；另有 ${skipped} 个过旧或过多，不评审` : ""}`,
    broken: (count: number) => `${count} 个 Webhook 缺失或有问题`,
    fix: "请修复它们，或将 inventory.hooks 设为 repair 或 create；aicr setup 会列出每个 Webhook 所需的内容",
    hooks: "请检查 Webhook 或服务器的钩子，以及当时的故障",
    open: "打开",
    settings: "请在代码托管平台的设置中检查 Webhook 及其最近的投递",
    rename: "请在工作区中更正名称；在此之前不会评审其变更",
    renew: "请更新凭据：评审及其发布最多等待 24 小时",
    tooFew: (accepted: number, judged: number, floor: number) =>
      `${judged} 个问题中有 ${accepted} 个被修复，低于其下限 ${Math.round(floor * 100)} %：评审不再使用该规则`,
    rewrite: "请更正或删除该规则；文件更改后重新计数"
  }
} as const

type NoticeLanguage = keyof typeof words

export const toLanguage = (outputLanguage: string): NoticeLanguage => (isChinese(outputLanguage) ? "zh" : "en")

type Subject = NoticeFactsBy<"queue_expired"> | NoticeFactsBy<"review_failed">

/** Describes the change by its number or branch and its commit, with a link. */
const describeChange = ({ branch, head, number, url }: Subject, safe: SafeText): string => {
  const name = number === undefined ? branch : `#${number}`
  const text = safe.plain([name, head?.slice(0, 12)].filter((part) => part !== undefined).join(" @ "))
  const address = safeUrl(url)
  return address === undefined || text === "" ? text : safe.link(text, address)
}

const changeLines = (facts: Subject, safe: SafeText): ReadonlyArray<Line> => [
  ["repository", safe.plain(facts.repository)],
  ["change", describeChange(facts, safe)],
  ["author", safe.plain(facts.author ?? "")]
]

const eventLine = ({ eventId, events }: Subject, safe: SafeText, language: NoticeLanguage): Line => [
  "event",
  `${safe.codeSpan(eventId)}${events > 1 ? words[language].more(events) : ""}`
]

const runLine = ({ runId, runUrl }: NoticeFactsBy<"review_failed">, safe: SafeText): Line => {
  const address = safeUrl(runUrl)
  if (runId === undefined) return ["run", ""]
  return ["run", address === undefined ? safe.codeSpan(runId) : safe.link(safe.plain(runId), address)]
}

const minute = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`

/** Names the first webhooks with what is wrong with each. */
const describeHooks = (
  hooks: NoticeFactsBy<"webhook_broken">["hooks"],
  count: number,
  safe: SafeText,
  language: NoticeLanguage
): string => {
  const { show } = words[language]
  const named = hooks.map(({ name, problem }) => safe.plain(`${name} (${truncate(show(problem), maxProblem)})`))
  return [...named, ...(count > hooks.length ? ["…"] : [])].join("; ")
}

const budgetSeverity = (percent: number): Severity =>
  percent >= 100 ? "high" : percent >= 90 ? "medium" : percent >= 75 ? "low" : "info"

const noticeTable: { readonly [Kind in NoticeKind]: NoticeRow<NoticeFactsBy<Kind>> } = {
  queue_expired: {
    severity: () => "medium",
    key: ({ eventId }) => eventId,
    subject: ({ repository }) => repository,
    lines: (facts, safe, language) => [
      ...changeLines(facts, safe),
      ["reason", words[language].waited(facts.hours)],
      eventLine(facts, safe, language),
      ["next", words[language].request]
    ],
    page: ({ eventId }, server) => deliveryUrl(server, eventId)
  },
  review_failed: {
    severity: () => "high",
    key: ({ eventId }) => eventId,
    subject: ({ repository }) => repository,
    lines: (facts, safe, language) => [
      ...changeLines(facts, safe),
      ["reason", safe.plain(truncate(words[language].show(facts.reason), maxReason))],
      runLine(facts, safe),
      eventLine(facts, safe, language)
    ],
    // The id of its run is a link already.
    page: ({ eventId, runUrl }, server) => (runUrl === undefined ? deliveryUrl(server, eventId) : undefined)
  },
  budget_threshold: {
    severity: ({ percent }) => budgetSeverity(percent),
    key: ({ day, name, percent, scope }) => `${day}:${percent}:${scope}:${name}`,
    subject: ({ name, percent }) => `${percent} % · ${name}`,
    lines: ({ capUsd, day, name, percent, scope, spentUsd }, safe, language) => [
      [scope, safe.plain(name)],
      ["spent", words[language].spent(spentUsd.toFixed(2), capUsd.toFixed(2), day)],
      ["next", percent >= 100 ? words[language].exhausted : ""]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/")
  },
  config_refused: {
    severity: () => "high",
    key: ({ digest, source }) => `${source}:${digest}`,
    subject: ({ source }) => source,
    lines: ({ errors, line, name, node, source }, safe, language) => [
      ["source", safe.plain(words[language][source](name))],
      ["errors", words[language].line(errors, line)],
      ["node", safe.plain(node)],
      ["current", words[language].kept],
      ["next", words[language].check]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/configuration?tab=revisions")
  },
  webhook_silent: {
    severity: () => "medium",
    key: ({ lastAt, trigger }) => `${lastAt}:${trigger}`,
    subject: ({ trigger }) => trigger,
    lines: ({ hours, lastAt, trigger }, safe, language) => [
      ["trigger", safe.plain(trigger)],
      ["reason", words[language].silent(hours)],
      ["last", minute(lastAt)],
      ["next", words[language].settings]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/setup")
  },
  webhook_broken: {
    severity: () => "high",
    key: ({ since, trigger }) => `${since}:${trigger}`,
    subject: ({ trigger }) => trigger,
    lines: ({ count, hooks, trigger }, safe, language) => [
      ["trigger", safe.plain(trigger)],
      ["reason", words[language].broken(count)],
      ["details", describeHooks(hooks, count, safe, language)],
      ["next", words[language].fix]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/setup")
  },
  found_without_delivery: {
    severity: () => "medium",
    key: ({ foundAt, trigger }) => `${foundAt}:${trigger}`,
    subject: ({ trigger }) => trigger,
    lines: ({ found, foundAt, occasion, skipped, since, trigger }, safe, language) => [
      ["trigger", safe.plain(trigger)],
      ["reason", words[language].missed(found, skipped)],
      ["gap", since === undefined ? "" : `${minute(since)} – ${minute(foundAt)}`],
      ["source", occasion === undefined ? "" : words[language].show({ _tag: "FoundBySearch", occasion })],
      ["next", words[language].hooks]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/setup")
  },
  repository_renamed: {
    severity: () => "medium",
    key: ({ before, repository, trigger }) => `${trigger}:${before}:${repository}`,
    subject: ({ repository }) => repository,
    lines: ({ before, repository, trigger }, safe, language) => [
      ["repository", safe.plain(repository)],
      ["before", safe.plain(before)],
      ["trigger", safe.plain(trigger)],
      ["next", words[language].rename]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/configuration")
  },
  credential_refused: {
    severity: () => "high",
    key: ({ day, trigger }) => `${day}:${trigger}`,
    subject: ({ trigger }) => trigger,
    lines: ({ reason, trigger }, safe, language) => [
      ["trigger", safe.plain(trigger)],
      ["reason", safe.plain(truncate(words[language].show(reason), maxReason))],
      ["next", words[language].renew]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/setup")
  },
  rule_muted: {
    severity: () => "low",
    key: ({ digest, repository, rule }) => `${repository}:${rule}:${digest}`,
    subject: ({ repository, rule }) => `${rule} · ${repository}`,
    lines: ({ accepted, floor, judged, owner, repository, rule }, safe, language) => [
      ["rule", safe.plain(rule)],
      ["owner", owner === undefined ? "" : safe.plain(owner)],
      ["repository", safe.plain(repository)],
      ["reason", words[language].tooFew(accepted, judged, floor)],
      ["next", words[language].rewrite]
    ],
    page: (_facts, server) => publicUrl(server, "/dashboard/rules")
  }
}

/** The compiler does not see that the row of a tag takes the facts of this tag. */
const rowOf = (facts: NoticeFacts): NoticeRow<NoticeFacts> =>
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  noticeTable[facts._tag] as unknown as NoticeRow<NoticeFacts>

/** Maximum length of a stored key; a longer one is hashed. */
const maxKey = 300

export const noticeKey = (facts: NoticeFacts): string => {
  const key = `${facts._tag}:${rowOf(facts).key(facts)}`
  return key.length <= maxKey ? key : `${facts._tag}:${createHash("sha256").update(key).digest("hex")}`
}

export const noticeSeverity = (facts: NoticeFacts): Severity => rowOf(facts).severity(facts)

/** Returns the title, which is not sanitised yet, and the body in the platform's markup. Lines without a value are omitted. */
export const renderNotice = (
  facts: NoticeFacts,
  safe: SafeText,
  language: NoticeLanguage,
  server: Parameters<typeof publicUrl>[0]
) => {
  const { headings, labels, open } = words[language]
  const row = rowOf(facts)
  const page = safeUrl(row.page(facts, server))
  const link = ["dashboard", page === undefined ? "" : safe.link(open, page)] as const
  const lines = [...row.lines(facts, safe, language), link].filter(([, value]) => value !== "")
  return {
    title: `${headings[facts._tag]} · ${row.subject(facts)}`,
    body: lines.map(([label, value]) => `${labels[label]}: ${value}`).join("\n")
  }
}
