/**
 * Permits to write with an account at a host, shared by all nodes that write with it. Within a process `Pacing` keeps the gap
 * between writes; permits keep it across processes.
 */
import { Context, Effect, Layer } from "effect"
import type { ForgeError } from "./ForgeError.ts"

/** A granted permit. The holder always releases it; a permit that started no write does not delay the next one. */
export interface WritePermit {
  /** Reports that the write is being sent: the next permit is granted one gap later. */
  readonly started: Effect.Effect<void>
  readonly release: Effect.Effect<void>
}

interface WritePermitsService {
  /**
   * Waits for the permit. `key` is a hash that names host and account. Fails with `rate_limited` while the host limits the
   * account for longer than a request waits, and with `unavailable` when permits cannot be granted now.
   */
  readonly acquire: (key: string, gapMillis: number) => Effect.Effect<WritePermit, ForgeError>
  /** Grants no permits for the account during this time, because the host requested a pause. */
  readonly pause: (key: string, millis: number) => Effect.Effect<void>
}

const unlimitedPermit: WritePermit = { started: Effect.void, release: Effect.void }

export class WritePermits extends Context.Service<WritePermits, WritePermitsService>()("aicr/forge/WritePermits") {
  /** Grants permits immediately, for a single process without other writers. */
  static readonly layerAlone: Layer.Layer<WritePermits> = Layer.succeed(
    WritePermits,
    WritePermits.of({ acquire: () => Effect.succeed(unlimitedPermit), pause: () => Effect.void })
  )
}
