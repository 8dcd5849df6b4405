/** Reasons for which a provider of models cannot be called with its configuration. */
import type { providerReasons } from "../../domain/reasons/Provider.ts"

export const providerTexts = {
  NamedVariableUnset: "{field} 所指的变量 {variable} 未设置；请设置",
  OpenaiUnconfigured: "既未配置密钥，也未配置 base_url；请设置 base_url，或为 OpenAI 本身设置 api_key_env",
  ProviderKeyUnset: "未配置密钥；请设置 api_key_env",
  ProviderUrlUnset: "未配置 base_url；请设置",
  VertexCredentialsUnset:
    "未配置凭据；请设置 google_application_credentials_env，或为快速模式的 Gemini 设置 api_key_env",
  VertexClaudeWithKey: "Vertex AI 上的 Claude 不能使用 API 密钥；请设置 google_application_credentials_env",
  VertexProjectUnset: "未配置 vertex_project，凭据中也没有；请设置",
  VertexLocationInvalid: "vertex_location {location} 无效；应为例如 europe-west4 的位置",
  GoogleKeyInvalid:
    "google_application_credentials 既不是服务账号密钥，也不是 authorized_user 登录；请创建服务账号密钥，并给出其 JSON 或路径",
  GoogleKeyUnreadable: "google_application_credentials 所指的文件无法读取；请检查其路径和权限",
  GooglePrivateKeyUnusable: "google_application_credentials 的 private_key 不可用；请创建新密钥",
  AwsKeyIncomplete: "只配置了 {field}；请设置两个密钥",
  AwsCredentialsUnset: "未配置凭据；请设置 aws_access_key_env 和 aws_secret_key_env、aws_profile 或 api_key_env",
  AwsRegionUnset: "未配置 aws_region；请设置",
  AwsRegionInvalid: "{field} “{region}”无效；应为例如 eu-central-1 的区域",
  AwsProfileWithoutRegion: "AWS 配置文件 {profile} 未指定区域；请设置 aws_region",
  AwsProfileWithoutKeys:
    "AWS 配置文件 {profile} 在 {path} 中没有密钥；请在其中添加 aws_access_key_id 和 aws_secret_access_key",
  AwsProfileSignIn:
    "AWS 配置文件 {profile} 通过 {method} 登录，此提供商不支持；请提供密钥，或设置 aws_access_key_env 和 aws_secret_key_env",
  AwsFileUnreadable: "无法读取 AWS 文件 {path}；请使该用户可以读取",
  SubscriptionOfAgent:
    "其密钥是订阅令牌（{=llm.providers[].subscription}），只有其厂商的 agent 可以使用：请在 {=agent.auth} 中指定其模型组，并在此处指定另一个"
} as const satisfies Record<keyof typeof providerReasons, string>
