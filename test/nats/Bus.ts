/** The server of a file of tests, and separate connections to it, each in a separate installation. */
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsServer } from "../harness/Nats.ts"
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

/** Starts a server for the tests of the file that calls this. `run` uses a separate connection, by default in a separate installation. */
export const startBus = () => {
  let started: NatsServer
  beforeAll(async () => {
    started = await NatsServer.start()
  })
  afterAll(() => started[Symbol.asyncDispose]())
  return {
    server: () => started,
    run: <A, E>(effect: Effect.Effect<A, E, NatsConnection>, prefix = newPrefix()): Promise<A> =>
      Effect.runPromise(withBus(started, prefix, effect))
  }
}
