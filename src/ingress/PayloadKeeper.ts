/**
 * Stores the bodies of deliveries after their responses, in batches (store/Payloads.ts). A node keeps at most 16 bodies per quarter of a
 * second; under a higher load further ones are not kept, so that receiving stays cheap. A crash loses those of a quarter of a second.
 */
import { Context, Effect } from "effect"
import type { ConfigStore } from "../config/ConfigStore.ts"
import { listCredentials } from "../config/ListCredentials.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { Payloads } from "../store/Payloads.ts"
import type { Admits, DeliveryPayload } from "../store/Payloads.ts"
import { cleanBody, cleanHeaders } from "./CleanPayload.ts"

const delayMillis = 250
const maxWaiting = 16
const kibibyte = 1024

interface KeptDelivery {
  readonly eventId: string
  readonly receivedAt: number
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Uint8Array
  /** Form of the body; of the JSON of a form, undefined. */
  readonly contentType: string | undefined
  readonly admits: Admits
  readonly replayOf?: string | undefined
}

interface Waiting extends Omit<KeptDelivery, "body"> {
  /** A copy, because the received bytes are overwritten. */
  readonly body: Buffer
  readonly bytes: number
}

export class PayloadKeeper {
  readonly #config: ConfigStore["Service"]
  readonly #context: Context.Context<Payloads>
  #waiting: Array<Waiting> = []
  #timer: NodeJS.Timeout | undefined

  constructor(config: ConfigStore["Service"], context: Context.Context<Payloads>) {
    this.#config = config
    this.#context = context
  }

  keep({ body, ...delivery }: KeptDelivery): void {
    const { max_count, max_kb } = this.#limits
    if (max_count === 0 || this.#waiting.length >= maxWaiting) return
    const copy = Buffer.from(body.subarray(0, max_kb * kibibyte))
    this.#waiting.push({ ...delivery, body: copy, bytes: body.length })
    this.#timer ??= setTimeout(() => Effect.runForkWith(this.#context)(this.flush), delayMillis)
  }

  get #limits() {
    return this.#config.current().document.storage.retention.payloads
  }

  #clean({ body, contentType, headers, ...delivery }: Waiting): DeliveryPayload {
    const credentials = listCredentials(this.#config.current())
    return {
      eventId: delivery.eventId,
      receivedAt: delivery.receivedAt,
      path: delivery.path,
      admits: delivery.admits,
      replayOf: delivery.replayOf,
      bytes: delivery.bytes,
      cut: body.length < delivery.bytes,
      headers: cleanHeaders(headers, credentials),
      body: cleanBody(body.toString("utf8"), contentType, credentials)
    }
  }

  /** Stores the collected bodies. Also called on stop. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0) return Effect.void
    const payloads = waiting.map((delivery) => this.#clean(delivery))
    return Effect.catch(Context.get(this.#context, Payloads).store(payloads, this.#limits.max_count), (error) =>
      limitWarning("payloads", (suppressed) =>
        Effect.logWarning("bodies of deliveries not stored", {
          deliveries: payloads.length,
          error: error.message,
          suppressed
        })
      )
    )
  })
}
