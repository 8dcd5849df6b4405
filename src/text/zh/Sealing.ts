/** Reasons for which a credential cannot be sealed or opened. */
import type { sealingReasons } from "../../domain/reasons/Sealing.ts"

export const sealingTexts = {
  SealedUnreadable: "{code}：{why}",
  SealedEntered: "不能填写已加密的值；请填写凭据本身，存储时会加密",
  SealingKeyMissing: "未设置密钥；请设置 SVC_CONFIG_SECRETS_KEY",
  SealingKeyUnset: "请设置 {variable}；可用此命令生成：openssl rand -hex 32",
  SealingKeyMalformed: "{variable} 不是十六进制或 base64 的 32 字节；可用此命令生成：openssl rand -hex 32",
  RetiredKeyMalformed: "{variable} 中有密钥不是十六进制或 base64 的 32 字节",
  SealedForm: "格式不是 enc:v1.<kid>.<nonce>.<ciphertext+tag>；请重新加密",
  SealedWithKey: "它以密钥 {kid} 加密；请将 {variable} 设为该密钥",
  SealedWithOtherKey: "它以密钥 {kid} 加密，而给出的密钥为 {kids}；请将该密钥加入 {variable}",
  SealedElsewhere:
    "无法在此打开：它为命名空间 {namespace} 中 {entity} {field} 以外的位置加密，或已损坏；请为此字段重新加密",
  RecordNotSealed: "{record}：{why}",
  RecordOfNewerRelease: "由更新的版本写入；请使用该版本重新加密",
  RecordKeepsChanging: "它一直在变化；请重复该命令",
  FieldPathInvalid: "路径 {path} 无效；请写成类似 triggers.main.token 的形式",
  NotACredential: "{field} 不是凭据；只加密参考中称为机密的字段"
} as const satisfies Record<keyof typeof sealingReasons, string>
