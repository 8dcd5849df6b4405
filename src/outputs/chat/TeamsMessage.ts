/** Messages to a workflow of Microsoft Teams with the trigger "When a Teams webhook request is received": Adaptive Cards. Pure. */
import { fenceAfter } from "../../domain/CodeFence.ts"
import type { Severity } from "../../domain/Kinds.ts"
import { safeTexts } from "../SafeText.ts"
import { withoutAddresses } from "../text/InertText.ts"
import type { ChatMessage, Platform } from "./Platform.ts"

/** A request has at most 28 KB. */
const maxRequestBytes = 27_000

const colors: Readonly<Record<Severity, string>> = {
  critical: "Attention",
  high: "Attention",
  medium: "Warning",
  low: "Warning",
  info: "Accent"
}

interface Part {
  readonly isCode: boolean
  readonly lines: ReadonlyArray<string>
}

/** Splits a body into text and the content of its code blocks, in order. */
const splitParts = (body: string): ReadonlyArray<Part> => {
  const parts: Array<{ isCode: boolean; lines: Array<string> }> = []
  let fence: string | undefined
  for (const line of body.split("\n")) {
    const before = fence
    fence = fenceAfter(fence, line)
    const isFence = (before === undefined) !== (fence === undefined)
    if (isFence) {
      parts.push({ isCode: fence !== undefined, lines: [] })
      continue
    }
    const last = parts.at(-1)
    if (last === undefined) parts.push({ isCode: false, lines: [line] })
    else last.lines.push(line)
  }
  return parts.filter(({ lines }) => lines.some((line) => line.trim() !== ""))
}

/** A single line break has no effect in the Markdown of a text. */
const textBlock = (lines: ReadonlyArray<string>) => ({
  type: "TextBlock",
  text: lines.filter((line) => line.trim() !== "").join("\n\n"),
  wrap: true
})

/** A run of text has no markup. */
const codeBlock = (lines: ReadonlyArray<string>) => ({
  type: "RichTextBlock",
  inlines: [{ type: "TextRun", text: lines.join("\n"), fontType: "Monospace", size: "Small" }]
})

const request = ({ severity, title }: ChatMessage, elements: ReadonlyArray<object>) => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      contentUrl: null,
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        msteams: { width: "Full" },
        body: [
          {
            type: "TextBlock",
            text: safeTexts.teams.plain(title.slice(0, 200)),
            wrap: true,
            size: "Large",
            weight: "Bolder",
            color: severity === undefined ? "Good" : colors[severity]
          },
          ...elements
        ]
      }
    }
  ]
})

const message = (chat: ChatMessage) => {
  const parts = splitParts(chat.body)
  const card = request(
    chat,
    parts.map(({ isCode, lines }) => (isCode ? codeBlock(lines) : textBlock(lines)))
  )
  if (Buffer.byteLength(JSON.stringify(card)) <= maxRequestBytes) return card
  // Many small blocks of code need more room than the text, which Teams searches for addresses.
  const lines = parts.flatMap((part) => (part.isCode ? part.lines.map(withoutAddresses) : part.lines))
  return request(chat, [textBlock(lines)])
}

export const teamsWebhook = {
  safe: safeTexts.teams,
  // A line break needs four bytes of the request.
  limit: 6000,
  mention: ({ author }) => (author === undefined ? "" : safeTexts.teams.plain(`@${author}`)),
  message,
  call: undefined
} as const satisfies Platform
