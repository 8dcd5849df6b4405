/** The sections of a message of Slack: its own markup (mrkdwn), within the limits of its blocks. Pure. */
import { convertMarkup } from "./chat/OwnMarkup.ts"
import { split } from "./chat/Split.ts"

/** A text of a section has at most 3,000 characters, a message at most 50 blocks. */
const maxSectionBytes = 2900
const maxSections = 48

const link = (text: string, url: string): string => `<${url.replaceAll("&", "&amp;")}|${text}>`

export const toSlackSections = (markdown: string) =>
  split(convertMarkup(markdown, { strong: "*", link }), maxSectionBytes, maxSections, "…").map((text) => ({
    type: "section" as const,
    // Addresses and names in the text are not linked.
    text: { type: "mrkdwn" as const, text, verbatim: true }
  }))
