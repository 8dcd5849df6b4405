/** What a host says in the headers of a delivery: its id, which stays the same when it is sent again, and its event. */
import type { Headers } from "./Forge.ts"

const printable = /^[\x21-\x7e]{1,200}$/

/** The first of `names` that holds a usable id; one that is not is treated as absent and the body is hashed instead. */
export const deliveryIdIn = (headers: Headers, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const id = headers[name]
    if (id !== undefined && printable.test(id)) return id
  }
  return undefined
}

/** An event name from a header, cut to what records keep. */
export const eventNameIn = (headers: Headers, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const event = headers[name]?.trim()
    if (event) return event.slice(0, 100)
  }
  return undefined
}
