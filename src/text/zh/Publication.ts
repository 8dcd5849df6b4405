/** Reasons for which something is not published, or not yet. */
import type { publicationReasons } from "../../domain/reasons/Publication.ts"

export const publicationTexts = {
  OnlySummaryPublished: "拉取请求已关闭：仅发布摘要",
  HeadMovedOn: "已有更新的提交 {head}",
  PublishersCrashed: "已隔离：连续 {count} 个进程在处理它时结束；请查看它们最后的日志，然后重新请求评审",
  NothingPublished: "评审没有任何内容被发布",
  NotDelivered: "仅供维护者的问题尚未送达维护者，在此之前不发布任何内容",
  RepositoryNotPrivate:
    "渠道 {channel} 用于仅供维护者的问题（{=review.private}），而代码托管平台未表明 {repository} 是私有的；请使用私有仓库或聊天",
  RunNotOnRecord: "其评审记录已不存在",
  ChangeMovedOn: "发送之前变更已更新",
  OtherNodePublishes: "另一个节点正在发布到此变更",
  OtherPublisherWrites: "另一个发布者正在写入此提交的状态",
  StatusChanged: "此提交的状态在此期间已改变",
  ChangeRequestStays: "更改请求保持不变，因为同一提交：{status}",
  PersonHasDraft:
    "有人在服务的账号下有未发布的评审或草稿（{count} 条文字），会与此评审一起发布；请用该账号发布或删除它，然后重新请求评审",
  AwaitsCredential: "等待代码托管平台重新接受触发器 {trigger} 的凭据：{why}",
  CredentialNotRestored: "代码托管平台在 {hours} 小时内一直拒绝触发器 {trigger} 的凭据：{why}",
  NoNumber: "{kind:target}没有编号，无法写入评审",
  IssueChanged: "议题 #{number} 在分类后被更改，保持不变",
  InShadow: "未发布：该工作区处于影子模式（{=outputs.shadow}），仅评审、不发布",
  NoSummaryToUpdate: "没有要发布的问题，也没有要更新的摘要",
  CommentsExist: "其所有评论已在代码托管平台上，或已被忽略",
  NoCommentToResolve: "没有需要解决的早期评审评论",
  NoChangeRequest: "没有生效的更改请求",
  IssuesCurrent: "受管理的议题已是最新",
  CheckRefused: "应用的安装无权写入检查运行，已改写提交状态；请为其授予 checks: write",
  GoneAtHost: "它在代码托管平台上已关闭或不再存在",
  NoReactionsAtHost: "平台没有对评论的表情回应",
  AuthorNotMapped:
    "未发送私信：渠道 {channel} 没有与作者账号唯一对应的成员；请将其加入 user_mappings、author_mappings 或 vcs_accounts",
  AuthorOptedOut: "未发送私信：作者已停止接收私信",
  ChannelMissing: "工作区 {workspace} 的渠道 {channel} 已不在配置中",
  NoticeChannelMissing: "渠道 {channel} 已不再是通知的渠道",
  ChannelKindChanged: "渠道 {channel} 更改了类型，不支持 {operation}；请重新请求评审",
  ChannelUnusable: "渠道 {channel}：{why}",
  CredentialOfOtherHost:
    "base_url 与触发器 {trigger} 不在同一代码托管平台，其凭据不会发送到那里；请设置渠道的 token_env",
  NoPullRequests: "触发器 {trigger} 的类型为 {kind}，没有拉取请求",
  OtherHostKind: "类型 {kind} 不写入 {host}（触发器 {trigger}）",
  OtherHost:
    "它写入触发器 {trigger} 的代码托管平台，而变更位于触发器 {own} 的代码托管平台；要在那里发布，请设置渠道的 repo 或 project_id",
  OtherServer: "它写入触发器 {trigger} 的服务器上的评审，而变更列表位于触发器 {own} 的服务器",
  ConnectionMissing: "连接 {connection} 未配置或已停用",
  NoApplicationSecret: "没有应用密钥；请将 app_secret_env 设为其环境变量",
  NoConnectionOrTarget: "需要 connection 和 target",
  NoWebhookUrl: "渠道 {channel} 没有 webhook_url；请将 webhook_url_env 设为其环境变量",
  NoMailServer: "渠道 {channel} 没有 smtp_url、from 或 to；请将 smtp_url_env 设为其环境变量",
  SwarmWithoutAddress: "渠道 {channel} 没有 base_url；请将其设为 Swarm 服务器的网址",
  SwarmWithoutUser: "渠道 {channel} 没有用户；请设置 user，或将 user_env 设为其环境变量",
  SwarmWithoutCredential: "渠道 {channel} 没有凭据；请将 ticket_env 或 password_env 设为其环境变量"
} as const satisfies Record<keyof typeof publicationReasons, string>
