/** Starts and stops a node:http server as effects. */
import type { Server } from "node:http"
import { Effect, Schema } from "effect"
import type { Connections } from "./Connections.ts"
import { withoutPeriod } from "../domain/Text.ts"

export class IngressError extends Schema.TaggedError<IngressError>()("IngressError", {
  message: Schema.String
}) {}

/** Listens, or fails with the cause. */
export const listen = (server: Server, port: number, hostname: string): Effect.Effect<void, IngressError> =>
  Effect.callback((resume) => {
    const failed = (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "the address is in use" : error.message
      resume(
        new IngressError({
          message: `Cannot listen on ${hostname}:${port}: ${withoutPeriod(why)}. Change server.port, server.admin_port, server.metrics_port or server.hostname, or stop what uses it`
        })
      )
    }
    server.once("error", failed)
    server.listen({ port, host: hostname, backlog: 1024 }, () => {
      server.off("error", failed)
      resume(Effect.void)
    })
  })

/** Stops accepting connections; requests in progress get `graceMillis` to end. */
export const stop = (server: Server, connections: Connections, graceMillis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const forced = setTimeout(() => server.closeAllConnections(), graceMillis)
    server.close(() => {
      clearTimeout(forced)
      resume(Effect.void)
    })
    connections.closeIdle()
  })
