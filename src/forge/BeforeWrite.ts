/**
 * What has to hold at the moment of a content write. Writes of one token wait for their turn, and what was true before the wait
 * may not be true after it: the guard runs within the turn, right before the request. When it fails nothing is sent and its
 * error is the write's.
 */
import { Context, Effect } from "effect"
import type { ForgeError } from "./Forge.ts"

export const BeforeWrite = Context.Reference<Effect.Effect<void, ForgeError>>("aicr/forge/BeforeWrite", {
  defaultValue: () => Effect.void
})
