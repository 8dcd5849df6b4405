/** Reasons for which a request to a host or a chat platform fails, and next steps. */
import type { hostReasons } from "../../domain/reasons/Host.ts"

export const hostTexts = {
  HostRefused: "{operation} 返回 {status}[[，代码 {code}]][[：{words}]][[：需要 {permissions}]][[：{advice}]]",
  HostSilent: "{operation} 失败，没有响应：{error}[[；{advice}]]",
  ConnectionClosed: "连接已关闭",
  HostTooLarge: "{operation}：响应大于 {mebibytes} MiB",
  HostUnreadable: "{operation}：意外的响应，状态 {status}：{detail}[[；{advice}]]",
  RequestFailed: "{operation}：{why}",
  RateLimitHolds: "{operation} 未发送：代码托管平台在 {seconds} 秒内限制此令牌的请求",
  AccountLimited: "代码托管平台在 {seconds} 秒内限制此账号的请求",
  PermitsUnavailable: "暂时无法获得此账号的写入许可[[：{error}]]",
  CheckCredential: "凭据错误或已过期，请检查触发器的 token_env 或 app",
  GrantAccess: "凭据缺少权限，请授予它访问此仓库的权限",
  MissingOrHidden: "它不存在，或凭据无权读取",
  CredentialLimited: "代码托管平台限制此凭据的请求，服务稍后重试",
  CheckBaseUrl: "请检查触发器的 base_url",
  BaseUrlHasApiPath: "触发器的 base_url 以 {path} 结尾，而服务会自行添加它，请删除",
  CheckChannelBaseUrl: "请检查渠道 {channel} 的 base_url",
  CertificateUntrusted:
    "其证书不受信任：请在 NODE_EXTRA_CA_CERTS 中指定其颁发机构的证书，代码托管平台可用 {=triggers[].tls_ca_path}",
  NameUnresolved: "无法解析其名称：请检查地址和 DNS",
  NothingListens: "其地址没有服务在监听：请检查地址和服务器",
  Unreachable: "无法访问：请检查地址、网络和代理",
  NoTls: "它不使用 TLS：请检查地址中的 http 和 https",
  NoBaseUrl: "触发器 {trigger} 没有 base_url；请将 {=triggers[].base_url} 设为代码托管平台的网址",
  NoOutboundCredential: "触发器 {trigger} 没有访问代码托管平台的凭据；请设置 {=triggers[].token_env}",
  CertificatesUnreadable: "[[触发器 {trigger}]][[渠道 {channel}]]：无法读取 tls_ca_path {path}",
  AppKeyVariableUnset: "触发器 {trigger}：环境变量 {variable}（{=app.private_key_env}）未设置",
  AppKeyMissing: "触发器 {trigger}：app 没有私钥",
  AppKeyUnreadable: "触发器 {trigger}：无法读取 {=app.private_key_path} {path}",
  AppKeyInvalid: "触发器 {trigger}：app 的私钥不是 PEM 密钥",
  AppIdMissing: "触发器 {trigger}：app 需要 app_id 或 client_id",
  AppNotInstalled: "触发器 {trigger} 的应用未安装到 {repository}；请在应用的安装中选择该仓库",
  NoAccountNamed: "GET /user 没有返回账号；请检查触发器的 token_env",
  NoVersionOfHead: "合并请求 !{number} 没有提交 {head} 的版本；它在 GitLab 记录之前已被替换",
  DifferenceNotComputed: "代码托管平台尚未计算 !{number} 的差异",
  NoCommitsOnBranch: "{repository} 的分支 {branch} 没有提交",
  WriteAccessUnknown:
    "无法得知 {person} 是否可以写入：只有仓库的管理员可以读取他人的权限，而触发器的账号可读取的团队中没有具有代码写权限的 {person}；请将该账号设为仓库的管理员",
  SwarmRefusesUser:
    "Swarm 拒绝用户 {user}；请更新渠道 {channel} 的 ticket_env 中的票据（`p4 login -p`），或检查其 password_env",
  SwarmUserLacksPermission: "渠道 {channel} 的用户 {user} 在 Perforce 或 Swarm 中缺少权限",
  HiddenFromSwarmUser: "它不存在，或渠道 {channel} 的用户 {user} 无权查看",
  SwarmLimitsUser: "服务器限制此用户的请求，服务稍后重试",
  SwarmCommentsMissing: "评审 {review} 有 {count} 条评论，而 Swarm 一条也没有返回",
  SwarmCommentsTooLong: "评审 {review} 的评论超过 {count} 个字符；无法读取全部已有评论，因此不写入",
  SwarmCommentsTooMany: "评审 {review} 的评论超过 {count} 条；无法读取全部已有评论，因此不写入",
  SwarmCommentWritten: "查找之后，该评论已由另一次发布写入",
  NoSwarmReview:
    "Swarm 没有渠道 {channel} 的用户 {user} 可以查看的变更列表 {changelist} 的评审；请在 Swarm 中请求评审，然后重新评审"
} as const satisfies Record<keyof typeof hostReasons, string>
