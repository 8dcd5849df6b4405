/**
 * A WebSocket with bounded messages, a bounded number of messages that wait, and one end. Its URL may contain a ticket, so that no error
 * contains it.
 */
import { Cause, Deferred, Effect, Queue } from "effect"
import type { Scope } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { Agent, EnvHttpProxyAgent, ping, WebSocket } from "undici"
import type { Reason } from "../../domain/Reason.ts"
import { ChatSessionEnd } from "../ChatSession.ts"

const maxMessageBytes = 1024 * 1024
/** Messages that arrived and are not processed. Beyond it the connection is closed: the platform delivers again. */
const maxWaiting = 1000
const openTimeout = "15 seconds"
/** Bytes that the platform does not accept. Beyond it the connection is closed. */
const maxUnsentBytes = 4 * 1024 * 1024

export interface ChatSocket {
  /** Takes the next message; fails when the socket has ended. */
  readonly take: Effect.Effect<string | Uint8Array, ChatSessionEnd>
  readonly send: (data: string | Uint8Array) => Effect.Effect<void, ChatSessionEnd>
  /** Sends a ping of the protocol; fails unless the platform responds to it in time. */
  readonly probe: Effect.Effect<void, ChatSessionEnd>
}

const lost = (why: Reason): ChatSessionEnd => new ChatSessionEnd({ reason: "lost", why })

const options = { webSocket: { maxPayloadSize: maxMessageBytes } }
let direct: Agent | undefined
let proxied: EnvHttpProxyAgent | undefined

const dispatcherFor = ({ hostname }: URL) =>
  /^(localhost|127\..*|\[::1\])$/.test(hostname)
    ? (direct ??= new Agent(options))
    : (proxied ??= new EnvHttpProxyAgent(options))

const isMessage = (data: unknown): data is string | ArrayBuffer =>
  typeof data === "string" || data instanceof ArrayBuffer

const listen = (
  socket: WebSocket,
  received: Queue.Queue<string | Uint8Array, ChatSessionEnd>,
  opened: Deferred.Deferred<void>
) => {
  const end = (why: Reason) => Queue.failCauseUnsafe(received, Cause.fail(lost(why)))
  socket.binaryType = "arraybuffer"
  socket.addEventListener("open", () => Deferred.doneUnsafe(opened, Effect.void))
  socket.addEventListener("close", ({ code }) => end({ _tag: "LongConnectionEnded", code }))
  // An error is followed by a close, but a failed handshake may have none.
  socket.addEventListener("error", () => end({ _tag: "LongConnectionFailed" }))
  socket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
    if (!isMessage(data)) return
    if (Queue.offerUnsafe(received, typeof data === "string" ? data : new Uint8Array(data))) return
    end({ _tag: "TooManyMessagesWait" })
    socket.close()
  })
}

const pongs = "undici:websocket:pong"
const pongTimeout = "10 seconds"

const isPongOf = (message: unknown, socket: WebSocket): boolean =>
  typeof message === "object" && message !== null && "websocket" in message && message.websocket === socket

/** The socket reports pongs on a channel of the process only. */
const probe = (socket: WebSocket): Effect.Effect<void, ChatSessionEnd> =>
  Effect.callback<void>((resume) => {
    const listener = (message: unknown) => {
      if (isPongOf(message, socket)) resume(Effect.void)
    }
    subscribe(pongs, listener)
    ping(socket)
    return Effect.sync(() => void unsubscribe(pongs, listener))
  }).pipe(Effect.timeoutOrElse({ duration: pongTimeout, orElse: () => Effect.fail(lost({ _tag: "SilentAfterPing" })) }))

const isUsable = (url: string): boolean => URL.canParse(url) && /^wss?:$/.test(new URL(url).protocol)

/** Opens a socket, which is closed with the scope. */
export const openSocket = Effect.fnUntraced(function* (
  url: string
): Effect.fn.Return<ChatSocket, ChatSessionEnd, Scope.Scope> {
  if (!isUsable(url)) return yield* lost({ _tag: "LongConnectionAddressInvalid" })
  const received = yield* Queue.dropping<string | Uint8Array, ChatSessionEnd>(maxWaiting)
  const opened = Deferred.makeUnsafe<void>()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const made = new WebSocket(url, { dispatcher: dispatcherFor(new URL(url)) })
      listen(made, received, opened)
      return made
    }),
    (open) => Effect.sync(() => open.close())
  )
  yield* Effect.raceFirst(Deferred.await(opened), Effect.asVoid(Queue.peek(received))).pipe(
    Effect.timeoutOrElse({
      duration: openTimeout,
      orElse: () => Effect.fail(lost({ _tag: "LongConnectionNotOpened" }))
    })
  )
  return {
    take: Queue.take(received),
    probe: Effect.suspend(() =>
      socket.readyState === WebSocket.OPEN ? probe(socket) : Effect.fail(lost({ _tag: "LongConnectionClosed" }))
    ),
    send: (data) =>
      Effect.suspend(() => {
        if (socket.readyState !== WebSocket.OPEN) return Effect.fail(lost({ _tag: "LongConnectionClosed" }))
        if (socket.bufferedAmount > maxUnsentBytes) return Effect.fail(lost({ _tag: "PlatformTakesNoMessages" }))
        return Effect.sync(() => socket.send(data))
      })
  }
})
