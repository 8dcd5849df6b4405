/**
 * Reuses recorded responses of lost attempts: the next attempt at the same review gets the recorded response at no cost if it
 * sends the same request to the same model. Each recorded response is used once, in the order of recording. A response that
 * evidence could not store unchanged, because of a secret in it, is not reused.
 */
import { Effect, Metric } from "effect"
import * as Metrics from "../observability/Metrics.ts"
import type { Evidence, StoredCall } from "./Evidence.ts"
import type { GatewayRequest } from "./Gateway.ts"
import type { ModelAccount } from "./ModelRun.ts"
import { requestKey } from "./RequestKey.ts"

type RecordedAnswer = NonNullable<StoredCall["answer"]>
type Answers = Map<string, Array<RecordedAnswer>>

/** Number of runs whose responses are held in memory; more do not run at the same time. */
const maxRuns = 64

export interface ReusableAnswers {
  /** Returns the recorded response to this request; undefined if there is none, and the model has to be called. */
  readonly take: (
    run: ModelAccount,
    model: string,
    request: GatewayRequest
  ) => Effect.Effect<RecordedAnswer | undefined>
}

const load = Effect.fnUntraced(
  function* (evidence: Evidence["Service"], run: ModelAccount, earlier: ReadonlyArray<string>) {
    const answers: Answers = new Map()
    let count = 0
    for (const runId of earlier) {
      for (const { key, answer } of yield* evidence.calls(runId)) {
        if (key === undefined || answer === undefined || answer.reusable !== true) continue
        answers.set(key, [...(answers.get(key) ?? []), answer])
        count++
      }
    }
    yield* Effect.logInfo("recorded responses of an earlier attempt found").pipe(
      Effect.annotateLogs({ run_id: run.id, answers: count })
    )
    return answers
  },
  (effect, _, run) =>
    Effect.catch(effect, ({ message }) =>
      Effect.as(
        Effect.logWarning("recorded responses could not be read").pipe(
          Effect.annotateLogs({ run_id: run.id, error: message })
        ),
        new Map() as Answers
      )
    )
)

export const reusableAnswers = (evidence: Evidence["Service"]): ReusableAnswers => {
  const held = new Map<string, Effect.Effect<Answers>>()
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
      const answer = (yield* listResponses(run, run.resumes)).get(requestKey(model, request))?.shift()
      if (answer !== undefined) yield* Metric.update(Metrics.modelAnswersReused, 1)
      return answer
    })
  }
}

type Resumption = NonNullable<ModelAccount["resumes"]>
