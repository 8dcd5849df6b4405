/**
 * The long connection of a Feishu or Lark application (open.feishu.cn: server-side SDK, long connection): its address comes from the API; frames
 * are protocol buffers (Frame.ts). An event is acknowledged with its own frame after it is stored; without one the platform delivers it
 * again. The platform responds to each ping; a connection on which nothing arrives after a ping is lost.
 */
import { Clock, Duration, Effect, Redacted, Semaphore } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { ChatSessionEnd } from "../ChatSession.ts"
import type { ChatSession, ReconnectPacing, ChatHandlers } from "../ChatSession.ts"
import type { FeishuApp } from "../ChatApps.ts"
import { callPlatform } from "../platform/PlatformCall.ts"
import { numberAt, objectAt, parseJson, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { openSocket } from "../platform/Socket.ts"
import type { ChatSocket } from "../platform/Socket.ts"
import { decodeFrame, encodeFrame, findHeader } from "./Frame.ts"
import type { FeishuFrame } from "./Frame.ts"
import { readEvent } from "./Messages.ts"

/**
 * Joins the fragments of a message of the long connection. Fragments arrive in any order; what is incomplete after 10 seconds, or beyond
 * the limits, is dropped, and the platform delivers the message again.
 */
const maxFragments = 64
const maxBytes = 512 * 1024
const maxMessages = 100
const maxAgeMillis = 10_000

interface Incomplete {
  readonly parts: Array<Uint8Array | undefined>
  readonly since: number
  bytes: number
}

export class Fragments {
  readonly #messages = new Map<string, Incomplete>()

  /** Returns the whole payload once its last fragment arrives. */
  add(
    {
      id,
      payload,
      seq,
      sum
    }: { readonly id: string; readonly sum: number; readonly seq: number; readonly payload: Uint8Array },
    now: number
  ): Uint8Array | undefined {
    if (payload.length > maxBytes) return undefined
    if (sum <= 1) return payload
    if (!Number.isInteger(sum) || sum > maxFragments || !Number.isInteger(seq) || seq < 0 || seq >= sum)
      return undefined
    this.#drop(now)
    const known = this.#messages.get(id) ?? {
      parts: Array.from({ length: sum }, () => undefined),
      since: now,
      bytes: 0
    }
    if (known.parts.length !== sum) return undefined
    this.#messages.set(id, known)
    known.bytes += payload.length - (known.parts[seq]?.length ?? 0)
    known.parts[seq] = payload
    if (known.bytes > maxBytes) this.#messages.delete(id)
    if (known.bytes > maxBytes || known.parts.includes(undefined)) return undefined
    this.#messages.delete(id)
    return Buffer.concat(known.parts.filter((part) => part !== undefined))
  }

  #drop(now: number): void {
    for (const [id, { since }] of this.#messages)
      if (now - since > maxAgeMillis || this.#messages.size >= maxMessages) this.#messages.delete(id)
  }
}

const endpointPath = "/callback/ws/endpoint"
/** Events that are stored at a time; further ones wait in the socket. */
const maxEvents = 64
const maxPongMillis = 10_000
const data = 1
const control = 0

interface Settings {
  readonly pingMillis: number
  readonly pacing: ReconnectPacing
}

const seconds = (config: JsonObject, name: string, fallback: number, max: number): number =>
  Math.min(max, Math.max(1, numberAt(config, name) ?? fallback)) * 1000

/** A count of reconnects is ignored: a configured connection is opened until it works. */
const readSettings = (config: JsonObject): Settings => ({
  pingMillis: seconds(config, "PingInterval", 120, 120),
  pacing: {
    firstMillis: seconds(config, "ReconnectNonce", 30, 30),
    intervalMillis: seconds(config, "ReconnectInterval", 120, 120)
  }
})

const ended = (reason: ChatSessionEnd["reason"], why: Reason): ChatSessionEnd => new ChatSessionEnd({ reason, why })

export const discover = Effect.fnUntraced(function* ({ appId, baseUrl, secret }: FeishuApp) {
  const response = yield* callPlatform({
    operation: `POST ${endpointPath}`,
    method: "POST",
    url: `${baseUrl}${endpointPath}`,
    headers: { locale: "en" },
    body: { AppID: appId, AppSecret: Redacted.value(secret) },
    writes: false,
    secrets: [Redacted.value(secret)]
  }).pipe(
    Effect.mapError(({ reason, why }) =>
      ended(reason === "unavailable" ? "lost" : reason === "rate_limited" ? "limited" : "refused", why)
    )
  )
  const url = textAt(response, ["data", "URL"], 4096)
  if (url === undefined)
    return yield* ended("refused", { _tag: "NoConnectionAddress", operation: `POST ${endpointPath}` })
  const service = URL.canParse(url) ? Number(new URL(url).searchParams.get("service_id")) : 0
  return {
    url,
    service: Number.isInteger(service) ? service : 0,
    settings: readSettings(objectAt(response, "data", "ClientConfig"))
  }
})

const pingFrame = (service: number): Uint8Array =>
  encodeFrame({ seqId: 0n, logId: 0n, service, method: control, headers: [["type", "ping"]] })

const acknowledge = (frame: FeishuFrame, code: number, millis: number): Uint8Array =>
  encodeFrame({
    ...frame,
    headers: [...frame.headers, ["biz_rt", String(Math.max(0, Math.round(millis)))]],
    payload: Buffer.from(JSON.stringify({ code }))
  })

/** Returns the whole payload of an event; undefined for other frames and for a part of a payload. */
const readPayload = (frame: FeishuFrame, fragments: Fragments, now: number): Uint8Array | undefined => {
  const type = findHeader(frame, "type")
  if (frame.method !== data || frame.payload === undefined || (type !== "event" && type !== "card")) return undefined
  return fragments.add(
    {
      id: (findHeader(frame, "message_id") ?? "").slice(0, 200),
      sum: Number(findHeader(frame, "sum") ?? 1),
      seq: Number(findHeader(frame, "seq") ?? 0),
      payload: frame.payload
    },
    now
  )
}

class Connection {
  settings: Settings
  lastReceivedAt = 0
  readonly fragments = new Fragments()
  readonly storing = Semaphore.makeUnsafe(maxEvents)
  readonly socket: ChatSocket
  readonly #app: FeishuApp & { readonly tenant: string | undefined }
  readonly #handlers: ChatHandlers

  constructor(
    socket: ChatSocket,
    settings: Settings,
    app: FeishuApp & { readonly tenant: string | undefined },
    handlers: ChatHandlers
  ) {
    this.socket = socket
    this.settings = settings
    this.#app = app
    this.#handlers = handlers
  }

  /** Stores an event and acknowledges it. Code 500 makes the platform deliver it again. */
  readonly #handle = (frame: FeishuFrame, payload: Uint8Array) =>
    Effect.gen({ self: this }, function* () {
      const start = performance.now()
      const event = parseJson(Buffer.from(payload).toString("utf8"))
      const stored =
        event === undefined
          ? true
          : yield* this.#handlers
              .receive(readEvent(event, this.#app.appId, this.#app.tenant))
              .pipe(Effect.match({ onFailure: () => false, onSuccess: () => true }))
      const code = stored ? 200 : 500
      yield* Effect.ignore(this.socket.send(acknowledge(frame, code, performance.now() - start)))
    })

  readonly #control = (frame: FeishuFrame) => {
    const config = frame.payload === undefined ? undefined : parseJson(Buffer.from(frame.payload).toString("utf8"))
    if (findHeader(frame, "type") !== "pong" || config === undefined) return Effect.void
    this.settings = readSettings(config)
    return this.#handlers.ready(this.settings.pacing)
  }

  readonly read = Effect.gen({ self: this }, function* () {
    for (;;) {
      const message = yield* this.socket.take
      const now = yield* Clock.currentTimeMillis
      this.lastReceivedAt = now
      const frame = typeof message === "string" ? undefined : decodeFrame(message)
      if (frame === undefined) continue
      if (frame.method === control) yield* this.#control(frame)
      const payload = readPayload(frame, this.fragments, now)
      if (payload === undefined) continue
      yield* this.storing.take(1)
      yield* Effect.forkScoped(Effect.ensuring(this.#handle(frame, payload), this.storing.release(1)))
    }
  })

  readonly ping = (service: number) =>
    Effect.gen({ self: this }, function* () {
      for (;;) {
        const { pingMillis } = this.settings
        const sentAt = yield* Clock.currentTimeMillis
        yield* this.socket.send(pingFrame(service))
        const pongMillis = Math.min(maxPongMillis, pingMillis)
        yield* Effect.sleep(Duration.millis(pongMillis))
        if (this.lastReceivedAt < sentAt) return yield* ended("lost", { _tag: "SilentAfterPing" })
        yield* Effect.sleep(Duration.millis(Math.max(0, pingMillis - pongMillis)))
      }
    })
}

export const makeFeishuSession = (
  app: FeishuApp & { readonly tenant: string | undefined },
  key: string
): ChatSession => ({
  key,
  client: undefined,
  run: (handlers) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { service, settings, url } = yield* discover(app)
        const connection = new Connection(yield* openSocket(url), settings, app, handlers)
        yield* handlers.ready(settings.pacing)
        return yield* Effect.raceFirst(connection.read, connection.ping(service))
      })
    )
})
