/** A separate connection to a test's server, in a separate installation. */
import { Effect } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import type { NatsServer } from "../harness/Nats.ts"
import { toSettings } from "./Cluster.ts"

let installations = 0
/** Returns a unique value of `SVC_NATS_PREFIX`. */
export const newPrefix = (): string => `test-${process.pid}-${installations++}`

/** Connected, from its own connection, for as long as it runs. */
export const withBus = <A, E>(
  server: NatsServer,
  prefix: string,
  effect: Effect.Effect<A, E, NatsConnection>
): Effect.Effect<A, unknown> =>
  Effect.provide(
    effect,
    NatsConnection.layer({
      settings: toSettings({ SVC_NATS_URL: server.url, SVC_NATS_PREFIX: prefix }),
      name: "test"
    })
  )
