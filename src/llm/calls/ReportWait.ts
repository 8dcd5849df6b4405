/** Logs that a call still waits for its model: after one minute, then after two, four, eight, so that an operator sees what a review waits for. */
import { Clock, Duration, Effect } from "effect"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import type { Reception } from "./ResponseReader.ts"
import { silenceLimits } from "./Silence.ts"

const firstMillis = 60_000

/** Never ends. `silence_limit_s` is the longest silence that the call tolerates at this moment. */
export const reportWait = Effect.fnUntraced(function* (
  model: string,
  receipt: Pick<Reception, "characters" | "hasHeard">,
  config: Pick<LlmProvider, "kind" | "base_url" | "timeout_ms">
): Effect.fn.Return<never> {
  const limits = silenceLimits(config)
  const since = yield* Clock.currentTimeMillis
  let waitedMillis = 0
  for (;;) {
    const pause = Math.max(firstMillis, waitedMillis)
    yield* Effect.sleep(Duration.millis(pause))
    waitedMillis += pause
    yield* Effect.logInfo("model has not ended its response yet", {
      model,
      since: new Date(since).toISOString(),
      waited_s: waitedMillis / 1000,
      received_characters: receipt.characters,
      silence_limit_s: (receipt.hasHeard ? limits.betweenMillis : limits.firstMillis) / 1000
    })
  }
})
