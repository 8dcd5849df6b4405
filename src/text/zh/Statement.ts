/** Reasons for which a statement of a verdict is not signed, or not accepted. */
import type { statementReasons } from "../../domain/reasons/Statement.ts"

export const statementTexts = {
  SigningKeyMissing: "没有用于签署声明的密钥；请将 {=server.statements.private_key_env} 设为保存密钥的环境变量",
  SigningKeyUnusable:
    "{=server.statements.private_key} 中的密钥不是 PEM 格式的 Ed25519 私钥；可用此命令生成：openssl genpkey -algorithm ed25519",
  StatementNotEnvelope: "该文件不是 aicr 签署的声明",
  StatementNotAsWritten: "该文件与 aicr 写出的不一致：已被修改或重新格式化；请原样下载声明",
  StatementKeyUnknown: "它以密钥 {keyid} 签署，而密钥文件中是 {keyids}；请从可信的服务的 /api/verdicts/key 获取密钥",
  StatementSignatureWrong: "签名错误：声明在签署后被修改",
  StatementOfOtherKind: "签署的文本不是 aicr 的结论，或来自更新的版本",
  StatementOfOtherHead: "它针对 {other}，而不是 {head}；请等待此提交的评审",
  StatementOfOtherBase: "它针对合并到分支 {other} 的变更，而不是 {base}；请等待针对 {base} 的评审",
  StatementOfOtherRepository: "它针对仓库 {other}，而不是 {repository}；请下载 {repository} 的声明",
  StatementReadersUnnamed: "有 {count} 个未变更的文件没有指明由哪次评审读取；请请求对此提交进行完整评审",
  StatementNotCarried: "{file} 不是它所延续的声明；请给出其摘要列于 `carried` 中的声明",
  StatementCarriedWrongly: "它所列 {file} 的运行、提交、配置或模型与该声明不符",
  StatementOfOlderRules: "评审之后规则有变化：{names}；请重新请求评审",
  StatementFails: "结论为失败：有 {count} 个问题",
  StatementInconclusive: "没有定论（{outcome}）：变更中读到的部分太少",
  NoStatement:
    "没有这样的结论的声明。只有 {=server.statements} 中设有密钥时才有声明，并保留 {=storage.retention.statements.max_age_months} 个月。",
  StatementNeedsRunOrHead: "请给出 run，或给出 head 和 repository"
} as const satisfies Record<keyof typeof statementReasons, string>
