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
