/** Texts of replies in English and Chinese. Values are escaped by the caller. */
import { arities, chineseName } from "./Command.ts"
import { chatRequestNames } from "../domain/ChatRequest.ts"
import type { ChatRequestName, PersonalCommandName } from "../domain/ChatRequest.ts"
import type { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import { valueText } from "../text/Render.ts"
import { inChinese, zh } from "../text/zh.ts"

export interface ChatTexts {
  readonly help: (allowed: ReadonlyArray<ChatRequestName>) => string
  readonly usage: (command: ChatRequestName) => string
  readonly unknownCommand: string
  readonly notAuthorised: string
  readonly notAllowed: (command: ChatRequestName) => string
  readonly ids: (sender: string, conversation: string) => string
  readonly unknownRepository: string
  readonly ambiguousRepository: string
  readonly tooMany: string
  readonly queueFull: string
  readonly notRouted: string
  /** A branch of a server whose revisions have to be named. */
  readonly notReviewed: (what: string) => string
  readonly queued: (what: string, id: string) => string
  readonly running: (what: string, id: string) => string
  readonly succeeded: (what: string, problems: string) => string
  readonly ended: (what: string, why: string) => string
  readonly reason: (reason: Reason) => string
  /** Names a value, such as a status. */
  readonly value: (group: "run" | "request" | "severity", value: string) => string
  readonly comma: string
  readonly expired: (what: string) => string
  /** `waiting`, `running`: reviews that are cancelled, and those that will end. */
  readonly cancelled: (what: string, waiting: number, running: number) => string
  readonly nothingToCancel: (what: string) => string
  readonly nothing: string
  readonly notFound: string
  readonly noReview: string
  readonly buttonUsed: string
  readonly failed: string
  readonly askOff: string
  readonly askLimit: string
  readonly thinking: string
  /** Replies to the commands about direct messages. */
  readonly direct: Readonly<Record<PersonalCommandName, string>>
  readonly notAnswered: Readonly<Record<"not_configured" | "budget" | "unavailable", string>>
  readonly notReplied: (why: string) => string
  readonly dismissed: (finding: string) => string
  readonly notDismissed: Readonly<
    Record<"not_permitted" | "no_account" | "own_change" | "not_published" | "failed", (finding: string) => string>
  >
  readonly buttons: {
    readonly again: string
    readonly cancel: string
    readonly details: string
    readonly dismiss: string
  }
}

const englishHelp: Readonly<Record<ChatRequestName, string>> = {
  help: "this text",
  "chat-id": "ids of you and of this conversation",
  review: "review a pull request (number), a commit, a branch, or a revision",
  status: "state of a request or a run",
  cancel: "cancel a review",
  projects: "repositories that you may name",
  reviews: "latest reviews",
  commits: "latest reviewed commits",
  prs: "latest reviewed pull requests",
  detail: "problems of the review of a commit or branch",
  prdetail: "problems of the review of a pull request",
  queue: "waiting reviews",
  running: "running reviews",
  ask: "ask a question about a review",
  stop: "get no more direct messages about reviews of your changes",
  start: "get direct messages again"
}

const chineseHelp: Readonly<Record<ChatRequestName, string>> = {
  help: "显示帮助",
  "chat-id": "显示您和本会话的 ID",
  review: "评审拉取请求（编号）、提交、分支或版本",
  status: "查看请求或评审的状态",
  cancel: "取消评审",
  projects: "列出您可用的仓库",
  reviews: "最近的评审",
  commits: "最近评审的提交",
  prs: "最近评审的拉取请求",
  detail: "提交或分支的评审问题",
  prdetail: "拉取请求的评审问题",
  queue: "等待中的评审",
  running: "运行中的评审",
  ask: "就某次评审提问",
  stop: "不再接收关于您的变更评审的私信",
  start: "重新接收私信"
}

const usageOf = (command: ChatRequestName, name: string = command): string => {
  const { args } = arities[command]
  return `\`aicr ${name}${args === "" ? "" : ` ${args}`}\``
}

/** Names of arguments and commands that people type in Chinese. */
const chineseUsageOf = (command: ChatRequestName): string => {
  const usage = usageOf(command, chineseName(command))
  return usage
    .replace("<alias>", "<别名>")
    .replace("[alias]", "[别名]")
    .replace("<rev>", "<版本>")
    .replace("[branch]", "[分支]")
    .replace("<question>", "<问题>")
    .replace("<id>", "<编号>")
}

const helpText =
  (title: string, texts: Readonly<Record<ChatRequestName, string>>, usage: (command: ChatRequestName) => string) =>
  (allowed: ReadonlyArray<ChatRequestName>): string =>
    [
      `**${title}**`,
      ...chatRequestNames.filter((name) => allowed.includes(name)).map((name) => `- ${usage(name)} ${texts[name]}`)
    ].join("\n")

const reviews = (count: number): string => (count === 1 ? "review" : "reviews")

const english: ChatTexts = {
  help: helpText("Commands", englishHelp, usageOf),
  usage: (command) => `Usage: ${usageOf(command)}`,
  unknownCommand: "This is not a command. `aicr help` lists the commands.",
  notAuthorised: "You are not authorised to use commands here. An administrator needs these ids:",
  notAllowed: (command) => `You may not use \`${command}\` here.`,
  ids: (sender, conversation) => `- You: ${sender}\n- This conversation: ${conversation}`,
  unknownRepository: "No repository with this name is available to you. `aicr projects` lists them.",
  ambiguousRepository: "Several repositories have this name. Use an alias of `aicr projects`.",
  tooMany: "Too many reviews were requested within a minute. Try again later.",
  queueFull: "Too many requested reviews of this workspace wait. Try again later.",
  notRouted: "This repository cannot be reviewed: its workspace does not bind it, or it or its trigger is disabled.",
  notReviewed: (what) =>
    `No review of ${what} is known. Name the number of a revision or changelist, which needs none.`,
  queued: (what, id) => `Review of ${what} is queued.\nId: ${id}`,
  running: (what, id) => `Review of ${what} is running.\nId: ${id}`,
  succeeded: (what, problems) => `Review of ${what} has ended.\n${problems}`,
  ended: (what, why) => `Review of ${what} has ended without a result: ${why}`,
  reason: inEnglish,
  value: (_group, value) => value,
  comma: ", ",
  expired: (what) => `Review of ${what} waited too long and was closed (queued_timeout). Request it again if needed.`,
  cancelled: (what, waiting, running) =>
    [
      ...(waiting === 0 ? [] : [`${waiting} waiting ${reviews(waiting)} of ${what} cancelled.`]),
      ...(running === 0 ? [] : [`${running} running ${reviews(running)} of ${what} will end within seconds.`])
    ].join(" "),
  nothingToCancel: (what) => `No review of ${what} waits or runs, so nothing was cancelled.`,
  nothing: "There is nothing to show.",
  notFound: "Nothing with this id is available to you.",
  noReview: "No review of it was found.",
  buttonUsed: "This button was used already, or has expired.",
  failed: "The command failed. The log of the service has the reason.",
  askOff: "Questions are not enabled for you here. An administrator enables `ask` of your command binding.",
  askLimit: "Too many questions within an hour. Try again later.",
  thinking: "A model is answering your question.",
  direct: {
    stop: "You get no more direct messages about reviews of your changes. `start` turns them on again.",
    start: "You get direct messages about reviews of your changes where they are enabled. `stop` ends them."
  },
  notAnswered: {
    not_configured: "No model is configured that can answer.",
    budget: "The budget for models is used up. Try again later.",
    unavailable: "No model is available. Try again later."
  },
  notReplied: (why) => `Your question has ended without a reply: ${why}`,
  dismissed: (finding) => `Dismissed: ${finding}. It is not raised again while its code is unchanged.`,
  notDismissed: {
    not_permitted: (finding) => `Not dismissed: ${finding}. Your account may not write to the repository.`,
    no_account: (finding) =>
      `Not dismissed: ${finding}. Your account at the git host is not known: an administrator adds it to the member file.`,
    own_change: (finding) => `Not dismissed: ${finding}. The author of a change cannot dismiss its findings.`,
    not_published: (finding) => `Not dismissed: ${finding}. It has no open comment and no issue of its own.`,
    failed: (finding) => `Not dismissed: ${finding}. The git host refused it, or the configuration has changed.`
  },
  buttons: { again: "Run again", cancel: "Cancel", details: "Details", dismiss: "Dismiss" }
}

const chinese: ChatTexts = {
  help: helpText("命令", chineseHelp, chineseUsageOf),
  usage: (command) => `用法：${chineseUsageOf(command)}`,
  unknownCommand: "这不是命令。发送 `aicr 帮助` 查看命令列表。",
  notAuthorised: "您无权在此使用命令。管理员授权需要以下 ID：",
  notAllowed: (command) => `您不能在此使用 \`${chineseName(command)}\`。`,
  ids: (sender, conversation) => `- 您：${sender}\n- 本会话：${conversation}`,
  unknownRepository: "没有您可用的同名仓库。发送 `aicr 项目` 查看列表。",
  ambiguousRepository: "有多个同名仓库，请使用 `aicr 项目` 中的别名。",
  tooMany: "一分钟内请求的评审过多，请稍后再试。",
  queueFull: "该工作区等待的评审过多，请稍后再试。",
  notRouted: "无法评审该仓库：工作区未绑定它，或工作区、触发器已停用。",
  notReviewed: (what) => `没有 ${what} 的评审记录。请使用版本或变更列表的编号，编号不需要已有评审。`,
  queued: (what, id) => `${what} 的评审已排队。\nID：${id}`,
  running: (what, id) => `${what} 的评审正在运行。\nID：${id}`,
  succeeded: (what, problems) => `${what} 的评审已结束。\n${problems}`,
  ended: (what, why) => `${what} 的评审结束但没有结果：${why}`,
  reason: inChinese,
  value: (group, value) => valueText(zh, group, value),
  comma: "、",
  expired: (what) => `${what} 的评审等待过久，已关闭（queued_timeout）。如仍需要，请重新请求。`,
  cancelled: (what, waiting, running) =>
    [
      ...(waiting === 0 ? [] : [`${what} 的 ${waiting} 个等待中的评审已取消。`]),
      ...(running === 0 ? [] : [`${what} 的 ${running} 个运行中的评审将在数秒内结束。`])
    ].join(""),
  nothingToCancel: (what) => `${what} 没有等待或运行中的评审，未取消任何评审。`,
  nothing: "没有可显示的内容。",
  notFound: "没有您可用的该 ID。",
  noReview: "还没有它的评审。",
  buttonUsed: "该按钮已被使用或已过期。",
  failed: "命令执行失败，原因见服务日志。",
  askOff: "此处未为您启用提问。管理员可在命令绑定中启用 `ask`。",
  askLimit: "一小时内提问过多，请稍后再试。",
  thinking: "模型正在回答您的问题。",
  direct: {
    stop: "您不再收到关于您的变更评审的私信。发送 `订阅` 可重新接收。",
    start: "在启用私信之处，您会收到关于您的变更评审的私信。发送 `退订` 可停止。"
  },
  notAnswered: {
    not_configured: "没有可回答问题的模型。",
    budget: "模型预算已用完，请稍后再试。",
    unavailable: "没有模型作答，请稍后再试。"
  },
  notReplied: (why) => `您的提问已结束，没有得到回答：${why}`,
  dismissed: (finding) => `已驳回：${finding}。代码不变时不再提出。`,
  notDismissed: {
    not_permitted: (finding) => `未驳回：${finding}。您的账号没有该仓库的写权限。`,
    no_account: (finding) => `未驳回：${finding}。不知道您在代码托管平台的账号，请管理员将其加入成员文件。`,
    own_change: (finding) => `未驳回：${finding}。变更的作者不能驳回其问题。`,
    not_published: (finding) => `未驳回：${finding}。它没有未关闭的评论，也没有单独的议题。`,
    failed: (finding) => `未驳回：${finding}。代码托管平台拒绝了请求，或配置已更改。`
  },
  buttons: { again: "重新评审", cancel: "取消", details: "详情", dismiss: "驳回" }
}

/** Returns the texts in Chinese for a Chinese output language, otherwise in English. */
export const textsFor = (language: string): ChatTexts => (/^zh\b/i.test(language) ? chinese : english)
