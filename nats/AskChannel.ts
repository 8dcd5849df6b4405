/**
 * Carries requests to actors on another node and their replies without a layer of RPC (see NatsAsks): one session, and the requests without
 * an outcome. When the session is lost, so is every request on it.
 */
import { Effect, Exit, Scope } from "effect"
import type { RunnerAddress } from "effect/cluster"
import { isFromRunner } from "./AskMessages.ts"
import type { FromCaller, FromRunner } from "./AskMessages.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { hostPort, openSession } from "./RunnerSession.ts"
import type { RunnerSession, SessionHandlers } from "./RunnerSession.ts"

export type Outcome = FromRunner | "lost"
type Call = Extract<FromCaller, { readonly request: unknown }>

export class AskChannel {
  session: RunnerSession | undefined
  /** State at the last check. */
  wasDown = false
  readonly scope: Scope.Closeable
  readonly #waiting = new Map<number, (outcome: Effect.Effect<Outcome>) => void>()
  #nextId = 0

  constructor(scope: Scope.Closeable) {
    this.scope = scope
  }

  readonly handlers: SessionHandlers = {
    receive: (messages) => {
      for (const message of messages) if (isFromRunner(message)) this.#settle(message.id, message)
    },
    lost: () => {
      for (const id of this.#waiting.keys()) this.#settle(id, "lost")
    }
  }

  isDown(): boolean {
    return this.session === undefined || this.session.down() !== undefined
  }

  /** Sends the request and waits for its outcome. An interrupt withdraws it. Dies when the message cannot be sent. */
  exchange(tag: Call["_tag"], request: Call["request"]): Effect.Effect<Outcome> {
    return Effect.callback((resume) => {
      const { session } = this
      // The session was lost while the request was encoded.
      if (session === undefined || session.down() !== undefined) return resume(Effect.succeed("lost"))
      const id = this.#nextId++
      try {
        session.push({ _tag: tag, id, request })
      } catch (cause) {
        return resume(Effect.die(cause))
      }
      this.#waiting.set(id, resume)
      return Effect.sync(() => {
        if (this.#waiting.delete(id) && session.down() === undefined) session.push({ _tag: "Stop", id })
      })
    })
  }

  #settle(id: number, outcome: Outcome): void {
    const resume = this.#waiting.get(id)
    this.#waiting.delete(id)
    resume?.(Effect.succeed(outcome))
  }
}

interface AskChannels {
  /** Returns the channel to this runner if it is connected. The first call opens it. */
  readonly connected: (address: RunnerAddress.RunnerAddress) => AskChannel | undefined
  readonly close: (address: RunnerAddress.RunnerAddress) => Effect.Effect<void>
}

/** Interval of checks. A channel that is down at two consecutive checks is closed. */
const checkEveryMillis = 15_000

export const makeAskChannels: Effect.Effect<AskChannels, never, NatsConnection | Scope.Scope> = Effect.gen(
  function* () {
    const connection = yield* NatsConnection
    const scope = yield* Effect.scope
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    const channels = new Map<string, AskChannel>()

    const open = (address: RunnerAddress.RunnerAddress): AskChannel => {
      const channel = new AskChannel(Scope.forkUnsafe(scope))
      runFork(
        openSession(connection, address, channel.handlers).pipe(
          Effect.tap((session) =>
            Effect.sync(() => {
              channel.session = session
            })
          ),
          Effect.provideService(Scope.Scope, channel.scope)
        )
      )
      return channel
    }
    const close = (name: string): Effect.Effect<void> => {
      const channel = channels.get(name)
      channels.delete(name)
      return channel === undefined ? Effect.void : Scope.close(channel.scope, Exit.void)
    }
    const closeDown = Effect.suspend(() => {
      const gone = [...channels].filter(([, channel]) => channel.wasDown && channel.isDown()).map(([name]) => name)
      for (const channel of channels.values()) channel.wasDown = channel.isDown()
      return Effect.forEach(gone, close, { discard: true })
    })
    // A request may arrive after its runner was removed from the list. Nothing else would close that channel.
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(checkEveryMillis), closeDown)))

    return {
      connected: (address) => {
        const name = hostPort(address)
        const channel = channels.get(name) ?? open(address)
        channels.set(name, channel)
        return channel.isDown() ? undefined : channel
      },
      close: (address) => close(hostPort(address))
    }
  }
)
