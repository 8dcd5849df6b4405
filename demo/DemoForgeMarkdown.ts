/**
 * The little markdown that comments are written in, as HTML for the demo forge's page. Everything is escaped first; what becomes an
 * element is named here. Like a host's own renderer it hides HTML comments.
 */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

/** Signs of severity as drawn dots: a page must not depend on a font with colour emoji. */
const dots: Readonly<Record<string, string>> = {
  "🛑": "critical",
  "🔴": "high",
  "🟠": "medium",
  "🟡": "low",
  "🔵": "info"
}

const unescapedTags = /&#60;(\/?(?:details|summary|sub|sup|kbd|code|b|br)\s*\/?)&#62;/g

const inline = (text: string): string => {
  const codes: Array<string> = []
  const kept = text.replace(/(`+)(.+?)\1/g, (_, __, code: string) => {
    codes.push(`<code>${escapeHtml(code.trim())}</code>`)
    return `\uE000${codes.length - 1}\uE000`
  })
  return escapeHtml(kept)
    .replace(unescapedTags, "<$1>")
    .replace(/\\([\\`*_{}[\]()#+\-.!|~@>])/g, (_, char: string) => `&#${char.charCodeAt(0)};`)
    .replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>")
    .replace(/~~(.+?)~~/g, "<s>$1</s>")
    .replace(/(^|[\s(])[*_](\S(?:.*?\S)?)[*_](?=[\s).,:;!?]|$)/g, "$1<em>$2</em>")
    .replace(/\[([^\]]+)\]\((https?:\/\/[^\s)]+|#[\w-]*)\)/g, '<a href="$2">$1</a>')
    .replace(/🛑|🔴|🟠|🟡|🔵/gu, (sign) => `<span class="severity ${dots[sign]}"></span>`)
    .replace(/&#38;(#\d+|[a-z]+);/g, "&$1;")
    .replace(/\uE000(\d+)\uE000/g, (_, index: string) => codes[Number(index)] ?? "")
}

const cells = (row: string): ReadonlyArray<string> =>
  row
    .replace(/^\s*\||\|\s*$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

const table = (rows: ReadonlyArray<string>): string => {
  const [head, , ...body] = rows
  const line = (row: string, tag: string) =>
    `<tr>${cells(row)
      .map((cell) => `<${tag}>${inline(cell)}</${tag}>`)
      .join("")}</tr>`
  return `<table><thead>${line(head ?? "", "th")}</thead><tbody>${body.map((row) => line(row, "td")).join("")}</tbody></table>`
}

const fence = (language: string, code: string): string =>
  language.startsWith("suggestion")
    ? `<div class="suggestion"><div class="suggestion-title">Suggested change</div><pre><code>${escapeHtml(code)}</code></pre></div>`
    : `<pre><code>${escapeHtml(code)}</code></pre>`

/** Takes rows from the front while they fit. */
const takeWhile = (rows: Array<string>, fits: (row: string) => boolean): ReadonlyArray<string> => {
  const taken: Array<string> = []
  while (rows[0] !== undefined && fits(rows[0])) taken.push(rows.shift() ?? "")
  return taken
}

export const renderMarkdown = (markdown: string): string => {
  const rows = markdown.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split(/\r?\n/)
  const html: Array<string> = []
  while (rows.length > 0) {
    const row = rows.shift() ?? ""
    const open = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(row)
    const heading = /^(#{1,6})\s+(.*)$/.exec(row)
    const bullet = /^\s*(?:[-*]|\d+\.)\s+/
    if (open !== null) {
      const end = open[1] ?? "```"
      const code = takeWhile(rows, (next) => !next.trimStart().startsWith(end))
      rows.shift()
      html.push(fence(open[2] ?? "", code.join("\n")))
    } else if (heading !== null) {
      // The page has the first level, and the sections of a comment begin with "##".
      const level = Math.max(2, (heading[1] ?? "").length)
      html.push(`<h${level}>${inline(heading[2] ?? "")}</h${level}>`)
    } else if (/^\s*\|.*\|\s*$/.test(row) && /^\s*\|[\s:|-]+\|\s*$/.test(rows[0] ?? "")) {
      html.push(table([row, ...takeWhile(rows, (next) => /^\s*\|/.test(next))]))
    } else if (bullet.test(row)) {
      const items = [row, ...takeWhile(rows, (next) => bullet.test(next) || /^\s{2,}\S/.test(next))]
      const joined = items.reduce<Array<string>>((list, item) => {
        if (bullet.test(item)) list.push(item.replace(bullet, ""))
        else list.push(`${list.pop() ?? ""} ${item.trim()}`)
        return list
      }, [])
      html.push(`<ul>${joined.map((item) => `<li>${inline(item)}</li>`).join("")}</ul>`)
    } else if (row.startsWith(">")) {
      const quote = [row, ...takeWhile(rows, (next) => next.startsWith(">"))].map((line) => line.replace(/^>\s?/, ""))
      html.push(`<blockquote>${renderMarkdown(quote.join("\n"))}</blockquote>`)
    } else if (/^\s*<\/?(details|summary)/.test(row)) {
      html.push(inline(row))
    } else if (/^(-{3,}|\*{3,})$/.test(row.trim())) {
      html.push("<hr>")
    } else if (row.trim() !== "") {
      const block = /^\s*(#{1,6}\s|[-*]\s|\d+\.\s|`{3}|~{3}|\||>|<\/?(details|summary))/
      const text = [row, ...takeWhile(rows, (next) => next.trim() !== "" && !block.test(next))]
      html.push(`<p>${text.map(inline).join("<br>")}</p>`)
    }
  }
  return html.join("\n")
}
