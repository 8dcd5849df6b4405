/** Stores a message or a button before its platform gets a response, with the id of the message as its key: a repeated delivery has no effect. */
import { Effect } from "effect"
import { newId } from "../domain/Ids.ts"
import { MinuteCounts } from "../domain/MinuteCounts.ts"
import type { ChatRequests } from "../store/ChatRequests.ts"
import type { StoreError } from "../database/StoreError.ts"
import { parseCommand } from "./Command.ts"
import type { Inbound } from "./Inbound.ts"

/**
 * Messages and buttons of a person in a minute on a node; above 30 commands they have no effect anyway. A person who sends more than any use needs
 * gets no records: each message would otherwise leave one for a day.
 */
export const maxPerMinute = 120

export type StoredInbound = "stored" | "duplicate" | "ignored"

/** Counts of this process. */
const counts = new MinuteCounts(maxPerMinute)

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
