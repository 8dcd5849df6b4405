/** Messages to an incoming webhook of Slack, in its own markup (mrkdwn). Pure. */
import { safeTexts } from "../SafeText.ts"
import { titled } from "./MessageTitle.ts"
import { convertMarkup } from "./OwnMarkup.ts"
import type { ChatMessage, Platform } from "./Platform.ts"
import { split } from "./Split.ts"

/** A text of a section has at most 3,000 characters, a message at most 50 blocks, a header at most 150 characters. */
const maxSectionBytes = 2900
const maxSections = 48
const maxHeader = 150

const link = (text: string, url: string): string => `<${url.replaceAll("&", "&amp;")}|${text}>`

const message = ({ body, title }: ChatMessage) => {
  const markup = convertMarkup(body, { strong: "*", link })
  return {
    // Shown in notifications of devices.
    text: safeTexts.slack.plain(title.slice(0, maxHeader)),
    blocks: [
      { type: "header", text: { type: "plain_text", text: titled(title).slice(0, maxHeader), emoji: false } },
      ...split(markup, maxSectionBytes, maxSections, "…").map((text) => ({
        type: "section",
        // Addresses and names in the text are not linked.
        text: { type: "mrkdwn", text, verbatim: true }
      }))
    ]
  }
}

export const slackWebhook = {
  safe: safeTexts.slack,
  // About 13,000 characters in all blocks.
  limit: 10_000,
  mention: ({ author, everyone }) =>
    everyone ? "<!channel>" : author === undefined ? "" : safeTexts.slack.plain(`@${author}`),
  message,
  call: undefined
} as const satisfies Platform
