/** Counts the calls of a provider by minute, for the last hour. It starts empty on the node that takes the provider over. Every method receives the time. */
import { Duration } from "effect"

const minuteMillis = Duration.toMillis("1 minute")
const keptMinutes = 60
/** Minutes whose tokens are averaged. */
const averagedMinutes = 5

interface Minute {
  responses: number
  tokens: number
  readonly errors: Map<string, number>
}

export class RecentCalls {
  readonly #since: number
  readonly #minutes = new Map<number, Minute>()

  constructor(now: number) {
    this.#since = now
  }

  /** `error`: class of the failure; absent: the call got a response. */
  add(now: number, tokens: number, error: string | undefined): void {
    const at = Math.floor(now / minuteMillis)
    for (const minute of this.#minutes.keys()) if (minute <= at - keptMinutes) this.#minutes.delete(minute)
    const minute = this.#minutes.get(at) ?? { responses: 0, tokens: 0, errors: new Map<string, number>() }
    this.#minutes.set(at, minute)
    minute.tokens += tokens
    if (error === undefined) minute.responses += 1
    else minute.errors.set(error, (minute.errors.get(error) ?? 0) + 1)
  }

  /** Returns the sums of the last hour, and the tokens of a minute on the average of the last five. */
  summarize(now: number) {
    const at = Math.floor(now / minuteMillis)
    const errors: Record<string, number> = {}
    let [responses, tokens] = [0, 0]
    for (const [time, minute] of this.#minutes) {
      if (time <= at - keptMinutes) continue
      responses += minute.responses
      if (time > at - averagedMinutes) tokens += minute.tokens
      for (const [error, count] of minute.errors) errors[error] = (errors[error] ?? 0) + count
    }
    return { countedSince: this.#since, responses, errors, tokensPerMinute: Math.round(tokens / averagedMinutes) }
  }
}
