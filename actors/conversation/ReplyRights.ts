/**
 * Determines whether a person may get a reply (`review.conversation.from`), and counts replies towards the limits of the person, the change and
 * of people without write access. What the host does not disclose is no right.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { hostTrigger, repositoryKey } from "../../src/domain/Change.ts"
import type { Change, Repo } from "../../src/domain/Change.ts"
import { ReservationId } from "../../src/domain/Keys.ts"
import type { TargetKey } from "../../src/domain/Keys.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { unlessUndisclosed } from "../review/Undisclosed.ts"

/** `stranger`: a person without write access who may get a reply all the same. */
export type Converser = "writer" | "stranger" | "refused"

export const findConverser = Effect.fnUntraced(function* (
  { canWrite, conversations }: Pick<ForgeClient, "canWrite" | "conversations">,
  repo: Repo,
  { review }: Pick<Workspace, "review">,
  person: string
) {
  if (yield* unlessUndisclosed(canWrite(repo, person), false)) return "writer" satisfies Converser
  const { from } = review.conversation
  if (from !== undefined) return (from === "everybody" ? "stranger" : "refused") satisfies Converser
  const isPrivate = yield* unlessUndisclosed(conversations.isPrivate(repo), undefined)
  return (isPrivate === true ? "stranger" : "refused") satisfies Converser
})

/** Counts the reply of an entry, once. Returns the limit that it would exceed. */
export const countReply = Effect.fnUntraced(function* (
  entryId: string,
  change: Change,
  subjectKey: TargetKey,
  { review }: Pick<Workspace, "review">,
  person: string,
  converser: Converser
) {
  const { change_day, person_hour, strangers_day } = review.conversation.limits
  const now = yield* Clock.currentTimeMillis
  const time = new Date(now).toISOString()
  const [day, hour] = [time.slice(0, "2026-01-31".length), time.slice(0, "2026-01-31T12".length)]
  const limits = [
    ...(converser === "stranger" ? [["strangers_day", strangers_day, day, repositoryKey(change)] as const] : []),
    ["person_hour", person_hour, hour, `${hostTrigger(change)}:${person.toLowerCase()}`] as const,
    ["change_day", change_day, day, subjectKey] as const
  ]
  const ledger = yield* Ledger
  for (const [name, max, period, subject] of limits) {
    const id = ReservationId.make(`reply:${name}:${entryId}`)
    const isCounted = max > 0 && (yield* ledger.count({ id, subject: `replies:${name}:${subject}`, period, max }, now))
    if (!isCounted) return { limit: `review.conversation.limits.${name}`, count: max }
  }
  return undefined
})
