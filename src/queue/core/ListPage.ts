/** Builds pages of a listing of entries (QueueControl.list). */
import type { Entry } from "../../domain/Entry.ts"
import type { ListFilter, ListPage } from "../operator/QueueControl.ts"

/** Returns whether a row is listed after the one that a page begins after. */
export const isAfter = ({ after, newestFirst = false }: ListFilter, id: string): boolean =>
  after === undefined || (newestFirst ? id < after : id > after)

interface Identified {
  readonly id: string
}

/** Returns how the rows of a listing are ordered. */
export const compareBy =
  ({ newestFirst = false }: ListFilter) =>
  (one: Identified, other: Identified): number =>
    one.id < other.id === newestFirst ? 1 : -1

/** Returns the first page of the listed entries, which are in order. */
export const toPage = (entries: ReadonlyArray<Entry>, limit: number): ListPage => ({
  entries: entries.slice(0, limit),
  next: entries.length > limit ? entries[limit - 1]?.id : undefined
})
