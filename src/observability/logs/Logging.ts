/**
 * Configures logging: pino behind Effect's logger. Lines go to standard error, because standard output is for results. JSON, one object per
 * line, unless standard error is a terminal. `SVC_LOG_LEVEL` sets the minimum level.
 */
import { Config, Effect, Layer, Logger, References, Schema } from "effect"
import type { LogLevel } from "effect"
import { pino } from "pino"
import { logRecord } from "./LogRecord.ts"

/** Opens the stream of log lines. A line that cannot be written, for example to a file on a full disk, never fails the work that logs it. */

/** Bytes of lines that wait for a destination that takes none; they are written once it does. Later lines are dropped. */
const maxWaitingBytes = 1_048_576

/** Writes synchronously in this thread, so that a killed process has lost no line. */
export const openLogStream = (fd: number) => {
  const stream = pino.destination({ fd, sync: true, maxLength: maxWaitingBytes })
  // The listener of pino throws every error except that of a closed pipe.
  stream.removeAllListeners("error")
  stream.on("error", () => {})
  return stream
}

const Level = Schema.Literals(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
type Level = typeof Level.Type

const effectLevel = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  silent: "None"
} as const satisfies Record<Level, LogLevel.LogLevel>

const pinoLevel = {
  All: "trace",
  Trace: "trace",
  Debug: "debug",
  Info: "info",
  Warn: "warn",
  Error: "error",
  Fatal: "fatal",
  None: "silent"
} as const satisfies Record<LogLevel.LogLevel, Level>

export interface LoggingOptions {
  readonly level: Level
  /** Formats for people: colours, one line of text, fields below it. */
  readonly pretty: boolean
  /** Destination of lines; standard error by default. */
  readonly destination?: NodeJS.WritableStream | ReturnType<typeof openLogStream> | undefined
}

/** Loaded for people only. */
const prettyPrinter = Effect.promise(() => import("pino-pretty"))

const streamOf = ({ destination, pretty }: LoggingOptions): Effect.Effect<pino.DestinationStream> =>
  pretty
    ? Effect.map(prettyPrinter, ({ PinoPretty }) =>
        PinoPretty({
          destination: destination ?? openLogStream(2),
          sync: true,
          colorize: destination === undefined,
          translateTime: "SYS:HH:MM:ss.l",
          ignore: "pid,hostname"
        })
      )
    : Effect.sync(() => destination ?? openLogStream(2))

/** Replaces Effect's loggers. */
export const layerWith = (options: LoggingOptions): Layer.Layer<never> =>
  Layer.unwrap(Effect.map(streamOf(options), (stream) => layerOn(stream, options)))

const layerOn = (stream: pino.DestinationStream, options: LoggingOptions): Layer.Layer<never> => {
  const out = pino(
    {
      level: options.level,
      base: null,
      timestamp: false,
      formatters: { level: (label) => ({ level: label }) },
      // `err` is data already.
      serializers: { err: (err) => err }
    },
    stream
  )
  const logger = Logger.make<unknown, void>((event) => {
    const level = pinoLevel[event.logLevel]
    if (level !== "silent") out[level](logRecord(event))
  })
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, effectLevel[options.level]))
}

/** Logs to standard error, pretty on a terminal. */
export const layerAt = (level: Level): Layer.Layer<never> => layerWith({ level, pretty: process.stderr.isTTY })

/** The environment names a level that does not exist. */
export class LogLevelInvalid extends Schema.TaggedError<LogLevelInvalid>()("LogLevelInvalid", {
  message: Schema.String
}) {}

/** Logging as configured by the environment. Fails on an unknown level. */
export const layer = Layer.unwrap(
  Effect.map(
    Config.schema(Level, "SVC_LOG_LEVEL").pipe(
      Config.withDefault<Level>("info"),
      Effect.mapError(
        () => new LogLevelInvalid({ message: `SVC_LOG_LEVEL: unknown level; use one of ${Level.literals.join(", ")}` })
      )
    ),
    layerAt
  )
)
