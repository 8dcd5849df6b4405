/** Servers that a starting node waits for. `/readyz` names them, and each is logged at most once a minute. */
import { Context, Effect, Layer } from "effect"
import { limitWarning } from "../observability/LimitedWarnings.ts"

/** Notifications of a part that connects to its server. */
interface ServerWait {
  /** An attempt failed; another one follows. */
  readonly failed: (message: string) => Effect.Effect<void>
  readonly connected: Effect.Effect<void>
}

export class AwaitedServers extends Context.Service<
  AwaitedServers,
  {
    /** Returns the servers that are awaited now. */
    readonly names: () => ReadonlyArray<string>
    readonly of: (server: string) => ServerWait
  }
>()("aicr/ingress/AwaitedServers") {
  static readonly layer: Layer.Layer<AwaitedServers> = Layer.sync(AwaitedServers, () => {
    const awaited = new Set<string>()
    return AwaitedServers.of({
      names: () => [...awaited],
      of: (server) => ({
        failed: (error) =>
          Effect.suspend(() => {
            awaited.add(server)
            return limitWarning(`awaited ${server}`, (suppressed) =>
              Effect.logWarning("waiting for a server", { server, error, suppressed })
            )
          }),
        connected: Effect.suspend(() =>
          awaited.delete(server) ? Effect.logInfo("awaited server connected", { server }) : Effect.void
        )
      })
    })
  })
}
