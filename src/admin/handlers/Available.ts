/** Converts failures of servers that a handler needs to one response. */
import { Effect } from "effect"
import type { SourceUnavailable } from "../../config/revisions/RevisionStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"
import type { QueueError } from "../../queue/Queue.ts"
import { because, Unavailable } from "../api/Problems.ts"
import type { NodesError } from "../nodes/Nodes.ts"
import type { Reason } from "../../domain/Reason.ts"

type Failure = NodesError | QueueError | SourceUnavailable | StoreError

const parts = {
  NodesError: { _tag: "NodeListPart" },
  QueueError: { _tag: "QueuePart" },
  SourceUnavailable: { _tag: "DatabasePart" },
  StoreError: { _tag: "RecordsPart" }
} as const satisfies Record<Failure["_tag"], Reason>

const servers = { nats: "NATS", postgres: "Postgres", redis: "Redis" } as const

/** Names what failed, without the address that the message has. */
const describe = (error: Failure): Reason => {
  const server = "disconnected" in error && error.disconnected !== undefined ? servers[error.disconnected] : undefined
  const part = parts[error._tag]
  return server === undefined ? part : { _tag: "PartDisconnected", part, server }
}

const unavailable = (error: Failure) =>
  Effect.andThen(
    logFailure("administration request failed", {}, { level: "Error" })(error),
    Effect.fail(
      new Unavailable({
        code: "unavailable",
        ...because({ _tag: "PartUnavailable", part: describe(error) })
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
