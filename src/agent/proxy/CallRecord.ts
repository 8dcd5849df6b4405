/** Usage of the calls of one pass, and the reason for which they ended: the source of its report. */
import type { Reason } from "../../domain/Reason.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import type { Fallback, GatewayError, GatewayUsage } from "../../llm/Gateway.ts"
import type { RemovalReason } from "../../llm/WireGateway.ts"
import { toAgentError } from "../Agent.ts"
import type { AgentError } from "../Agent.ts"
import type { ModelProxyReport } from "./ModelProxy.ts"

/** Maximum number of notices: the agent decides on the text of some. */
const maxNotices = 50
/** Maximum number of removed tools in a notice. */
const maxRemoved = 5

export class CallRecord {
  #usage: Usage = noUsage
  #stopped: Reason | undefined
  #failure: AgentError | undefined
  readonly #models = new Set<string>()
  readonly #notices = new Map<string, Reason>()
  readonly #removed: Record<RemovalReason, Set<string>> = { not_permitted: new Set(), not_translatable: new Set() }
  /** `provider/model` of the last response. */
  last: string | undefined
  calls = 0

  addUsage(model: string, { costUsd, ...tokens }: GatewayUsage): void {
    const { cachedTokens, inputTokens, outputTokens, reasoningTokens } = tokens
    const amounts = {
      requests: 1,
      inputTokens: Math.ceil(inputTokens),
      outputTokens: Math.ceil(outputTokens),
      cachedTokens: Math.ceil(cachedTokens),
      ...(costUsd === undefined ? {} : { costUsd })
    }
    this.#models.add(model)
    this.#usage = addUsage(this.#usage, {
      ...amounts,
      byModel: { [model]: { ...amounts, reasoningTokens: Math.ceil(reasoningTokens) } }
    })
  }

  note(notice: Reason): void {
    if (this.#notices.size < maxNotices) this.#notices.set(JSON.stringify(notice), notice)
  }

  /** Each reason has one notice per pass, however many requests have such tools. */
  removed(reason: RemovalReason, names: ReadonlyArray<string>): void {
    for (const name of names) if (this.#removed[reason].size < maxRemoved) this.#removed[reason].add(name)
  }

  succeeded(model: string, fallbacks: ReadonlyArray<Fallback>): void {
    this.last = model
    // A recorded response of an earlier attempt costs nothing, but is the response of this model.
    this.#models.add(model)
    this.#failure = undefined
    // Notices are published, so they contain only the class of a failure; the provider's message is only logged.
    for (const { model: failed, reason } of fallbacks) this.note({ _tag: "FellBack", model: failed, kind: reason })
  }

  failed(error: GatewayError): void {
    this.#failure = toAgentError(error)
    if (error.reason === "budget") this.stop({ _tag: "BudgetEndedReview" })
  }

  stop(reason: Reason): void {
    this.#stopped ??= reason
    this.note(reason)
  }

  get report(): ModelProxyReport {
    return {
      usage: this.#usage,
      models: [...this.#models],
      notices: [
        ...this.#notices.values(),
        ...removalReasons.flatMap((reason) => describeRemoval(reason, [...this.#removed[reason]]))
      ],
      ...(this.#stopped === undefined ? {} : { stopped: this.#stopped }),
      ...(this.#failure === undefined ? {} : { failure: this.#failure })
    }
  }
}

const removalReasons: ReadonlyArray<RemovalReason> = ["not_permitted", "not_translatable"]

const describeRemoval = (reason: RemovalReason, names: ReadonlyArray<string>): ReadonlyArray<Reason> =>
  names.length === 0 ? [] : [{ _tag: reason === "not_permitted" ? "ToolsRemoved" : "SearchUntranslatable", names }]
