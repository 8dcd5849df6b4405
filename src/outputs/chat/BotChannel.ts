/**
 * Publishes a review as messages of a chat bot, one publication per message. Sent messages cannot be queried: a message without a
 * response counts as sent, because a duplicate would disturb the whole group.
 */
import { Duration, Effect } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { hasNews } from "../../domain/Analysis.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { Publication } from "../../domain/Publication.ts"
import { resolveAuthor } from "../channels/Author.ts"
import { findBot, signFeishuMessage, post } from "./BotHook.ts"
import type { Bot } from "./BotHook.ts"
import { platforms } from "./BotMessage.ts"
import type { PlatformName } from "./BotMessage.ts"
import type { ChatOperation } from "./MessageSend.ts"
import type { People, Platform } from "./Platform.ts"
import type { ChannelKind, ChatContext, Planned, ChannelContext } from "../channels/Channel.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"
import { labelsFor } from "../Labels.ts"
import { safeUrl } from "../text/Links.ts"
import { planDirect } from "./DirectMessage.ts"
import { findMemberMention, hasMembers } from "./MemberMention.ts"
import { mentionSlot } from "../text/Mention.ts"
import { cleanPolicy } from "../review/NoProblems.ts"
import { followUpId, operationId } from "../channels/OperationId.ts"
import { renderChat } from "../text/Render.ts"
import { countHidden, visibleFindings } from "../review/VisibleFindings.ts"
import { split } from "./Split.ts"

type BotName = Extract<PlatformName, `${string}_bot`>

/** Upper bound for the messages of one review. */
const maxMessages = 5

const toDetail = (channel: ChannelConfig, recorded: boolean) =>
  recorded ? (channel.issue_link_card ?? "titles") : "full"

/** Plans the messages of a review. */
export const planChat =
  (name: PlatformName): ChannelKind["plan"] =>
  (input, channel, parts) => {
    const { analysis, head, workspace, change } = input
    const visible = visibleFindings(channel, analysis)
    if (!hasNews(analysis) && change.requestedBy === undefined) return []
    if (visible.length === 0 && cleanPolicy(workspace, channel, analysis) !== "publish") return []
    const labels = labelsFor(workspace.review.output_language)
    const { limit, safe, toData }: Platform = platforms[name]
    const hidden = countHidden(channel, analysis)
    const listed = visible.slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
    const text = renderChat(input, channel, listed, hidden, {
      detail: toDetail(channel, parts.recorded === true),
      safe
    })
    const bodies = split(text, limit, maxMessages, labels.cut)
    const omitted = hidden + visible.length - listed.length
    const messages = bodies.map((body, i): Planned => {
      const count = bodies.length === 1 ? "" : ` (${i + 1}/${bodies.length})`
      const title = `${labels.title} · ${change.repo.fullName}${count}`
      const severity = visible[0]?.problem.severity
      const operation: ChatOperation = {
        _tag: "Chat",
        head,
        title,
        body,
        first: i === 0,
        ...(severity === undefined ? {} : { severity }),
        ...(toData === undefined || i > 0 ? {} : { review: toData(input, listed, omitted) })
      }
      return { operationId: operationId(input, channel.name, "Chat", i), operation }
    })
    return [...messages, ...planDirect(name, input, channel, listed, omitted)]
  }

/** Chat messages report reviews of code. */
export const servesChat: ChannelKind["serves"] = ({ target }) => target.kind !== "issue"

export const botChannel = (name: BotName): ChannelKind => ({
  serves: servesChat,
  plan: planChat(name),

  send: Effect.fnUntraced(function* (context, publication) {
    const { operation } = publication
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    const bot = yield* findBot(context, context.channel)
    const people = yield* findPeople(context, operation)
    yield* send(name, bot, fillMention(name, operation, people))
    return { hostId: publication.operationId, url: undefined, next: planCalls(name, publication, operation, people) }
  }),

  find: Effect.fnUntraced(function* (context, publication) {
    const { operation } = publication
    if (operation._tag !== "Chat") return yield* wrongChannelKind(publication)
    const next = planCalls(name, publication, operation, yield* findPeople(context, operation))
    return { hostId: `unconfirmed:${publication.operationId}`, url: undefined, next }
  })
})

export const fillMention = (name: PlatformName, operation: ChatOperation, people: People): ChatOperation => {
  const mention = platforms[name].mention(people)
  return { ...operation, body: operation.body.replaceAll(mentionSlot, mention).trim() }
}

/** Time between messages of one bot: 20 a minute on WeCom, and 100 on Feishu. */
const gaps: Readonly<Record<BotName, Duration.Duration>> = {
  feishu_bot: Duration.seconds(1),
  wecom_bot: Duration.seconds(3)
}

/** Sends the single POST of a publication. */
const send = Effect.fnUntraced(function* (name: BotName, bot: Bot, operation: ChatOperation) {
  const { call, message } = platforms[name]
  const { title, body, severity, people } = operation
  const payload = people === undefined || call === undefined ? message({ title, body, severity }) : call(title, people)
  yield* post(
    bot,
    { gap: gaps[name], hasCode: true },
    name === "feishu_bot" ? { ...(yield* signFeishuMessage(bot)), ...payload } : payload
  )
})

/** Returns how messages of their own are sent. The platform recognises no repeated message. */
export const botSend = (name: BotName) =>
  Effect.fnUntraced(function* (context: ChatContext) {
    const bot = yield* findBot(context, context.channel)
    return { keyMillis: 0, send: (operation: ChatOperation) => send(name, bot, operation) }
  })

/**
 * Plans the separate message with which a platform notifies people: a publication of its own, so that neither message is sent
 * twice.
 */
const planCalls = (
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

export const findPeople = Effect.fnUntraced(function* (context: ChannelContext, { head, body, first }: ChatOperation) {
  const { channel, change } = context
  const isMentioned = body.includes(mentionSlot)
  const member = isMentioned && hasMembers(channel) ? yield* findMemberMention(context, head) : undefined
  // Without a git host the trigger determines the author.
  const author =
    !isMentioned || hasMembers(channel)
      ? member?.id
      : isForgeKind(change.provider)
        ? yield* resolveAuthor(context, head)
        : change.author?.username
  // An account of a host is an id of WeCom only; elsewhere its name does not notify its person.
  const isNotified = author !== undefined && (member !== undefined || channel.kind.startsWith("wecom_"))
  const everyone = isMentioned && !isNotified && channel.mention_fallback === "all"
  const isMember = member !== undefined
  const mobiles = first === true ? (channel.mentioned_mobile_list ?? []) : []
  return { author, isMember, everyone, mobiles } satisfies People
})

/** Plans the chat message about a new managed issue, where its channel configures one. */
export const planIssueNotice = (
  { channel, change }: ChannelContext,
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
  context: ChannelContext,
  publication: Publication,
  chat: ChatOperation
) {
  const bot = yield* findBot(context, context.channel.notify_feishu ?? context.channel)
  yield* send("feishu_bot", bot, chat)
  return { hostId: publication.operationId, url: undefined }
})
