/**
 * The body of a delivery that nobody has verified yet, in the blocks that it came in. Everything here is linear in its length, works in
 * steps (the generators yield after about `stepBytes`, so that the caller can let other requests run) and holds no second copy: a form is
 * decoded in place, once for all secrets.
 */
import { Redacted } from "effect"
import { FormPayload } from "./FormPayload.ts"
import type { ForgeWebhook, Headers } from "./Forge.ts"

/** Bytes that are hashed or decoded between two yields: well under a millisecond. */
export const stepBytes = 256 * 1024

type Blocks = ReadonlyArray<Uint8Array>

const isForm = (headers: Headers): boolean =>
  headers["content-type"]?.trimStart().toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false

/** The blocks in pieces of at most `stepBytes`. */
function* pieces(blocks: Blocks): Generator<Uint8Array, void, void> {
  for (const block of blocks) {
    for (let at = 0; at < block.length; at += stepBytes) yield block.subarray(at, at + stepBytes)
  }
}

/** Says when `stepBytes` are over. */
const stepMeter = () => {
  let spent = 0
  return (bytes: number): boolean => {
    spent += bytes
    if (spent < stepBytes) return false
    spent = 0
    return true
  }
}

function* decodeForm(form: Blocks): Generator<void, Blocks | undefined, void> {
  const payload = new FormPayload()
  const decoded: Array<Uint8Array> = []
  const isStep = stepMeter()
  for (const piece of pieces(form)) {
    const part = payload.decode(piece)
    if (part.length > 0) decoded.push(part)
    if (isStep(piece.length)) yield
  }
  return payload.isDecoded ? decoded : undefined
}

export class DeliveryBody {
  readonly headers: Headers
  #blocks: Blocks | undefined
  #encoded: boolean

  /** Takes the blocks over: those of a form are overwritten when it is decoded. */
  constructor(headers: Headers, blocks: Blocks) {
    this.headers = headers
    this.#blocks = blocks
    this.#encoded = isForm(headers)
  }

  /** The JSON: the body, or the decoded `payload` field of a form. Undefined where the form has none that can be decoded. */
  *json(): Generator<void, Uint8Array | undefined, void> {
    yield* this.#decode()
    const [first] = this.#blocks ?? []
    return this.#blocks?.length === 1 ? first : this.#blocks && Buffer.concat(this.#blocks)
  }

  /**
   * The secrets that signed it, each distinct one checked once. Costs one HMAC for each of them, and before that the decoding of
   * the form where the host signs the JSON in it.
   */
  *signedBy(
    { signature, signs }: ForgeWebhook,
    secrets: Iterable<Redacted.Redacted>,
    now: number
  ): Generator<void, ReadonlySet<string>, void> {
    const right = new Set<string>()
    const claim = signature(this.headers)
    if (claim === undefined) return right
    if (signs === "json") yield* this.#decode()
    if (this.#blocks === undefined) return right
    const isStep = stepMeter()
    for (const secret of new Map([...secrets].map((one) => [Redacted.value(one), one])).values()) {
      const check = claim(secret, now)
      if (check === true) right.add(Redacted.value(secret))
      if (typeof check === "boolean") continue
      for (const piece of pieces(this.#blocks)) {
        check.update(piece)
        if (isStep(piece.length)) yield
      }
      if (check.matches()) right.add(Redacted.value(secret))
    }
    return right
  }

  *#decode(): Generator<void, void, void> {
    if (!this.#encoded || this.#blocks === undefined) return
    this.#blocks = yield* decodeForm(this.#blocks)
    this.#encoded = false
  }
}
