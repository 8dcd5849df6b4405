/**
 * Body of a delivery that is not authenticated yet, in the blocks in which it was received. All operations take linear time, are
 * chunked (the generators yield after about `stepBytes`, so that the caller can let other requests run) and hold no second copy:
 * a form is decoded in place, once for all secrets.
 */
import { Redacted } from "effect"
import { FormPayload } from "./webhook/FormPayload.ts"
import type { ForgeWebhook, Headers } from "./Forge.ts"

/** Bytes that are hashed or decoded between two yields; takes well under a millisecond. */
export const stepBytes = 256 * 1024

type Blocks = ReadonlyArray<Uint8Array>

const isForm = (headers: Headers): boolean =>
  headers["content-type"]?.trimStart().toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false

/** Splits the blocks into pieces of at most `stepBytes`. */
function* pieces(blocks: Blocks): Generator<Uint8Array, void, void> {
  for (const block of blocks) {
    for (let at = 0; at < block.length; at += stepBytes) yield block.subarray(at, at + stepBytes)
  }
}

/** Returns a counter of bytes whose result is true once per `stepBytes`. */
const makeStepCounter = () => {
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
  const isStepOver = makeStepCounter()
  for (const piece of pieces(form)) {
    const part = payload.decode(piece)
    if (part.length > 0) decoded.push(part)
    if (isStepOver(piece.length)) yield
  }
  return payload.isDecoded ? decoded : undefined
}

export class DeliveryBody {
  readonly headers: Headers
  #blocks: Blocks | undefined
  #isEncoded: boolean

  /** Takes ownership of the blocks: those of a form are overwritten when it is decoded. */
  constructor(headers: Headers, blocks: Blocks) {
    this.headers = headers
    this.#blocks = blocks
    this.#isEncoded = isForm(headers)
  }

  /** Returns the JSON: the body, or the decoded `payload` field of a form. Undefined for a form without a valid one. */
  *json(): Generator<void, Uint8Array | undefined, void> {
    yield* this.#decode()
    const [first] = this.#blocks ?? []
    return this.#blocks?.length === 1 ? first : this.#blocks && Buffer.concat(this.#blocks)
  }

  /**
   * Returns the secrets whose signature matches. Each distinct secret costs one HMAC; where the host signs the JSON in a form,
   * the form is decoded first.
   */
  *signedBy(
    { signature, signs }: ForgeWebhook,
    secrets: Iterable<Redacted.Redacted>,
    now: number
  ): Generator<void, ReadonlySet<string>, void> {
    const matching = new Set<string>()
    const claim = signature(this.headers)
    if (claim === undefined) return matching
    if (signs === "json") yield* this.#decode()
    if (this.#blocks === undefined) return matching
    const isStepOver = makeStepCounter()
    for (const secret of new Map([...secrets].map((each) => [Redacted.value(each), each])).values()) {
      const check = claim(secret, now)
      if (check === true) matching.add(Redacted.value(secret))
      if (typeof check === "boolean") continue
      for (const piece of pieces(this.#blocks)) {
        check.update(piece)
        if (isStepOver(piece.length)) yield
      }
      if (check.matches()) matching.add(Redacted.value(secret))
    }
    return matching
  }

  *#decode(): Generator<void, void, void> {
    if (!this.#isEncoded || this.#blocks === undefined) return
    this.#blocks = yield* decodeForm(this.#blocks)
    this.#isEncoded = false
  }
}
