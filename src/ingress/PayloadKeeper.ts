/**
 * Stores the bodies of deliveries after their responses, in batches (store/Payloads.ts). A node keeps at most 16 bodies per quarter of a
 * second; under a higher load further ones are not kept, so that receiving stays cheap. A crash loses those of a quarter of a second.
 */
import { Context, Effect } from "effect"
import type { ConfigStore } from "../config/ConfigStore.ts"
import { listCredentials } from "../config/ListCredentials.ts"
import { logFailure } from "../observability/LimitedWarnings.ts"
import { Payloads } from "../store/Payloads.ts"
import type { Admits, DeliveryPayload } from "../store/Payloads.ts"
import { censored, isCredentialName, redactForms, redactValues } from "../observability/Redaction.ts"
import { toStorable, truncate } from "../domain/Text.ts"

/**
 * Removes credentials from the headers and the body of a delivery before it is stored: values of the configuration, fields that are named like
 * a credential, and texts that have the form of one. Pure. A body that is JSON stays JSON.
 */

const maxHeaders = 100
const maxHeaderLength = 1024
const credentialHeader = /signature|token|secret|authorization|cookie|api-?key|password/i

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const cleanHeaders = (headers: Headers, credentials: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, maxHeaders)
      .flatMap(([name, value]) => {
        if (typeof value !== "string") return []
        const text = truncate(toStorable(value), maxHeaderLength)
        return [[name, credentialHeader.test(name) ? censored : redactForms(redactValues(text, credentials))] as const]
      })
  )

type Clean = (text: string) => string

const cleanWith =
  (credentials: ReadonlyArray<string>): Clean =>
  (text) =>
    redactForms(redactValues(text, credentials))

/** A name of fields: bodies repeat few of them. */
interface FieldName {
  readonly cleaned: string
  readonly isCredential: boolean
}

const makeCleanValue = (clean: Clean) => {
  const names = new Map<string, FieldName>()
  const nameFor = (name: string): FieldName => {
    const known = names.get(name)
    if (known !== undefined) return known
    const made = { cleaned: clean(name), isCredential: isCredentialName(name) }
    names.set(name, made)
    return made
  }
  /** A field without an own name, such as an item of a list, has that of its list. */
  const cleanValue = (value: unknown, isCredential: boolean): unknown => {
    if (typeof value === "string") return value !== "" && isCredential ? censored : clean(value)
    if (Array.isArray(value)) return value.map((item) => cleanValue(item, isCredential))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const name = nameFor(key)
        return [name.cleaned, cleanValue(inner, name.isCredential)]
      })
    )
  }
  return cleanValue
}

/** Cleans a form without decoding what is not a credential. */
const cleanForm = (body: string, clean: Clean): string => {
  const form = new URLSearchParams(body)
  return new URLSearchParams(
    [...form].map(([name, value]) => [name, isCredentialName(name) ? censored : clean(value)] as [string, string])
  ).toString()
}

/** Deeper bodies are refused by the parsers of deliveries. */
const maxDepth = 200

const isDeep = (value: unknown, depth = 0): boolean =>
  depth > maxDepth ||
  (typeof value === "object" && value !== null && Object.values(value).some((item) => isDeep(item, depth + 1)))

/** Returns the credentials that some text of the JSON may hold. Most bodies hold none, and each text is searched for few values. */
const heldIn = (json: string, credentials: ReadonlyArray<string>): ReadonlyArray<string> =>
  credentials.filter((credential) => json.includes(JSON.stringify(credential).slice(1, -1)))

export const cleanBody = (
  body: string,
  contentType: string | undefined,
  credentials: ReadonlyArray<string>
): string => {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    const text = toStorable(body)
    const clean = cleanWith(credentials)
    return contentType?.trim().toLowerCase().startsWith("application/x-www-form-urlencoded") === true
      ? cleanForm(text, clean)
      : clean(text)
  }
  if (isDeep(value)) return censored
  const clean = cleanWith(heldIn(JSON.stringify(value), credentials))
  return toStorable(JSON.stringify(makeCleanValue(clean)(value, false)))
}

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
    // Deliveries are received between two bodies.
    return Effect.forEach(waiting, (delivery) => Effect.map(Effect.yieldNow, () => this.#clean(delivery))).pipe(
      Effect.flatMap((payloads) => Context.get(this.#context, Payloads).store(payloads, this.#limits.max_count)),
      Effect.catch(logFailure("bodies of deliveries not stored", { deliveries: waiting.length }))
    )
  })
}
