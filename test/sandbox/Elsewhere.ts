/** A service on another machine, which has a fixture of its own. `MachineService.ts` is the program of it. */
import type { KindUnderTest, Outcome, Program } from "./Fixture.ts"

/** Text in the environment of a service, which its sandboxes must not find. */
export const secretVariable = "s3cret-environment"

export type ServiceKind = Pick<KindUnderTest, "config" | "installation">

/** Remains of sandboxes, or parts of those that run. */
export interface Left {
  /** Processes whose command line contains the text. */
  readonly processes: number
  readonly folders: number
  readonly containers: number
}

export interface Elsewhere {
  /** Files of its machine that must not exist in a sandbox. */
  readonly files: ReadonlyArray<string>
  /** Runs to the end. Fails with the message of the service. */
  readonly run: (kind: ServiceKind, program: Program, limits: object) => Promise<Outcome>
  /** Starts a script in a sandbox of a further service, and kills that one. */
  readonly kill: (kind: ServiceKind, script: string) => Promise<void>
  readonly look: (text: string) => Promise<Left>
}

/** The request for each member of `Elsewhere`. */
export type ServiceRequest =
  | { readonly make: "run"; readonly kind: Required<ServiceKind>; readonly program: Program; readonly limits: object }
  | { readonly make: "kill"; readonly kind: Required<ServiceKind>; readonly script: string }
  | { readonly make: "look"; readonly text: string }

export type ServiceResponse<A> = { readonly value: A } | { readonly failed: string }
