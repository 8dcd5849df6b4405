/** Issues of a repository, and related data: labels, authors, comments on commits and on lines. */
import type { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostWrite, OwnText } from "../HostWrite.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Writing } from "../WriteOwner.ts"

export interface HostIssue extends OwnText {
  readonly number: number
  readonly title: string
  readonly state: "open" | "closed"
  /** Number of comments; all of them are by other accounts, because the service writes none. */
  readonly comments: number
  readonly labels: ReadonlyArray<string>
}

/** Current state of an issue by any author. */
export interface ReadIssue {
  readonly title: string
  readonly body: string
  readonly state: "open" | "closed"
  readonly labels: ReadonlyArray<string>
  /** True for an issue that only some of the readers of the repository may read. */
  readonly confidential?: true
}

export interface NewIssue {
  readonly title: string
  readonly body: string
  /** Names. The client resolves them to ids where the host requires ids, and creates missing labels. */
  readonly labels: ReadonlyArray<HostLabel>
  /** Ids from the configuration. Gitea and Forgejo only. */
  readonly labelIds: ReadonlyArray<number>
  /** Account names. Those that the host does not accept are omitted. */
  readonly assignees: ReadonlyArray<string>
}

export interface HostLabel {
  readonly name: string
  /** Six hexadecimal digits: the colour of a label that has to be created. Undefined: the default of the host. */
  readonly color: string | undefined
}

/** A label that an issue gets, created where it is missing, and the names of those whose place it takes. */
export interface LabelChange {
  readonly added: HostLabel
  readonly removed: ReadonlyArray<string>
}

export interface HostIssues {
  /** Issues by the own account, newest first, without pull requests; at most `max`. */
  readonly list: (
    repo: Repo,
    state: "open" | "closed",
    max: number
  ) => Effect.Effect<ReadonlyArray<HostIssue>, ForgeError>
  readonly read: (repo: Repo, number: number) => Effect.Effect<ReadIssue, ForgeError>
  readonly create: (repo: Repo, issue: NewIssue) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly edit: (
    repo: Repo,
    number: number,
    change: {
      readonly title?: string | undefined
      readonly body?: string | undefined
      readonly state?: "open" | "closed" | undefined
      readonly labels?: LabelChange | undefined
    }
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly remove: (repo: Repo, number: number) => Effect.Effect<void, ForgeError, Writing>
}

/** Author of a commit. The e-mail address is used for a decision and not stored. */
export interface CommitAuthor {
  /** Name in the commit itself: arbitrary text of its author. */
  readonly name: string | undefined
  readonly email: string | undefined
  /** Account of the author, where the host returns one with the commit. */
  readonly account: string | undefined
}

/** Comments on commits, for hosts that have them. */
export interface CommitComments {
  readonly create: (repo: Repo, head: string, body: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Comment by the own account on the commit that contains `marker`. */
  readonly find: (repo: Repo, head: string, marker: string) => Effect.Effect<OwnText | undefined, ForgeError>
}

/** Inline comment by the own account and the reactions to it. */
export interface HostThread {
  readonly hostId: string
  readonly body: string
  readonly path: string
  /** Line of `side` that the host returns: where the comment was written, on GitLab where its code is now. */
  readonly line?: number | undefined
  readonly side?: "new" | "old"
  /** Id of its review, where the host has reviews. */
  readonly review?: string | undefined
  /** Accounts of others who resolved it, or on GitHub gave it a thumbs-down; at most the first hundred. */
  readonly dismissedBy: ReadonlyArray<string>
  /** Resolved by the own account, where the host reports it. */
  readonly resolved: boolean
  /** Another account replied to it. */
  readonly replied: boolean
  /** Id of the comment itself, where `hostId` names its thread (GitLab). */
  readonly commentId?: string | undefined
}

export interface HostThreads {
  /** Inline comments by the own account on the pull request. Reads all pages. */
  readonly list: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<HostThread>, ForgeError>
  /**
   * Marks the problem as resolved. On GitLab the thread is resolved. Gitea, Forgejo and GitHub cannot do this over REST, so
   * `body` replaces the comment. On GitHub the thread is then resolved over GraphQL, where the credential permits it.
   */
  readonly resolve: (
    repo: Repo,
    number: number,
    hostId: string,
    body: string
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Replaces the text of the comment, and resolves its thread, or opens it again, where the API can. May be repeated. */
  readonly mark: (
    repo: Repo,
    number: number,
    thread: Pick<HostThread, "hostId" | "commentId">,
    body: string,
    isResolved: boolean
  ) => Effect.Effect<void, ForgeError, Writing>
}
