/** Checks channels and routes, per layer: names in routes and templates must exist in the lists that apply there. */
import { noticeChannelKinds, noticeKinds, workspaceNoticeKinds } from "../../domain/Notice.ts"
import type { Report } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, isRecord } from "../document/Path.ts"
import { hookKinds } from "../schema/Outputs.ts"
import { checkChannelHost } from "./ChannelHosts.ts"
import type { Check, CrossCheckReports } from "./Check.ts"
import { checkReference, checkUnique } from "./Names.ts"
import { checkPrivateChannel } from "./PrivateChannel.ts"
import { checkSwarm } from "./SwarmChannels.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { entriesAt, recordAt, recordsAt, textAt, textsAt } from "./Tree.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Required trigger kinds by channel kind. */
const triggerKinds: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries({
    gitea_pr_review: ["gitea", "forgejo"],
    gitea_issue: ["gitea", "forgejo"],
    gitea_problem_issue: ["gitea", "forgejo"],
    github_pr_review: ["github"],
    github_issue: ["github"],
    github_problem_issue: ["github"],
    gitlab_mr_review: ["gitlab"],
    gitlab_problem_issue: ["gitlab"],
    p4_swarm: ["perforce"]
  })
)

/** Kinds whose messages cannot mention everyone. */
const withoutEveryone = new Set(["wecom_app", "teams_webhook", "webhook", "email"])

const checkEveryone = ({ path, value }: TreePosition<Tree>, { error }: CrossCheckReports): void => {
  const kind = textAt(value, "kind") ?? ""
  if (withoutEveryone.has(kind) && textAt(value, "mention_fallback") === "all")
    error({
      path: [...path, "mention_fallback"],
      reason: { _tag: "NobodyMentionsAll", kind },
      at: "value"
    })
}

interface Layer {
  readonly path: Path
  readonly outputs: Tree
  readonly review: TreePosition<Tree>
}

const layerAt = (tree: unknown, ...at: Path): Layer => ({
  path: [...at, "outputs"],
  outputs: recordAt(tree, ...at, "outputs"),
  review: { path: [...at, "review"], value: recordAt(tree, ...at, "review") }
})

export const checkChannels: Check = (tree, reports) => {
  const global = layerAt(tree)
  const defaults = layerAt(tree, "workspaces", "defaults")
  const profiles = recordsAt(tree, "triggers")
  const triggers = new Map(profiles.map(({ value }) => [textAt(value, "name"), textAt(value, "kind")]))
  // A shelved changelist is the only change of kind commit.
  const hasShelves = profiles.some(({ value }) => textAt(value, "kind") === "perforce")
  const connections = new Map(
    entriesAt(tree, "im", "connections").map(({ key, value }) => [key, textAt(value, "kind")])
  )
  const checkOwn = (layer: Layer): void => {
    const channels = recordsAt(layer.outputs, "channels").map((item) => ({
      ...item,
      path: [...layer.path, ...item.path]
    }))
    checkUnique(channels, "name", reports.error)
    for (const channel of channels) {
      checkChannel(channel, triggers, connections, reports)
      checkDirect(channel, tree, reports.error)
      checkLinks(channel, reports)
      checkEveryone(channel, reports)
      checkSwarm(channel, profiles, reports)
      checkChannelHost(channel, triggerKinds.get(textAt(channel.value, "kind") ?? ""), profiles, reports)
    }
    for (const { path, value } of recordsAt(layer.outputs, "routes", "rules"))
      if (textAt(value, "match", "target_kind") === "commit" && !hasShelves)
        reports.warning({
          path: [...layer.path, ...path, "match", "target_kind"],
          reason: { _tag: "NoCommitChanges" },
          at: "value"
        })
  }
  checkOwn(global)
  checkReferences([global], reports.error)
  if (hasOwn(defaults)) {
    checkOwn(defaults)
    checkReferences([global, defaults], reports.error)
  }
  for (const { path } of entriesAt(tree, "workspaces", "instances")) {
    const own = layerAt(tree, ...path)
    if (!hasOwn(own)) continue
    checkOwn(own)
    checkReferences([global, defaults, own], reports.error)
  }
}

/** Returns whether a layer has outputs, or names the channel of private findings. */
const hasOwn = ({ outputs, review }: Layer): boolean =>
  Object.keys(outputs).length > 0 || textAt(review.value, "private", "channel") !== undefined

/** Checks the references that apply at the last layer. A reference of a lower layer is reported if the last layer hides its target. */
const checkReferences = (layers: ReadonlyArray<Layer>, error: Report): void => {
  const last = layers.at(-1)
  if (last === undefined) return
  const nearest = (...path: Path): Layer | undefined =>
    layers.findLast(
      ({ outputs }) => path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), outputs) !== undefined
    )
  const channels = nearest("channels")
  const names = new Set(recordsAt(channels?.outputs, "channels").flatMap(({ value }) => textAt(value, "name") ?? []))
  const where = channels === undefined ? "outputs.channels" : formatPath([...channels.path, "channels"])
  const references = [
    ...targetsOf(nearest("routes", "rules"), "rules"),
    ...targetsOf(nearest("routes", "default"), "default"),
    ...noticeTargets(nearest("notifications", "routes"))
  ]
  checkNotices(layers, nearest("notifications", "routes"), channels, error)
  const review = layers.findLast((layer) => textAt(layer.review.value, "private", "channel") !== undefined)?.review
  const own = textAt(review?.value, "private", "channel")
  const isConcerned = [review, channels?.review, nearest("routes")?.review].includes(last.review)
  if (review !== undefined && own !== undefined && isConcerned)
    checkPrivateChannel(
      {
        field: { path: [...review.path, "private", "channel"], value: own },
        isOwnLayer: review === last.review,
        last: last.path,
        channels: recordsAt(channels?.outputs, "channels"),
        declared: { where, names },
        routed: [
          ...targetsOf(nearest("routes", "rules"), "rules"),
          ...targetsOf(nearest("routes", "default"), "default")
        ]
      },
      error
    )
  for (const { path, value } of references) {
    const isOwnLayer = last.path.every((segment, index) => path[index] === segment)
    if (isOwnLayer) checkReference(value, path, { where, names }, error)
    else if (!names.has(value) && channels === last)
      error({
        path: [...last.path, "channels"],
        reason: { _tag: "ChannelOmitted", channel: JSON.stringify(value), place: formatPath(path) },
        at: "key"
      })
  }
  const templates = new Set(layers.flatMap(({ outputs }) => Object.keys(recordAt(outputs, "templates"))))
  for (const channel of recordsAt(last.outputs, "channels"))
    for (const part of ["problem", "summary"]) {
      const name = textAt(channel.value, "templates", part)
      if (name !== undefined)
        checkReference(
          name,
          [...last.path, ...channel.path, "templates", part],
          { where: "outputs.templates", names: templates },
          error
        )
    }
}

const noticeTargets = (layer: Layer | undefined): ReadonlyArray<TreePosition<string>> =>
  layer === undefined
    ? []
    : recordsAt(layer.outputs, "notifications", "routes").flatMap((route) =>
        textsAt(route.value, "channels").map(({ path, value }) => ({
          path: [...layer.path, ...route.path, ...path],
          value
        }))
      )

/** Notices go to chats. Those about the service have no workspace, so that a list of a workspace cannot name their kinds. */
const checkNotices = (
  layers: ReadonlyArray<Layer>,
  routes: Layer | undefined,
  channels: Layer | undefined,
  error: Report
): void => {
  const last = layers.at(-1)
  if (last === undefined || routes === undefined) return
  const kinds = new Map(
    recordsAt(channels?.outputs, "channels").map(({ value }) => [textAt(value, "name"), textAt(value, "kind") ?? ""])
  )
  for (const { path, value } of noticeTargets(routes)) {
    const kind = kinds.get(value)
    if (kind === undefined || noticeChannelKinds.some((one) => one === kind)) continue
    const isHere = last === routes
    if (isHere || last === channels)
      error({
        path: isHere ? path : [...last.path, "channels"],
        reason: {
          _tag: "NoNoticesBy",
          channel: JSON.stringify(value),
          kind,
          place: isHere ? undefined : formatPath(path),
          kinds: noticeChannelKinds
        },
        at: isHere ? "value" : "key"
      })
  }
  if (routes !== last || layers.length === 1) return
  for (const route of recordsAt(routes.outputs, "notifications", "routes"))
    for (const { path, value } of textsAt(route.value, "kinds"))
      if (!workspaceNoticeKinds.some((kind) => kind === value) && noticeKinds.some((kind) => kind === value))
        error({
          path: [...routes.path, ...route.path, ...path],
          reason: { _tag: "NoticeOfService", kind: value },
          at: "value"
        })
}

const targetsOf = (layer: Layer | undefined, part: "rules" | "default"): ReadonlyArray<TreePosition<string>> => {
  if (layer === undefined) return []
  const routes =
    part === "rules"
      ? recordsAt(layer.outputs, "routes", "rules")
      : [{ path: ["routes", "default"], value: recordAt(layer.outputs, "routes", "default") }]
  return routes.flatMap((route) =>
    ["line_comments", "summary"].flatMap((field) =>
      textsAt(route.value, field).map(({ path, value }) => ({ path: [...layer.path, ...route.path, ...path], value }))
    )
  )
}

/**
 * Checks templates of revisions and changelists on a channel that writes to a git host. Only managed issues of the channel's repository are
 * written for changes of other systems.
 */
const checkLinks = ({ path, value }: TreePosition<Tree>, { warning }: CrossCheckReports): void => {
  const kind = textAt(value, "kind") ?? ""
  if (!triggerKinds.has(kind) || kind === "p4_swarm") return
  if (kind.endsWith("_issue") && ["owner", "repo", "project_id"].some((key) => value[key] !== undefined)) return
  for (const field of ["revision_url_template", "change_url_template"])
    if (value[field] !== undefined)
      warning({
        path: [...path, field],
        reason: { _tag: "LinksMadeBy", kind, field: "commit_url_template" },
        at: "key"
      })
}

/** Only an application of Feishu reads members of a chat. */
const checkDirectory = ({ path, value }: TreePosition<Tree>, kind: string, error: Report): void => {
  const directory = value["member_directory"]
  if (!isRecord(directory)) return
  if (textAt(directory, "source") !== "file" && kind !== "feishu_app")
    error({
      path: [...path, "member_directory", "source"],
      reason: { _tag: "DirectoryOfFeishu", kind },
      at: "value"
    })
}

/** A direct message needs members, and a connection over which its recipient can stop further ones. */
const checkDirect = ({ path, value }: TreePosition<Tree>, tree: unknown, error: Report): void => {
  if (value["direct_message"] !== true) return
  const report = (reason: Reason): void => error({ path: [...path, "direct_message"], reason, at: "value" })
  if (value["member_directory"] === undefined && value["user_mappings"] === undefined)
    report({ _tag: "DirectMessageWithoutMembers" })
  const connection = textAt(value, "connection")
  const settings = connection === undefined ? {} : recordAt(tree, "im", "connections", connection)
  const isSendOnly = textAt(value, "kind") === "wecom_app" && recordAt(settings, "callback")["enabled"] !== true
  if (connection === undefined || isSendOnly) report({ _tag: "DirectMessageUnstoppable" })
}

const checkChannel = (
  { path, value }: TreePosition<Tree>,
  triggers: ReadonlyMap<string | undefined, string | undefined>,
  connections: ReadonlyMap<string, string | undefined>,
  { error }: CrossCheckReports
): void => {
  const kind = textAt(value, "kind") ?? ""
  const has = (key: string): boolean => value[key] !== undefined || value[`${key}_env`] !== undefined
  const missing = (key: string, reason: Reason): void => error({ path: [...path, key], reason, at: "value" })
  const triggerKind = triggers.get(textAt(value, "trigger"))
  const fitting = triggerKinds.get(kind)
  if (triggerKind !== undefined && fitting !== undefined && !fitting.includes(triggerKind))
    error({
      path: [...path, "trigger"],
      reason: { _tag: "TriggerKindUnfit", kind, kinds: fitting, actual: triggerKind },
      at: "value"
    })
  if (hookKinds.includes(kind) && !has("webhook_url")) missing("webhook_url_env", { _tag: "WebhookUrlMissing", kind })
  if (kind === "email" && !has("smtp_url")) missing("smtp_url_env", { _tag: "SmtpUrlMissing" })
  if (kind === "webhook" && !has("secret")) missing("secret_env", { _tag: "HookSecretMissing" })
  if (kind === "feishu_app" && value["connection"] === undefined) {
    if (value["app_id"] === undefined) missing("app_id", { _tag: "ChannelAppIdMissing" })
    if (!has("app_secret")) missing("app_secret_env", { _tag: "AppSecretMissing" })
  }
  const connection = connections.get(textAt(value, "connection") ?? "")
  if (connection !== undefined && ["feishu_app", "wecom_app", "slack_app"].includes(kind) && connection !== kind)
    error({
      path: [...path, "connection"],
      reason: { _tag: "ConnectionKindUnfit", actual: connection, kind },
      at: "value"
    })
  if (value["resolved_action"] === "delete" && kind !== "gitea_problem_issue")
    error({
      path: [...path, "resolved_action"],
      reason: { _tag: "DeleteOfGiteaOnly" },
      at: "value"
    })
  checkDirectory({ path, value }, kind, error)
  const notify = value["notify_feishu"]
  if (isRecord(notify) && notify["webhook_url"] === undefined && notify["webhook_url_env"] === undefined)
    missing("notify_feishu", { _tag: "NotifyUrlMissing" })
  const target = value["target"]
  if (
    isRecord(target) &&
    target["kind"] === "recipients" &&
    !["users", "parties", "tags"].some((key) => target[key] !== undefined)
  )
    missing("target", { _tag: "RecipientsMissing" })
}
