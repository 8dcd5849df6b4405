/** The only error of the bus, and the only module that interprets errors of the NATS clients. */
import { JetStreamApiError, JetStreamApiCodes } from "@nats-io/jetstream"
import { jserrors } from "@nats-io/jetstream/internal"
import { errors } from "@nats-io/transport-node"
import { Effect, Schema } from "effect"

export class NatsError extends Schema.TaggedError<NatsError>()("NatsError", {
  /**
   * `unavailable`: NATS is disconnected or did not respond in time; the operation may have happened. `refused`: credentials, certificates
   * or permissions. `too_large`: the message is over the server's `max_payload`; nothing was sent. `conflict`: a compare-and-set lost to
   * another writer. `unsupported`: the server lacks a feature, for example because JetStream is off.
   */
  reason: Schema.Literals(["unavailable", "refused", "too_large", "conflict", "unsupported"]),
  message: Schema.String
}) {}

/** Converts a client's error. `what` is the prefix of the message: the operation and its object. */
export const toNatsError = (what: string, cause: unknown): NatsError => {
  if (cause instanceof NatsError) return cause
  const fail = (reason: NatsError["reason"], why: string) => new NatsError({ reason, message: `NATS: ${what}: ${why}` })
  if (isConflict(cause)) return fail("conflict", "another writer was first")
  if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError) {
    return fail("refused", `the server refuses the credentials (${cause.message})`)
  }
  if (cause instanceof errors.PermissionViolationError) {
    return fail("refused", `the user may not ${cause.operation} ${cause.subject}; give it the permission`)
  }
  if (cause instanceof errors.InvalidArgumentError && cause.message.includes("max_payload")) {
    return fail("too_large", "the message is over the server's max_payload; raise it (nats/nats-server.conf sets 8 MB)")
  }
  if (isUnsupported(cause)) {
    return fail(
      "unsupported",
      "JetStream is off for this account; start the server with JetStream (nats/nats-server.conf)"
    )
  }
  if (cause instanceof JetStreamApiError && cause.status >= 400 && cause.status < 500 && cause.status !== 408) {
    return fail("unsupported", cause.message)
  }
  if (cause instanceof Error && /certificate/i.test(cause.message)) {
    return fail(
      "refused",
      `${cause.message}; set SVC_NATS_TLS_CA_PATH to the authority that signed the server's certificate`
    )
  }
  if (cause instanceof errors.TimeoutError) return fail("unavailable", "no response in time")
  return fail("unavailable", cause instanceof Error ? cause.message : String(cause))
}

/** Wraps a call of a NATS client in an effect. */
export const attempt = <A>(what: string, call: () => Promise<A>): Effect.Effect<A, NatsError> =>
  Effect.tryPromise({ try: call, catch: (cause) => toNatsError(what, cause) })

/**
 * Whether the server does not have the stream of a call. A message to its subject then has no responders, as it also has while the server
 * elects the leader of the stream.
 */
export const isStreamMissing = (cause: unknown): boolean =>
  (cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.StreamNotFound) ||
  (cause instanceof jserrors.JetStreamNotEnabled &&
    cause.cause instanceof errors.RequestError &&
    cause.cause.isNoResponders())

const isConflict = (cause: unknown): boolean =>
  cause instanceof JetStreamApiError &&
  (cause.code === JetStreamApiCodes.StreamWrongLastSequence ||
    cause.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)

/** The client also reports "not enabled" if no server responded, which happens while a server starts. */
const isUnsupported = (cause: unknown): boolean =>
  cause instanceof jserrors.JetStreamNotEnabled && !(cause.cause instanceof errors.RequestError)
