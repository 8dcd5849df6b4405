/** How the two platforms want a message and a mention written. Rows of a table; pure. */
import type { Severity } from "../domain/Kinds.ts"

export interface Message {
  readonly title: string
  readonly body: string
  readonly severity: Severity | undefined
}

/** Whom a message calls. */
export interface People {
  /** The account of the author; undefined for nobody. */
  readonly author: string | undefined
  readonly everyone: boolean
  /** Telephone numbers, WeCom only. */
  readonly mobiles: ReadonlyArray<string>
}

export interface Platform {
  /** Longest text of one message in UTF-8 bytes. */
  readonly limit: number
  /** The text that stands for the author's mention. */
  readonly mention: (people: People) => string
  readonly message: (message: Message) => object
  /** A further message for people that the first one cannot call; undefined where there are none. */
  readonly call: ((title: string, people: Pick<People, "everyone" | "mobiles">) => object) | undefined
}

const id = /^[\w.@-]{1,100}$/

const colors: Readonly<Record<Severity, string>> = {
  critical: "red",
  high: "red",
  medium: "orange",
  low: "yellow",
  info: "blue"
}

const card = ({ title, body, severity }: Message) => ({
  msg_type: "interactive",
  card: {
    schema: "2.0",
    config: { width_mode: "fill" },
    header: {
      title: { tag: "plain_text", content: title.slice(0, 200) },
      template: severity === undefined ? "green" : colors[severity]
    },
    body: { elements: [{ tag: "markdown", content: body }] }
  }
})

const markdown = ({ title, body }: Message) => ({
  msgtype: "markdown",
  markdown: { content: `**${title.slice(0, 200)}**\n\n${body}` }
})

/** Telephone numbers and everyone are called by a plain text only. */
const call: Platform["call"] = (title, { everyone, mobiles }) => ({
  msgtype: "text",
  text: {
    content: title.slice(0, 200),
    mentioned_list: everyone ? ["@all"] : [],
    mentioned_mobile_list: mobiles
  }
})

export const platforms = {
  feishu_bot: {
    // Requests over 20 KB are refused; the card around the text and JSON's escapes need the rest.
    limit: 12_000,
    mention: ({ author, everyone }) =>
      everyone
        ? "<at id=all></at>"
        : author === undefined
          ? ""
          : author.startsWith("ou_") && id.test(author)
            ? `<at id=${author}></at>`
            : `@${author}`,
    message: card,
    call: undefined
  },
  wecom_bot: {
    // 4096 bytes for title and text.
    limit: 3200,
    mention: ({ author, everyone }) => (!everyone && author !== undefined && id.test(author) ? `<@${author}>` : ""),
    message: markdown,
    call
  }
} as const satisfies Record<string, Platform>
