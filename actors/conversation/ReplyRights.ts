/**
 * Determines whether a person may get a reply (`review.conversation.from`), and counts replies towards the limits of the person, the change and
 * of people without write access. What the host does not disclose is no right.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { discussedKey, hostTrigger, repositoryKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { ReservationId } from "../../src/domain/Keys.ts"
import type { ForgeClient, HostConversations } from "../../src/forge/Forge.ts"
import { Ledger } from "../../src/store/Ledger.ts"

/** `stranger`: a person without write access who may get a reply all the same. */
type Converser = "writer" | "stranger" | "refused"

const isUndisclosed = (reason: string): boolean =>
  reason === "forbidden" || reason === "unauthorized" || reason === "not_found" || reason === "invalid"

export const findConverser = Effect.fnUntraced(function* (
  client: Pick<ForgeClient, "canWrite">,
  conversations: Pick<HostConversations, "isPrivate">,
  { repo }: Pick<Change, "repo">,
  { review }: Pick<Workspace, "review">,
  person: string
) {
  const canWrite = yield* Effect.catchIf(
    client.canWrite(repo, person),
    ({ reason }) => isUndisclosed(reason),
    () => Effect.succeed(false)
  )
  if (canWrite) return "writer" satisfies Converser
  const { from } = review.conversation
  if (from !== undefined) return (from === "everybody" ? "stranger" : "refused") satisfies Converser
  const isPrivate = yield* Effect.catchIf(
    conversations.isPrivate(repo),
    ({ reason }) => isUndisclosed(reason),
    () => Effect.succeed(undefined)
  )
  return (isPrivate === true ? "stranger" : "refused") satisfies Converser
})

/** Counts the reply of an entry, once. Returns the limit that it would exceed. */
export const countReply = Effect.fnUntraced(function* (
  entryId: string,
  change: Change,
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
    ["change_day", change_day, day, discussedKey(change)] as const
  ]
  const ledger = yield* Ledger
  for (const [name, max, period, subject] of limits) {
    const id = ReservationId.make(`reply:${name}:${entryId}`)
    const isCounted = max > 0 && (yield* ledger.count({ id, subject: `replies:${name}:${subject}`, period, max }, now))
    if (!isCounted) return { limit: `review.conversation.limits.${name}`, count: max }
  }
  return undefined
})
