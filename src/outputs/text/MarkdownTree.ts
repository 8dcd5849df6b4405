/**
 * Parses external Markdown to a tree of the permitted elements: paragraphs, lists, quotations, emphasis, code. Everything else
 * (HTML, images, links, tables, headings) is not interpreted and stays visible as text. The parser is markdown-it, with bounded
 * nesting. Pure.
 */
import MarkdownIt from "markdown-it"
import type { Token } from "markdown-it"
import { oneLine, withoutControls, withoutMarkers, zeroWidth } from "./InertText.ts"

export type Inline =
  | { readonly _tag: "Text"; readonly value: string }
  | { readonly _tag: "Code"; readonly value: string }
  | { readonly _tag: "Break" }
  | { readonly _tag: "Strong" | "Emphasis"; readonly children: ReadonlyArray<Inline> }

export type Block =
  | { readonly _tag: "Paragraph"; readonly children: ReadonlyArray<Inline> }
  | { readonly _tag: "CodeBlock"; readonly language: string; readonly code: string }
  | { readonly _tag: "Quote"; readonly children: ReadonlyArray<Block> }
  | {
      readonly _tag: "List"
      /** First number of an ordered list. */
      readonly start: number | undefined
      readonly items: ReadonlyArray<ReadonlyArray<Block>>
    }

/** Maximum lengths in UTF-16 units. */
const maxLength = 32_000
const maxLineLength = 2000

const blocks = new MarkdownIt("default", { html: false, linkify: false, typographer: false })
blocks.options.maxNesting = 20
blocks.disable([
  "table",
  "reference",
  "html_block",
  "link",
  "image",
  "autolink",
  "html_inline",
  "strikethrough",
  "linkify"
])

/** Parser for titles, which supports code spans only; asterisks and underscores are literal. */
const lines = new MarkdownIt("default", { html: false, linkify: false, typographer: false })
lines.disable(["link", "image", "autolink", "html_inline", "strikethrough", "emphasis", "newline", "linkify"])

const bounded = (text: string, max: number): string =>
  withoutMarkers(withoutControls(text.length <= max ? text : `${text.slice(0, max)} …`))

interface Cursor {
  readonly tokens: ReadonlyArray<Token>
  at: number
}

/** Deeper emphasis is dropped. */
const maxEmphasis = 6

const inlines = (tokens: ReadonlyArray<Token>): ReadonlyArray<Inline> => {
  const root: Array<Inline> = []
  const open: Array<Array<Inline>> = [root]
  for (const token of tokens) {
    const siblings = open.at(-1) ?? root
    if (token.type === "strong_open" || token.type === "em_open") {
      const children: Array<Inline> = open.length > maxEmphasis ? siblings : []
      if (children !== siblings) siblings.push({ _tag: token.type === "em_open" ? "Emphasis" : "Strong", children })
      open.push(children)
    } else if (token.type === "strong_close" || token.type === "em_close") open.pop()
    else if (token.type === "code_inline") siblings.push({ _tag: "Code", value: token.content })
    else if (token.type === "softbreak" || token.type === "hardbreak") siblings.push({ _tag: "Break" })
    else if (token.content !== "") siblings.push({ _tag: "Text", value: token.content })
  }
  return root
}

const delimiterRow = /^\s*(?:\|\s*)?:?-+:?\s*(?:\||$)/

/** An external table could not be distinguished from the tables of the service, so its source is shown. */
const isTable = (content: string): boolean => {
  const [head = "", delimiters = ""] = content.split("\n", 2)
  return head.includes("|") && delimiters.includes("-") && delimiterRow.test(delimiters)
}

const paragraph = (token: Token, isHeading: boolean): Block => {
  if (isTable(token.content)) return { _tag: "CodeBlock", language: "", code: token.content }
  const children = inlines(token.children ?? [])
  // A heading would break the outline of the comment.
  return { _tag: "Paragraph", children: isHeading ? [{ _tag: "Strong", children }] : children }
}

const items = (cursor: Cursor, end: string): ReadonlyArray<ReadonlyArray<Block>> => {
  const parsed: Array<ReadonlyArray<Block>> = []
  while (cursor.at < cursor.tokens.length) {
    const token = cursor.tokens[cursor.at++]
    if (token === undefined || token.type === end) break
    if (token.type === "list_item_open") parsed.push(parseUntil(cursor, "list_item_close"))
  }
  return parsed
}

const parseUntil = (cursor: Cursor, end?: string): ReadonlyArray<Block> => {
  const made: Array<Block> = []
  let isHeading = false
  while (cursor.at < cursor.tokens.length) {
    const token = cursor.tokens[cursor.at++]
    if (token === undefined || token.type === end) break
    if (token.type === "heading_open") isHeading = true
    else if (token.type === "heading_close") isHeading = false
    else if (token.type === "inline") made.push(paragraph(token, isHeading))
    else if (token.type === "fence" || token.type === "code_block") {
      made.push({ _tag: "CodeBlock", language: token.info.trim().split(/\s/, 1)[0] ?? "", code: token.content })
    } else if (token.type === "blockquote_open")
      made.push({ _tag: "Quote", children: parseUntil(cursor, "blockquote_close") })
    else if (token.type === "bullet_list_open") {
      made.push({ _tag: "List", start: undefined, items: items(cursor, "bullet_list_close") })
    } else if (token.type === "ordered_list_open") {
      const start = Number(token.attrGet("start") ?? 1)
      made.push({ _tag: "List", start, items: items(cursor, "ordered_list_close") })
    }
  }
  return made
}

/** Maximum number of quotations at whose end the parser may read the rest of the text again. */
const maxQuotations = 40

/** Matches the start of a line up to a mark of a quotation, which may be in a list. */
const quoted = /^[ \t*+\-\d.)]*>/

/**
 * Makes the marks of all further quotations text: at each one the parser first takes all following lines as its possible
 * continuation, so that many of them would take quadratic time.
 */
const withFewQuotations = (text: string): string => {
  let count = 0
  let isWithin = false
  return text
    .split(/\r\n?|\n/)
    .map((line) => {
      const isQuoted = quoted.test(line)
      if (isQuoted && !isWithin) count++
      isWithin = isQuoted
      return isQuoted && count > maxQuotations ? `${zeroWidth}${line}` : line
    })
    .join("\n")
}

/** Parses Markdown of several lines. */
export const parseBlocks = (markdown: string): ReadonlyArray<Block> =>
  parseUntil({ tokens: blocks.parse(withFewQuotations(bounded(markdown, maxLength)), {}), at: 0 })

/** Parses one line: text and code spans. */
export const parseLine = (text: string): ReadonlyArray<Inline> =>
  inlines(lines.parseInline(oneLine(bounded(text, maxLineLength)).trim(), {})[0]?.children ?? [])
