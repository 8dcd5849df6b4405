/**
 * Sanitises text from a model, a host or the change under review for published messages: it cannot forge a marker, mention
 * anyone, refer to an issue or a commit, run a host's quick action, load an image, link, hide the text after it, or break out of
 * its position. The text stays readable; of its Markdown only paragraphs, lists, quotations, emphasis and code are kept. Pure.
 *
 * A template may put a value anywhere in running text, in a list, a quotation, a table or HTML. A value of several lines starts
 * with an empty line where its first line would otherwise be interpreted differently.
 */
import { withoutInvisible } from "../domain/Text.ts"
import { grammars, withoutTags } from "./text/Grammars.ts"
import type { TextGrammar } from "./text/Grammars.ts"
import {
  inertText,
  isActive,
  oneLine,
  textParts,
  unlinked,
  withoutAddresses,
  withoutControls,
  withoutMarkers,
  zeroWidth
} from "./text/InertText.ts"
import { parseBlocks, parseLine } from "./text/MarkdownTree.ts"
import type { Block, Inline } from "./text/MarkdownTree.ts"

export interface SafeText {
  /** Sanitises Markdown of several lines. */
  readonly markdown: (markdown: string) => string
  /** Sanitises one line of Markdown: a title, a cell, a sentence. Code spans are kept. */
  readonly line: (text: string) => string
  /** Sanitises one line without markup: a name. */
  readonly plain: (text: string) => string
  /** Writes a path or a name as code. */
  readonly codeSpan: (text: string) => string
  readonly codeBlock: (language: string, code: string) => string
  readonly link: TextGrammar["link"]
}

/** Text under construction. Its rows are joined once: reading a string that grows by parts takes quadratic time. */
class Rows {
  readonly #ended: Array<string> = []
  #parts: Array<string> = []

  get isAtStart(): boolean {
    return this.#parts.length === 0
  }

  /** Adds text. An invisible character separates adjacent code, whose backticks would otherwise form one longer delimiter. */
  add(text: string): void {
    if (text === "") return
    if (text.startsWith("`") && this.#parts.at(-1)?.endsWith("`") === true) this.#parts.push(zeroWidth)
    this.#parts.push(text)
  }

  /** Ends the row, without white space at its end; an empty row is dropped. */
  end(): void {
    const row = this.#parts.join("").trimEnd()
    if (row !== "") this.#ended.push(row)
    this.#parts = []
  }

  /** Returns the text without white space around it. */
  get text(): string {
    return [...this.#ended, this.#parts.join("")].join("\n").trim()
  }
}

interface Line {
  readonly grammar: TextGrammar
  readonly code: (value: string) => string
  readonly rows: Rows
}

const write = ({ code, grammar, rows }: Line, value: string): void => {
  for (const part of textParts(oneLine(value))) {
    // A chat links addresses only.
    if (part.kind === "code" && (grammar.isActive || isAddress(part.value))) rows.add(code(part.value))
    else rows.add(grammar.text(rows.isAtStart ? part.value.trimStart() : part.value, rows.isAtStart))
  }
}

const isAddress = (part: string): boolean => /:\/\/|^www\./i.test(part)

/** Merges texts that become adjacent when the node between them is dropped, so that two halves cannot form a mention. */
const mergeText = (children: ReadonlyArray<Inline>, grammar: TextGrammar): ReadonlyArray<Inline> => {
  const merged: Array<Inline> = []
  for (const child of children) {
    const isDropped = child._tag === "Emphasis" && grammar.emphasis === ""
    for (const inlineChild of isDropped ? mergeText(child.children, grammar) : [child]) {
      const last = merged.at(-1)
      if (inlineChild._tag === "Text" && last?._tag === "Text")
        merged[merged.length - 1] = { ...last, value: last.value + inlineChild.value }
      else merged.push(inlineChild)
    }
  }
  return merged
}

const inline = (line: Line, children: ReadonlyArray<Inline>): void => {
  for (const child of mergeText(children, line.grammar)) {
    if (child._tag === "Text") write(line, child.value)
    else if (child._tag === "Code") line.rows.add(line.code(child.value))
    else if (child._tag === "Break") line.rows.end()
    else {
      const mark = child._tag === "Strong" ? line.grammar.strong : line.grammar.emphasis
      const inner = toText({ ...line, children: child.children })
      if (inner !== "") line.rows.add(`${mark}${inner}${mark}`)
    }
  }
}

const toText = ({
  children,
  code,
  grammar
}: Omit<Line, "rows"> & { readonly children: ReadonlyArray<Inline> }): string => {
  const rows = new Rows()
  inline({ grammar, code, rows }, children)
  return rows.text
}

const indented = (text: string, first: string, others: string): string =>
  text
    .split("\n")
    .map((row, at) => (at === 0 ? `${first}${row}` : row === "" ? others.trimEnd() : `${others}${row}`))
    .join("\n")

const block = (grammar: TextGrammar, node: Block): string => {
  switch (node._tag) {
    case "Paragraph":
      return toText({ grammar, code: grammar.codeSpan, children: node.children })
    case "CodeBlock":
      // A fence with a language never closes an enclosing one.
      return grammar.codeBlock(node.language === "" ? "text" : node.language, node.code)
    case "Quote":
      return indented(blocks(grammar, node.children), grammar.quote, grammar.quote)
    case "List":
      return node.items
        .map((item) => blocks(grammar, item))
        .filter((item) => item !== "")
        .map((item, at) => {
          const bullet = node.start === undefined ? "- " : `${Math.min(node.start + at, 999_999_999)}. `
          return indented(item, bullet, " ".repeat(bullet.length))
        })
        .join("\n")
  }
}

/** Blocks with their text, without those that are dropped because nothing remains of them. */
const writtenBlocks = (grammar: TextGrammar, all: ReadonlyArray<Block>) =>
  all.map((node) => ({ node, text: block(grammar, node) })).filter(({ text }) => text !== "")

const join = (written: ReadonlyArray<{ readonly text: string }>): string => written.map(({ text }) => text).join("\n\n")

const blocks = (grammar: TextGrammar, all: ReadonlyArray<Block>): string => join(writtenBlocks(grammar, all))

/** A template may put the first line of a value where backticks have no effect. */
const startsActive = (first: Block): boolean => first._tag !== "Paragraph" || hasActiveCode(first.children)

const hasActiveCode = (children: ReadonlyArray<Inline>): boolean =>
  children.some((child) =>
    child._tag === "Code"
      ? isActive(child.value) || child.value.includes("|")
      : child._tag === "Text"
        ? textParts(child.value).some(({ kind }) => kind === "code")
        : (child._tag === "Strong" || child._tag === "Emphasis") && hasActiveCode(child.children)
  )

const safeText = (grammar: TextGrammar): SafeText => {
  /** Code in a position where backticks may have no effect and a bar may end a table cell. */
  const span = (code: string) => {
    const shown = withoutInvisible(withoutControls(oneLine(code)))
    return grammar
      .codeSpan(grammar.isActive ? inertText(unlinked(withoutTags(shown))) : shown)
      .replaceAll("|", grammar.codeBar)
  }
  return {
    markdown: (markdown) => {
      const written = writtenBlocks(grammar, parseBlocks(markdown))
      const [first, last] = [written[0]?.node, written.at(-1)?.node]
      if (first === undefined) return ""
      return `${startsActive(first) ? "\n\n" : ""}${join(written)}${last?._tag === "Paragraph" ? "" : "\n"}`
    },
    line: (text) => toText({ grammar, code: span, children: parseLine(text) }),
    plain: (text) =>
      grammar.text(
        (grammar.isActive ? unlinked : withoutAddresses)(
          oneLine(withoutMarkers(withoutInvisible(withoutControls(text)))).trim()
        ),
        true
      ),
    codeSpan: span,
    codeBlock: (language, code) => `\n\n${grammar.codeBlock(language, code)}\n`,
    link: grammar.link
  }
}

export const safeTexts = {
  gfm: safeText(grammars.gfm),
  feishu: safeText(grammars.feishu),
  wecom: safeText(grammars.wecom),
  slack: safeText(grammars.slack),
  teams: safeText(grammars.teams),
  email: safeText(grammars.email)
} as const

/** Sanitiser for git hosts. */
export const gfm = safeTexts.gfm
