/**
 * Text from a model, a host or the change under review, made fit for our messages: it cannot forge a marker, mention anybody, refer to an
 * issue or a commit, run a host's quick action, load an image, link, hide what follows it, or leave the place where it is put.
 * What it says stays readable; of its markdown paragraphs, lists, quotations, emphasis and code stay. Pure.
 *
 * A template may put a value anywhere in running text, in a list, a quotation, a table or HTML. Several lines begin with an empty
 * one where their first line would mean something else there.
 */
import { grammars, withoutTags } from "./Grammars.ts"
import type { TextGrammar } from "./Grammars.ts"
import { inertText, isActive, oneLine, textParts, unlinked, withoutControls, withoutMarkers } from "./InertText.ts"
import { parseBlocks, parseLine } from "./MarkdownTree.ts"
import type { Block, Inline } from "./MarkdownTree.ts"

export interface SafeText {
  /** Markdown of several lines. */
  readonly markdown: (markdown: string) => string
  /** One line of markdown: a title, a cell, a sentence. Code spans stay. */
  readonly line: (text: string) => string
  /** One line without markup: a name. */
  readonly plain: (text: string) => string
  /** A path or a name as code. */
  readonly codeSpan: (text: string) => string
  readonly codeBlock: (language: string, code: string) => string
  readonly link: TextGrammar["link"]
}

interface Line {
  readonly grammar: TextGrammar
  readonly code: (value: string) => string
  text: string
}

const write = (line: Line, value: string): void => {
  for (const part of textParts(oneLine(value))) {
    const atStart = line.text === "" || line.text.endsWith("\n")
    if (part.kind === "code") line.text += line.code(part.value)
    else line.text += line.grammar.text(atStart ? part.value.trimStart() : part.value, atStart)
  }
}

/** Text that is next to text once what is between is gone is one text: halves of a mention must not meet. */
const joined = (children: ReadonlyArray<Inline>, grammar: TextGrammar): ReadonlyArray<Inline> => {
  const made: Array<Inline> = []
  for (const child of children) {
    const isDropped = child._tag === "Emphasis" && grammar.emphasis === ""
    for (const one of isDropped ? joined(child.children, grammar) : [child]) {
      const last = made.at(-1)
      if (one._tag === "Text" && last?._tag === "Text")
        made[made.length - 1] = { ...last, value: last.value + one.value }
      else made.push(one)
    }
  }
  return made
}

const inline = (line: Line, children: ReadonlyArray<Inline>): void => {
  for (const child of joined(children, line.grammar)) {
    if (child._tag === "Text") write(line, child.value)
    else if (child._tag === "Code") line.text += line.code(child.value)
    else if (child._tag === "Break") line.text = `${line.text.trimEnd()}\n`
    else {
      const mark = child._tag === "Strong" ? line.grammar.strong : line.grammar.emphasis
      const inner: Line = { ...line, text: "" }
      inline(inner, child.children)
      if (inner.text.trim() !== "") line.text += `${mark}${inner.text.trim()}${mark}`
    }
  }
}

const indented = (text: string, first: string, others: string): string =>
  text
    .split("\n")
    .map((row, at) => (at === 0 ? `${first}${row}` : row === "" ? others.trimEnd() : `${others}${row}`))
    .join("\n")

const block = (grammar: TextGrammar, one: Block): string => {
  switch (one._tag) {
    case "Paragraph": {
      const line: Line = { grammar, code: grammar.codeSpan, text: "" }
      inline(line, one.children)
      return line.text.trim()
    }
    case "CodeBlock":
      // With a language it never ends a fence that it is put into.
      return grammar.codeBlock(one.language === "" ? "text" : one.language, one.code)
    case "Quote":
      return indented(blocks(grammar, one.children), grammar.quote, grammar.quote)
    case "List":
      return one.items
        .map((item) => blocks(grammar, item))
        .filter((item) => item !== "")
        .map((item, at) => {
          const bullet = one.start === undefined ? "- " : `${Math.min(one.start + at, 999_999_999)}. `
          return indented(item, bullet, " ".repeat(bullet.length))
        })
        .join("\n")
  }
}

const blocks = (grammar: TextGrammar, all: ReadonlyArray<Block>): string =>
  all
    .map((one) => block(grammar, one))
    .filter((text) => text !== "")
    .join("\n\n")

/** Code in the first line of a value can be put where ticks mean nothing. */
const startsActive = ([first]: ReadonlyArray<Block>): boolean =>
  first !== undefined && (first._tag !== "Paragraph" || hasActiveCode(first.children))

const hasActiveCode = (children: ReadonlyArray<Inline>): boolean =>
  children.some((child) =>
    child._tag === "Code"
      ? isActive(child.value) || child.value.includes("|")
      : child._tag === "Text"
        ? textParts(child.value).some(({ kind }) => kind === "code")
        : (child._tag === "Strong" || child._tag === "Emphasis") && hasActiveCode(child.children)
  )

const safeText = (grammar: TextGrammar): SafeText => {
  /** Where a line is put, ticks may mean nothing and a bar may end a cell. */
  const span = (code: string) =>
    grammar.codeSpan(inertText(unlinked(withoutTags(oneLine(code))))).replaceAll("|", grammar.codeBar)
  return {
    markdown: (markdown) => {
      const all = parseBlocks(markdown)
      const text = blocks(grammar, all)
      const first = startsActive(all) ? "\n\n" : ""
      return text === "" ? "" : `${first}${text}${all.at(-1)?._tag === "Paragraph" ? "" : "\n"}`
    },
    line: (text) => {
      const made: Line = { grammar, code: span, text: "" }
      inline(made, parseLine(text))
      return made.text.trim()
    },
    plain: (text) => grammar.text(unlinked(oneLine(withoutMarkers(withoutControls(text))).trim()), true),
    codeSpan: span,
    codeBlock: (language, code) => `\n\n${grammar.codeBlock(language, code)}\n`,
    link: grammar.link
  }
}

export const safeTexts = {
  gfm: safeText(grammars.gfm),
  feishu: safeText(grammars.feishu),
  wecom: safeText(grammars.wecom)
} as const

/** What is written at git hosts. */
export const gfm = safeTexts.gfm
