/**
 * A review as messages of a chat bot, one outbox row per message. A platform cannot be asked what it has: a message whose
 * answer was lost counts as sent, because a second one would disturb everybody in the group.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import { resolveAuthor } from "./Author.ts"
import { feishuSigned, post } from "./BotHook.ts"
import type { Bot } from "./BotHook.ts"
import { platforms } from "./BotMessage.ts"
import type { People } from "./BotMessage.ts"
import { ChannelMissing } from "./Channel.ts"
import type { ChannelKind, Planned, Reach } from "./Channel.ts"
import { foreign } from "./Foreign.ts"
import { labelsFor } from "./Labels.ts"
import { safeUrl } from "./Links.ts"
import { mentionSlot } from "./Mention.ts"
import { cleanPolicy } from "./NoProblems.ts"
import { followUpId, operationId } from "./OperationId.ts"
import { renderChat } from "./Render.ts"
import { shownBy } from "./Shown.ts"
import { split } from "./Split.ts"

type ChatOperation = Extract<Operation, { readonly _tag: "Chat" }>
type PlatformName = keyof typeof platforms

/** Messages of one review; a group is not a report. */
const mostMessages = 5

const detailOf = (channel: ChannelConfig, recorded: boolean) =>
  recorded ? (channel.issue_link_card ?? "titles") : "full"

export const botChannel = (name: PlatformName): ChannelKind => ({
  serves: ({ target }) => target.kind !== "issue",

  plan: (input, channel, parts) => {
    const { analysis, head, workspace, change } = input
    const shown = shownBy(channel, analysis)
    if (shown.length === 0 && cleanPolicy(workspace, channel, analysis) !== "publish") return []
    const labels = labelsFor(workspace.review.output_language)
    const { limit, safe } = platforms[name]
    const hidden = analysis.findings.length - shown.length
    const listed = shown.slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
    const text = renderChat(input, channel, listed, hidden, {
      detail: detailOf(channel, parts.recorded === true),
      safe
    })
    const bodies = split(text, limit, mostMessages, labels.cut)
    return bodies.map((body, i): Planned => {
      const count = bodies.length === 1 ? "" : ` (${i + 1}/${bodies.length})`
      const title = `${labels.title} · ${change.repo.fullName}${count}`
      const severity = shown[0]?.problem.severity
      const operation: ChatOperation = {
        _tag: "Chat",
        head,
        title,
        body,
        first: i === 0,
        ...(severity === undefined ? {} : { severity })
      }
      return { operationId: operationId(input, channel.name, "Chat", i), operation }
    })
  },

  send: Effect.fnUntraced(function* (reach, publication) {
    const { operation } = publication
    if (operation._tag !== "Chat") return yield* foreign(publication)
    const bot = yield* botOf(reach, reach.channel)
    const people = yield* peopleOf(reach, operation)
    yield* send(name, bot, filled(name, operation, people))
    return { hostId: publication.operationId, url: undefined, next: calls(name, publication, operation, people) }
  }),

  find: Effect.fnUntraced(function* (reach, publication) {
    const { operation } = publication
    if (operation._tag !== "Chat") return yield* foreign(publication)
    const next = calls(name, publication, operation, yield* peopleOf(reach, operation))
    return { hostId: `unconfirmed:${publication.operationId}`, url: undefined, next }
  })
})

const filled = (name: PlatformName, operation: ChatOperation, people: People): ChatOperation => {
  const mention = platforms[name].mention(people)
  return { ...operation, body: operation.body.replaceAll(mentionSlot, mention).trim() }
}

/** The one POST of a row. */
const send = Effect.fnUntraced(function* (name: PlatformName, bot: Bot, operation: ChatOperation) {
  const { call, message } = platforms[name]
  const { title, body, severity, people } = operation
  const made = people === undefined || call === undefined ? message({ title, body, severity }) : call(title, people)
  yield* post(bot, name === "feishu_bot" ? { ...(yield* feishuSigned(bot)), ...made } : made)
})

/** People whom the platform calls by a message of its own: a row, so that neither message is sent twice. */
const calls = (
  name: PlatformName,
  publication: Publication,
  { head, title, first, people }: ChatOperation,
  { everyone, mobiles }: People
): ReadonlyArray<Planned> =>
  platforms[name].call === undefined || first !== true || people !== undefined || (!everyone && mobiles.length === 0)
    ? []
    : [
        {
          operationId: followUpId(publication.operationId, "call"),
          operation: { _tag: "Chat", head, title, body: "", people: { everyone, mobiles } }
        }
      ]

const botOf = (reach: Reach, holder: object): Effect.Effect<Bot, ChannelMissing> => {
  const url = reach.credential(holder, "webhook_url")
  return url === undefined
    ? Effect.fail(
        new ChannelMissing({
          message: `channel ${reach.channel.name} has no webhook_url; set webhook_url_env to its variable`
        })
      )
    : Effect.succeed({ url, secret: reach.credential(holder, "secret") })
}

const peopleOf = Effect.fnUntraced(function* (reach: Reach, { head, body, first }: ChatOperation) {
  const { channel, change } = reach
  const wanted = body.includes(mentionSlot)
  // Without a git host nobody can be asked: whoever made the change is who its trigger says.
  const author = !wanted
    ? undefined
    : isForgeKind(change.provider)
      ? yield* resolveAuthor(reach, head)
      : change.author?.username
  const everyone = wanted && author === undefined && channel.mention_fallback === "all"
  return { author, everyone, mobiles: first === true ? (channel.mentioned_mobile_list ?? []) : [] } satisfies People
})

/** What follows from a new managed issue where its channel wants a chat group to know. */
export const issueNotice = (
  { channel, change }: Reach,
  publication: Publication,
  issue: { readonly title: string; readonly url: string | undefined; readonly severity: ChatOperation["severity"] }
): ReadonlyArray<Planned> => {
  if (channel.notify_feishu === undefined) return []
  const { safe } = platforms.feishu_bot
  const [title, url] = [safe.plain(issue.title.replace(/[[\]]/g, "")), safeUrl(issue.url)]
  const body = url === undefined ? title : safe.link(title, url)
  const { severity } = issue
  return [
    {
      operationId: followUpId(publication.operationId, "notify"),
      operation: {
        _tag: "Chat",
        head: change.head ?? "",
        title: change.repo.fullName,
        body,
        ...(severity === undefined ? {} : { severity })
      }
    }
  ]
}

export const sendIssueNotice = Effect.fnUntraced(function* (
  reach: Reach,
  publication: Publication,
  chat: ChatOperation
) {
  const bot = yield* botOf(reach, reach.channel.notify_feishu ?? reach.channel)
  yield* send("feishu_bot", bot, chat)
  return { hostId: publication.operationId, url: undefined }
})
