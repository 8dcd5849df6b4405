/**
 * Contract of a git host adapter. Every folder under forge/ has the same files: `Webhook.ts` (pure: signature and payload),
 * `Client.ts` (REST) and the row that joins them. Forgejo is Gitea's row with its differences listed.
 */
import type { Effect, Redacted } from "effect"
import type { RejectReason } from "../domain/Decision.ts"
import type { EventFacts, HostEvent } from "../domain/HostEvent.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { InlineComment, ReviewEvent, StatusDetails, StatusState } from "../domain/Publication.ts"
import type { HeadRepo, Person, Repo } from "../domain/Change.ts"
import type { QueuedCommit } from "../domain/GroupMembers.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { HostHooks } from "./hosts/HostHooks.ts"
import type { ForgeError } from "./ForgeError.ts"
import type { HostTraffic } from "./HostTraffic.ts"
import type { HostChanges } from "./hosts/HostChanges.ts"
import type { HostCi } from "./hosts/HostCi.ts"
import type { HostConversations } from "./hosts/HostConversations.ts"
import type { Account } from "./hosts/OwnAccount.ts"
import type { HostWrite, OwnText } from "./HostWrite.ts"
import type { Writing } from "./WriteOwner.ts"
import type { CommitAuthor, CommitComments, HostIssues, HostThreads } from "./hosts/HostIssues.ts"
import type { Reason } from "../domain/Reason.ts"
export type {
  BranchTip,
  ChangedPull,
  ChangedPulls,
  FoundComment,
  HostChanges,
  HostDeliveries,
  HostOwner,
  LoggedDelivery,
  OpenIssue
} from "./hosts/HostChanges.ts"
export type {
  CommentReaction,
  Conversation,
  ConversationComment,
  ConversationTarget,
  HostConversations
} from "./hosts/HostConversations.ts"
export type { HookScope, HostHook, HostHooks, OwnedRepository } from "./hosts/HostHooks.ts"
export type { CiArtifact, CiRun, HostCi, Listed } from "./hosts/HostCi.ts"
export type {
  CommitAuthor,
  CommitComments,
  HostIssue,
  HostIssues,
  HostLabel,
  LabelChange,
  HostThread,
  HostThreads,
  NewIssue,
  ReadIssue
} from "./hosts/HostIssues.ts"

/** Header names are in lower case, as Node provides them. */
export type Headers = Readonly<Record<string, string | undefined>>

export type RejectedFacts = Pick<EventFacts, "action" | "sender" | "subject"> & { readonly repo: Repo | undefined }

export type Parsed =
  | { readonly _tag: "Event"; readonly event: HostEvent }
  | {
      readonly _tag: "Rejected"
      readonly reason: Extract<RejectReason, "invalid_json" | "invalid_payload" | "missing_event">
      /** Event name from the header. */
      readonly event: string | undefined
      /** Facts that place the delivery, as far as the rest of the payload could be read. */
      readonly facts: RejectedFacts | undefined
      readonly issues: ReadonlyArray<{ readonly path: string; readonly message: string }>
    }

/** Check of one secret against a signature. It receives the signed bytes in pieces. */
export interface SignatureCheck {
  readonly update: (bytes: Uint8Array) => void
  /** Called once, after the last piece. Constant time. */
  readonly matches: () => boolean
}

/**
 * Signature in the headers of a delivery, which is checked against one secret after the other. Returns a boolean where the
 * headers alone decide. `now` (milliseconds since the epoch) is for hosts that sign a timestamp.
 */
export type Signature = (secret: Redacted.Redacted, now: number) => SignatureCheck | boolean

/** The inbound half: pure, no I/O, never throws on any input. */
export interface ForgeWebhook {
  /** Signed bytes of a form body: the original form, or the JSON in it. */
  readonly signs: "body" | "json"
  /**
   * Undefined when no signature header is present or one of them is malformed: no secret can match, and the body need not be
   * read. A secret matches when every signature header that is present matches.
   */
  readonly signature: (headers: Headers) => Signature | undefined
  /**
   * Returns an id that stays the same when the host sends the delivery again. Undefined: the caller hashes JSON and event
   * instead.
   */
  readonly deliveryId: (headers: Headers, json: Uint8Array) => string | undefined
  /** Converts the JSON of a delivery to a normalised event. `json` is undefined for a form without a valid payload. */
  readonly parse: (headers: Headers, json: Uint8Array | undefined) => Parsed
}

/** Current state of a pull request at the host. */
export interface HostPull {
  readonly number: number
  readonly state: "open" | "closed" | "merged"
  readonly draft: boolean
  readonly head: string
  readonly base: string
  readonly headRef: string
  readonly baseRef: string
  readonly title: string
  readonly description: string
  readonly url: string
  readonly author: Person | undefined
  readonly labels: ReadonlyArray<string>
  readonly repo: Repo
  /** Repository of the head; undefined if the host does not name it. */
  readonly headRepo: HeadRepo | undefined
  /** Default branch of its repository; undefined where the host does not name it with a pull request. */
  readonly defaultBranch?: string | undefined
  /** Number of its published comments, those on lines included; undefined where the host does not say. No host counts drafts. */
  readonly comments?: number | undefined
  /** Commit of the base branch that has what was merged, squashed and rebased changes included; undefined unless it is merged. */
  readonly mergeCommit?: string | undefined
  /** Undefined unless it is merged, and where the host does not say. */
  readonly mergedBy?: Person | undefined
}

/** The merge queue of a repository. */
export interface HostMergeQueue {
  /** Returns at most 100 commits of the branch of a group, its tip first. */
  readonly commits: (repo: Repo, branch: string) => Effect.Effect<ReadonlyArray<QueuedCommit>, ForgeError>
  /** Returns the numbers of the pull requests that are queued into a branch, by the tips of the branches of the queue. */
  readonly tips: (repo: Repo, baseRef: string) => Effect.Effect<ReadonlyMap<string, number>, ForgeError>
}

interface HostBranch {
  readonly commit: string
  readonly isProtected: boolean
  /** Undefined where the host does not say. */
  readonly isDefault?: boolean | undefined
}

/** Returns the fields of a change that come from its pull request. Without an author where the host names none. */
export const toChange = ({
  repo,
  head,
  base,
  headRef,
  headRepo,
  baseRef,
  title,
  description,
  url,
  author
}: HostPull) => ({
  repo,
  head,
  base,
  headRef,
  baseRef,
  title,
  description,
  url,
  ...(headRepo === undefined ? {} : { headRepo }),
  ...(author === undefined ? {} : { author })
})

/** A review or draft that only its account sees. */
export interface PendingReview {
  /** Its own text and those of its comments. */
  readonly texts: ReadonlyArray<string>
  readonly discard: Effect.Effect<void, ForgeError, Writing>
}

/** Treatment of reviews and drafts that are pending under the same account, because hosts publish them together with the new review. */
export interface PendingPolicy {
  /** True if an earlier attempt may have left a part of this review. */
  readonly isResumed: boolean
  /** Discards what the service wrote. Fails with `pending_review` if there is anything else. */
  readonly settle: (pending: ReadonlyArray<PendingReview>) => Effect.Effect<void, ForgeError, Writing>
}

export interface NewReview {
  readonly head: string
  readonly event: ReviewEvent
  readonly body: string
  readonly comments: ReadonlyArray<InlineComment>
  readonly pending: PendingPolicy
}

/** The verdict about a commit, as a host shows it. */
export interface HostStatus {
  readonly state: StatusState
  /** One line of at most 140 characters. */
  readonly description: string
  readonly url: string | undefined
  /** The same for each attempt to write it. */
  readonly key: string
  /** Number of the pull request whose review it is. */
  readonly number: number | undefined
  readonly details?: StatusDetails | undefined
}

/** The outbound half for the credentials of one trigger. Each method acts on one repository. */
export interface ForgeClient {
  /**
   * Returns the additional header for git over HTTP to this repository, `Authorization: Basic …`; undefined where the trigger has
   * no credential. Supports tokens and app credentials, whose short-lived tokens are issued per repository.
   */
  readonly gitAuthorization: (repo: Repo) => Effect.Effect<Redacted.Redacted | undefined, ForgeError>
  readonly pull: (repo: Repo, number: number) => Effect.Effect<HostPull, ForgeError>
  /** Replaces the description of a pull request. May be repeated. */
  readonly describe: (repo: Repo, number: number, description: string) => Effect.Effect<void, ForgeError, Writing>
  /** Numbers of the open pull requests with this head commit; empty for a commit that the host does not have. */
  readonly openPulls: (repo: Repo, head: string) => Effect.Effect<ReadonlyArray<number>, ForgeError>
  /** Tip of a branch. */
  readonly branchHead: (repo: Repo, branch: string) => Effect.Effect<string, ForgeError>
  /** Tip of a branch; undefined for a missing one. */
  readonly branchTip: (repo: Repo, branch: string) => Effect.Effect<HostBranch | undefined, ForgeError>
  /**
   * Returns the newest commit of a branch (by default of the default branch), or the newest one at `until` (milliseconds since
   * the epoch). Undefined when no commit is that old.
   */
  readonly newestCommit: (
    repo: Repo,
    of: { readonly branch?: string | undefined; readonly until?: number | undefined }
  ) => Effect.Effect<string | undefined, ForgeError>
  /** Undefined where the host has no merge queue. */
  readonly mergeQueue?: HostMergeQueue
  /** Account of the credentials. */
  readonly self: Effect.Effect<Account, ForgeError>
  /** Numeric id of the repository at the host. */
  readonly repositoryId: (repo: Repo) => Effect.Effect<number, ForgeError>
  /** Fails with `forbidden` where the host does not disclose it to the account. */
  readonly canWrite: (repo: Repo, username: string) => Effect.Effect<boolean, ForgeError>
  /**
   * Names of accounts that may write, folded to lower case, in one list of bounded length; undefined where the host has no such list, and
   * where only people with rights resolve conversations.
   */
  readonly writers: ((repo: Repo) => Effect.Effect<ReadonlySet<string>, ForgeError>) | undefined
  /** Account of the person to whom a fork of `original` belongs; undefined for that of a group, and for one that is hidden. */
  readonly ownerOf: (fork: HeadRepo, original: Repo) => Effect.Effect<string | undefined, ForgeError>
  /**
   * Lists the permissions for this repository that reviews need and the credential lacks; empty when none
   * is known to be missing. Reads only.
   */
  readonly missing: (repo: Repo) => Effect.Effect<ReadonlyArray<Reason>, ForgeError>
  readonly hooks: HostHooks
  /**
   * Creates one review with all comments. A host that accepts a review only as a whole fails with `invalid` (422) when it refuses
   * a line; one that accepts comments one by one posts the others and returns the refused ones in `refused`. Nothing that is pending
   * under the account is published with it.
   */
  readonly createReview: (
    repo: Repo,
    number: number,
    review: NewReview
  ) => Effect.Effect<HostWrite & { readonly refused: ReadonlyArray<InlineComment> }, ForgeError, Writing>
  /** Requests for changes by the own account that are in force; undefined where reviews have no verdict (GitLab). */
  readonly verdicts:
    | {
        readonly requests: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<OwnText>, ForgeError>
        readonly dismiss: (
          repo: Repo,
          number: number,
          hostId: string,
          message: string
        ) => Effect.Effect<HostWrite, ForgeError, Writing>
      }
    | undefined
  /**
   * Published reviews by the own account on the pull request: their bodies and inline comments, each once. Where bodies can be edited, their ids
   * are ids of comments, for `updateComment` and `commentText`. Reads all pages.
   */
  readonly reviewTexts: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<OwnText>, ForgeError>
  readonly createComment: (repo: Repo, number: number, body: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly updateComment: (
    repo: Repo,
    number: number,
    hostId: string,
    body: string
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Text of a comment on the pull request; undefined if it was deleted. */
  readonly commentText: (repo: Repo, number: number, hostId: string) => Effect.Effect<string | undefined, ForgeError>
  /** Comment by the own account on the pull request that contains `marker`. Reads all pages. */
  readonly findComment: (repo: Repo, number: number, marker: string) => Effect.Effect<OwnText | undefined, ForgeError>
  /**
   * Shows the verdict about a commit under the name `aicr/review`: as its status, or as a check run where the host has them for the
   * credential. `WrittenStatus` has what the records contain about it.
   */
  readonly setStatus: (repo: Repo, head: string, status: HostStatus) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly changes: HostChanges
  readonly issues: HostIssues
  readonly threads: HostThreads
  readonly conversations: HostConversations
  /** Undefined where the API of the host has no artifacts of CI runs (Forgejo). */
  readonly ci: HostCi | undefined
  /** Undefined where the host has no comments on commits (Gitea, Forgejo). */
  readonly commitComments: CommitComments | undefined
  /** Adds a label to a pull request. Creates the label if the repository has none of this name. */
  readonly addLabel: (repo: Repo, number: number, name: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Text file at a branch or commit; undefined if it does not exist. */
  readonly file: (repo: Repo, ref: string, path: string) => Effect.Effect<string | undefined, ForgeError>
  readonly commitAuthor: (repo: Repo, head: string) => Effect.Effect<CommitAuthor, ForgeError>
  /** Finds the account with a public e-mail address; undefined where the host returns commits with their account. */
  readonly findAccount: ((email: string) => Effect.Effect<string | undefined, ForgeError>) | undefined
}

export interface Forge {
  readonly kind: ForgeKind
  readonly webhook: ForgeWebhook
  readonly client: (profile: TriggerProfile, traffic: HostTraffic["Service"]) => ForgeClient
  /** The ref under which the host keeps the head of a pull request in the target repository. */
  readonly pullRef: (number: number) => string
  /** Header value for git over HTTP, e.g. `Authorization: Basic …`. */
  readonly gitAuthorization: (token: Redacted.Redacted) => Redacted.Redacted
  /** Longest body of a comment in characters. */
  readonly bodyLimit: number
}
