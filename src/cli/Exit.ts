/** Exit codes of commands: 0 done, 1 problems found, 2 usage or configuration, 3 run failed. */
import { Cause, Exit, Runtime, Schema } from "effect"
import { CliError } from "effect/cli"

export class ExitWith extends Schema.TaggedError<ExitWith>()("ExitWith", {
  code: Schema.Int,
  /** Printed to stderr if not empty. */
  message: Schema.String
}) {}

/** Builds the error of a request that is invalid, or of an invalid configuration. */
export const refused = (message: string): ExitWith => new ExitWith({ code: 2, message })

/**
 * Reports the end of a command with its exit code. Usage errors were already displayed with the help of the command. An interrupt (Ctrl-C, SIGTERM) after an orderly stop
 * is success. Any other error is a bug: its whole cause is printed.
 */
export const reportAndExit = <E, A>(exit: Exit.Exit<E, A>, onExit: (code: number) => void): void => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const error = Cause.squash(exit.cause)
  if (error instanceof ExitWith) {
    if (error.message !== "") process.stderr.write(`${error.message}\n`)
    return onExit(error.code)
  }
  if (CliError.isCliError(error)) return onExit(Runtime.getErrorExitCode(error) === 0 ? 0 : 2)
  process.stderr.write(`${Cause.pretty(exit.cause)}\n`)
  return onExit(3)
}

/**
 * Ends the process with the exit code of its command, once standard output is written. What a command used may still hold a timer or an idle
 * connection, which would keep the process alive.
 */
export const endProcess = <E, A>(exit: Exit.Exit<E, A>): void =>
  reportAndExit(exit, (code) => {
    process.stdout.write("", () => process.exit(code))
  })
