/** The fixed words of our comments, in the languages we have; the model writes the rest in `review.output_language`. */
import { unreadPaths } from "../domain/Coverage.ts"
import type { SkipReason } from "../domain/Coverage.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { PublishInput } from "./Channel.ts"

export interface Labels {
  readonly title: string
  readonly severity: Readonly<Record<Severity, string>>
  readonly skip: Readonly<Record<typeof SkipReason.Type, string>>
  readonly found: (count: number) => string
  readonly atLines: string
  readonly clean: string
  /** In place of `clean` where added text was not read. */
  readonly cleanAsRead: string
  readonly skipped: string
  readonly listed: string
  readonly refused: string
  readonly hidden: (count: number) => string
  readonly coverage: (files: number, lines: number, skipped: number) => string
  readonly read: string
  readonly leftOut: string
  readonly more: (count: number) => string
  readonly notices: string
  readonly severityHead: string
  readonly countHead: string
  readonly model: string
  readonly commit: string
  readonly details: string
  readonly tokens: (count: string) => string
  readonly cut: string
  readonly resolvedBy: (commit: string) => string
  readonly resolvedTitle: string
  readonly lifted: (commit: string) => string
  readonly problemsOf: (target: string) => string
  /** What became of problems since the review before. */
  readonly since: {
    readonly title: string
    readonly fresh: string
    readonly open: string
    readonly resolved: string
    readonly outdated: string
    readonly dismissed: string
    /** Dismissed by people who may not (review.dismissal). */
    readonly ignored: string
    readonly more: (count: number) => string
  }
  readonly triageClosed: (category: string) => string
  readonly triageKept: (category: string) => string
  readonly triageReopen: string
}

const english: Labels = {
  title: "Code review",
  severity: { critical: "Critical", high: "High", medium: "Medium", low: "Low", info: "Info" },
  skip: {
    not_watched: "outside the watched paths",
    excluded: "excluded by configuration",
    ignored: "ignored by the repository",
    generated: "generated",
    binary: "binary",
    unreadable: "not text in a known encoding",
    max_files: "over the limit of files",
    too_large: "over the limit of bytes",
    budget: "over the budget",
    compressed: "compressed: only its riskiest parts were read",
    long_lines: "a line is longer than is read of a line",
    failed: "the pass that was to read it failed",
    submodule: "submodule",
    unchanged: "unchanged since the last review"
  },
  found: (count) => `${count} ${count === 1 ? "problem" : "problems"} found`,
  atLines: "Comments are at their lines.",
  clean: "No problems found.",
  cleanAsRead: "No problems found in what was read; parts of the change were not read.",
  skipped: "Not reviewed",
  listed: "Problems without a line comment",
  refused: "The host takes no comment at these lines",
  hidden: (count) => `${count} below the severity that this channel publishes.`,
  coverage: (files, lines, skipped) =>
    `Coverage: ${files} ${files === 1 ? "file" : "files"} and ${lines} changed lines read${skipped === 0 ? "" : `, ${skipped} skipped`}`,
  read: "Read",
  leftOut: "Not read",
  more: (count) => `and ${count} more`,
  notices: "Notes",
  severityHead: "Severity",
  countHead: "Problems",
  model: "Model",
  commit: "commit",
  details: "details of the run",
  tokens: (count) => `${count} tokens`,
  cut: "_Cut: the host allows no longer text._",
  resolvedBy: (commit) => `Resolved: the review of ${commit} no longer finds it.`,
  resolvedTitle: "[Resolved]",
  lifted: (commit) => `The review of ${commit} found no problems.`,
  problemsOf: (target) => `Problems in ${target}`,
  since: {
    title: "Since the last review:",
    fresh: "new",
    open: "still open",
    resolved: "resolved",
    outdated: "outdated",
    dismissed: "dismissed",
    ignored: "dismissed without permission",
    more: (count) => `and ${count} more`
  },
  triageClosed: (category) => `Closed as ${category}.`,
  triageKept: (category) => `Looked at: ${category}.`,
  triageReopen: "_Closed automatically. Reopen the issue if this is wrong._"
}

const chinese: Labels = {
  title: "代码评审",
  severity: { critical: "严重", high: "高", medium: "中", low: "低", info: "提示" },
  skip: {
    not_watched: "不在监视路径内",
    excluded: "被配置排除",
    ignored: "被仓库忽略",
    generated: "生成的文件",
    binary: "二进制文件",
    unreadable: "不是已知编码的文本",
    max_files: "超出文件数上限",
    too_large: "超出文件大小上限",
    budget: "超出预算",
    compressed: "已压缩：只读取风险最高的部分",
    long_lines: "有一行超出单行读取长度",
    failed: "读取它的那一轮失败",
    submodule: "子模块",
    unchanged: "自上次评审以来没有变化"
  },
  found: (count) => `发现 ${count} 个问题`,
  atLines: "评论位于对应的代码行。",
  clean: "没有发现问题。",
  cleanAsRead: "已读部分没有发现问题；部分改动未被读取。",
  skipped: "未评审",
  listed: "没有行评论的问题",
  refused: "平台不接受这些行上的评论",
  hidden: (count) => `另有 ${count} 个问题低于此渠道发布的级别。`,
  coverage: (files, lines, skipped) =>
    `覆盖范围：已读 ${files} 个文件、${lines} 行改动${skipped === 0 ? "" : `，略过 ${skipped} 个文件`}`,
  read: "已读",
  leftOut: "略过",
  more: (count) => `以及另外 ${count} 个`,
  notices: "说明",
  severityHead: "级别",
  countHead: "问题数",
  model: "模型",
  commit: "提交",
  details: "运行详情",
  tokens: (count) => `${count} 个 token`,
  cut: "_已截断：平台不允许更长的文本。_",
  resolvedBy: (commit) => `已解决：对 ${commit} 的评审不再发现此问题。`,
  resolvedTitle: "[已解决]",
  lifted: (commit) => `对 ${commit} 的评审没有发现问题。`,
  problemsOf: (target) => `${target} 中的问题`,
  since: {
    title: "自上次评审以来：",
    fresh: "新增",
    open: "仍未解决",
    resolved: "已解决",
    outdated: "已过时",
    dismissed: "已忽略",
    ignored: "无权限者忽略",
    more: (count) => `以及另外 ${count} 个`
  },
  triageClosed: (category) => `已关闭：${category}。`,
  triageKept: (category) => `已查看：${category}。`,
  triageReopen: "_自动关闭。如有误判，请重新打开此问题。_"
}

/** By language tag; English where we have no words of our own. */
export const labelsFor = (language: string): Labels => (/^zh\b/i.test(language) ? chinese : english)

/** Those of a review: nothing is called clean where added text was not read, unless the configuration lets that pass. */
export const reviewLabels = ({ analysis, workspace }: PublishInput): Labels => {
  const labels = labelsFor(workspace.review.output_language)
  const isClean = workspace.review.unread === "ignore" || unreadPaths(analysis.coverage).length === 0
  return isClean ? labels : { ...labels, clean: labels.cleanAsRead }
}
