/** Schema of `im`: connections to chat platforms, and permissions of their users. */
import { Schema } from "effect"
import { chatCommands } from "../../domain/ChatRequest.ts"
import type { Resolved } from "../Field.ts"
import { defaulted, kinds, optional, required } from "../Field.ts"
import { checked, choice, EnvName, Flag, int, list, map, named, PositiveInt, Secret, Text, Url } from "../Scalars.ts"

const feishu = { when: kinds("feishu_app") }
const wecom = { when: kinds("wecom_app", "wecom_aibot") }

export const Callback = Schema.Struct({
  enabled: optional(Flag, "Serve GET and POST /callbacks/im/<connection>.", { runtimeDefault: false }),
  token_env: optional(EnvName, "Environment variable that holds the callback token (WeCom)."),
  token: optional(Secret, "Literal callback token (WeCom).", { exclusive: ["token_env"] }),
  encoding_aes_key_env: optional(EnvName, "Environment variable that holds the EncodingAESKey (WeCom)."),
  encoding_aes_key: optional(Secret, "Literal EncodingAESKey (WeCom).", { exclusive: ["encoding_aes_key_env"] }),
  verification_token_env: optional(EnvName, "Environment variable that holds the verification token (Feishu)."),
  verification_token: optional(Secret, "Literal verification token (Feishu).", {
    exclusive: ["verification_token_env"]
  }),
  encrypt_key_env: optional(EnvName, "Environment variable that holds the encrypt key (Feishu)."),
  encrypt_key: optional(Secret, "Literal encrypt key (Feishu).", { exclusive: ["encrypt_key_env"] })
})
export type Callback = Resolved<typeof Callback>

export const ChatConnection = Schema.Struct({
  kind: required(named("connectionKind"), "Platform and protocol."),
  enabled: defaulted(Flag, true, "False keeps the connection configured and unused."),
  corp_id: optional(Text, "Corporation id.", { ...wecom, requiredWhen: wecom.when }),
  agent_id: optional(Schema.Union([Text, PositiveInt]), "Agent id of the application.", {
    when: kinds("wecom_app"),
    requiredWhen: kinds("wecom_app")
  }),
  accounts: optional(
    int(1, 10_000_000),
    "Accounts that the corporation may have. WeCom accepts messages of an application to 200 times as many persons a day; further ones wait for the next day.",
    { when: kinds("wecom_app"), runtimeDefault: 100 }
  ),
  aibot_id: optional(Text, "Bot id.", { when: kinds("wecom_aibot") }),
  app_id: optional(Text, "Application id.", { ...feishu, requiredWhen: feishu.when }),
  app_secret_env: optional(EnvName, "Environment variable that holds the application secret.", {
    when: kinds("wecom_app", "feishu_app")
  }),
  app_secret: optional(Secret, "Literal application secret. Sealed when published.", {
    when: kinds("wecom_app", "feishu_app"),
    exclusive: ["app_secret_env"]
  }),
  secret_env: optional(EnvName, "Environment variable that holds the long connection's secret.", {
    when: kinds("wecom_aibot")
  }),
  secret: optional(Secret, "Literal secret of the long connection. Sealed when published.", {
    when: kinds("wecom_aibot"),
    exclusive: ["secret_env"]
  }),
  base_url: optional(Url, "Base URL of the platform's API: of Lark, or of a private deployment.", {
    destination: true
  }),
  tenant_key: optional(Text, "Tenant key.", feishu),
  callback: optional(
    Callback,
    "Receive messages by callback. Omitted or disabled: the service opens a long connection, if the platform supports it."
  )
})
export type ChatConnection = Resolved<typeof ChatConnection>

const scope = (...values: ReadonlyArray<string>) => ({ when: kinds(...values) })

export const Actor = Schema.Struct({
  type: optional(named("principalType"), "Exact principal.", { exclusive: ["kind"] }),
  kind: optional(named("scopeKind"), "Scope of principals."),
  id: optional(Text, "Exact platform id of the principal, or id of the department, tag, position or job title."),
  chat_id: optional(Text, "Chat whose members are included.", {
    ...scope("feishu_chat"),
    requiredWhen: kinds("feishu_chat")
  }),
  recursive: optional(Flag, "Include departments below.", {
    ...scope("wecom_department", "feishu_department"),
    runtimeDefault: true
  }),
  name: optional(Text, "Name of the extended attribute.", {
    ...scope("wecom_extattr"),
    requiredWhen: kinds("wecom_extattr")
  }),
  value: optional(Text, "Value of the extended attribute.", {
    ...scope("wecom_extattr"),
    requiredWhen: kinds("wecom_extattr")
  }),
  expires_at: optional(
    checked(
      "an RFC 3339 time such as 2030-01-31T12:00:00Z",
      "date-time",
      (value) =>
        /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value) &&
        !Number.isNaN(Date.parse(value))
    ),
    "RFC 3339 time after which the matcher stops matching."
  )
})
export type Actor = Resolved<typeof Actor>

export const ChatCommand = choice(...chatCommands)

export const CommandBinding = Schema.Struct({
  enabled: optional(Flag, "Disabled drafts stay savable.", { runtimeDefault: false }),
  connection: optional(Text, "Name in im.connections. Enabling needs an existing, enabled one."),
  actors: optional(list(Actor), "Who may command; any hit authorises."),
  conversations: optional(
    list(
      Schema.Struct({
        kind: required(choice("app_direct", "bot_direct", "group"), "Kind of conversation.", { aliases: ["type"] }),
        id: required(Text, "Conversation id.")
      })
    ),
    "Where commands are taken."
  ),
  allow_all_repositories: optional(
    Flag,
    "Repository aliases also resolve by exact workspace id or full repository name.",
    { runtimeDefault: false }
  ),
  commands: optional(list(ChatCommand, { unique: true }), "Commands that may be used."),
  repositories: optional(
    map(
      Schema.Struct({
        workspace: optional(Text, "Workspace id."),
        source_trigger: optional(Text, "Trigger name."),
        repo_ref: optional(Text, "Repository as the host names it.")
      })
    ),
    "Repository aliases."
  ),
  ask: defaulted(
    Flag,
    false,
    "Permits questions to a model about reviews that the person may list with detail or prdetail: ask <alias> <rev> <question>. At most 10 an hour and person, 30 an hour and conversation; the budgets of llm apply."
  ),
  report_policy: defaulted(choice("workspace_routes"), "workspace_routes", "Where reports go.")
})
export type CommandBinding = Resolved<typeof CommandBinding>

export const ImConfig = Schema.Struct({
  connections: defaulted(
    map(ChatConnection, { keys: /^[A-Za-z0-9][A-Za-z0-9_-]*$/, expected: "a map from connection id to connection" }),
    {},
    "Connections by id."
  ),
  command_bindings: defaulted(map(CommandBinding), {}, "Command bindings by id. Each is disabled until enabled.")
})
export type ImConfig = Resolved<typeof ImConfig>
