/**
 * Text from a model or from the change under review, made fit to stand in our comments: it cannot forge a marker, mention anybody,
 * run a host's quick action, hide what follows it or break out of a table. What it says stays readable. Pure.
 */
import { opening } from "./Marker.ts"

const zeroWidth = "\u200b"

/** Breaks what hosts act on in running text; code spans show everything literally and are left alone. */
const inText = (text: string): string =>
  text
    .replace(/<(?=[a-zA-Z/!?])/g, "&lt;")
    .replace(/(^|[^\w@])@(?=[\w-])/g, `$1@${zeroWidth}`)
    .replace(/^(\s*)\/(?=[a-zA-Z])/, "$1\\/")

const line = (row: string): string =>
  row
    .split(/(`+[^`]*`+)/)
    .map((part, index) => (index % 2 === 1 && balanced(part) ? part : inText(part)))
    .join("")

const balanced = (span: string): boolean => {
  const open = /^`+/.exec(span)?.[0].length
  return open === /`+$/.exec(span)?.[0].length && span.length > 2 * (open ?? 0)
}

const fence = /^ {0,3}(`{3,}|~{3,})/

/** No marker of ours can stand in it, in code neither. */
const unmarked = (text: string): string => text.replace(/<!--(?=\s*aicr)/gi, `<!-${zeroWidth}-`)

/** Markdown of several lines. Fences that are left open are closed. */
export const safeMarkdown = (markdown: string): string => {
  let open: string | undefined
  const rows = unmarked(markdown.replaceAll("\r\n", "\n"))
    .split("\n")
    .map((row) => {
      const found = fence.exec(row)?.[1]
      if (open !== undefined) {
        if (found !== undefined && found.startsWith(open) && row.trim() === found) open = undefined
        return row
      }
      if (found !== undefined) {
        open = found
        return row
      }
      return line(row)
    })
  if (open !== undefined) rows.push(open)
  return rows.join("\n").trim()
}

/** One line of markdown: a title, a cell, a sentence. */
export const safeLine = (text: string): string =>
  line(unmarked(text).replace(/\s+/g, " ").trim()).replaceAll("|", "\\|")

/** A path or a name, in a code span that it cannot leave. */
export const codeSpan = (text: string): string => {
  const flat = unmarked(text)
    .replace(/\p{Cc}/gu, "\ufffd")
    .replaceAll("|", "\\|")
  const longest = Math.max(0, ...[...flat.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = "`".repeat(longest + 1)
  const pad = flat.startsWith("`") || flat.endsWith("`") ? " " : ""
  return `${ticks}${pad}${flat}${pad}${ticks}`
}

/** Code in a fence that it cannot close. Undefined when it holds what looks like a marker of ours: it must stay verbatim. */
export const fenced = (language: string, code: string): string | undefined => {
  if (code.toLowerCase().includes(opening.slice(0, 9))) return undefined
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = "`".repeat(longest + 1)
  return `${ticks}${language}\n${code.replace(/\n$/, "")}\n${ticks}`
}
