/** Messages to an incoming webhook and of an app of Slack, in its own markup (mrkdwn). Pure. */
import { safeTexts } from "../SafeText.ts"
import { toSlackSections } from "../SlackSections.ts"
import { titled } from "./MessageTitle.ts"
import type { ChatMessage, Platform } from "./Platform.ts"

/** A header has at most 150 characters. */
const maxHeader = 150

const message = ({ body, title }: ChatMessage) => ({
  // Shown in notifications of devices.
  text: safeTexts.slack.plain(title.slice(0, maxHeader)),
  blocks: [
    {
      type: "header" as const,
      text: { type: "plain_text" as const, text: titled(title).slice(0, maxHeader), emoji: false }
    },
    ...toSlackSections(body)
  ]
})

/** Id of a person, who is notified; other names are shown only. */
const person = /^[UW][A-Z0-9]{1,30}$/

const mention: Platform["mention"] = ({ author, everyone, isMember = false }) => {
  if (everyone) return "<!channel>"
  if (author === undefined) return ""
  return isMember && person.test(author) ? `<@${author}>` : safeTexts.slack.plain(`@${author}`)
}

export const slackPlatform = {
  safe: safeTexts.slack,
  // About 13,000 characters in all blocks.
  limit: 10_000,
  mention,
  message,
  call: undefined
} as const satisfies Platform
