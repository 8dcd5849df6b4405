/**
 * Adds deliveries with a wrong signature to the counts of all nodes. They are collected in memory, one item per trigger and hour, and stored
 * at most every five seconds, so that a flood costs few writes. A process that is killed loses the counts of these seconds.
 */
import { Context, Duration, Effect } from "effect"
import type { ForgeKind } from "../domain/Kinds.ts"
import { logFailure } from "../observability/LimitedWarnings.ts"
import { RejectedSignatures } from "../store/RejectedSignatures.ts"
import type { AddressClass, RejectedSignature } from "../store/RejectedSignatures.ts"

/** Pause between two writes. */
const intervalMillis = 5000
/** Delay of the first write after a quiet time. */
const delayMillis = 250
const hourMillis = Duration.toMillis("1 hour")
/** Hours of each trigger that are kept while the store is unavailable. */
const maxHours = 24

/** Returns the class of an address or of the prefix of an IPv6 network. */
const classifyAddress = (address: string): AddressClass => {
  if (/^(?:127\.|::1(?:$|\/))/.test(address)) return "loopback"
  return /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd][0-9a-f]{2}:|fe80:)/i.test(address)
    ? "private"
    : "public"
}

const none: RejectedSignature["counts"] = { loopback: 0, private: 0, public: 0 }

const merge = (one: RejectedSignature, other: RejectedSignature): RejectedSignature => ({
  ...one,
  counts: {
    loopback: one.counts.loopback + other.counts.loopback,
    private: one.counts.private + other.counts.private,
    public: one.counts.public + other.counts.public
  },
  lastAt: Math.max(one.lastAt, other.lastAt)
})

export class SignatureCounts {
  readonly #context: Context.Context<RejectedSignatures>
  #items = new Map<string, RejectedSignature>()
  #timer: NodeJS.Timeout | undefined
  #storedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(context: Context.Context<RejectedSignatures>) {
    this.#context = context
  }

  count(provider: ForgeKind, triggers: ReadonlyArray<string>, address: string, now: number): void {
    const hour = now - (now % hourMillis)
    const counts = { ...none, [classifyAddress(address)]: 1 }
    for (const trigger of triggers) this.#add({ hour, trigger, provider, counts, lastAt: now })
    this.#schedule()
  }

  #add(item: RejectedSignature): void {
    const key = JSON.stringify([item.hour, item.trigger])
    const current = this.#items.get(key)
    this.#items.set(key, current === undefined ? item : merge(current, item))
  }

  #schedule(): void {
    if (this.#isClosed || this.#items.size === 0) return
    const dueMillis = Math.max(delayMillis, this.#storedAt + intervalMillis - performance.now())
    this.#timer ??= setTimeout(() => Effect.runForkWith(this.#context)(this.#store), dueMillis)
  }

  /** Stores what was collected. If that fails, it is kept for the next attempt. */
  readonly #store: Effect.Effect<void> = Effect.suspend(() => {
    clearTimeout(this.#timer)
    const items = [...this.#items.values()]
    this.#items = new Map()
    return Context.get(this.#context, RejectedSignatures)
      .add(items)
      .pipe(
        Effect.catch((error) => {
          const newest = Math.max(...items.map(({ hour }) => hour))
          for (const item of items) if (item.hour > newest - maxHours * hourMillis) this.#add(item)
          return logFailure("rejected signatures not stored, retry scheduled")(error)
        }),
        Effect.ensuring(
          Effect.sync(() => {
            this.#timer = undefined
            this.#storedAt = performance.now()
            this.#schedule()
          })
        )
      )
  })

  /** Stores the rest when the node stops. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.#isClosed = true
    return this.#items.size === 0 ? Effect.void : this.#store
  })
}
