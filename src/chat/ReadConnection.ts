/** Selects how callbacks of a connection are verified and read, with the credentials of a snapshot. */
import type { Snapshot } from "../config/Snapshot.ts"
import type { ChatConnection } from "../config/schema/Im.ts"
import type { CallbackOutcome, CallbackRequest, CallbackSecrets, ReadCallback } from "./CallbackOutcome.ts"
import { readFeishuCallback } from "./feishu/Callback.ts"
import { appForm, botForm, readWecomCallback } from "./wecom/Callback.ts"

export type ChatConnectionKind = ChatConnection["kind"]

export type CallbackReader =
  | {
      readonly _tag: "Reader"
      readonly kind: ChatConnectionKind
      readonly read: (request: CallbackRequest) => CallbackOutcome
    }
  | { readonly _tag: "Unknown" }
  /** The connection or its callback is disabled, or a credential is missing. */
  | { readonly _tag: "Disabled"; readonly reason: string }

interface CallbackForm {
  /** Names of the credentials in `callback`. */
  readonly token: string
  readonly key: string
  readonly receivers: (connection: ChatConnection) => ReadonlyArray<string>
  readonly reader: (connection: ChatConnection) => ReadCallback
}

const wecom = { token: "token", key: "encoding_aes_key" } as const

/** A connection of each kind, as its platform calls. */
const forms: Readonly<Record<ChatConnectionKind, CallbackForm | undefined>> = {
  // Slack sends everything over the long connection.
  slack_app: undefined,
  feishu_app: {
    token: "verification_token",
    key: "encrypt_key",
    receivers: ({ app_id: app = "" }) => [app],
    reader: () => readFeishuCallback
  },
  wecom_app: {
    ...wecom,
    receivers: ({ corp_id: corp = "" }) => [corp],
    reader: ({ agent_id: agent }) => readWecomCallback(appForm(String(agent ?? "")))
  },
  wecom_aibot: {
    ...wecom,
    // The receiver of a corporation's own bot is empty.
    receivers: ({ corp_id: corp = "" }) => [corp, ""],
    reader: ({ aibot_id: id, bot_name: name }) => readWecomCallback(botForm({ id, name }))
  }
}

const disabled = (reason: string): CallbackReader => ({ _tag: "Disabled", reason })

export const findCallbackReader = (
  { credential, document }: Pick<Snapshot, "document" | "credential">,
  id: string
): CallbackReader => {
  const connection = Object.hasOwn(document.im.connections, id) ? document.im.connections[id] : undefined
  if (connection === undefined) return { _tag: "Unknown" }
  const { callback, enabled, kind, tenant_key: tenant } = connection
  if (!enabled) return disabled("the connection is disabled")
  if (callback?.enabled !== true) return disabled("its callback is disabled")
  const form = forms[kind]
  if (form === undefined) return disabled("its kind has no callback")
  const token = credential(callback, form.token)
  const key = credential(callback, form.key)
  if (token === undefined || key === undefined) return disabled("a credential of its callback is not set")
  const secrets: CallbackSecrets = { token, key, receivers: form.receivers(connection), tenant }
  const read = form.reader(connection)
  return { _tag: "Reader", kind, read: (request) => read(request, secrets) }
}
