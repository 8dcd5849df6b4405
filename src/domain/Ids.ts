/** Identifiers of records. Time-ordered (UUIDv7) so that index order is order of creation. */
import { v7 } from "uuid"

export type EventId = string
export type EntryId = string
export type RunId = string
export type WorkspaceId = string

/** A new UUIDv7, lower-case, 36 characters; strictly increasing within one process. */
export const newId = (): string => v7()
