/** Schema of `im`: connections to chat platforms, and permissions of their users. */
import { Schema } from "effect"
import { chatCommands } from "../../domain/ChatRequest.ts"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, kinds, optional, required } from "../fields/Field.ts"
import {
  checked,
  choice,
  EnvName,
  Flag,
  int,
  list,
  map,
  named,
  PositiveInt,
  Secret,
  Text,
  Url
} from "../fields/Scalars.ts"

const feishu = { when: kinds("feishu_app") }
const slack = { when: kinds("slack_app") }
const wecom = { when: kinds("wecom_app", "wecom_aibot") }

export const Callback = Schema.Struct({
  enabled: optional(Flag, "im.connections.<id>.callback.enabled", { runtimeDefault: false }),
  token_env: optional(EnvName, "im.connections.<id>.callback.token_env"),
  token: optional(Secret, "im.connections.<id>.callback.token", { exclusive: ["token_env"] }),
  encoding_aes_key_env: optional(EnvName, "im.connections.<id>.callback.encoding_aes_key_env"),
  encoding_aes_key: optional(Secret, "im.connections.<id>.callback.encoding_aes_key", {
    exclusive: ["encoding_aes_key_env"]
  }),
  verification_token_env: optional(EnvName, "im.connections.<id>.callback.verification_token_env"),
  verification_token: optional(Secret, "im.connections.<id>.callback.verification_token", {
    exclusive: ["verification_token_env"]
  }),
  encrypt_key_env: optional(EnvName, "im.connections.<id>.callback.encrypt_key_env"),
  encrypt_key: optional(Secret, "im.connections.<id>.callback.encrypt_key", { exclusive: ["encrypt_key_env"] })
})
export type Callback = Resolved<typeof Callback>

export const ChatConnection = Schema.Struct({
  kind: required(named("connectionKind"), "im.connections.<id>.kind"),
  enabled: defaulted(Flag, true, "im.connections.<id>.enabled"),
  corp_id: optional(Text, "im.connections.<id>.corp_id", { ...wecom, requiredWhen: wecom.when }),
  agent_id: optional(Schema.Union([Text, PositiveInt]), "im.connections.<id>.agent_id", {
    when: kinds("wecom_app"),
    requiredWhen: kinds("wecom_app")
  }),
  accounts: optional(int(1, 10_000_000), "im.connections.<id>.accounts", {
    when: kinds("wecom_app"),
    runtimeDefault: 100
  }),
  aibot_id: optional(Text, "im.connections.<id>.aibot_id", { when: kinds("wecom_aibot") }),
  bot_name: optional(Text, "im.connections.<id>.bot_name", { when: kinds("wecom_aibot") }),
  app_id: optional(Text, "im.connections.<id>.app_id", {
    when: kinds("feishu_app", "slack_app"),
    requiredWhen: feishu.when
  }),
  app_secret_env: optional(EnvName, "im.connections.<id>.app_secret_env", {
    when: kinds("wecom_app", "feishu_app")
  }),
  app_secret: optional(Secret, "im.connections.<id>.app_secret", {
    when: kinds("wecom_app", "feishu_app"),
    exclusive: ["app_secret_env"]
  }),
  secret_env: optional(EnvName, "im.connections.<id>.secret_env", {
    when: kinds("wecom_aibot")
  }),
  secret: optional(Secret, "im.connections.<id>.secret", {
    when: kinds("wecom_aibot"),
    exclusive: ["secret_env"]
  }),
  app_token_env: optional(EnvName, "im.connections.<id>.app_token_env", slack),
  app_token: optional(Secret, "im.connections.<id>.app_token", { ...slack, exclusive: ["app_token_env"] }),
  bot_token_env: optional(EnvName, "im.connections.<id>.bot_token_env", slack),
  bot_token: optional(Secret, "im.connections.<id>.bot_token", { ...slack, exclusive: ["bot_token_env"] }),
  base_url: optional(Url, "im.connections.<id>.base_url", {
    destination: true
  }),
  tenant_key: optional(Text, "im.connections.<id>.tenant_key", feishu),
  callback: optional(Callback, "im.connections.<id>.callback", {
    when: kinds("feishu_app", "wecom_app", "wecom_aibot")
  })
})
export type ChatConnection = Resolved<typeof ChatConnection>

const scope = (...values: ReadonlyArray<string>) => ({ when: kinds(...values) })

export const Actor = Schema.Struct({
  type: optional(named("principalType"), "im.command_bindings.<id>.actors[].type", { exclusive: ["kind"] }),
  kind: optional(named("scopeKind"), "im.command_bindings.<id>.actors[].kind"),
  id: optional(Text, "im.command_bindings.<id>.actors[].id"),
  chat_id: optional(Text, "im.command_bindings.<id>.actors[].chat_id", {
    ...scope("feishu_chat"),
    requiredWhen: kinds("feishu_chat")
  }),
  recursive: optional(Flag, "im.command_bindings.<id>.actors[].recursive", {
    ...scope("wecom_department", "feishu_department"),
    runtimeDefault: true
  }),
  name: optional(Text, "im.command_bindings.<id>.actors[].name", {
    ...scope("wecom_extattr"),
    requiredWhen: kinds("wecom_extattr")
  }),
  value: optional(Text, "im.command_bindings.<id>.actors[].value", {
    ...scope("wecom_extattr"),
    requiredWhen: kinds("wecom_extattr")
  }),
  expires_at: optional(
    checked(
      { _tag: "DateAndTime" },
      "date-time",
      (value) =>
        /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value) &&
        !Number.isNaN(Date.parse(value))
    ),
    "im.command_bindings.<id>.actors[].expires_at"
  )
})
export type Actor = Resolved<typeof Actor>

export const ChatCommand = choice(...chatCommands)

/** Only the names in enabled bindings must exist. */
const checkedByGroup = { isCheckedByGroup: true } as const

export const CommandBinding = Schema.Struct({
  enabled: optional(Flag, "im.command_bindings.<id>.enabled", { runtimeDefault: false }),
  connection: optional(Text, "im.command_bindings.<id>.connection", { refers: "connection", ...checkedByGroup }),
  actors: optional(list(Actor), "im.command_bindings.<id>.actors"),
  conversations: optional(
    list(
      Schema.Struct({
        kind: required(choice("app_direct", "bot_direct", "group"), "im.command_bindings.<id>.conversations[].kind", {
          aliases: ["type"]
        }),
        id: required(Text, "im.command_bindings.<id>.conversations[].id")
      })
    ),
    "im.command_bindings.<id>.conversations"
  ),
  allow_all_repositories: optional(Flag, "im.command_bindings.<id>.allow_all_repositories", { runtimeDefault: false }),
  commands: optional(list(ChatCommand, { unique: true }), "im.command_bindings.<id>.commands"),
  repositories: optional(
    map(
      Schema.Struct({
        workspace: optional(Text, "im.command_bindings.<id>.repositories.<id>.workspace", {
          refers: "workspace",
          ...checkedByGroup
        }),
        source_trigger: optional(Text, "im.command_bindings.<id>.repositories.<id>.source_trigger", {
          refers: "trigger",
          ...checkedByGroup
        }),
        repo_ref: optional(Text, "im.command_bindings.<id>.repositories.<id>.repo_ref")
      })
    ),
    "im.command_bindings.<id>.repositories"
  ),
  ask: defaulted(Flag, false, "im.command_bindings.<id>.ask"),
  report_policy: defaulted(choice("workspace_routes"), "workspace_routes", "im.command_bindings.<id>.report_policy")
})
export type CommandBinding = Resolved<typeof CommandBinding>

export const ImConfig = Schema.Struct({
  connections: defaulted(
    map(ChatConnection, { keys: /^[A-Za-z0-9][A-Za-z0-9_-]*$/, expected: { _tag: "ConnectionsById" } }),
    {},
    "im.connections"
  ),
  command_bindings: defaulted(map(CommandBinding), {}, "im.command_bindings")
})
export type ImConfig = Resolved<typeof ImConfig>
