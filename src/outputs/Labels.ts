/** Fixed texts of published comments in the supported languages; the model writes the rest in `review.output_language`. */
import { isRefusedByBudget } from "../domain/Analysis.ts"
import { hasUnreadText, isMostlyRead } from "../domain/Coverage.ts"
import type { SkipReason } from "../domain/Coverage.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { FindingState } from "../domain/FindingState.ts"
import type { StatusState } from "../domain/Publication.ts"
import { findText, valueText } from "../text/Render.ts"
import type { LanguageTexts } from "../text/Render.ts"
import { en } from "../text/en.ts"
import { zh } from "../text/zh.ts"
import type { Change } from "../domain/Change.ts"
import type { PublishInput, RuledFinding } from "./channels/Channel.ts"
import { gfm } from "./SafeText.ts"
import { isChinese } from "../text/InLanguage.ts"

export interface Labels {
  readonly title: string
  readonly severity: Readonly<Record<Severity, string>>
  readonly category: (category: string) => string
  readonly skip: Readonly<Record<typeof SkipReason.Type, string>>
  readonly found: (count: number) => string
  /** Separates a count from its parts. */
  readonly colon: string
  /** A number of findings with their state. */
  readonly counted: (count: number, state: string) => string
  readonly states: Readonly<Record<FindingState, string>>
  /** State of an open finding whose file was not read in full. */
  readonly unread: string
  readonly round: (number: number) => string
  /** Title of the late problems that get no comment, with their counts. */
  readonly late: (counts: string) => string
  /** Title of the problems of folded kinds, with their counts. */
  readonly folded: (counts: string) => string
  /** State of a late problem that gets a comment. */
  readonly missed: (round: number) => string
  /** Title of the folded problems, with their counts. */
  readonly minor: (counts: string) => string
  /** Text above the comments of one review. */
  readonly atLines: string
  /** Text of a review without comments that requests changes. */
  readonly requested: string
  /** Title of the comments that the host refused at their lines. */
  readonly refused: string
  readonly clean: string
  /** Replaces `clean` where maintainers got problems that are published nowhere else. */
  readonly cleanOthers: string
  /** Names a problem as the statement of its verdict does: the digest of a text. */
  readonly inStatement: (digest: string, text: string) => string
  /** Explains to maintainers how to dismiss a problem that only they got. */
  readonly dismissPrivate: (command: string) => string
  /** Replaces `clean` where added text was not read. */
  readonly cleanAsRead: string
  /** Replaces `clean` where reports of the model could not be used. */
  readonly cleanAsReported: string
  /** Replaces `clean` where the budget refused the first model call. */
  readonly cleanUnread: string
  readonly skipped: string
  readonly hidden: (count: number) => string
  readonly coverage: (counts: CoverageCounts) => string
  readonly read: string
  readonly leftOut: string
  /** Heading of the pull requests of a merge group, and their states; `pending` without a review of their own. */
  readonly members: string
  readonly memberStates: Readonly<Record<StatusState, string>>
  /** Instructions of the base branch, and those that do not exist. */
  readonly instructions: string
  readonly notFound: string
  /** Settings of the repository, and those that its workspace does not permit. */
  readonly settings: string
  readonly notAllowed: string
  readonly noSettings: string
  readonly applied: (applied: number, found: number) => string
  /** Rule of the repository that a problem breaks. */
  readonly rule: (id: string) => string
  /** Changed lines of a file that were read. */
  readonly linesRead: (read: number, changed: number) => string
  readonly more: (count: number) => string
  readonly notices: string
  /** Title of what the model wrote, and the commit that it describes. */
  readonly described: (commit: string) => string
  /** Ways to dismiss a finding, by the host; undefined where there is none. */
  readonly dismissBy: Readonly<Partial<Record<Change["provider"], string>>>
  /** The same for findings without a comment. */
  readonly dismissByNumber: string
  readonly askBy: string
  /** The same where no finding has a comment. */
  readonly askAnywhere: string
  /** End of a direct message. */
  readonly stopDirect: string
  readonly reviewAgain: string
  readonly guide: string
  /** Title of the code that a finding is about. */
  readonly why: string
  /** Title of the reason of the model that checked a finding. */
  readonly checked: string
  /** Note about a finding that was refuted only with what the author writes. */
  readonly explained: string
  readonly forAgents: string
  readonly facts: {
    readonly size: (files: number, additions: number, deletions: number) => string
    readonly riskiest: string
    readonly tests: (files: number) => string
    readonly names: (names: string) => string
    readonly noNames: string
  }
  readonly model: string
  readonly commit: string
  readonly details: string
  readonly statement: string
  readonly tokens: (count: string) => string
  readonly cut: string
  readonly resolvedBy: (commit: string) => string
  /** A managed issue is resolved by its code, not by what a review found. */
  readonly goneAt: (commit: string) => string
  readonly dismissedBy: (person: string) => string
  readonly reopenedBy: (person: string) => string
  readonly withdrawn: string
  readonly editReplaced: (people: string) => string
  readonly resolvedTitle: string
  readonly lifted: (commit: string) => string
  readonly problemsOf: (target: string) => string
  /** Status of problems since the previous review. */
  readonly since: {
    readonly title: string
    readonly fresh: string
    readonly open: string
    readonly resolved: string
    readonly outdated: string
    readonly dismissed: string
    /** Dismissed by people without the permission (review.dismissal). */
    readonly ignored: string
    readonly more: (count: number) => string
  }
  /** Reply to `/aicr help`. */
  readonly commands: string
  /** Reply to a command with the number of a finding that the summary does not list as open or dismissed. */
  readonly noFinding: (number: number) => string
  /** Reply to a command with digits of a digest that name no problem, or several. */
  readonly noPrivateFinding: (digest: string) => string
  /** Replies to `/aicr remember` and `/aicr forget`. `command`: that removes the note. */
  readonly notes: {
    readonly remembered: (command: string, text: string) => string
    readonly list: (count: number) => string
    readonly none: string
    readonly unknown: (id: string) => string
    readonly refused: string
    readonly off: string
  }
  /** Reply to a command that the host refuses for good. */
  readonly commandFailed: string
  /** Reply to `/aicr describe` without a walkthrough. */
  readonly notDescribed: string
  readonly triageClosed: (category: string) => string
  readonly triageKept: (category: string) => string
  readonly triageReopen: string
}

/** Numbers of files and of changed lines. */
interface CoverageCounts {
  readonly files: number
  readonly lines: number
  readonly unchanged: number
  readonly skipped: number
}

const findingStates = (texts: LanguageTexts): Labels["states"] => {
  const word = (state: FindingState) => valueText(texts, "finding", state)
  return {
    open: word("open"),
    partly: word("partly"),
    fixed: word("fixed"),
    withdrawn: word("withdrawn"),
    dismissed: word("dismissed"),
    moved_away: word("moved_away"),
    open_at_merge: word("open_at_merge")
  }
}

const english: Labels = {
  title: "Code review",
  category: (category) => category,
  severity: { critical: "Critical", high: "High", medium: "Medium", low: "Low", info: "Info" },
  skip: {
    not_watched: "outside the watched paths",
    excluded: "excluded by configuration",
    ignored: "ignored by the repository",
    generated: "generated",
    binary: "binary",
    unreadable: "unknown text encoding",
    max_files: "over the file limit",
    too_large: "over the size limit",
    budget: "over the budget",
    compressed: "over the limit of passes",
    long_lines: "a line exceeds the length limit",
    output_limit: "the response of the model was cut at its limit",
    unusable: "not everything that the model reported could be used",
    failed: "its review failed",
    submodule: "submodule",
    unchanged: "unchanged since the last review"
  },
  found: (count) => `${count} ${count === 1 ? "problem" : "problems"} found`,
  colon: ": ",
  counted: (count, state) => `${count} ${state}`,
  states: findingStates(en),
  unread: "not read again",
  round: (number) => `round ${number}`,
  late: (counts) => `Found late, on lines that an earlier round read: ${counts}`,
  folded: (counts) => `Of kinds that are rarely accepted in this repository: ${counts}`,
  missed: (round) => `missed in round ${round}`,
  minor: (counts) => `Less important: ${counts}`,
  atLines: "Comments on the affected lines.",
  requested: "Changes requested, for the reasons in the summary.",
  refused: "The host refused these comments on their lines:",
  clean: "No problems found.",
  cleanOthers: "No other problems found.",
  inStatement: (digest, text) => `In the signed statement of the verdict: SHA-256 \`${digest}\` of \`${text}\`.`,
  dismissPrivate: (command) =>
    `A maintainer dismisses it with the comment \`${command}\` on the pull request, which discloses nothing of it.`,
  cleanAsRead: "No problems found in the parts that were read. Some parts of the change were not read.",
  cleanAsReported: "No problems found in what could be used. Not everything that the model reported could be read.",
  cleanUnread: "Not reviewed.",
  skipped: "Not reviewed",
  hidden: (count) => `${count} more below the minimum severity of this channel.`,
  coverage: ({ files, lines, skipped, unchanged }) => {
    const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
    const read = `${count(files, "file")} and ${count(lines, "changed line")} read`
    const parts = [
      ...(files === 0 && lines === 0 && unchanged > 0 ? [] : [read]),
      ...(unchanged === 0 ? [] : [`${count(unchanged, "file")} unchanged since the last review`]),
      ...(skipped === 0 ? [] : [`${skipped} skipped`])
    ]
    return `Coverage: ${parts.join(", ")}`
  },
  read: "Read",
  leftOut: "Not read, or not in full",
  members: "Pull requests",
  memberStates: {
    success: "passed",
    failure: "not passed",
    neutral: "not read in full",
    pending: "without a review of its own, read with this group"
  },
  instructions: "Instructions applied",
  notFound: "Not found",
  settings: "Settings of the repository applied",
  notAllowed: "not permitted",
  noSettings: "none",
  applied: (applied, found) => `${applied} of ${found}`,
  rule: (id) => `rule ${id}`,
  linesRead: (read, changed) => `${read} of ${changed} changed lines read`,
  more: (count) => `and ${count} more`,
  notices: "Notes",
  described: (commit) => `What changes (as of ${commit})`,
  dismissBy: {
    github: "dismiss a finding: 👎 on its comment",
    gitlab: "dismiss a finding: resolve its thread",
    gitea: "dismiss a finding: resolve its conversation",
    forgejo: "dismiss a finding: resolve its conversation",
    perforce: "dismiss a finding: verify its task"
  },
  stopDirect: "You get this message as the author of the change. Reply `stop` to get no more of them.",
  dismissByNumber: "dismiss a finding: `/aicr dismiss` and its number",
  askBy: "ask or object: reply to its comment",
  askAnywhere: "ask: `/aicr ask` and the question",
  reviewAgain: "review again: `/aicr review`",
  guide: "how to work with reviews",
  why: "Why this was reported",
  checked: "Checked again",
  explained:
    "What the author writes about the change was taken to refute this; the code alone does not, so the finding is kept.",
  forAgents: "For coding agents",
  facts: {
    size: (files, additions, deletions) =>
      `Size: ${files} ${files === 1 ? "file" : "files"}, +${additions} −${deletions}`,
    riskiest: "; riskiest: ",
    tests: (files) =>
      files === 0 ? "Tests: none changed" : `Tests: ${files} test ${files === 1 ? "file" : "files"} changed`,
    names: (names) => `Public names changed or removed: ${names}`,
    noNames: "Public names changed or removed: none"
  },
  model: "Model",
  commit: "commit",
  details: "run details",
  statement: "signed statement",
  tokens: (count) => `${count} tokens`,
  cut: "_Truncated: the host limits the length of a comment._",
  resolvedBy: (commit) => `Resolved: no longer found in the review of ${commit}.`,
  dismissedBy: (person) => `Dismissed by ${person}.`,
  reopenedBy: (person) => `Reopened by ${person}.`,
  withdrawn: "Withdrawn: an objection to it was right.",
  editReplaced: (people) => `This review replaced what ${people} edited in this comment. Text below it is kept.`,
  goneAt: (commit) => `Resolved: the file no longer contains this code at ${commit}.`,
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
  commands: [
    "Commands, one per comment, for people with write access to this repository:",
    "",
    "- `/aicr review` or `/review`: review this pull request now; `review full` reads unchanged files again, `review focus: …` looks at something first",
    "- `/aicr cancel`: cancel the review that waits or runs",
    "- `/aicr ask …`: ask about this change; `/aicr explain 3`: explain finding 3 of the summary",
    "- `/aicr describe`: write what changes into the description, between its markers, or into a comment",
    "- `/aicr help`: this text",
    "",
    "For people who may dismiss findings, which the author of the pull request may not:",
    "",
    "- `/aicr dismiss 3`, if you like with a reason (wrong, intended, not here, later): dismiss finding 3 of the summary; `dismiss` as a reply to a finding dismisses that one",
    "- `/aicr reopen 3`, or `reopen` as a reply: a finding that was dismissed or withdrawn counts again",
    "- `/aicr remember …`: a note for later reviews of this repository; without a text it lists the notes, and `/aicr forget` with an id removes one",
    "- `/aicr pause`: no automatic reviews of this pull request; `/aicr resume`, for people with write access, ends that"
  ].join("\n"),
  noPrivateFinding: (digest) =>
    `\`${digest}\` names no problem of the newest review that was delivered to the maintainers only, or several of them. The message to the maintainers has the command.`,
  noFinding: (number) => `The summary lists no finding with the number ${number} that is open or was dismissed.`,
  notes: {
    remembered: (command, text) => `Stored for later reviews of this repository: ${text}\n\n${command} removes it.`,
    list: (count) => `Notes for reviews of this repository (${count}), which \`/aicr forget\` with their id removes:`,
    none: "There are no notes for reviews of this repository.",
    unknown: (id) => `This repository has no note ${id}. \`/aicr remember\` lists them.`,
    refused: "Nothing was stored: a note must describe the project instead of instructing the reviewer.",
    off: "Nothing was stored: memory is turned off for reviews of this repository."
  },
  commandFailed: "The command could not be executed: the host refused it. Please tell an operator, or try again later.",
  notDescribed: "No review has described this change yet. Request one with `/aicr review`.",
  triageClosed: (category) => `Closed as ${category}.`,
  triageKept: (category) => `Category: ${category}.`,
  triageReopen: "_Closed automatically. Reopen the issue if this is wrong._"
}

const chinese: Labels = {
  category: (category) => findText(zh, `category.${category.toLowerCase()}`) ?? category,
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
    compressed: "超出评审轮次上限",
    long_lines: "有一行超出单行读取长度",
    output_limit: "模型的回复超出长度上限被截断",
    unusable: "模型报告的内容未能全部使用",
    failed: "评审失败",
    submodule: "子模块",
    unchanged: "自上次评审以来没有变化"
  },
  found: (count) => `发现 ${count} 个问题`,
  colon: "：",
  counted: (count, state) => `${state} ${count} 个`,
  states: findingStates(zh),
  unread: "本次未重新读取",
  round: (number) => `第 ${number} 次评审`,
  late: (counts) => `较晚发现，所在代码行在之前的评审中已读过：${counts}`,
  folded: (counts) => `此类问题在本仓库中很少被采纳：${counts}`,
  missed: (round) => `第 ${round} 次评审遗漏`,
  minor: (counts) => `次要问题：${counts}`,
  atLines: "评论位于对应的代码行。",
  requested: "请求修改，原因见摘要。",
  refused: "托管平台拒绝将以下评论放在代码行上：",
  clean: "没有发现问题。",
  cleanOthers: "没有发现其他问题。",
  inStatement: (digest, text) => `在已签名的结论声明中：\`${text}\` 的 SHA-256 为 \`${digest}\`。`,
  dismissPrivate: (command) => `维护者可在拉取请求中评论 \`${command}\` 将其驳回，该评论不透露问题的任何内容。`,
  cleanAsRead: "已读部分没有发现问题；部分改动未被读取。",
  cleanAsReported: "可用的部分没有发现问题；模型报告的内容未能全部读取。",
  cleanUnread: "未进行评审。",
  skipped: "未评审",
  hidden: (count) => `另有 ${count} 个问题低于此渠道发布的级别。`,
  coverage: ({ files, lines, skipped, unchanged }) => {
    const parts = [
      ...(files === 0 && lines === 0 && unchanged > 0 ? [] : [`已读 ${files} 个文件、${lines} 行改动`]),
      ...(unchanged === 0 ? [] : [`${unchanged} 个文件自上次评审以来没有变化`]),
      ...(skipped === 0 ? [] : [`略过 ${skipped} 个文件`])
    ]
    return `覆盖范围：${parts.join("，")}`
  },
  read: "已读",
  leftOut: "未读或未完整读取",
  members: "合并请求",
  memberStates: {
    success: "已通过",
    failure: "未通过",
    neutral: "未完整读取",
    pending: "没有自己的评审，随此组一同读取"
  },
  instructions: "已应用的说明",
  notFound: "未找到",
  settings: "已应用的仓库设置",
  notAllowed: "未获许可",
  noSettings: "无",
  applied: (applied, found) => `${found} 个中的 ${applied} 个`,
  rule: (id) => `规则 ${id}`,
  linesRead: (read, changed) => `已读 ${read}/${changed} 行改动`,
  more: (count) => `以及另外 ${count} 个`,
  notices: "说明",
  described: (commit) => `改动说明（截至 ${commit}）`,
  dismissBy: {
    github: "驳回问题：在其评论上点 👎",
    gitlab: "驳回问题：将其讨论标记为已解决",
    gitea: "驳回问题：将其对话标记为已解决",
    forgejo: "驳回问题：将其对话标记为已解决",
    perforce: "驳回问题：将其任务标记为已验证"
  },
  stopDirect: "您作为变更的作者收到此消息。回复 `退订` 即不再接收。",
  dismissByNumber: "驳回问题：`/aicr dismiss` 加问题编号",
  askBy: "提问或提出异议：回复其评论",
  askAnywhere: "提问：`/aicr ask` 加问题内容",
  reviewAgain: "重新评审：`/aicr review`",
  guide: "如何处理评审",
  why: "为什么报告此问题",
  checked: "再次核对",
  explained: "仅凭作者的说明可以否定此问题；代码本身不能，因此保留。",
  forAgents: "供编码智能体使用",
  facts: {
    size: (files, additions, deletions) => `规模：${files} 个文件，+${additions} −${deletions}`,
    riskiest: "；风险最高：",
    tests: (files) => (files === 0 ? "测试：没有变化" : `测试：${files} 个测试文件有变化`),
    names: (names) => `变化或移除的公共名称：${names}`,
    noNames: "变化或移除的公共名称：无"
  },
  model: "模型",
  commit: "提交",
  details: "评审详情",
  statement: "签名声明",
  tokens: (count) => `${count} 个 token`,
  cut: "_已截断：平台不允许更长的文本。_",
  resolvedBy: (commit) => `已解决：对 ${commit} 的评审不再发现此问题。`,
  dismissedBy: (person) => `已由 ${person} 驳回。`,
  reopenedBy: (person) => `已由 ${person} 重新打开。`,
  withdrawn: "已撤回：对此问题的异议成立。",
  editReplaced: (people) => `本次评审替换了 ${people} 在此评论中修改的内容。写在评论末尾的文字会保留。`,
  goneAt: (commit) => `已解决：在 ${commit} 中，文件已不再包含这段代码。`,
  resolvedTitle: "[已解决]",
  lifted: (commit) => `对 ${commit} 的评审没有发现问题。`,
  problemsOf: (target) => `${target} 中的问题`,
  since: {
    title: "自上次评审以来：",
    fresh: "新增",
    open: "仍未解决",
    resolved: "已解决",
    outdated: "已过时",
    dismissed: "已驳回",
    ignored: "无权限者驳回",
    more: (count) => `以及另外 ${count} 个`
  },
  commands: [
    "命令（每条评论一个），供有此仓库写权限的人使用：",
    "",
    "- `/aicr review` 或 `/review`：立即评审此拉取请求；`review full` 重新读取没有变化的文件，`review focus: …` 先关注指定的内容",
    "- `/aicr cancel`：取消等待中或运行中的评审",
    "- `/aicr ask …`：就此变更提问；`/aicr explain 3`：解释摘要中编号为 3 的问题",
    "- `/aicr describe`：将改动说明写入描述中的标记之间，没有标记时写成评论",
    "- `/aicr help`：显示帮助",
    "",
    "供有权驳回问题的人使用（拉取请求的作者除外）：",
    "",
    "- `/aicr dismiss 3`，可附理由（误报、有意、不适用、以后）：驳回摘要中编号为 3 的问题；在问题下回复 `dismiss` 则驳回该问题",
    "- `/aicr reopen 3`，或在问题下回复 `reopen`：已驳回或已撤回的问题重新计入",
    "- `/aicr remember …`：保存一条供此仓库以后评审使用的备注；不带文字时列出备注，`/aicr forget` 加编号删除备注",
    "- `/aicr pause`：暂停此拉取请求的自动评审；有写权限的人可用 `/aicr resume` 恢复"
  ].join("\n"),
  noPrivateFinding: (digest) =>
    `\`${digest}\` 未能唯一指明最新评审中只送达维护者的问题。发给维护者的消息中有完整的命令。`,
  noFinding: (number) => `摘要中没有编号为 ${number} 且未解决或已驳回的问题。`,
  notes: {
    remembered: (command, text) => `已保存，供此仓库以后的评审使用：${text}\n\n用 ${command} 删除。`,
    list: (count) => `供此仓库评审使用的备注（${count} 条），可用 \`/aicr forget\` 加编号删除：`,
    none: "此仓库没有供评审使用的备注。",
    unknown: (id) => `此仓库没有备注 ${id}。用 \`/aicr remember\` 查看列表。`,
    refused: "未保存任何内容：备注用来描述项目，不能是给评审者的指令。",
    off: "未保存任何内容：此仓库的评审未启用记忆。"
  },
  commandFailed: "命令未能执行：代码托管平台拒绝了请求。请告知管理员，或稍后再试。",
  notDescribed: "还没有评审撰写此变更的改动说明。请用 `/aicr review` 请求一次评审。",
  triageClosed: (category) => `已关闭：${category}。`,
  triageKept: (category) => `已查看：${category}。`,
  triageReopen: "_自动关闭。如有误判，请重新打开此问题。_"
}

/** Returns the note below the text of a finding about its state. */
export const rulingNote = (labels: Labels, { by, state }: Pick<RuledFinding, "by" | "state">): string => {
  if (state === "withdrawn" || by === undefined) return `**${labels.withdrawn}**`
  return `**${(state === "open" ? labels.reopenedBy : labels.dismissedBy)(gfm.plain(by))}**`
}

/** Returns the texts for a language tag; English for an unsupported language. */
export const labelsFor = (language: string): Labels => (isChinese(language) ? chinese : english)

/**
 * Returns the texts for a review: it is not called clean where reports of the model could not be used, where maintainers got problems, nor
 * where added text was not read, unless the configuration permits that.
 */
export const reviewLabels = ({ analysis, workspace }: PublishInput): Labels => {
  const labels = labelsFor(workspace.review.output_language)
  const { coverage } = analysis
  if (isRefusedByBudget(analysis)) return { ...labels, clean: labels.cleanUnread }
  if (analysis.private !== undefined) return { ...labels, clean: labels.cleanOthers }
  if (coverage.unusable !== undefined) return { ...labels, clean: labels.cleanAsReported }
  const isClean = isMostlyRead(coverage) && (workspace.review.unread === "ignore" || !hasUnreadText(coverage))
  return isClean ? labels : { ...labels, clean: labels.cleanAsRead }
}
