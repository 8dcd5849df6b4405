/** Counts deliveries with a wrong signature, by trigger and class of address, since the start of this process. */
import { Context } from "effect"

export type AddressClass = "loopback" | "private" | "public"

/** Returns the class of an address or of the prefix of an IPv6 network. */
export const classifyAddress = (address: string): AddressClass => {
  if (/^(?:127\.|::1(?:$|\/))/.test(address)) return "loopback"
  return /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd][0-9a-f]{2}:|fe80:)/i.test(address)
    ? "private"
    : "public"
}

export interface RejectedSignature {
  readonly provider: string
  /** A host whose triggers share a path: none of them verified the delivery, so each is counted. */
  readonly trigger: string
  readonly addresses: AddressClass
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
}

export class RejectedSignatureCounts {
  readonly #counts = new Map<string, RejectedSignature>()

  add(provider: string, triggers: ReadonlyArray<string>, address: string, now: number): void {
    const addresses = classifyAddress(address)
    for (const trigger of triggers) {
      const key = JSON.stringify([trigger, addresses])
      const count = (this.#counts.get(key)?.count ?? 0) + 1
      this.#counts.set(key, { provider, trigger, addresses, count, lastAt: now })
    }
  }

  list(): ReadonlyArray<RejectedSignature> {
    return [...this.#counts.values()].toSorted((one, other) => other.lastAt - one.lastAt)
  }
}

export const RejectedSignatures = Context.Reference<RejectedSignatureCounts>("aicr/observability/RejectedSignatures", {
  defaultValue: () => new RejectedSignatureCounts()
})
