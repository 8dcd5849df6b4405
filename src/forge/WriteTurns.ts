/**
 * The turns of an account at a host, shared by every node that writes with it. Within a process `Pacing` keeps the distance between
 * writes; here the processes keep it among each other.
 */
import { Context, Effect, Layer } from "effect"
import type { ForgeError } from "./Forge.ts"

/** A turn that came. It is given back in every case; what never started a write holds nobody up. */
export interface WriteTurn {
  /** The write goes out now: the next turn comes a gap later. */
  readonly started: Effect.Effect<void>
  readonly giveBack: Effect.Effect<void>
}

export interface WriteTurnsService {
  /**
   * Waits for the turn. `key` is a hash that names host and account. Fails with `rate_limited` while the host wants to hear
   * nothing of the account for longer than one waits in place, with `unavailable` when nobody gives out turns now.
   */
  readonly take: (key: string, gapMillis: number) => Effect.Effect<WriteTurn, ForgeError>
  /** The host asked for a pause: nobody writes with the account for this long. */
  readonly pause: (key: string, millis: number) => Effect.Effect<void>
}

const ownTurn: WriteTurn = { started: Effect.void, giveBack: Effect.void }

export class WriteTurns extends Context.Service<WriteTurns, WriteTurnsService>()("aicr/forge/WriteTurns") {
  /** For a process that writes alone: there is nothing to wait for. */
  static readonly layerAlone: Layer.Layer<WriteTurns> = Layer.succeed(
    WriteTurns,
    WriteTurns.of({ take: () => Effect.succeed(ownTurn), pause: () => Effect.void })
  )
}
