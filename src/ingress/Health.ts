/** `/readyz`: whether configuration, record store and queue can be used now. Tells what is not ready, never why in detail. */
import { Cause, Clock, Effect } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { Queue } from "../queue/Queue.ts"
import { Receipts } from "../store/Receipts.ts"
import type { Answer } from "./Answers.ts"
import { health } from "./Answers.ts"

const patience = "2 seconds"
/** Nobody outside decides how often the stores are asked. */
const rememberedMillis = 1000

export const alive: Answer = health(200, { status: "up" })

/** An effect that checks at most once a second and answers from memory in between. */
export const makeReadiness = Effect.gen(function* () {
  const config = yield* ConfigStore
  const receipts = yield* Receipts
  const queue = yield* Queue

  const check = <A, E>(name: string, effect: Effect.Effect<A, E>) =>
    effect.pipe(
      Effect.timeout(patience),
      Effect.as({ name, ready: true }),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.as(Effect.logWarning(`Not ready: ${name}`, cause), { name, ready: false })
      )
    )

  const checkAll = Effect.all(
    [
      check(
        "config",
        Effect.sync(() => config.current())
      ),
      check("store", receipts.list({ limit: 1 })),
      check("queue", queue.stats)
    ],
    { concurrency: "unbounded" }
  ).pipe(
    Effect.map((checks) => {
      const missing = checks.filter(({ ready }) => !ready).map(({ name }) => name)
      return missing.length === 0
        ? health(200, { status: "ready" })
        : health(503, { status: "not_ready", not_ready: missing })
    })
  )

  let known: { readonly answer: Answer; readonly at: number } | undefined
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && now - known.at < rememberedMillis) return known.answer
    const answer = yield* checkAll
    known = { answer, at: now }
    return answer
  })
})
