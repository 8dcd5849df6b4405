/** Reads what a server records about submitted changes: those that are routed, and the list of those since a number. */
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

/** A submitted changelist or revision in a list. */
export interface SubmittedRevision {
  readonly revision: number
  readonly author: string | undefined
  /** Time of the commit by the clock of the server, in milliseconds since the epoch. */
  readonly at: number | undefined
}

export interface ListRequest {
  readonly server: VcsServer
  /** Depot paths of Perforce, `//depot/main/...`. Subversion has one, the URL of the server. */
  readonly paths: ReadonlyArray<{
    readonly path: string
    /** Changes with greater numbers are listed; undefined: none, only the newest number is found. */
    readonly after: number | undefined
  }>
  /** Maximum number of changes per path; the newest are listed. */
  readonly limit: number
}

export interface ListedChanges {
  /** The newest first, each once. */
  readonly changes: ReadonlyArray<SubmittedRevision>
  /** Number of the newest change of each path, or of all paths that were listed together; 0: there is none. */
  readonly newest: ReadonlyMap<string, number>
  /** Identity of the repository as in `SubmittedChange`, if changes of Subversion were listed. */
  readonly repository: string | undefined
  /** A list was cut at the limit. */
  readonly isCut: boolean
}

export interface ShelvesRequest {
  readonly server: VcsServer
  /** Numbers of shelved changelists. */
  readonly changelists: ReadonlyArray<string>
  /** Branches that they change. */
  readonly branches: ReadonlyArray<string>
}

export interface EndedShelf {
  readonly changelist: string
  /** Number of the submitted changelist; undefined: the shelf or its changelist was deleted without a submit. */
  readonly submittedAs: string | undefined
}

export class SubmittedChanges extends Context.Service<
  SubmittedChanges,
  {
    /** Describes each of the revisions. Fails if that is true of all of them. */
    readonly describe: (request: DescribeRequest) => Effect.Effect<ReadonlyMap<string, Described>, CheckoutError>
    /** Lists changes by one command, and one more for each path of which only the newest number is found. */
    readonly list: (request: ListRequest) => Effect.Effect<ListedChanges, CheckoutError>
    /** Returns the shelves that no longer exist, by one command, and at most three more for each of these. Subversion has none. */
    readonly endedShelves: (request: ShelvesRequest) => Effect.Effect<ReadonlyArray<EndedShelf>, CheckoutError>
  }
>()("aicr/vcs/SubmittedChanges") {}
