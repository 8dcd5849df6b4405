/** The `scope` and `fp` of our markers: by what a comment is known to be the same one. Pure. */
import { digest } from "./OperationId.ts"

/** Stands as `fp` in the marker of a managed summary. */
export const summaryFp = "summary"

/** Where an inline comment belongs: the same problem on another head is another comment. */
export const headScope = (head: string): string => head.slice(0, 16)

/** One managed summary per target and channel; `own` sets one apart from it. */
export const summaryScope = (targetKey: string, channel: string, own: string): string =>
  digest(targetKey, channel, own).slice(0, 16)
