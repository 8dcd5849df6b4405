/** Text of a reviewer: code and emphasis as in Markdown, everything else as it is. Nothing becomes a link or an element of its own. */
import type { ReactNode } from "react"

const emphasis = /(?<!\w)_([^_\n]+)_(?!\w)/

const strong = /\*\*([^*\n]+)\*\*/

const withCode = (text: string): ReadonlyArray<ReactNode> =>
  text.split(/`([^`\n]+)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))

const withEmphasis = (text: string): ReadonlyArray<ReactNode> =>
  text
    .split(emphasis)
    .map((part, index) =>
      index % 2 === 1 ? <em key={index}>{withCode(part)}</em> : <span key={index}>{withCode(part)}</span>
    )

export const Prose = ({ text }: { readonly text: string }) =>
  text
    .split(strong)
    .map((part, index) =>
      index % 2 === 1 ? (
        <strong key={index}>{withEmphasis(part)}</strong>
      ) : (
        <span key={index}>{withEmphasis(part)}</span>
      )
    )
