/** Formats of messages and mentions on each platform. Rows of a table; pure. */
import type { Severity } from "../../domain/Kinds.ts"
import { safeTexts } from "../SafeText.ts"
import { emailPlatform } from "./EmailMessage.ts"
import { titled } from "./MessageTitle.ts"
import type { ChatMessage, Platform } from "./Platform.ts"
import { slackPlatform } from "./SlackMessage.ts"
import { teamsWebhook } from "./TeamsMessage.ts"
import { plainWebhook } from "./WebhookMessage.ts"

const id = /^[\w.@-]{1,100}$/

/** A name that is not an id of the platform is shown and notifies no one. */
const plainMention = (author: string): string => (id.test(author) ? `@${author}` : safeTexts.feishu.plain(`@${author}`))

const colors: Readonly<Record<Severity, string>> = {
  critical: "red",
  high: "red",
  medium: "orange",
  low: "yellow",
  info: "blue"
}

const card = ({ title, body, severity }: ChatMessage) => ({
  msg_type: "interactive",
  card: {
    schema: "2.0",
    config: { width_mode: "fill" },
    header: {
      title: { tag: "plain_text", content: titled(title) },
      template: severity === undefined ? "green" : colors[severity]
    },
    body: { elements: [{ tag: "markdown", content: body }] }
  }
})

const markdown = ({ title, body }: ChatMessage) => ({
  msgtype: "markdown",
  markdown: { content: `**${safeTexts.wecom.plain(title.slice(0, 200))}**\n\n${body}` }
})

/** Only a plain-text message can notify telephone numbers and everyone. */
const call: Platform["call"] = (title, { everyone, mobiles }) => ({
  msgtype: "text",
  text: {
    content: titled(title),
    mentioned_list: everyone ? ["@all"] : [],
    mentioned_mobile_list: mobiles
  }
})

const bots = {
  feishu_bot: {
    safe: safeTexts.feishu,
    // Requests over 20 KB are refused; the card and JSON's escapes need the rest.
    limit: 12_000,
    mention: ({ author, everyone, isMember = false }) =>
      everyone
        ? "<at id=all></at>"
        : author === undefined
          ? ""
          : (isMember || author.startsWith("ou_")) && id.test(author)
            ? `<at id=${author}></at>`
            : plainMention(author),
    message: card,
    call: undefined
  },
  wecom_bot: {
    safe: safeTexts.wecom,
    // 4096 bytes for title and text.
    limit: 3200,
    mention: ({ author, everyone }) => (!everyone && author !== undefined && id.test(author) ? `<@${author}>` : ""),
    message: markdown,
    call
  }
} as const satisfies Record<string, Platform>

export const platforms = {
  ...bots,
  // 30 KB for the whole request.
  feishu_app: { ...bots.feishu_bot, limit: 14_000 },
  // 2048 bytes for title and text. Applications call no telephone numbers.
  wecom_app: { ...bots.wecom_bot, limit: 1350, call: undefined },
  slack_webhook: slackPlatform,
  slack_app: slackPlatform,
  teams_webhook: teamsWebhook,
  webhook: plainWebhook,
  email: emailPlatform
} as const satisfies Record<string, Platform>

export type PlatformName = keyof typeof platforms
export const isPlatform = (kind: string): kind is PlatformName => Object.hasOwn(platforms, kind)
