/**
 * States of a finding on a change. Their texts are `finding.<state>` in src/text. Pure.
 *
 * | state         | the finding                                                             | counts as a problem |
 * | ------------- | ----------------------------------------------------------------------- | ------------------- |
 * | open          | is in the newest review of its file                                      | yes                 |
 * | partly        | is repaired in part                                                      | yes                 |
 * | fixed         | was not found again in its file, or the change no longer has the file    | no                  |
 * | withdrawn     | was wrong, as evidence in the code showed                                | no                  |
 * | dismissed     | was dismissed by a person with the permission for it                     | no                  |
 * | moved_away    | is about code that the change moved out of its reach                     | no                  |
 * | open_at_merge | was open when the change was merged                                      | yes                 |
 */
import { Schema } from "effect"

export const FindingState = Schema.Literals([
  "open",
  "partly",
  "fixed",
  "withdrawn",
  "dismissed",
  "moved_away",
  "open_at_merge"
])
export type FindingState = typeof FindingState.Type

const unresolved: ReadonlySet<FindingState> = new Set(["open", "partly", "open_at_merge"])

/** Returns whether a finding in this state counts as a problem of the change. */
export const isUnresolved = (state: FindingState): boolean => unresolved.has(state)
