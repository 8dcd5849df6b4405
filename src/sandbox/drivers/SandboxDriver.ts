/** Contract between the kinds of sandboxes and what they have in common. A kind starts `Inside.ts` in isolation, and ends it. */
import type { Effect, Scope } from "effect"
import type { Readable, Writable } from "node:stream"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import type { SandboxError, SandboxLimit, SandboxPaths, SandboxRequest } from "../Sandbox.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface StartedSandbox {
  readonly notices: ReadonlyArray<Reason>
  readonly paths: SandboxPaths
  /** Sockets of the service at their paths inside. */
  readonly sockets: { readonly model: string; readonly tools: string }
  /** Variables that the kind adds to the environment of the program. */
  readonly environment: Readonly<Record<string, string>>
  /** Whether counters of the sandbox's own control group are visible inside. */
  readonly watchesCgroup: boolean
  /** Processes and threads above which `Inside.ts` ends the program, where nothing outside limits them. */
  readonly maxTasks?: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Begins to end all processes. Harmless after the end. */
  readonly kill: () => void
  /** Settles when no process is left; never rejects. */
  readonly ended: Promise<SandboxEnd>
  /** Calls back when the kind notices that a limit is exceeded. */
  readonly onLimit: (notify: (limit: SandboxLimit) => void) => void
}

export interface SandboxEnd {
  /** Exit code of `Inside.ts`; undefined if it is not known. */
  readonly code: number | undefined
  /** The limit that was exceeded, as far as the kind can determine it. */
  readonly limit?: SandboxLimit | undefined
  /** Failure of the kind's own program. */
  readonly failure?: Reason | undefined
}

/** Folder and name of one sandbox, which its kind gets from the common part. */
export interface SandboxSlot {
  /** Name that identifies the sandbox and its owner, as in `ProcessMark`. */
  readonly mark: string
  /** Folder of the sandbox on this machine, removed with it. */
  readonly folder: string
  /** `inside.mjs` in that folder. */
  readonly inside: string
  /** An empty folder in that folder. */
  readonly empty: string
}

export interface SandboxDriver {
  /** Returns why this kind cannot run on this machine with this configuration, or undefined. */
  readonly problem: (config: SandboxConfig) => Effect.Effect<SandboxError | undefined>
  readonly start: (
    config: SandboxConfig,
    request: SandboxRequest,
    slot: SandboxSlot
  ) => Effect.Effect<StartedSandbox, SandboxError, Scope.Scope>
  /** Removes what a sandbox of a process that no longer runs left behind, given its folder. Repeatable. */
  readonly sweep: (mark: string, folder: string) => Effect.Effect<void, SandboxError>
}
