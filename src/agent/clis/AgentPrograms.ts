/** Contract of the folder with the agent CLIs of this installation. `aicr agent install` fills it. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"
import type { AgentConfig, SandboxConfig } from "../../config/schema/Agent.ts"
import type { SandboxKind } from "../../sandbox/Sandbox.ts"

export type CliMode = Exclude<AgentConfig["default"], "native-llm">

export class AgentProgramError extends Schema.TaggedError<AgentProgramError>()("AgentProgramError", {
  /** `missing`: the CLI is not installed. `failed`: it could not be installed. */
  reason: Schema.Literals(["missing", "failed"]),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** A program that a sandbox can start. */
export interface AgentProgram {
  readonly mode: CliMode
  /** Undefined for a program of an image. */
  readonly version: string | undefined
  /** Whether the settings were tested with this version, or one with the same first two numbers. */
  readonly isTested: boolean
  /** The command and its first arguments, with absolute paths inside of the sandbox. */
  readonly command: readonly [string, ...ReadonlyArray<string>]
  /** Folder of the packages, inside of the sandbox. */
  readonly packages: string
  /** Folders to mount, for `SandboxRequest.installation`. */
  readonly installation: ReadonlyArray<string>
}

export class AgentPrograms extends Context.Service<
  AgentPrograms,
  {
    /** Folder of the installed CLIs. */
    readonly folder: string
    /** Returns the installed version; undefined if the mode is not installed in the folder. */
    readonly version: (mode: CliMode) => Effect.Effect<string | undefined>
    /** Returns the program for a sandbox. Containers without a configured image have the programs of the default image. */
    readonly find: (
      mode: CliMode,
      kind: SandboxKind,
      config: Pick<SandboxConfig, "image">
    ) => Effect.Effect<AgentProgram, AgentProgramError>
  }
>()("aicr/agent/AgentPrograms") {}
