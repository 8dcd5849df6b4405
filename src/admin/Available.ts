/** Converts failures of servers that a handler needs to one response. */
import { Effect } from "effect"
import type { SourceUnavailable } from "../config/revisions/RevisionStore.ts"
import type { StoreError } from "../database/StoreError.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import type { QueueError } from "../queue/Queue.ts"
import { Unavailable } from "./api/Problems.ts"
import type { NodesError } from "./Nodes.ts"
import { withoutPeriod } from "../domain/Text.ts"

type Failure = NodesError | QueueError | SourceUnavailable | StoreError

const parts = {
  NodesError: "the list of nodes",
  QueueError: "the queue",
  SourceUnavailable: "the configuration of the database",
  StoreError: "the records"
} as const satisfies Record<Failure["_tag"], string>

const servers = { nats: "NATS", postgres: "Postgres", redis: "Redis" } as const

/** Names what failed, without the address that the message has. */
const describe = (error: Failure): string => {
  const server = "disconnected" in error && error.disconnected !== undefined ? servers[error.disconnected] : undefined
  return server === undefined ? parts[error._tag] : `${parts[error._tag]} (${server} is disconnected)`
}

const unavailable = (error: Failure) =>
  Effect.andThen(
    limitWarning("administration request", (suppressed) =>
      Effect.logError("administration request failed", { error: error.message, suppressed })
    ),
    Effect.fail(
      new Unavailable({
        code: "unavailable",
        detail: `Unavailable: ${withoutPeriod(describe(error))}. /readyz lists what is not ready, the service's log has the error.`
      })
    )
  )

const tags: ReadonlySet<unknown> = new Set(Object.keys(parts))

const isFailure = (error: unknown): error is Failure =>
  typeof error === "object" && error !== null && "_tag" in error && tags.has(error._tag)

/** Logs a failure of a store, the queue or the bus, and fails with `Unavailable`. */
export const orUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Failure> | Unavailable, R> =>
  Effect.catch(effect, (error): Effect.Effect<never, Exclude<E, Failure> | Unavailable> =>
    isFailure(error) ? unavailable(error) : Effect.fail(error as Exclude<E, Failure>)
  )
