/** Runs git as a limited child process (`Program`), isolated from every configuration (`GitEnvironment`). */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { gitEnvironment } from "./GitEnvironment.ts"
import type { GitSetting } from "./GitEnvironment.ts"
import { gitFailure } from "./GitFailure.ts"
import { limitError } from "../process/ProcessLimit.ts"
import { collect, startProgram } from "../process/Program.ts"
import type { ProgramChild, ProgramEnd } from "../process/Program.ts"
import { withinTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface GitCommand {
  /** Arguments, beginning with the git command; without secrets. */
  readonly args: ReadonlyArray<string>
  /** Path of the repository; without it git searches `home`. */
  readonly gitDir?: string
  /** HOME and the default working directory. Not a folder with content under review. */
  readonly home: string
  readonly cwd?: string
  readonly settings?: ReadonlyArray<GitSetting>
  readonly limits: ProcessLimits
  /** Folder of additional objects. */
  readonly objects?: string
  /** Values that are redacted from errors. */
  readonly secrets?: ReadonlyArray<string>
}

export type GitChild = ProgramChild
export type GitEnd = ProgramEnd

/** A git process that lives as long as the scope. */
export const startGit = (command: GitCommand): Effect.Effect<GitChild, never, Scope.Scope> =>
  startProgram({
    program: "git",
    args: command.gitDir === undefined ? command.args : [`--git-dir=${command.gitDir}`, ...command.args],
    cwd: command.cwd ?? command.home,
    environment: {
      ...gitEnvironment(command.home, command.settings ?? []),
      ...(command.objects === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: command.objects })
    },
    limits: command.limits
  })

/** Returns the error of a command that ended unexpectedly. */
export const endError = (command: GitCommand, { limit, stderr }: GitEnd): CheckoutError => {
  const name = command.args[0] ?? "git"
  return limit === undefined
    ? gitFailure(name, stderr, command.secrets ?? [])
    : limitError(`git ${name}`, limit, command.limits)
}

interface GitResult {
  readonly code: number
  readonly stdout: Buffer
}

/**
 * Runs a command to its end and returns its output. Exit codes in `accept` (0 always) are results, others fail with git's reason;
 * more than `maxBytes` of output fails and ends the process.
 */
export const runGit = Effect.fnUntraced(function* (
  command: GitCommand,
  limits: { readonly time: TimeLimit; readonly maxBytes: number; readonly accept?: ReadonlyArray<number> }
): Effect.fn.Return<GitResult, CheckoutError> {
  const name = command.args[0] ?? "git"
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const child = yield* startGit(command)
      child.stdin.end()
      const read = yield* Effect.promise(() => collect(child, limits.maxBytes))
      if (read === undefined) {
        return yield* new CheckoutError({
          reason: "limit",
          why: { _tag: "ProgramPrintsTooMuch", command: `git ${name}`, bytes: limits.maxBytes }
        })
      }
      const { code, limit } = read.end
      if (code === undefined || limit !== undefined || (code !== 0 && !limits.accept?.includes(code))) {
        return yield* endError(command, read.end)
      }
      return { code, stdout: read.stdout }
    })
  ).pipe(withinTime(name, limits.time))
})
