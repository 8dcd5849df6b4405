/** Texts about the erasure of a person, in Chinese. */
import type { personReasons } from "../../domain/reasons/Person.ts"

export const personTexts = {
  PersonExpected:
    "应为代码托管平台账号的 触发器:登录名（例如 main:alice）、slack_user:ID 或其他聊天主体类型，或 administrator:名称",
  PreviewChanged: "预览之后此人的记录有变化。请重新查看预览，并确认新的预览。",
  PersonErased: "将清除",
  PersonRemains: "将保留",
  PersonFound: "此人的记录：{count}",
  PersonPrompts: "{count} 次评审的提示词、回复和读取的文件：删除",
  PersonPasses: "{count} 条智能体 CLI 的记录：删除",
  PersonLogLines: "{count} 段评审日志：清空",
  PersonPayloads: "{count} 个投递正文：删除",
  PersonPublications: "{count} 条已存储的本服务评论：替换文本和姓名",
  PersonFindings: "{count} 条问题的结果：替换姓名",
  PersonLessons: "{count} 条经验：替换提及",
  PersonPauses: "{count} 个已暂停的变更：替换姓名",
  PersonBatches: "{count} 个推送批次：替换文本和姓名",
  PersonChatRequests: "{count} 条聊天请求：替换文本和姓名",
  PersonOptOuts: "{count} 个不接收私信的决定：删除",
  PersonNotices: "{count} 条已发送的通知：删除",
  PersonSessions: "{count} 个会话：结束",
  PersonViews: "{count} 个已保存的视图：删除",
  PersonTokens: "{count} 个程序令牌：替换创建者姓名；需要失效的请吊销",
  PersonProjects: "{count} 个已删除的项目：替换姓名",
  PersonAudit: "{count} 条审计记录：替换姓名",
  PersonBudgets: "{count} 个预算和限额账户：替换姓名；当天的从零开始",
  PersonReviews: "{count} 次评审：替换标题、描述、摘要和姓名",
  PersonDeliveries: "{count} 次投递：替换文本和姓名",
  PersonEntries: "{count} 个队列条目：替换文本和姓名",
  PersonWorkRuns: "{count} 条尚未结束的工作的记录：未更改。请在其结束后重复此操作",
  PersonCommentsStay: "平台上 {count} 条本服务关于此人变更的评论：请在平台上删除",
  PersonHostStays: "此人在平台上的提交、拉取请求、议题和评论，以及本服务的镜像和缓存响应中的内容",
  PersonNamesStay: "包含该姓名的仓库名和分支名，以及问题引用的代码",
  PersonStatementsStay: "已签名的声明：其中有提交、路径和问题标题，没有任何人的文本或姓名",
  PersonConfigurationStays: "配置及其历史，它们表明谁发布了什么",
  PersonLogsStay: "记录之外的日志、追踪、导出和备份"
} as const satisfies Record<keyof typeof personReasons, string>
