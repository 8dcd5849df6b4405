/**
 * Calls of an agent that did not wait for the server of its tools before it called the model: on a busy machine its first call has none of
 * them, and its review would end without a result. Such a call waits until the agent has the list of tools, and is refused in a way that
 * makes the agent, and not its client of HTTP, repeat the call: with tools.
 */
import { Deferred, Duration, Effect, Option } from "effect"

export interface AwaitedTools {
  readonly names: ReadonlyArray<string>
  /** Done when the agent has received the list of tools. */
  readonly listed: Deferred.Deferred<void>
}

/** Refusals in one pass. An agent that continues to call without its tools does so by intention. */
const maxRefusals = 5
const listTimeout = Duration.seconds(30)

/** Agents read in the text of an error whether a repetition can help, and these words say that it can. */
export const withoutTools = "service unavailable: the call has none of the tools of the review; repeat it"

export class AwaitTools {
  readonly #tools: AwaitedTools | undefined
  #calls = 0
  #refusals = 0
  /** Whether a call had the tools. Later calls without them are intended, such as those that shorten a conversation. */
  #hasCalled = false

  constructor(tools: AwaitedTools | undefined) {
    this.#tools = tools
  }

  /** Whether calls were made, and none of them had the tools: the agent could not report anything. */
  get areMissing(): boolean {
    return this.#calls > 0 && !this.#hasCalled
  }

  /** Waits for the list of tools if the request has none of them. Succeeds with whether the request is refused. */
  refuses(body: Readonly<Record<string, unknown>>): Effect.Effect<boolean> {
    const tools = this.#tools
    if (tools === undefined || this.#hasCalled) return Effect.succeed(false)
    this.#calls++
    const offered = JSON.stringify(body["tools"] ?? [])
    this.#hasCalled = tools.names.some((name) => offered.includes(name))
    if (this.#hasCalled || this.#refusals >= maxRefusals) return Effect.succeed(false)
    this.#refusals++
    return Effect.map(Effect.timeoutOption(Deferred.await(tools.listed), listTimeout), Option.isSome)
  }
}
