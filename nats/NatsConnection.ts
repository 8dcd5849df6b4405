/**
 * Connects a node to NATS. The first connection has a timeout; after it the client reconnects for as long as the service runs. While NATS
 * is unavailable published messages are lost and requests time out: every user of the bus polls again.
 */
import { readFileSync } from "node:fs"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream"
import { connect, credsAuthenticator, errors, nkeyAuthenticator } from "@nats-io/transport-node"
import type { NatsConnection as RawConnection, NodeConnectionOptions } from "@nats-io/transport-node"
import { Context, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import type { Scope } from "effect"
import { NatsError, attempt, toNatsError } from "./NatsError.ts"
import type { NatsSettings } from "./NatsSettings.ts"
import { explainVersion } from "./NatsVersion.ts"

interface NatsStatus {
  readonly connected: boolean
  /** Current or last server as `host:port`. */
  readonly server: string
  /** Version of the server. */
  readonly version: string
}

export class NatsConnection extends Context.Service<
  NatsConnection,
  {
    /** The client's connection. Its calls throw; see NatsError. */
    readonly raw: RawConnection
    /** JetStream with a short timeout, because a response that was lost with a connection never arrives. */
    readonly jetstream: JetStreamClient
    readonly manager: JetStreamManager
    readonly name: string
    readonly prefix: string
    readonly replicas: 1 | 3 | 5
    readonly status: Effect.Effect<NatsStatus>
    /** Round trip time in milliseconds. */
    readonly roundTrip: Effect.Effect<number, NatsError>
    /** Resumes at the next reconnect. */
    readonly reconnected: Effect.Effect<void>
    /** Calls the listener at every change while the scope is open. */
    readonly onStatus: (notify: (connected: boolean) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("aicr/nats/NatsConnection") {
  /** `name` is the name of the node. The server shows it in its list of connections. */
  static readonly layer = (options: NatsConnectOptions) => Layer.effect(NatsConnection, make(options))
}

interface NatsConnectOptions {
  readonly settings: NatsSettings
  readonly name: string
  /** Timeout of the first connection; 30 seconds by default. */
  readonly connectWithin?: Duration.Input
  /** Waits for the first connection, and for JetStream, without a limit. */
  readonly wait?: NatsWait | undefined
}

/** Notifications of a start that waits for NATS. */
interface NatsWait {
  readonly failed: (message: string) => Effect.Effect<void>
  readonly connected: Effect.Effect<void>
}

/** Timeout of every call of JetStream's API: a third of the refresh interval of leases, so that two more attempts fit in. */
export const callTimeoutMillis = 900

/** Pause between attempts at the first connection. */
const pauseMillis = 200

/** Ping interval. A connection whose server does not respond is given up after twice this time. */
const pingIntervalMillis = 2000

/** Opens a connection to a supported server, which closes with the scope. */
const open = Effect.fnUntraced(function* ({ settings, name, connectWithin = "30 seconds", wait }: NatsConnectOptions) {
  const first = firstConnection(settings, name, Duration.toMillis(connectWithin), wait)
  const raw = yield* Effect.acquireRelease(first, close, { interruptible: true })
  yield* verifyVersion(raw, settings)
  if (wait !== undefined) yield* awaitJetStream(raw, wait)
  return raw
})

const make = Effect.fnUntraced(function* (
  connectOptions: NatsConnectOptions
): Effect.fn.Return<NatsConnection["Service"], NatsError, Scope.Scope> {
  const { name, settings } = connectOptions
  const place = settings.servers.join(", ")
  const raw = yield* open(connectOptions)
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const listeners = new Set<(connected: boolean) => void>()
  let connected = true
  const notify = (now: boolean) => {
    if (now === connected) return
    connected = now
    log(
      now
        ? Effect.logInfo("NATS reconnected", { server: raw.getServer() })
        : Effect.logWarning("NATS disconnected, reconnecting", { server: place })
    )
    // A listener may register for the next change while it is called.
    const current = [...listeners]
    for (const listener of current) listener(now)
  }
  yield* Effect.forkScoped(
    Effect.promise(async () => {
      for await (const event of raw.status()) {
        if (event.type === "disconnect") notify(false)
        else if (event.type === "reconnect") {
          notify(true)
          const unsupported = Effect.catch(verifyVersion(raw, settings), ({ message }) =>
            Effect.logError("NATS server not supported", { error: message })
          )
          log(unsupported)
        } else if (event.type === "error")
          log(
            Effect.logWarning("NATS connection error", {
              error: toNatsError(`connection to ${place}`, event.error).message
            })
          )
      }
    })
  )
  const options = { timeout: callTimeoutMillis, checkAPI: false }
  const status = Effect.sync(() => ({ connected, server: raw.getServer(), version: raw.info?.version ?? "unknown" }))
  return NatsConnection.of({
    raw,
    jetstream: jetstream(raw, options),
    manager: yield* attempt("JetStream", () => jetstreamManager(raw, options)),
    name,
    prefix: settings.prefix,
    replicas: settings.replicas,
    status,
    // Measured here, because the client measures in whole milliseconds.
    roundTrip: attempt(`round trip to ${place}`, async () => {
      const at = performance.now()
      await raw.flush()
      return performance.now() - at
    }).pipe(
      Effect.timeoutOrElse({
        duration: callTimeoutMillis,
        orElse: () =>
          Effect.fail(new NatsError({ reason: "unavailable", message: `NATS at ${place} does not respond` }))
      })
    ),
    reconnected: Effect.callback((resume) => {
      const listener = (now: boolean) => {
        if (!now) return
        listeners.delete(listener)
        resume(Effect.void)
      }
      listeners.add(listener)
      return Effect.sync(() => listeners.delete(listener))
    }),
    onStatus: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
  })
})

const verifyVersion = (raw: RawConnection, { replicas }: NatsSettings): Effect.Effect<void, NatsError> => {
  const why = explainVersion(raw.info?.version, replicas)
  return why === undefined
    ? Effect.void
    : Effect.fail(new NatsError({ reason: "unsupported", message: `NATS at ${raw.getServer()}: ${why}` }))
}

/**
 * Opens the first connection. The client's own retry has no end and does not distinguish wrong credentials from a server that is still
 * starting.
 */
const firstConnection = Effect.fnUntraced(function* (
  settings: NatsSettings,
  name: string,
  waitMillis: number,
  wait: NatsWait | undefined
) {
  const place = settings.servers.join(", ")
  const options = yield* Effect.try({
    try: () => connectionOptions(settings, name),
    catch: (cause) =>
      new NatsError({ reason: "refused", message: `NATS: ${cause instanceof Error ? cause.message : String(cause)}` })
  })
  const deadline = performance.now() + waitMillis
  let isLogged = false
  for (;;) {
    const result = yield* Effect.result(connectOnce(options, place))
    if (result._tag === "Success") return result.success
    const error = result.failure
    if (error.reason !== "unavailable") return yield* Effect.fail(error)
    if (wait === undefined && performance.now() > deadline) {
      return yield* Effect.fail(
        new NatsError({
          reason: "unavailable",
          message: `${error.message}; gave up after ${Math.round(waitMillis / 1000)} s. Check SVC_NATS_URL and that the server runs`
        })
      )
    }
    if (wait !== undefined) yield* wait.failed(error.message)
    else if (!isLogged) yield* Effect.logInfo("waiting for NATS", { error: error.message })
    isLogged = true
    yield* Effect.sleep(pauseMillis)
  }
})

/** Connects. A connection that opens after an interruption is closed. */
const connectOnce = (options: NodeConnectionOptions, place: string): Effect.Effect<RawConnection, NatsError> =>
  Effect.callback((resume) => {
    let wanted = true
    connect({ ...options }).then(
      (raw) => (wanted ? resume(Effect.succeed(raw)) : void raw.close()),
      (cause: unknown) => resume(Effect.fail(toNatsError(`connection to ${place}`, cause)))
    )
    return Effect.sync(() => {
      wanted = false
    })
  })

/** Waits until JetStream responds: a server that has just started, or whose cluster elects a leader, is connected without it. */
const awaitJetStream = (raw: RawConnection, wait: NatsWait): Effect.Effect<void, NatsError> =>
  attempt("JetStream", () => jetstreamManager(raw, { timeout: callTimeoutMillis, checkAPI: true })).pipe(
    Effect.tapError(({ message, reason }) => (reason === "unavailable" ? wait.failed(message) : Effect.void)),
    Effect.retry({ while: ({ reason }) => reason === "unavailable", schedule: Schedule.spaced(pauseMillis) }),
    Effect.andThen(wait.connected)
  )

const connectionOptions = (settings: NatsSettings, name: string): NodeConnectionOptions => ({
  servers: [...settings.servers],
  name,
  timeout: 2000,
  reconnect: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 200,
  reconnectJitter: 100,
  // A restarting server may refuse credentials for a moment while it loads its accounts.
  ignoreAuthErrorAbort: true,
  pingInterval: pingIntervalMillis,
  maxPingOut: 2,
  // Traces of the requesting call cost a stack per request.
  noAsyncTraces: true,
  ...authOptions(settings),
  ...(settings.tls === undefined ? {} : { tls: tlsOptions(settings.tls) })
})

const authOptions = ({ auth }: NatsSettings): NodeConnectionOptions => {
  switch (auth.kind) {
    case "none":
      return {}
    case "password":
      return { user: auth.user, pass: Redacted.value(auth.password) }
    case "token":
      return { token: Redacted.value(auth.token) }
    // Read at every connection, because credentials are rotated while the service runs.
    case "creds": {
      readSecret("SVC_NATS_CREDS_PATH", auth.path)
      return { authenticator: credsAuthenticator(() => readFileSync(auth.path)) }
    }
    case "nkey": {
      readSecret("SVC_NATS_NKEY_SEED_PATH", auth.path)
      return { authenticator: nkeyAuthenticator(() => seedOf(auth.path)) }
    }
  }
}

const readSecret = (variable: string, path: string): void => {
  try {
    readFileSync(path)
  } catch {
    throw new Error(`${variable}: cannot read ${path}`)
  }
}

const seedOf = (path: string): Uint8Array => new TextEncoder().encode(readFileSync(path, "utf8").trim())

const tlsOptions = (tls: NonNullable<NatsSettings["tls"]>): NonNullable<NodeConnectionOptions["tls"]> => {
  for (const [variable, path] of [
    ["SVC_NATS_TLS_CA_PATH", tls.caPath],
    ["SVC_NATS_TLS_CERT_PATH", tls.certPath],
    ["SVC_NATS_TLS_KEY_PATH", tls.keyPath]
  ] as const) {
    if (path !== undefined) readSecret(variable, path)
  }
  return {
    ...(tls.caPath === undefined ? {} : { caFile: tls.caPath }),
    ...(tls.certPath === undefined ? {} : { certFile: tls.certPath }),
    ...(tls.keyPath === undefined ? {} : { keyFile: tls.keyPath })
  }
}

/** Closes the connection after sending what was published. Does not wait for a server that is unavailable. */
const close = (raw: RawConnection): Effect.Effect<void> =>
  Effect.promise(() =>
    raw.drain().catch((error: unknown) => (error instanceof errors.ClosedConnectionError ? undefined : raw.close()))
  ).pipe(Effect.timeoutOrElse({ duration: 1000, orElse: () => Effect.promise(() => raw.close()) }))
