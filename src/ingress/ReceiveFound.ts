/** Decides about events that no delivery reported (queue/FoundEvents.ts), with the parts that decide about received ones. */
import { Clock, Effect, Layer } from "effect"
import { newId } from "../domain/Ids.ts"
import { FoundEvents } from "../queue/FoundEvents.ts"
import type { FoundDecision } from "../queue/FoundEvents.ts"
import { InternalReceiving } from "./Receiving.ts"
import { readDecision } from "./Responses.ts"
import type { IngressResponse } from "./Responses.ts"

const toDecision = (id: string, response: IngressResponse): FoundDecision => {
  const read = readDecision(response)
  if (read === undefined) return { _tag: "Refused" }
  const { decision, eventId = id } = read
  if (decision === "duplicate") return { _tag: "Duplicate", eventId }
  return { _tag: decision === "ignored" ? "Ignored" : "Accepted", eventId }
}

export const layer = Layer.effect(
  FoundEvents,
  Effect.gen(function* () {
    const { webhooks } = yield* InternalReceiving
    return FoundEvents.of({
      decide: Effect.fnUntraced(function* (found) {
        const id = newId()
        const now = yield* Clock.currentTimeMillis
        return toDecision(id, yield* Effect.promise(() => webhooks.found(id, found, now)))
      })
    })
  })
).pipe(Layer.provide(InternalReceiving.layer))
