/**
 * Contract of a sandbox, in which the program of an agent CLI runs for one pass. Each kind is a row of one table. Every kind keeps
 * the same promises, except for `native` without bubblewrap, which the configuration has to permit explicitly:
 *
 * - The program reads the repository, the folders of its installation and the system's folders, and writes to its own scratch
 *   folder only. It has no environment but the one of the request, no capability and no way to gain privileges, and is not root, also
 *   for the kernel.
 * - It has no network. Two ports of its loopback interface lead to two unix sockets of the service: the model and the tools.
 * - Memory, processors, processes, written files, output and time are limited. All its processes have ended when the scope has
 *   closed, also those that left its session, and its scratch folder is removed. Sandboxes of a service that was killed are removed
 *   at the next start.
 */
import { Context, Schema } from "effect"
import type { Effect, Scope, Stream } from "effect"
import type { Name } from "../domain/Vocabulary.ts"
import type { SandboxConfig } from "../config/schema/Agent.ts"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

export type SandboxKind = Name<"sandboxKind">

export interface SandboxLimits {
  /** Maximum memory of all processes together, with the files in the scratch folder. */
  readonly memoryBytes: number
  /** Processors that all processes together may use. May be a fraction. */
  readonly cpus: number
  /** Maximum number of processes and threads. */
  readonly processes: number
  /** Maximum size of the scratch folder, and of each file in it. */
  readonly fileBytes: number
  /** Maximum size of stdout and stderr together. */
  readonly outputBytes: number
  /** Maximum duration. */
  readonly timeMillis: number
}

/** Locations inside of a sandbox. They depend on its kind. */
export interface SandboxPaths {
  /** The repository, read-only. It is the working directory of the program. */
  readonly repository: string
  /** The only folder that the program may write to. It is empty except for the files of `SandboxProgram`. */
  readonly scratch: string
  /** Port on 127.0.0.1 that leads to the model. */
  readonly modelPort: number
  /** Port on 127.0.0.1 that leads to the tools. */
  readonly toolsPort: number
}

export interface SandboxProgram {
  /** Absolute path inside of the sandbox, or a name that is searched in the PATH of `environment`. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The complete environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Text for stdin, which is closed behind it. Without it, stdin is empty. */
  readonly stdin?: string | undefined
  /** Files that are written before the program starts, readable by it alone. */
  readonly files: ReadonlyArray<SandboxFile>
}

export interface SandboxFile {
  /** Path relative to the scratch folder. */
  readonly path: string
  readonly text: string
}

/** A request as callers make it. Without a repository, the program gets an empty folder. */
export type SandboxOrder = Omit<SandboxRequest, "repository"> & { readonly repository?: string | undefined }

export interface SandboxRequest {
  /** Ids under which operators find the sandbox. */
  readonly labels: { readonly run: string; readonly pass: string }
  /** Builds the program for the locations of the selected kind. */
  readonly program: (paths: SandboxPaths) => SandboxProgram
  /** Absolute path of the checkout. */
  readonly repository: string
  /** Absolute paths of folders with the agent's programs. They have the same path inside and are read-only. */
  readonly installation: ReadonlyArray<string>
  readonly limits: SandboxLimits
  /** Absolute paths of unix sockets of the service. */
  readonly sockets: { readonly model: string; readonly tools: string }
}

/** Reason for which a sandbox has ended. `engine` means that the sandbox itself failed. */
export type SandboxExit =
  | {
      readonly reason: "exited"
      /** Exit code of the program; 128 plus the number of the signal that ended it. */
      readonly code: number
    }
  | { readonly reason: SandboxLimit | "cancelled" | "engine"; readonly why: Reason }

export type SandboxLimit = "memory" | "processes" | "time" | "output"

export interface SandboxProcess {
  readonly kind: SandboxKind
  /** Facts that belong into the report of every run, for example that there is no isolation. */
  readonly notices: ReadonlyArray<Reason>
  /**
   * Lines of stdout, to be run once. A line over 1 MiB is cut there. A reader that stops reading blocks the program, and the time
   * limit ends it. The stream ends with the program and does not fail.
   */
  readonly lines: Stream.Stream<string>
  /** Waits until the main program has ended. Closing the scope earlier ends it as `cancelled`. */
  readonly exit: Effect.Effect<SandboxExit>
  /** Returns the last 16 KiB of stderr so far. Text of the program: untrusted. */
  readonly stderr: Effect.Effect<string>
}

export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", {
  /**
   * `missing`: a program, an engine or an image of the configured kind does not exist on this machine. `invalid`: the configuration
   * or the request is contradictory. `failed`: the sandbox could not be started, which may be transient.
   */
  reason: Schema.Literals(["missing", "invalid", "failed"]),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

export class Sandboxes extends Context.Service<
  Sandboxes,
  {
    /** Selects the kind that a run with this configuration uses. Fails with `missing` or `invalid` instead of using a weaker one. */
    readonly select: (config: SandboxConfig) => Effect.Effect<SandboxKind, SandboxError>
    /** Starts a program in a sandbox that ends with the scope. */
    readonly start: (
      config: SandboxConfig,
      request: SandboxOrder
    ) => Effect.Effect<SandboxProcess, SandboxError, Scope.Scope>
  }
>()("aicr/sandbox/Sandboxes") {}
