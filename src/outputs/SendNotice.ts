/** Sends a notice to its channel, under the configuration in force. */
import { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Notice } from "../domain/Notice.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import type { HostTraffic } from "../forge/HostTraffic.ts"
import type { Writing } from "../forge/WriteOwner.ts"
import type { ChatSends } from "../store/ChatSends.ts"
import { appKey, appSends } from "./chat/AppSend.ts"
import { botSend } from "./chat/BotChannel.ts"
import { isPlatform, platforms } from "./chat/BotMessage.ts"
import type { PlatformName } from "./chat/BotMessage.ts"
import { ChannelMissing } from "./channels/Channel.ts"
import { labelsFor } from "./Labels.ts"
import { noticeSeverity, renderNotice, toLanguage } from "./chat/NoticeKinds.ts"
import { noticeOutputs } from "./PlanNotices.ts"
import type { MessageSender } from "./chat/MessageSend.ts"
import { split } from "./chat/Split.ts"

const senders: Readonly<Record<PlatformName, MessageSender>> = {
  ...appSends,
  feishu_bot: botSend("feishu_bot"),
  wecom_bot: botSend("wecom_bot")
}

/** A message that is ready to be sent. */
export interface PreparedNotice {
  /** Milliseconds from its creation in which a repeated message is one message; 0 if never. */
  readonly keyMillis: number
  readonly send: Effect.Effect<void, ForgeError, ChatSends | HostTraffic | Writing>
}

/** Fails if the channel is no longer configured. */
export const prepareNotice = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  { channel: name, facts, id }: Pick<Notice, "channel" | "facts" | "id">
): Effect.fn.Return<PreparedNotice, ChannelMissing> {
  const channel = noticeOutputs(snapshot, facts).channels.find((one) => one.name === name)
  if (channel === undefined || !isPlatform(channel.kind))
    return yield* new ChannelMissing({ why: { _tag: "NoticeChannelMissing", channel: name } })
  const context = { channel, credential: snapshot.credential, workspace: { snapshot: () => snapshot } }
  const { keyMillis, send } = yield* senders[channel.kind](context)
  const workspace = "workspace" in facts ? snapshot.workspaces.get(facts.workspace) : undefined
  const language = (workspace?.review ?? snapshot.document.review).output_language
  const { limit, safe } = platforms[channel.kind]
  const { body, title } = renderNotice(facts, safe, toLanguage(language), snapshot.document.server)
  const labels = labelsFor(language)
  const operation = {
    _tag: "Chat",
    head: "",
    title: `${labels.title} · ${title}`,
    body: split(body, limit, 1, labels.cut)[0] ?? "",
    severity: noticeSeverity(facts)
  } as const
  return { keyMillis, send: send(operation, appKey(id)) }
})
