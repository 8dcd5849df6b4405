/** Issues of a repository, and what is needed to write them well: labels, files, authors, comments on commits. */
import type { Effect } from "effect"
import type { Repo } from "../domain/Change.ts"
import type { ForgeError, HostWrite, OwnText } from "./Forge.ts"
import type { Writing } from "./WriteOwner.ts"

export interface HostIssue extends OwnText {
  readonly number: number
  readonly title: string
  readonly state: "open" | "closed"
  /** Comments on it; all of them are other people's, because we write none. */
  readonly comments: number
}

/** Anybody's issue, as it stands now. */
export interface ReadIssue {
  readonly title: string
  readonly body: string
  readonly state: "open" | "closed"
  readonly labels: ReadonlyArray<string>
}

export interface NewIssue {
  readonly title: string
  readonly body: string
  /** Names; where the host wants ids they are looked up, and labels that are missing are created. */
  readonly labels: ReadonlyArray<HostLabel>
  /** Ids that the configuration names. Gitea and Forgejo only. */
  readonly labelIds: ReadonlyArray<number>
  /** Account names. Those that the host does not take are left out. */
  readonly assignees: ReadonlyArray<string>
}

export interface HostLabel {
  readonly name: string
  /** Six hexadecimal digits: a label that is missing gets this colour. Undefined: the host's own choice. */
  readonly color: string | undefined
}

export interface HostIssues {
  /** Our own issues, newest first, without pull requests; at most `most`. */
  readonly list: (
    repo: Repo,
    state: "open" | "closed",
    most: number
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
    }
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly remove: (repo: Repo, number: number) => Effect.Effect<void, ForgeError, Writing>
}

/** Who wrote a commit. The e-mail address is used for a decision and kept nowhere. */
export interface CommitAuthor {
  /** As the commit has it: whatever its author wrote there. */
  readonly name: string | undefined
  readonly email: string | undefined
  /** The host's account of the author, where the host names one with the commit. */
  readonly account: string | undefined
}

/** Comments on commits, for hosts that have them. */
export interface CommitComments {
  readonly create: (repo: Repo, head: string, body: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Our own comment on the commit that holds `marker`. */
  readonly find: (repo: Repo, head: string, marker: string) => Effect.Effect<OwnText | undefined, ForgeError>
}

/** An inline comment of ours, with what became of it. */
export interface HostThread {
  readonly hostId: string
  readonly body: string
  readonly path: string
  /** Accounts of others who resolved it, or on GitHub gave it a thumbs-down; at most the first hundred. */
  readonly dismissedBy: ReadonlyArray<string>
  /** Resolved by us, where the host can say so. */
  readonly resolved: boolean
  /** Somebody else answered it. */
  readonly replied: boolean
}

export interface HostThreads {
  /** Our own inline comments on the pull request. Reads all pages. */
  readonly list: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<HostThread>, ForgeError>
  /**
   * Says that the problem is gone. GitLab resolves the thread; Gitea, Forgejo and GitHub, whose REST APIs cannot, get `body` in
   * place of the comment. On GitHub the thread is then resolved, where the credential may.
   */
  readonly resolve: (
    repo: Repo,
    number: number,
    hostId: string,
    body: string
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
}
