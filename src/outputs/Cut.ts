/**
 * Hosts refuse bodies over their limit. A body that is too long loses lines from the end of what people see; its markers stay whole,
 * because without them the next attempt would post again. Pure.
 */
import { splitMarkers } from "./Marker.ts"
import { fenceAfter } from "./Tidy.ts"

/** What must follow a cut text so that the rest of the page is not swallowed. */
const closings = (text: string): string => {
  let fence: string | undefined
  let details = 0
  for (const row of text.split("\n")) {
    const before = fence
    fence = fenceAfter(fence, row)
    if (before === undefined && fence === undefined) {
      details += (row.match(/<details/g) ?? []).length - (row.match(/<\/details>/g) ?? []).length
    }
  }
  return `${fence === undefined ? "" : `\n${fence}`}${"\n</details>".repeat(Math.max(0, details))}`
}

/** The beginning of a text, at most `limit` UTF-16 units long with what closes it. */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  for (let room = limit; room > 0; room -= Math.max(1, Math.floor(room / 16))) {
    const head = headOf(text, room)
    const closed = `${head}${closings(head)}`
    if (closed.length <= limit) return closed
  }
  return ""
}

/** The body, at most `limit` UTF-16 units long. A limit that cannot even hold the markers is a defect of the host table. */
export const cut = (body: string, limit: number, notice: string): string => {
  if (body.length <= limit) return body
  const { visible, markers } = splitMarkers(body)
  const tail = `\n\n${notice}\n\n${markers.join("\n")}`
  if (limit >= tail.length) return `${shorten(visible, limit - tail.length)}${tail}`
  throw new Error(`a body limit of ${limit} has no room for ${markers.length} markers`)
}

/** At most `room` units from the front, up to the end of a line where one is near, never half a character or half a code span. */
const headOf = (text: string, room: number): string => {
  const head = text.slice(0, room)
  const lastLine = head.lastIndexOf("\n")
  return lastLine > room / 2
    ? head.slice(0, lastLine)
    : withoutHalfSpan(head.replace(/[\ud800-\udbff]$/, ""), lastLine + 1)
}

/** Of the last line neither code nor a link whose end was cut off: it would be read as text. */
const withoutHalfSpan = (head: string, from: number): string => {
  const link = head.lastIndexOf("](")
  const isHalf = link >= from && !head.slice(link).includes(")")
  const kept = isHalf ? head.slice(0, Math.max(from, head.lastIndexOf("[", link))) : head
  let open: { readonly at: number; readonly ticks: string } | undefined
  for (const { index, 0: ticks } of kept.slice(from).matchAll(/`+/g)) {
    if (open === undefined) open = { at: from + index, ticks }
    else if (open.ticks === ticks) open = undefined
  }
  return open === undefined ? kept : kept.slice(0, open.at)
}
