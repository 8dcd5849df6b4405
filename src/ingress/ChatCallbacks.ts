/**
 * Handles callbacks of chat platforms: verify, read, store, respond. Everything that takes longer happens in the actor of the connection.
 * A message that the platform delivers again gets the same response and has no effect.
 */
import { Effect, Metric } from "effect"
import type { CallbackReply, CallbackRequest } from "../chat/CallbackOutcome.ts"
import type { Inbound } from "../chat/Inbound.ts"
import { findCallbackReader } from "../chat/ReadConnection.ts"
import { storeInbound } from "../chat/StoreInbound.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import { limitWarning, logFailure } from "../observability/LimitedWarnings.ts"
import { chatCallbacks } from "../observability/Metrics.ts"
import type { ChatRequests } from "../store/ChatRequests.ts"
import type { IngressResponse } from "./Responses.ts"
import * as Responses from "./Responses.ts"
import type { StoredFacts } from "./StoredFacts.ts"

/** Maximum size of a body in bytes. */
export const maxCallbackBytes = 256 * 1024

interface Parts {
  readonly config: ConfigStore["Service"]
  readonly requests: ChatRequests["Service"]
  readonly facts: StoredFacts["Service"]
}

export interface ChatCallbacks {
  /** Returns a refusal that needs no body. */
  readonly preflight: (connection: string) => IngressResponse | undefined
  readonly handle: (connection: string, request: CallbackRequest) => Effect.Effect<IngressResponse>
}

const toResponse = ({ body, contentType }: CallbackReply): IngressResponse => Responses.text(200, contentType, body)

export const makeChatCallbacks = ({ config, facts, requests }: Parts): ChatCallbacks => {
  const readerOf = (connection: string) => findCallbackReader(config.current(), connection)
  const count = (kind: string, outcome: string) =>
    Metric.update(Metric.withAttributes(chatCallbacks, { kind, outcome }), 1)

  const refused = (connection: string, reason: string) =>
    limitWarning(`chat callback ${connection}`, (suppressed) =>
      Effect.logWarning("chat callback refused", { connection, reason, suppressed })
    )

  /** Returns the outcome for metrics. The actor has nothing to do for a message that is not stored. */
  const store = (connection: string, inbound: Inbound, now: number) =>
    Effect.tap(storeInbound(requests, connection, inbound, now), (outcome) =>
      Effect.sync(() => {
        if (outcome !== "ignored") facts.publish({ _tag: "ChatReceived", connection })
        if (inbound._tag === "DirectoryChanged") facts.publish({ _tag: "DirectoryChanged", connection })
      })
    )

  return {
    preflight: (connection) => {
      const reader = readerOf(connection)
      if (reader._tag === "Unknown") return Responses.notFound({ _tag: "ChatConnectionUnknown" })
      return reader._tag === "Disabled" ? Responses.callbackDisabled : undefined
    },
    handle: Effect.fnUntraced(function* (connection, request) {
      const reader = readerOf(connection)
      if (reader._tag !== "Reader") return Responses.callbackDisabled
      const outcome = reader.read(request)
      if (outcome._tag === "Refused") {
        yield* count(reader.kind, outcome.reason)
        yield* refused(connection, outcome.reason)
        return outcome.reason === "malformed" ? Responses.callbackMalformed : Responses.callbackUnauthorized
      }
      if (outcome._tag === "Challenge") {
        yield* count(reader.kind, "challenge")
        return toResponse(outcome.reply)
      }
      return yield* store(connection, outcome.inbound, request.now).pipe(
        Effect.tap((stored) => count(reader.kind, stored)),
        Effect.as(toResponse(outcome.reply)),
        Effect.catchTag("StoreError", (error) =>
          Effect.andThen(
            logFailure("chat message not stored", { connection }, { level: "Error" })(error),
            Effect.succeed(Responses.unavailable("store_unavailable"))
          )
        )
      )
    })
  }
}
