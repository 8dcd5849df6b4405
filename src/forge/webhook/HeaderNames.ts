/** Reads the headers of a delivery: its id, which stays the same when the host sends it again, and its event. */
import type { Headers } from "../Forge.ts"

const printable = /^[\x21-\x7e]{1,200}$/

/** Returns the first usable id in the headers `names`. Without one the caller hashes the body instead. */
export const deliveryIdIn = (headers: Headers, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const id = headers[name]
    if (id !== undefined && printable.test(id)) return id
  }
  return undefined
}

/** Returns the event name from a header, truncated to the length that records store. */
export const eventNameIn = (headers: Headers, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const event = headers[name]?.trim()
    if (event) return event.slice(0, 100)
  }
  return undefined
}
