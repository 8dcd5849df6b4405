/**
 * Lists what changed at a host, so that changes are found whose deliveries never arrived (actors/catchup/CatchUp.ts). Reads only. All times
 * are those of the host, in milliseconds since the epoch: its clock may differ from that of the service.
 */
import type { Effect } from "effect"
import type { CommentPlace, Person, Repo } from "../../domain/Change.ts"
import type { CommitFacts, HostEvent } from "../../domain/HostEvent.ts"
import type { StatusState } from "../../domain/Publication.ts"
import type { ForgeError } from "../ForgeError.ts"

export interface ChangedPull {
  readonly repo: Repo
  readonly number: number
  /** A push, a comment and an edit count as an update. */
  readonly updatedAt: number
}

export interface ChangedPulls {
  /** Open, closed and merged ones, the latest update first, each once. */
  readonly pulls: ReadonlyArray<ChangedPull>
  /** Number of further ones, beyond the maximum; a lower bound where the host returns no total. */
  readonly more: number
}

/** A namespace: an organisation, a group or a person, with the repositories in it that are known. */
export interface HostOwner {
  readonly name: string
  /** Full names. Read one by one where the host has no list of the owner. */
  readonly repositories: ReadonlyArray<string>
}

export interface OpenIssue {
  readonly repo: Repo
  readonly number: number
  readonly title: string
  readonly url: string | undefined
  readonly author: Person | undefined
  readonly createdAt: number
  /** A comment and an edit count as an update. */
  readonly updatedAt: number
}

/** A comment on a pull request, or on its lines where deliveries of such comments may hold commands. */
export interface FoundComment {
  /** The same as in a delivery about it, except for the thread, which not all lists name. */
  readonly place: CommentPlace
  /** The same as in a delivery about it. */
  readonly isReply: boolean
  readonly body: string
  readonly author: Person | undefined
  readonly createdAt: number
}

export interface BranchTip {
  readonly branch: string
  readonly head: string
}

/** An attempt of the host to deliver an event, in the log of the host. */
export interface LoggedDelivery {
  readonly id: string
  /** The same for all attempts to deliver an event. */
  readonly guid: string
  readonly at: number
  readonly isReceived: boolean
  /** Whether it repeats an earlier attempt. */
  readonly isRepeated: boolean
  /** Whether work may start from such an event. */
  readonly mayStart: boolean
  readonly repositoryId: number | undefined
}

export interface HostDeliveries {
  /** Returns the attempts since a time, the latest first, at most `max`; `more`: further ones, a lower bound. */
  readonly list: (
    since: number,
    max: number
  ) => Effect.Effect<{ readonly deliveries: ReadonlyArray<LoggedDelivery>; readonly more: number }, ForgeError>
  /** Returns what was to be delivered; undefined if it cannot be read. */
  readonly event: (id: string) => Effect.Effect<HostEvent | undefined, ForgeError>
  /** Makes the host deliver it again, under the same GUID. */
  readonly repeat: (id: string) => Effect.Effect<void, ForgeError>
}

export interface HostChanges {
  /** Deliveries to the webhook of an app; undefined for other credentials, which have no webhook of their own. */
  readonly deliveries: HostDeliveries | undefined
  /**
   * Returns the pull requests of an owner that were updated at or after `since`, at most `max`; without `since` all of them count. One
   * list serves all repositories of the owner where the host has such a list.
   */
  readonly pulls: (owner: HostOwner, since: number | undefined, max: number) => Effect.Effect<ChangedPulls, ForgeError>
  /**
   * Returns the open issues of an owner that were updated at or after `since`, at most `max`; `more`: further ones, a lower bound. Undefined
   * where issues are not triaged.
   */
  readonly issues:
    | ((
        owner: HostOwner,
        since: number,
        max: number
      ) => Effect.Effect<{ readonly issues: ReadonlyArray<OpenIssue>; readonly more: number }, ForgeError>)
    | undefined
  /** Returns the comments that were written at or after `since`, oldest first. */
  readonly comments: (
    repo: Repo,
    number: number,
    since: number
  ) => Effect.Effect<ReadonlyArray<FoundComment>, ForgeError>
  /** Returns the tips of these branches that exist; of all branches if undefined. Of several, one request reads those that a page of the host has. */
  readonly tips: (
    repo: Repo,
    branches: ReadonlyArray<string> | undefined
  ) => Effect.Effect<ReadonlyArray<BranchTip>, ForgeError>
  /** Returns what `after` has and `before` has not, as a delivery of the push would: the number of commits, and at most 100 of them. */
  readonly pushed: (
    repo: Repo,
    before: string,
    after: string
  ) => Effect.Effect<{ readonly commits: number; readonly listed: ReadonlyArray<CommitFacts> }, ForgeError>
  /** Returns the latest status of the service on a commit, as far as its own account set it. */
  readonly ownStatus: (
    repo: Repo,
    head: string
  ) => Effect.Effect<{ readonly state: StatusState; readonly at: number } | undefined, ForgeError>
}
