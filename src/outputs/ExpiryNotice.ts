/**
 * Plans the notice to chat groups about work that waited too long and was closed without a review: one message to each routed
 * channel that is a chat bot or notifies one about its issues (notify_feishu). The operation ids contain the queue entry, so that
 * planning again adds nothing. Pure.
 */
import type { Workspace } from "../config/Snapshot.ts"
import type { Entry } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import type { Publication } from "../domain/Publication.ts"
import { isPlatform, platforms } from "./chat/BotMessage.ts"
import type { Platform } from "./chat/Platform.ts"
import { labelsFor } from "./Labels.ts"
import { safeUrl } from "./text/Links.ts"
import { expiryId } from "./channels/OperationId.ts"
import { route } from "./channels/Routing.ts"
import type { SafeText } from "./SafeText.ts"

const words = {
  en: (description: string, hours: number) =>
    `Not reviewed: ${description} waited longer than ${hours} ${hours === 1 ? "hour" : "hours"} (queued_timeout). Request a review to try again.`,
  zh: (description: string, hours: number) =>
    `未评审：${description} 等待超过 ${hours} 小时（queued_timeout）。如仍需要，请重新请求评审。`
}

/** Describes the change by its branch or number and its commit. */
const describeChange = ({ head, target, url }: Entry["change"], safe: SafeText): string => {
  const subject = target.number === undefined ? target.branch : `#${target.number}`
  const description = [subject, head?.slice(0, 12)].filter((part) => part !== undefined).join(" @ ") || target.kind
  const address = safeUrl(url)
  return address === undefined ? safe.plain(description) : safe.link(safe.plain(description), address)
}

/** Managed issues are announced in Feishu groups only. */
const toPlatform = (kind: string): Platform => (isPlatform(kind) ? platforms[kind] : platforms.feishu_bot)

/** Returns the routed channels that are notified. */
export const expiryChannels = (workspace: Pick<Workspace, "outputs">, change: Entry["change"]) =>
  route(workspace.outputs, change)
    .map(({ channel }) => channel)
    .filter(({ kind, notify_feishu }) => isPlatform(kind) || notify_feishu !== undefined)

/** Plans the notice. `hours` is the exceeded limit. */
export const planExpiryNotice = (
  runId: string,
  entry: Pick<Entry, "id" | "targetKey" | "change">,
  workspace: Workspace,
  hours: number
): ReadonlyArray<Publication> => {
  const { change, id, targetKey } = entry
  const language = workspace.review.output_language
  const format = /^zh\b/i.test(language) ? words.zh : words.en
  return expiryChannels(workspace, change).map((channel, position) => ({
    id: newId(),
    operationId: expiryId(id, channel.name),
    runId,
    targetKey,
    channel: channel.name,
    operation: {
      _tag: "Chat",
      head: change.head ?? "",
      title: `${labelsFor(language).title} · ${change.repo.fullName}`,
      body: format(describeChange(change, toPlatform(channel.kind).safe), hours),
      first: true
    },
    status: "pending",
    position,
    attempts: 0
  }))
}
