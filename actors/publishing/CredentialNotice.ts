/** Notifies operators that a host refuses the credential of a trigger, so that work waits: once per trigger and day (UTC). */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { planNotices } from "../../src/outputs/PlanNotices.ts"
import { Notices } from "../../src/store/Notices.ts"

export const noteLostCredential = Effect.fnUntraced(function* (trigger: string, reason: Reason) {
  yield* limitWarning(
    "lost credentials",
    (suppressed) =>
      Effect.logError("work waits because the host refuses the credential of a trigger", {
        trigger,
        reason,
        suppressed
      }),
    trigger
  )
  const now = yield* Clock.currentTimeMillis
  const day = new Date(now).toISOString().slice(0, 10)
  const facts = { _tag: "credential_refused", trigger, day, reason } as const
  const planned = planNotices((yield* ConfigStore).current(), facts)
  if (planned.length > 0) yield* (yield* Notices).add(planned, now)
})
