/** Runs a long connection against a fake platform and keeps what it receives. */
import { Effect, Exit, Fiber } from "effect"
import type { ChatSession, ChatSessionEnd } from "../../src/chat/ChatSession.ts"
import type { Inbound } from "../../src/chat/Inbound.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"

export interface RunningSession extends AsyncDisposable {
  readonly received: Array<Inbound>
  readonly state: { ready: number; isStoreBroken: boolean }
  /** Resolves with the end of the connection. */
  readonly end: Promise<ChatSessionEnd>
}

export const startSession = ({ run }: ChatSession): RunningSession => {
  const received: Array<Inbound> = []
  const state = { ready: 0, isStoreBroken: false }
  const fiber = Effect.runFork(
    Effect.flip(
      run({
        receive: (inbound) =>
          state.isStoreBroken
            ? Effect.fail(new StoreError({ operation: "test", reason: "unavailable", why: verbatimReason("no store") }))
            : Effect.sync(() => {
                received.push(inbound)
                return "stored" as const
              }),
        ready: () =>
          Effect.sync(() => {
            state.ready += 1
          })
      })
    )
  )
  return {
    received,
    state,
    end: Effect.runPromise(Fiber.await(fiber)).then((exit) => {
      if (Exit.isSuccess(exit)) return exit.value
      throw new Error("the session was interrupted")
    }),
    [Symbol.asyncDispose]: async () => {
      await Effect.runPromise(Fiber.interrupt(fiber))
    }
  }
}
