/** Decides about stored deliveries again (admin/DeliveryReplay.ts), with the parts that decide about received ones. */
import { Clock, Effect, Layer } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { DeliveryReplay } from "../admin/DeliveryReplay.ts"
import type { ReplayResult } from "../admin/DeliveryReplay.ts"
import { newId } from "../domain/Ids.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { DeliveryPayload } from "../store/Payloads.ts"
import { Receipts } from "../store/Receipts.ts"
import { InternalReceiving } from "./Receiving.ts"
import { readDecision } from "./Responses.ts"
import type { IngressResponse } from "./Responses.ts"
import type { Called } from "./Triggers.ts"
import type { Reason } from "../domain/Reason.ts"

const notReplayable = (why: Reason): ReplayResult => ({ _tag: "NotReplayable", why })

/** Reads the decision in the response that the sender of a delivery would get. */
const toResult = (eventId: string, response: IngressResponse): ReplayResult => {
  const read = readDecision(response)
  return read === undefined ? { _tag: "Refused" } : { _tag: "Decided", ...read, eventId }
}

const isCallPath = (path: string): path is Called["path"] => ["manual", "custom", "p4", "svn"].includes(path)

export const layer = Layer.effect(
  DeliveryReplay,
  Effect.gen(function* () {
    const { triggers, webhooks } = yield* InternalReceiving
    const decide = (payload: DeliveryPayload, id: string, now: number): Promise<IngressResponse> | undefined => {
      const { admits, body, eventId, path } = payload
      const headers: IncomingHttpHeaders = payload.headers
      const bytes = Buffer.from(body, "utf8")
      if (admits._tag === "Triggers") {
        return isForgeKind(path)
          ? webhooks.replay({ id, kind: path, headers, payload: bytes, triggers: admits.names, now, replayOf: eventId })
          : undefined
      }
      const workspaces = admits.ids === undefined ? undefined : new Set(admits.ids)
      return isCallPath(path)
        ? triggers.replay({ id, path, headers, body: bytes, now, replayOf: eventId }, { workspaces })
        : undefined
    }
    const receipts = yield* Receipts
    /** Returns whether the link was stored. */
    const link = (id: string, replayOf: string): Effect.Effect<boolean> =>
      Effect.matchEffect(receipts.addReplay(id, replayOf), {
        onSuccess: () => Effect.succeed(true),
        onFailure: (error) =>
          Effect.as(Effect.logWarning("delivery not replayed", { event_id: replayOf, error: error.message }), false)
      })
    return DeliveryReplay.of({
      replay: Effect.fnUntraced(function* (payload) {
        if (payload.cut) return notReplayable({ _tag: "PayloadCut" })
        const id = newId()
        if (!(yield* link(id, payload.eventId))) return { _tag: "Refused" }
        const decided = decide(payload, id, yield* Clock.currentTimeMillis)
        if (decided === undefined) return notReplayable({ _tag: "TriggerGone" })
        const result = toResult(id, yield* Effect.promise(() => decided))
        yield* Effect.logInfo("delivery replayed", { event_id: id, replay_of: payload.eventId, result: result._tag })
        return result
      })
    })
  })
).pipe(Layer.provide(InternalReceiving.layer))
