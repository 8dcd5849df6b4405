/** The one mapping from errors to the exit codes of commands. */
import { Effect } from "effect"
import { ExitWith } from "./Exit.ts"

export const exitCodes = {
  done: 0,
  /** The command ran and found problems. */
  problems: 1,
  /** The call or the configuration has to change. */
  refused: 2,
  /** The run failed; the same call may succeed later. */
  failed: 3
} as const

/** Exit code by the tag of the error that ends a command. */
export const codeByTag = {
  ConfigInvalid: exitCodes.refused,
  ConfigError: exitCodes.refused,
  LogLevelInvalid: exitCodes.refused,
  NotReplayable: exitCodes.refused,
  StoreError: exitCodes.failed,
  QueueError: exitCodes.failed,
  NatsError: exitCodes.failed,
  IngressError: exitCodes.failed,
  AgentError: exitCodes.failed,
  CheckoutError: exitCodes.failed,
  AnalysisError: exitCodes.failed,
  PatchTooLarge: exitCodes.failed
} as const

/** Errors that end a command with a code: those of the table, and those that name their code. */
export type CommandError = ExitWith | { readonly _tag: keyof typeof codeByTag; readonly message: string }

/** Returns the end of a command that failed with this error. */
export const toExit = (error: CommandError): ExitWith =>
  error._tag === "ExitWith" ? error : new ExitWith({ code: codeByTag[error._tag], message: error.message })

/** Ends a command with the exit code of its error. An error without a row in the table does not compile. */
export const endWithCode = <A, E extends CommandError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, ExitWith, R> => Effect.mapError(effect, toExit)
