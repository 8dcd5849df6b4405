/** Stores a message or a button before its platform gets a response, with the id of the message as its key: a repeated delivery has no effect. */
import { Effect } from "effect"
import { newId } from "../domain/Ids.ts"
import type { ChatRequests } from "../store/ChatRequests.ts"
import type { StoreError } from "../database/StoreError.ts"
import { parseCommand } from "./Command.ts"
import type { Inbound } from "./Inbound.ts"

/**
 * Counts what people send to a node. A person who sends more in a minute than any use needs gets no records: each message would otherwise
 * leave one for a day. Counts of a minute are forgotten with it.
 *
 * Messages and buttons of a person in a minute; above 30 commands they have no effect anyway.
 */
export const maxPerMinute = 120
const minuteMillis = 60_000
const maxPeople = 100_000

class InboundCounts {
  readonly #counts = new Map<string, number>()
  #minute = 0

  /** Counts one more of a person. Returns false beyond the limit. */
  admits(person: string, now: number): boolean {
    const minute = Math.floor(now / minuteMillis)
    if (minute !== this.#minute || this.#counts.size >= maxPeople) this.#counts.clear()
    this.#minute = minute
    const count = (this.#counts.get(person) ?? 0) + 1
    this.#counts.set(person, count)
    return count <= maxPerMinute
  }
}

export type StoredInbound = "stored" | "duplicate" | "ignored"

/** Counts of this process. */
const counts = new InboundCounts()

export const storeInbound = (
  requests: Pick<ChatRequests["Service"], "add">,
  connection: string,
  inbound: Inbound,
  now: number
): Effect.Effect<StoredInbound, StoreError> => {
  if (inbound._tag !== "Message" && inbound._tag !== "Action") return Effect.succeed("ignored")
  if (inbound._tag === "Message" && parseCommand(inbound, () => true)._tag === "NotForUs")
    return Effect.succeed("ignored")
  const { conversation, key, reply, sender } = inbound
  if (!counts.admits(JSON.stringify([connection, sender.type, sender.id]), now)) return Effect.succeed("ignored")
  const isAction = inbound._tag === "Action"
  const mention = isAction ? undefined : inbound.mention
  return requests.add({
    id: newId(),
    connection,
    key,
    conversation,
    sender,
    facts: {
      text: isAction ? inbound.actionId : inbound.text,
      isAction,
      reply,
      ...(mention === undefined ? {} : { mention })
    },
    receivedAt: now
  })
}
