/**
 * Reuses recorded responses of lost attempts: the next attempt at the same review gets the recorded response at no cost if it
 * sends the same request to the same model. Each recorded response is used once, in the order of recording. A response that
 * evidence could not store unchanged, because of a secret in it, is not reused.
 */
import { Effect, Metric } from "effect"
import * as Metrics from "../../observability/Metrics.ts"
import type { Evidence, StoredCall } from "../Evidence.ts"
import type { GatewayRequest } from "../Gateway.ts"
import type { ModelAccount } from "../ModelRun.ts"
import { requestKey } from "../RequestKey.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"

type RecordedResponse = NonNullable<StoredCall["response"]>
type Responses = Map<string, Array<RecordedResponse>>

/** Number of runs whose responses are held in memory; more do not run at the same time. */
const maxRuns = 64

interface ReusableResponses {
  /** Returns the recorded response to this request; undefined if there is none, and the model has to be called. */
  readonly take: (
    run: ModelAccount,
    model: string,
    request: GatewayRequest
  ) => Effect.Effect<RecordedResponse | undefined>
}

const load = Effect.fnUntraced(
  function* (evidence: Evidence["Service"], run: ModelAccount, earlier: ReadonlyArray<string>) {
    const responses: Responses = new Map()
    let count = 0
    for (const runId of earlier) {
      for (const { key, response } of yield* evidence.calls(runId)) {
        if (key === undefined || response === undefined || response.reusable !== true) continue
        responses.set(key, [...(responses.get(key) ?? []), response])
        count++
      }
    }
    if (count > 0)
      yield* Effect.logInfo("recorded responses of an earlier attempt found", { run_id: run.id, responses: count })
    return responses
  },
  (effect, _, run) =>
    Effect.catch(effect, (error) =>
      Effect.as(logFailure("recorded responses could not be read", { run_id: run.id })(error), new Map() as Responses)
    )
)

export const reusableResponses = (evidence: Evidence["Service"]): ReusableResponses => {
  const held = new Map<string, Effect.Effect<Responses>>()
  /** Read once per attempt, even if several requests start at the same time. */
  const listResponses = Effect.fnUntraced(function* (run: ModelAccount, { attempt, earlier }: Resumption) {
    const name = `${run.id}:${attempt}`
    const known = held.get(name)
    if (known !== undefined) return yield* known
    const loading = yield* Effect.cached(load(evidence, run, earlier))
    held.set(name, loading)
    for (const oldest of held.keys()) {
      if (held.size <= maxRuns) break
      held.delete(oldest)
    }
    return yield* loading
  })
  return {
    take: Effect.fnUntraced(function* (run, model, request) {
      if (run.resumes === undefined) return undefined
      const response = (yield* listResponses(run, run.resumes)).get(requestKey(model, request))?.shift()
      if (response !== undefined) yield* Metric.update(Metrics.modelResponsesReused, 1)
      return response
    })
  }
}

type Resumption = NonNullable<ModelAccount["resumes"]>
