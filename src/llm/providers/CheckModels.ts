/**
 * Checks the models of a configuration, used by `aicr doctor`: requests a tool call of a few tokens from each entry of each chain, as a review
 * does, so that a model that does not exist, a refused key, and a model or server without tools are found before the first review. An entry that occurs in several chains is requested once.
 */
import { Effect } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import { modelKey } from "../calls/Chain.ts"
import { Gateway, gatewayAdvice } from "../Gateway.ts"
import type { GatewayError } from "../Gateway.ts"
import { ModelRun } from "../ModelRun.ts"
import type { Reason } from "../../domain/Reason.ts"

interface ModelReport {
  readonly level: "ok" | "warning" | "error"
  readonly reason: Reason
}

const timeoutMillis = 30_000
const concurrency = 4
/** Upper bound for the models that are checked, each of which may cost a fraction of a cent. */
const maxModels = 50
const group = "doctor"

/** Failures that may be over by the next review. */
const transient: ReadonlySet<GatewayError["reason"]> = new Set(["rate_limited", "timeout"])

/** Lists the entries with the chains that use them. */
const listModels = ({ document }: Snapshot) => {
  const entries = Object.entries(document.llm.model_chain).flatMap(([chain, models]) =>
    models.map((entry) => ({ chain, entry }))
  )
  return [...Map.groupBy(entries, ({ entry }) => modelKey(entry)).values()].flatMap((same) => {
    const [first] = same
    return first === undefined
      ? []
      : [{ entry: first.entry, chains: [...new Set(same.map(({ chain }) => chain))].join(", ") }]
  })
}

const readyTool = {
  name: "report_ready",
  description: "Reports that the model is ready.",
  parameters: { type: "object", properties: {}, additionalProperties: false }
}

/** A review of such a model fails. */
const withoutTools: Reason = {
  _tag: "ModelsFailed",
  reasons: [{ _tag: "ResponseProse" }, { _tag: "EnableToolCalls" }]
}

const checkModel = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  { entry, chains }: ReturnType<typeof listModels>[number]
) {
  const { llm } = snapshot.document
  const single = { ...llm, model_chain: { [group]: [entry] }, retry: { ...llm.retry, max_attempts: 1 } }
  const about = (why: Reason): Reason => ({ _tag: "ModelReported", model: modelKey(entry), chains, why })
  if (llm.providers.find(({ id }) => id === entry.provider)?.subscription === true) {
    return { level: "warning", reason: about({ _tag: "SubscriptionUnchecked" }) } satisfies ModelReport
  }
  return yield* (yield* Gateway)
    .call({
      snapshot: { ...snapshot, document: { ...snapshot.document, llm: single } },
      group,
      role: "any",
      system: "Call the tool report_ready once. Write no text.",
      messages: [{ role: "user", text: "Call report_ready." }],
      tools: [readyTool],
      toolChoice: "required",
      deadlineMillis: timeoutMillis,
      endsWhenRefused: true
    })
    .pipe(
      Effect.timeoutOrElse({ duration: timeoutMillis, orElse: () => Effect.succeed(undefined) }),
      Effect.map((reply): ModelReport => {
        if (reply === undefined)
          return { level: "warning", reason: about({ _tag: "ModelSilent", seconds: timeoutMillis / 1000 }) }
        return reply.calls.length > 0
          ? { level: "ok", reason: { _tag: "ModelReady", model: modelKey(entry), chains } }
          : { level: "error", reason: about(withoutTools) }
      }),
      Effect.catch(({ advice, reason, why }) =>
        Effect.succeed<ModelReport>({
          level: transient.has(reason) ? "warning" : "error",
          reason: about({ _tag: "AdviceAndReason", advice: advice ?? gatewayAdvice[reason], why })
        })
      )
    )
})

/** Returns one report per model, in the order of the configuration. */
export const reportModels = Effect.fnUntraced(function* (
  snapshot: Snapshot
): Effect.fn.Return<ReadonlyArray<ModelReport>, never, Gateway> {
  return yield* Effect.forEach(listModels(snapshot).slice(0, maxModels), (model) => checkModel(snapshot, model), {
    concurrency
  }).pipe(Effect.provideService(ModelRun, { id: "doctor", repository: "doctor" }))
})
