/**
 * Escaping of text, and the syntax for code, emphasis and links, in the markup of each target: GitHub Flavored Markdown (all git
 * hosts), the Markdown of Feishu's cards, that of WeCom's bots, Slack's, that of cards in Teams, and the text of e-mail. Rows of a table; pure.
 */
import { inertText, oneLine, withoutAddresses, withoutControls, withoutMarkers, zeroWidth } from "./InertText.ts"

export interface TextGrammar {
  /** Whether the target acts on references, ids and commands in a text, in addition to mentions. In a chat they stay as they are, so that people can copy them. */
  readonly isActive: boolean
  /** Escapes running text of one line. `atStart`: only white space precedes it on its line. */
  readonly text: (text: string, atStart: boolean) => string
  /** Writes inline code that the code cannot terminate. */
  readonly codeSpan: (code: string) => string
  /** Writes a code block that the code cannot terminate. */
  readonly codeBlock: (language: string, code: string) => string
  /** Replacement for a vertical bar in code, which would end a table cell. */
  readonly codeBar: string
  readonly strong: string
  readonly emphasis: string
  /** Writes a link. `text` is already escaped; `url` has no white space, brackets or quotes. */
  readonly link: (text: string, url: string) => string
  readonly quote: string
}

/** Matches the start of an HTML tag; a type parameter such as `<T>` does not match. */
const tag = /<(?=[a-zA-Z/!?])(?![CDEFGHJKLMNORTVWXYZ][>,])/g
/** Escapes tags, for templates that put code into HTML, where backticks have no effect. */
export const withoutTags = (code: string): string => code.replace(tag, `<${zeroWidth}`)

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\\": "&#92;",
  "`": "&#96;",
  "*": "&#42;",
  _: "&#95;",
  "[": "&#91;",
  "]": "&#93;",
  "|": "&#124;",
  "~": "&#126;",
  $: "&#36;",
  "#": "&#35;",
  "-": "&#45;",
  "+": "&#43;",
  "=": "&#61;",
  ":": "&#58;",
  ".": "&#46;",
  ")": "&#41;"
}
const entity = (char: string): string => entities[char] ?? char

/** Escapes the start of a heading, a list, a rule or an underline. */
const lineStart = (text: string): string =>
  text
    .replace(/^[-+=:#>]/, entity)
    .replace(/^(\d{1,9})([.)])/, (_, number: string, mark: string) => `${number}${entity(mark)}`)

/** Escapes with character references, which render as the character in text, table cells and HTML and never as markup. */
const entityText = (text: string, atStart: boolean): string => {
  const encoded = text
    .replace(/[<\\`*[\]|~$]|&(?=[#\w]|$)|(?<![^\W_])_|_(?![^\W_])/g, entity)
    .replace(/(--!?)>/g, `$1${entity(">")}`)
  return atStart ? lineStart(encoded) : encoded
}

const flat = (code: string): string => oneLine(withoutMarkers(withoutControls(code)))

const longestRun = (code: string): number => Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))

/**
 * Uses one or two backticks: three at the start of a line would look like a fence to GitLab's parser of quick actions. Code that is
 * empty without its invisible characters has no span, because two adjacent backticks are a delimiter.
 */
const tickedSpan = (code: string): string => {
  if (code === "") return ""
  const longest = longestRun(code)
  const inner =
    (longest > 1 && /(?<!`)`(?!`)/.test(code)) || longest > 2 ? code.replace(/`(?=`)/g, `\`${zeroWidth}`) : code
  const ticks = longestRun(inner) === 1 ? "``" : "`"
  const pad = inner.startsWith("`") || inner.endsWith("`") || /^ .* $/.test(inner) ? " " : ""
  return `${ticks}${pad}${inner}${pad}${ticks}`
}

/** GitLab's old parser of quick actions recognises only fences of three backticks. */
export const withoutCommands = (code: string): string => code.replace(/^\/(?=[a-z])/gim, `/${zeroWidth}`)

/** Languages with syntax highlighting at the hosts. Others (suggestion, mermaid, json:table, …) have side effects. */
const languages = new Set(
  `asm bash bat c clojure cmake cmd cpp cs csharp csv css dart diff docker dockerfile elixir elm erlang fish fortran fsharp go gradle
  graphql groovy h haskell hcl hpp html ini java javascript js json json5 jsonc jsx julia kotlin kt latex less lisp lua make makefile
  markdown md nginx nix objc objectivec ocaml patch perl php plaintext powershell properties proto protobuf ps1 py python r rb ruby rs
  rust sass scala scheme scss sh shell solidity sql svelte swift tcl terraform text tf toml ts tsx txt typescript vb verilog vhdl vim
  vue wasm xml yaml yml zig zsh`.split(/\s+/)
)

/** Always writes a language: a line with only three backticks could close an earlier fence for that parser. */
const fenced = (language: string, code: string): string => {
  const lines = withoutMarkers(withoutControls(code)).replaceAll("\r\n", "\n").replace(/\n$/, "")
  const ticks = "`".repeat(Math.max(2, longestRun(lines)) + 1)
  const inner = ticks.length === 3 ? lines : withoutCommands(lines)
  const name = language.toLowerCase()
  return `${ticks}${languages.has(name) ? name : "text"}\n${inner}\n${ticks}`
}

/**
 * Writes code with an info word that the host acts on, such as `suggestion`. Undefined if the code cannot be written verbatim; it
 * must then not be offered for a commit.
 */
export const verbatimFence = (word: string, code: string): string | undefined => {
  const body = code.replace(/\n$/, "")
  const ticks = "`".repeat(Math.max(2, longestRun(body)) + 1)
  const isKept = withoutMarkers(withoutControls(body)) === body && (ticks.length === 3 || !/^\/[a-z]/im.test(body))
  return isKept ? `\n\n${ticks}${word}\n${body}\n${ticks}\n` : undefined
}

/** Breaks mentions, which is all that chat platforms may act on in running text. */
const withoutMentions = (text: string): string => text.replace(/@(?!\s)/g, `@${zeroWidth}`)

/** The markup of chat platforms cannot quote backticks, and may interpret tags and links in code. */
const chatCode = (code: string): string =>
  code
    .replaceAll("`", "\u02cb")
    .replace(/<(?=\S)/g, `<${zeroWidth}`)
    .replace(/\](?=\()/g, `]${zeroWidth}`)
    .replace(/@(?=all)/gi, `@${zeroWidth}`)

const chatSpan = (code: string): string => {
  const inner = chatCode(flat(code))
  return inner === "" ? "" : `\`${inner}\``
}

const withoutOpenTags = (text: string): string => text.replace(/<(?=\S|$)/g, `<${zeroWidth}`)

/** Breaks the end of what a platform without escapes could take for the text of a link, and code spans. */
const withoutLinks = (text: string): string => text.replace(/\](?=\(|$)/g, `]${zeroWidth}`).replaceAll("`", "\u02cb")

/** Slack's escapes, which are the only ones that it has: without them a text could mention everyone. */
const slackEscapes = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const slackCode = (code: string): string => slackEscapes(withoutLinks(code))

/** Teams shows code as text, and links addresses in it. */
const teamsCode = (code: string): string => withoutLinks(withoutOpenTags(withoutMentions(withoutAddresses(code))))

/** The Markdown of a text in an Adaptive Card of Teams: no code, no quotations and no escapes. */
const teams = {
  isActive: false,
  text: (text, atStart) => {
    const broken = withoutLinks(withoutOpenTags(withoutMentions(withoutAddresses(text))))
    return atStart ? broken.replace(/^(?=[#>])/, zeroWidth) : broken
  },
  codeSpan: (code) => (flat(code) === "" ? "" : `\`${teamsCode(flat(code))}\``),
  codeBlock: (_, code) => `\`\`\`\n${withoutLinks(withoutMarkers(withoutControls(code)).replace(/\n$/, ""))}\n\`\`\``,
  codeBar: "|",
  strong: "**",
  emphasis: "_",
  link: (text, url) => `[${text}](${url})`,
  quote: "> "
} as const satisfies TextGrammar

export const grammars = {
  gfm: {
    isActive: true,
    text: (text, atStart) => entityText(inertText(text), atStart),
    codeSpan: (code) => tickedSpan(flat(code)),
    codeBlock: fenced,
    codeBar: "\\|",
    strong: "**",
    emphasis: "*",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  /** Feishu documents character references as the escapes for its special characters. */
  feishu: {
    isActive: false,
    text: (text, atStart) => entityText(withoutMentions(text), atStart),
    codeSpan: chatSpan,
    codeBlock: (language, code) => fenced(language, chatCode(code)),
    codeBar: "|",
    strong: "**",
    emphasis: "*",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  /** WeCom has no escapes and no fences: characters that it would interpret are separated by invisible ones. */
  wecom: {
    isActive: false,
    text: (text, atStart) => {
      const broken = withoutLinks(withoutOpenTags(withoutMentions(text)))
      return atStart ? broken.replace(/^(?=[#>])/, zeroWidth) : broken
    },
    codeSpan: chatSpan,
    codeBlock: (_, code) =>
      withoutMarkers(withoutControls(code))
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `> ${chatCode(withoutMentions(withoutAddresses(line)))}`)
        .join("\n"),
    codeBar: "|",
    strong: "**",
    emphasis: "",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  /** Slack's mrkdwn, whose own markup is written when the message is sent (chat/OwnMarkup.ts). */
  slack: {
    isActive: false,
    text: (text, atStart) => {
      const broken = withoutLinks(withoutMentions(text))
      return slackEscapes(atStart ? broken.replace(/^(?=[#>])/, zeroWidth) : broken)
    },
    codeSpan: (code) => (flat(code) === "" ? "" : `\`${slackCode(flat(code))}\``),
    codeBlock: (_, code) => `\`\`\`\n${slackCode(withoutMarkers(withoutControls(code)).replace(/\n$/, ""))}\n\`\`\``,
    codeBar: "|",
    strong: "**",
    emphasis: "_",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  teams,
  /** Plain text of an e-mail message, whose readers link addresses, in code too. The markup of templates is removed when it is sent. */
  email: {
    ...teams,
    codeBlock: (_, code) => `\`\`\`\n${teamsCode(withoutMarkers(withoutControls(code)).replace(/\n$/, ""))}\n\`\`\``,
    emphasis: ""
  }
} as const satisfies Record<string, TextGrammar>
