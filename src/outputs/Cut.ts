/**
 * Hosts refuse bodies over their limit. A body that is too long loses lines from the end of what people see; its markers stay whole,
 * because without them the next attempt would post again. Pure.
 */
import { splitMarkers } from "./Marker.ts"

const openFence = /^ {0,3}(`{3,}|~{3,})/

/** What must follow a cut text so that the rest of the page is not swallowed. */
const closings = (text: string): string => {
  let fence: string | undefined
  let details = 0
  for (const row of text.split("\n")) {
    const found = openFence.exec(row)?.[1]
    if (fence !== undefined) {
      if (found !== undefined && found.startsWith(fence) && row.trim() === found) fence = undefined
    } else if (found !== undefined) fence = found
    else {
      details += (row.match(/<details/g) ?? []).length - (row.match(/<\/details>/g) ?? []).length
    }
  }
  return `${fence === undefined ? "" : `\n${fence}`}${"\n</details>".repeat(Math.max(0, details))}`
}

/** The body, at most `limit` UTF-16 units long. A limit that cannot even hold the markers is a defect of the host table. */
export const cut = (body: string, limit: number, notice: string): string => {
  if (body.length <= limit) return body
  const { visible, markers } = splitMarkers(body)
  const tail = `\n\n${notice}\n\n${markers.join("\n")}`
  for (let room = limit - tail.length; room >= 0; room -= Math.max(1, Math.floor(room / 16))) {
    const head = headOf(visible, room)
    const closed = `${head}${closings(head)}`
    if (closed.length + tail.length <= limit) return `${closed}${tail}`
  }
  throw new Error(`a body limit of ${limit} has no room for ${markers.length} markers`)
}

/** At most `room` units from the front, up to the end of a line where one is near, never half a character. */
const headOf = (text: string, room: number): string => {
  const head = text.slice(0, room)
  const lastLine = head.lastIndexOf("\n")
  return lastLine > room / 2 ? head.slice(0, lastLine) : head.replace(/[\ud800-\udbff]$/, "")
}
