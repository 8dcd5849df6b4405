/**
 * Notifies the routing of this process that a report was stored, so that it does not wait for the next scan. A notification may be lost: that
 * of another node always is.
 */
import { Context, Effect, Latch } from "effect"

interface NewReports {
  readonly notify: () => void
  /** Waits for a report since the last wait. */
  readonly wait: Effect.Effect<void>
}

export const NewReports = Context.Reference<NewReports>("aicr/actors/NewReports", {
  defaultValue: () => {
    const latch = Latch.makeUnsafe()
    return {
      notify: () => void latch.openUnsafe(),
      wait: Effect.andThen(latch.await, Effect.asVoid(latch.close))
    }
  }
})
