/**
 * What chat groups are told when work waited too long and was closed without a review: one message to each routed channel that is a
 * chat bot or tells one of its issues (notify_feishu). The names of the operations hold the entry, so that planning it again adds
 * nothing. Pure.
 */
import type { Workspace } from "../config/Snapshot.ts"
import type { Entry } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import type { Publication } from "../domain/Publication.ts"
import { platforms } from "./BotMessage.ts"
import { labelsFor } from "./Labels.ts"
import { safeUrl } from "./Links.ts"
import { expiryId } from "./OperationId.ts"
import { route } from "./Routing.ts"
import type { SafeText } from "./SafeText.ts"

const words = {
  en: (what: string, hours: number) =>
    `Not reviewed: ${what} waited longer than ${hours} ${hours === 1 ? "hour" : "hours"} (queued_timeout). Request a review to try again.`,
  zh: (what: string, hours: number) =>
    `未评审：${what} 等待超过 ${hours} 小时（queued_timeout）。如仍需要，请重新请求评审。`
}

/** In words: the branch or number and the commit. */
const named = ({ head, target, url }: Entry["change"], safe: SafeText): string => {
  const place = target.number === undefined ? target.branch : `#${target.number}`
  const what = [place, head?.slice(0, 12)].filter((part) => part !== undefined).join(" @ ") || target.kind
  const address = safeUrl(url)
  return address === undefined ? safe.plain(what) : safe.link(safe.plain(what), address)
}

/** A managed issue is told to a group of Feishu. */
const platformOf = (kind: string) => (kind === "wecom_bot" ? platforms.wecom_bot : platforms.feishu_bot)

/** `hours`: the limit that it passed. */
export const expiryNotice = (
  runId: string,
  entry: Pick<Entry, "id" | "targetKey" | "change">,
  workspace: Workspace,
  hours: number
): ReadonlyArray<Publication> => {
  const { change, id, targetKey } = entry
  const language = workspace.review.output_language
  const say = /^zh\b/i.test(language) ? words.zh : words.en
  return route(workspace.outputs, change)
    .filter(({ channel }) => Object.hasOwn(platforms, channel.kind) || channel.notify_feishu !== undefined)
    .map(({ channel }, position) => ({
      id: newId(),
      operationId: expiryId(id, channel.name),
      runId,
      targetKey,
      channel: channel.name,
      operation: {
        _tag: "Chat",
        head: change.head ?? "",
        title: `${labelsFor(language).title} · ${change.repo.fullName}`,
        body: say(named(change, platformOf(channel.kind).safe), hours),
        first: true
      },
      status: "pending",
      position,
      attempts: 0
    }))
}
