/** Reads what a server records about a submitted change, for its routing. */
import { Context } from "effect"
import type { Effect, Result } from "effect"
import type { ChangedStream } from "../domain/ChangedStream.ts"
import type { CheckoutError } from "./Checkout.ts"
import type { VcsServer } from "./server/VcsServer.ts"

export interface SubmittedChange {
  readonly revision: string
  /** A shelved changelist is reviewed before its submit. */
  readonly state: "submitted" | "shelved"
  readonly author: string | undefined
  readonly client: string | undefined
  readonly description: string
  readonly streams: ReadonlyArray<ChangedStream>
  /** Identity of the repository, which a hook may report: UUID of Subversion, server id of Perforce. */
  readonly repository: string | undefined
}

export interface DescribeRequest {
  readonly server: VcsServer
  readonly revisions: ReadonlyArray<string>
  /**
   * Locations that are branches of their own: depot paths, of which streams below are branches too, or URLs of Subversion below a branch of the
   * layout.
   */
  readonly roots: ReadonlyArray<string>
  /** Perforce: depot path outside of which nothing is of interest; undefined: none. */
  readonly under: string | undefined
}

/** Undefined: the server has no such change, or the user may not read it. */
export type Described = Result.Result<SubmittedChange | undefined, CheckoutError>

export class SubmittedChanges extends Context.Service<
  SubmittedChanges,
  {
    /** Describes each of the revisions. Fails if that is true of all of them. */
    readonly describe: (request: DescribeRequest) => Effect.Effect<ReadonlyMap<string, Described>, CheckoutError>
  }
>()("aicr/vcs/SubmittedChanges") {}
