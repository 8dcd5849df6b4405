/**
 * Truncates bodies to the limit of a host. Lines are removed from the end of the visible text; the markers stay complete, because
 * without them the next attempt would post again. Pure.
 */
import { fenceAfter } from "../../domain/CodeFence.ts"
import { splitMarkers } from "../Marker.ts"

/** Returns the closing tags and fences that a truncated text needs, so that it does not affect the rest of the page. */
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

/** Returns the beginning of a text, at most `limit` UTF-16 units long including its closing tags. */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  for (let room = limit; room > 0; room -= Math.max(1, Math.floor(room / 16))) {
    const head = takeHead(text, room)
    const closed = `${head}${closings(head)}`
    if (closed.length <= limit) return closed
  }
  return ""
}

/**
 * Returns the body, at most `limit` UTF-16 units long. A limit that is too small for the markers is a defect of the host table.
 */
export const cut = (body: string, limit: number, notice: string): string => {
  if (body.length <= limit) return body
  const { visible, markers } = splitMarkers(body)
  const tail = `\n\n${notice}\n\n${markers.join("\n")}`
  if (limit >= tail.length) return `${shorten(visible, limit - tail.length)}${tail}`
  throw new Error(`a body limit of ${limit} has no room for ${markers.length} markers`)
}

/**
 * Returns at most `room` units from the start, up to the end of a line if one is close, and never a partial character or code
 * span.
 */
const takeHead = (text: string, room: number): string => {
  const head = text.slice(0, room)
  const lastLine = head.lastIndexOf("\n")
  return lastLine > room / 2
    ? head.slice(0, lastLine)
    : withoutHalfSpan(head.replace(/[\ud800-\udbff]$/, ""), lastLine + 1)
}

/** Removes an incomplete code span or link at the end of the last line, which would be rendered as text. */
const withoutHalfSpan = (head: string, from: number): string => {
  const link = head.lastIndexOf("](")
  const isHalf = link >= from && !head.slice(link).includes(")")
  const complete = isHalf ? head.slice(0, Math.max(from, head.lastIndexOf("[", link))) : head
  let open: { readonly at: number; readonly ticks: string } | undefined
  for (const { index, 0: ticks } of complete.slice(from).matchAll(/`+/g)) {
    if (open === undefined) open = { at: from + index, ticks }
    else if (open.ticks === ticks) open = undefined
  }
  return open === undefined ? complete : complete.slice(0, open.at)
}
