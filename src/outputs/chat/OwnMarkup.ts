/**
 * Converts the Markdown of templates to the markup of a platform that has another one: strong text, headings and links outside of code. External
 * text contains none of them after SafeText.ts. Pure.
 */
import { fenceAfter } from "../../domain/CodeFence.ts"

interface OwnMarkup {
  /** Mark on both sides of strong text. */
  readonly strong: string
  readonly link: (text: string, url: string) => string
}

const heading = /^#{1,6} +(?=\S)/

/** A link has no nested brackets, and no white space or parentheses in its address (Links.ts encodes them). */
const linked = /\[([^[\]]*)\]\((https?:\/\/[^\s()]*)\)/g

const convertText = (text: string, { link, strong }: OwnMarkup): string =>
  text.replace(linked, (_, words: string, url: string) => link(words, url)).replaceAll("**", strong)

const convertLine = (line: string, markup: OwnMarkup): string => {
  const text = line.replace(heading, "")
  const converted = text
    .split("`")
    .map((part, at) => (at % 2 === 0 ? convertText(part, markup) : part))
    .join("`")
  return text === line ? converted : `${markup.strong}${converted}${markup.strong}`
}

export const convertMarkup = (body: string, markup: OwnMarkup): string => {
  let fence: string | undefined
  return body
    .split("\n")
    .map((line) => {
      const before = fence
      fence = fenceAfter(fence, line)
      return before === undefined && fence === undefined ? convertLine(line, markup) : line
    })
    .join("\n")
}
