/** Settings that are valid, and have no effect or cannot be used. */
import type { configUseReasons } from "../../domain/reasons/ConfigUse.ts"

export const configUseTexts = {
  ProviderProblem: "提供商 {provider}：{why}",
  ProviderFieldUnused: "提供商 {provider}：{kind} 没有 {field}，因此不起作用；请移除",
  AgentFieldUnused: "工作区 {workspace}，agent 模式 {mode}：{why}",
  FalseWithoutEffect: "false 不起作用：{why}",
  HasNoEffect: "不起作用：{why}",
  AlwaysDropsHistory: "它总是丢弃已压缩的历史",
  AlwaysCompacts: "它总是压缩",
  AlwaysWithoutApprovals: "它总是在没有批准的情况下运行",
  RefusesWithoutApprovals: "没有批准时它拒绝所有工具",
  HasNoApprovals: "它没有批准机制",
  ApprovesEverything: "它在此模式下批准所有操作",
  CompactsBetweenMessages: "它只在用户消息之间压缩，而评审只有一条消息",
  NativeNeverCompacts: "native-llm 不压缩",
  NoSuchSetting: "它没有此设置",
  NoSuchTool: "它没有此工具",
  SearxngNotCalled: "searxng 不在被调用的提供商之中",
  SearchProviderUnknown: "{id} 不是搜索提供商；提供商有 {ids}",
  SearchOfOtherModes: "{id} 不会被调用：此模式只调用 {ids}",
  SearchNotFirst: "{id} 不会被调用：此模式只调用一个提供商，而 {first} 在它之前",
  SearchNeeds: "{id} 不会被调用：它需要 web_search.{field}",
  NoSearchProviderLeft: "搜索不到任何内容：没有可以调用的搜索提供商",
  NoSearchingProvider:
    "搜索不到任何内容：需要由模型的提供商搜索，而 llm.model_chain.{chain} 中没有提供商具有此 CLI 的 API",
  ChannelFieldUnused: "对类型 {kind} 不起作用：{why}；请移除",
  IssuesAreAssigned: "托管议题会被指派（assign_committer）",
  IssuesWithoutMentions: "托管议题没有提及",
  MentionsNeedAuthor: "没有 mention_author 就没有提及",
  ChangelistUserMentioned: "会提及变更列表的用户",
  IssuesNeedProblems: "没有问题的评审不创建议题",
  IssuesWithoutSummary: "托管议题没有摘要",
  SummaryRendersAll: "templates.summary 渲染整条聊天消息",
  ReceivesNoChanges: "收不到触发器 {trigger} 的变更：{why}",
  ChannelKindMissing: "此构建中没有类型 {kind}；不会向该渠道发送任何内容",
  GitlabRequestsNothing: "GitLab 的 API 不能请求修改；请移除 review_event",
  TemplatesUnchecked:
    "{count} 个模板没有用示例渲染，因为其他模板耗时超过 {seconds} 秒；使用时，无效的模板将由内置模板代替",
  TemplateInvalid: "作为渠道 {channel} 的 {part} 无效：{why}；将使用内置模板"
} as const satisfies Record<keyof typeof configUseReasons, string>
