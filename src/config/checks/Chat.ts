/** Checks chat connections and command bindings. Disabled drafts may be incomplete; enabled ones must be complete. */
import type { Report } from "../document/Normalise.ts"
import type { Check } from "./Check.ts"
import { checkReference, declared } from "./Names.ts"
import { entriesAt, recordAt, recordsAt, textAt } from "./Tree.ts"
import type { Tree, TreePosition } from "./Tree.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Refuses enabled command bindings that overlap. */

/** Keys of the parts of a binding by which another one may match the same message. */
const listKeys = (value: Tree, name: string, fields: ReadonlyArray<string>): ReadonlyArray<string> =>
  recordsAt(value, name).map((item) => JSON.stringify(fields.map((field) => item.value[field])))

const actorFields = ["type", "kind", "id", "chat_id", "name", "value"]
const anyone = JSON.stringify(actorFields.map((field) => (field === "kind" ? "any" : undefined)))

const haveCommon = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean =>
  one.some((item) => other.includes(item))

/** Two enabled bindings that grant a person the same command in the same conversation would leave open whose repositories apply. */
const checkOverlaps = (bindings: ReadonlyArray<TreePosition<Tree> & { readonly key: string }>, error: Report): void => {
  const facts = bindings
    .filter(({ value }) => value["enabled"] === true)
    .map(({ key, path, value }) => ({
      key,
      path,
      connection: value["connection"],
      conversations: listKeys(value, "conversations", ["kind", "id"]),
      actors: listKeys(value, "actors", actorFields),
      commands: Array.isArray(value["commands"]) ? value["commands"] : []
    }))
  for (const [at, one] of facts.entries())
    for (const other of facts.slice(0, at)) {
      const isShared =
        one.connection === other.connection &&
        haveCommon(one.conversations, other.conversations) &&
        haveCommon(one.commands, other.commands) &&
        (haveCommon(one.actors, other.actors) || one.actors.includes(anyone) || other.actors.includes(anyone))
      if (isShared)
        error({
          path: one.path,
          reason: { _tag: "BindingsOverlap", binding: JSON.stringify(other.key) },
          at: "key"
        })
    }
}

/** Protocols by kind of conversation. */
const conversations: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["app_direct", ["feishu_app", "wecom_app"]],
  ["bot_direct", ["feishu_app", "wecom_aibot", "slack_app"]],
  ["group", ["feishu_app", "wecom_app", "wecom_aibot", "slack_app"]]
])

export const checkChat: Check = (tree, { error, warning }) => {
  const connections = entriesAt(tree, "im", "connections")
  for (const connection of connections) {
    if (connection.value["enabled"] === false) continue
    checkConnection(connection, error)
    checkReceiving(connection, warning)
  }
  for (const binding of entriesAt(tree, "im", "command_bindings")) {
    const connection = connections.find(({ key }) => key === textAt(binding.value, "connection"))
    checkActors(binding, connection?.value, error)
    if (binding.value["enabled"] !== true) continue
    checkEnabled(tree, binding, connection, error)
    checkStored(tree, binding, error)
    checkScopes(binding, connections, connection?.value, warning)
    if (connection !== undefined) checkBotName(connection, binding.value, warning)
  }
  checkOverlaps(entriesAt(tree, "im", "command_bindings"), error)
}

/** The other platforms have long connections. */
const checkReceiving = ({ path, value }: TreePosition<Tree>, warning: Report): void => {
  if (recordAt(value, "callback")["enabled"] === true || textAt(value, "kind") !== "wecom_app") return
  warning({
    path: [...path, "callback"],
    reason: { _tag: "SendsOnly" },
    at: "value"
  })
}

/** A review is queued once, and its end reported once, because its request outlives the process. */
const checkStored = (tree: unknown, { path, value }: TreePosition<Tree>, error: Report): void => {
  const commands = value["commands"]
  const isLost = textAt(tree, "storage", "database", "sqlite", "path") === ":memory:"
  if (!isLost || textAt(tree, "storage", "database", "kind") === "postgres") return
  if (Array.isArray(commands) && commands.includes("review"))
    error({
      path: [...path, "commands"],
      reason: { _tag: "ReviewNeedsRecords" },
      at: "value"
    })
}

/** WeCom sends the text of a mention without its end, and no name of the bot. */
const checkBotName = ({ path, value }: TreePosition<Tree>, binding: Tree, warning: Report): void => {
  const isInGroups = recordsAt(binding, "conversations").some((one) => textAt(one.value, "kind") === "group")
  if (isInGroups && textAt(value, "kind") === "wecom_aibot" && value["bot_name"] === undefined)
    warning({ path: [...path, "bot_name"], reason: { _tag: "BotNameMissing" }, at: "value" })
}

/** A bot of WeCom reads no directory: an application of the same corporation does it. */
const checkScopes = (
  { path, value }: TreePosition<Tree>,
  connections: ReadonlyArray<TreePosition<Tree>>,
  own: Tree | undefined,
  warning: Report
): void => {
  const readsDirectory =
    textAt(own, "kind") !== "wecom_aibot" ||
    connections.some(
      ({ value: one }) =>
        one["enabled"] !== false && textAt(one, "kind") === "wecom_app" && one["corp_id"] === own?.["corp_id"]
    )
  if (readsDirectory) return
  for (const actor of recordsAt(value, "actors")) {
    const kind = textAt(actor.value, "kind")
    if (kind !== undefined && kind !== "any")
      warning({
        path: [...path, ...actor.path],
        reason: { _tag: "ActorMatchesNobody", kind },
        at: "value"
      })
  }
}

const checkConnection = ({ path, value }: TreePosition<Tree>, error: Report): void => {
  const kind = textAt(value, "kind")
  if (kind === undefined) return
  const has = (holder: Tree, key: string): boolean => holder[key] !== undefined || holder[`${key}_env`] !== undefined
  const missing = (key: string, reason: Reason): void => error({ path: [...path, key], reason, at: "value" })
  const callback = recordAt(value, "callback")
  const called = callback["enabled"] === true
  for (const key of kind === "slack_app" ? ["app_token", "bot_token"] : [])
    if (!has(value, key)) missing(`${key}_env`, { _tag: "ConnectionTokenMissing", kind, key })
  if (kind !== "wecom_aibot" && kind !== "slack_app" && !has(value, "app_secret"))
    missing("app_secret_env", { _tag: "ConnectionSecretMissing", kind })
  if (kind === "wecom_aibot" && !called) {
    if (value["aibot_id"] === undefined) missing("aibot_id", { _tag: "BotIdMissing" })
    if (!has(value, "secret")) missing("secret_env", { _tag: "BotSecretMissing" })
  }
  if (!called) return
  for (const key of kind === "feishu_app" ? ["verification_token", "encrypt_key"] : ["token", "encoding_aes_key"])
    if (!has(callback, key))
      error({
        path: [...path, "callback", `${key}_env`],
        reason: { _tag: "CallbackKeyMissing", kind, key },
        at: "value"
      })
}

const checkActors = ({ path, value }: TreePosition<Tree>, connection: Tree | undefined, error: Report): void => {
  const protocol = textAt(connection, "kind")
  const platform = protocol?.split("_")[0]
  for (const actor of recordsAt(value, "actors")) {
    const at = [...path, ...actor.path]
    const { type, kind, id } = actor.value
    const name = typeof type === "string" ? type : typeof kind === "string" ? kind : undefined
    if (name === undefined) {
      error({ path: at, reason: { _tag: "ActorWithoutType" }, at: "value" })
      continue
    }
    const byId = type !== undefined || /_(department|tag|position|job_title|channel|usergroup)$/.test(name)
    if (byId && id === undefined) error({ path: [...at, "id"], reason: { _tag: "NeededBy", who: name }, at: "value" })
    if (platform !== undefined && name !== "any" && !name.startsWith(`${platform}_`))
      error({ path: at, reason: { _tag: "NotOnConnection", name, protocol: protocol ?? "" }, at: "value" })
  }
  for (const conversation of recordsAt(value, "conversations")) {
    const kind = textAt(conversation.value, "kind") ?? ""
    const fitting = conversations.get(kind)
    if (fitting !== undefined && protocol !== undefined && !fitting.includes(protocol))
      error({
        path: [...path, ...conversation.path, "kind"],
        reason: { _tag: "NotOnConnection", name: kind, protocol, usable: fittingKinds(protocol) },
        at: "value"
      })
  }
}

const fittingKinds = (protocol: string): Reason =>
  [...conversations]
    .filter(([, protocols]) => protocols.includes(protocol))
    .map(([kind]) => verbatimReason(kind))
    .reduce((first, other) => ({ _tag: "Alternatives", first, other }))

const checkEnabled = (
  tree: unknown,
  { path, value }: TreePosition<Tree>,
  connection: TreePosition<Tree> | undefined,
  error: Report
): void => {
  const names = declared(tree)
  const name = textAt(value, "connection")
  if (name === undefined)
    error({ path: [...path, "connection"], reason: { _tag: "BindingConnectionMissing" }, at: "value" })
  else if (connection === undefined) checkReference(name, [...path, "connection"], names.connection, error)
  else if (connection.value["enabled"] === false)
    error({
      path: [...path, "connection"],
      reason: { _tag: "ConnectionDisabled", connection: JSON.stringify(name) },
      at: "value"
    })
  for (const key of ["actors", "conversations", "commands"]) {
    const list = value[key]
    if (list === undefined || (Array.isArray(list) && list.length === 0))
      error({ path: [...path, key], reason: { _tag: "BindingIncomplete" }, at: "value" })
  }
  for (const alias of entriesAt(value, "repositories")) {
    const at = [...path, ...alias.path]
    const { workspace, source_trigger } = alias.value
    if (typeof workspace === "string") checkReference(workspace, [...at, "workspace"], names.workspace, error)
    else if (workspace === undefined)
      error({ path: [...at, "workspace"], reason: { _tag: "WorkspaceMissing" }, at: "value" })
    if (typeof source_trigger === "string")
      checkReference(source_trigger, [...at, "source_trigger"], names.trigger, error)
  }
}
