/**
 * Requests over the long connection of a WeCom bot. Acknowledgements name the request that they belong to only by its `req_id`, which all
 * replies to one message share: they come in the order of the requests, also those that timed out. An acknowledgement also
 * counts for later requests with the same content, because one of them may have been lost.
 */
import { Deferred, Duration, Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { ForgeError, requestFailed } from "../../forge/ForgeError.ts"
import { ResponseTimeout } from "../../forge/ResponseTimeout.ts"
import type { ChatSessionEnd } from "../ChatSession.ts"
import { readResponse } from "../platform/PlatformCall.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import type { ChatSocket } from "../platform/Socket.ts"

const maxAckTimeout = Duration.seconds(10)
/** Requests without an acknowledgement. The oldest are forgotten. */
const maxWaiting = 2000

export const subscribeCommand = "aibot_subscribe"

interface Waiting {
  readonly content: string
  readonly acknowledged: Deferred.Deferred<JsonObject>
}

export class WecomRequests {
  readonly #waiting = new Map<string, ReadonlyArray<Waiting>>()
  #socket: ChatSocket | undefined
  #isSubscribed = false

  /** Uses this socket from now on. Requests of the previous one get no acknowledgement. */
  connect(socket: ChatSocket | undefined): void {
    this.#socket = socket
    this.#isSubscribed = false
    this.#waiting.clear()
  }

  /** Permits messages. */
  subscribed(): void {
    this.#isSubscribed = true
  }

  /** Resolves the oldest request with the id of this frame, and those with the same content. */
  acknowledge(id: string, frame: JsonObject): void {
    const waiting = this.#waiting.get(id) ?? []
    const [oldest] = waiting
    const rest = waiting.filter(({ content }) => content !== oldest?.content)
    if (rest.length === 0) this.#waiting.delete(id)
    else this.#waiting.set(id, rest)
    for (const { acknowledged, content } of waiting)
      if (content === oldest?.content) Deferred.doneUnsafe(acknowledged, Effect.succeed(frame))
  }

  /** `unknown_outcome`: it was sent and not acknowledged. */
  readonly send = Effect.fnUntraced(
    { self: this },
    function* (
      command: string,
      id: string,
      body: object | undefined,
      secrets: ReadonlyArray<string> = []
    ): Effect.fn.Return<JsonObject, ForgeError> {
      const fail = (reason: ForgeError["reason"], why: Reason) => requestFailed(reason, command, why)
      const socket = this.#socket
      if (socket === undefined || (!this.#isSubscribed && command !== subscribeCommand))
        return yield* fail("unavailable", { _tag: "LongConnectionNotOpen" })
      const acknowledged = Deferred.makeUnsafe<JsonObject>()
      const frame = { cmd: command, headers: { req_id: id }, ...(body === undefined ? {} : { body }) }
      const content = JSON.stringify(frame)
      this.#add(id, { content, acknowledged })
      yield* Effect.mapError(socket.send(content), ({ why }: ChatSessionEnd) => fail("unavailable", why))
      const response = yield* Effect.timeoutOrElse(Deferred.await(acknowledged), {
        duration: Duration.min(maxAckTimeout, yield* ResponseTimeout),
        orElse: () => Effect.fail(fail("unknown_outcome", { _tag: "NotAcknowledged" }))
      })
      const call = { operation: command, secrets, writes: true }
      const read = readResponse(call, { status: 200, headers: {}, body: JSON.stringify(response) })
      return read instanceof ForgeError ? yield* read : read
    }
  )

  #add(id: string, request: Waiting): void {
    const first = this.#waiting.keys().next().value
    if (this.#waiting.size >= maxWaiting && first !== undefined) this.#waiting.delete(first)
    this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), request])
  }
}
