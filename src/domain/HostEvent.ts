/** A verified delivery, normalised but not decided yet. Produced by `Forge.parse`, consumed by `admit`. */
import type { CommentPlace, Person, Repo } from "./Change.ts"
import type { Command } from "./CommentCommand.ts"
import type { ForgeKind } from "./Kinds.ts"

/**
 * Facts that place a delivery, as far as its payload contains them. They are read for every delivery, before it is decided, and only
 * describe it: an invalid value is missing here.
 */
export interface DeliverySubject {
  readonly kind: "pull_request" | "issue" | "push" | "merge_group" | undefined
  readonly number: number | undefined
  readonly head: string | undefined
  /** Target branch of a pull request or merge group, or the pushed branch. */
  readonly branch: string | undefined
  /** Username of the author of the pull request or issue. */
  readonly author: string | undefined
  /** Username of the person who pushed the head of a pull request, or opened it with that head as its author. */
  readonly pusher: string | undefined
  /** Title of the pull request or issue. */
  readonly title: string | undefined
}

export const noSubject: DeliverySubject = {
  kind: undefined,
  number: undefined,
  head: undefined,
  branch: undefined,
  author: undefined,
  pusher: undefined,
  title: undefined
}

export interface EventFacts {
  readonly provider: ForgeKind
  /** The host's event and action names, for records and responses. */
  readonly event: string
  readonly action: string | undefined
  readonly repo: Repo
  readonly sender: Person | undefined
  readonly subject: DeliverySubject
}

export interface PullRequestFacts {
  readonly number: number
  readonly head: string | undefined
  readonly base: string | undefined
  readonly headRef: string | undefined
  readonly baseRef: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly url: string | undefined
  readonly author: Person | undefined
  readonly draft: boolean
  readonly labels: ReadonlyArray<string>
}

/** A group of pull requests in a merge queue. */
export interface MergeGroupFacts {
  /** The branch that the host made for the group. */
  readonly branch: string
  /** The branch that it is merged into. */
  readonly baseRef: string
  /** The last pull request of the group; undefined if its branch does not name it. */
  readonly number: number | undefined
}

/** Input of source exclusion. Never stored, so that e-mail addresses leave no trace in records. */
export interface CommitFacts {
  /** Only of a push that a search found. */
  readonly id?: string | undefined
  readonly author: string | undefined
  readonly email: string | undefined
  readonly message: string
}

export type IgnoredEvent = Extract<HostEvent, { readonly _tag: "Ignored" }>

export type HostEvent =
  /** A pull request that should be reviewed if the configuration allows. */
  | ({
      readonly _tag: "PullRequestUpdated"
      readonly pull: PullRequestFacts
      /** Whether it was only opened or pushed. Otherwise a person did more, such as a change of its base or a request for a review. */
      readonly isHeadOnly: boolean
    } & EventFacts)
  /** Closed or merged: waiting work for it is cancelled. */
  | ({ readonly _tag: "PullRequestClosed"; readonly number: number; readonly baseRef: string | undefined } & EventFacts)
  /** A merge queue requests the checks of a group. */
  | ({
      readonly _tag: "MergeGroupQueued"
      readonly group: MergeGroupFacts
      readonly head: string
      readonly base: string
      /** Present if a person pressed the button that repeats its check. */
      readonly isRepeated?: true
    } & EventFacts)
  /** The group was merged, or left its queue: waiting work for it is cancelled. */
  | ({ readonly _tag: "MergeGroupEnded"; readonly group: MergeGroupFacts } & EventFacts)
  | ({
      readonly _tag: "Pushed"
      readonly branch: string
      readonly before: string
      readonly after: string
      readonly created: boolean
      readonly commits: number
      /** The commits listed by the host, at most 100. */
      readonly listed: ReadonlyArray<CommitFacts>
    } & EventFacts)
  /** Command in a comment on a pull request, or by a button of the host. */
  | ({
      readonly _tag: "Commanded"
      readonly command: Command
      /** The button that repeats a check. */
      readonly isButton?: true
      readonly number: number
      /** Target branch of the pull request; not all hosts send it with a comment. */
      readonly baseRef: string | undefined
      readonly title: string | undefined
      readonly url: string | undefined
      /** Undefined where the delivery does not name it: the text of a review at Gitea and Forgejo. */
      readonly comment: CommentPlace | undefined
    } & EventFacts)
  /** A comment of a person that may expect a reply: it replies in a thread, or it addresses the service. */
  | ({
      readonly _tag: "Discussed"
      /** Number of the pull request or issue; undefined for a comment on a commit. */
      readonly number: number | undefined
      readonly comment: CommentPlace
      /** Text of the comment. It is used for the decision and not stored: the reply is to the text that the host has then. */
      readonly body: string
      /**
       * Whether the comment may be a reply in a thread of the service. GitHub names the comment that it replies to. At GitLab the first
       * comment of a thread looks the same, and at Gitea and Forgejo every comment on a pull request does.
       */
      readonly isReply: boolean
      /** Target branch of the pull request; not all hosts send it with a comment. */
      readonly baseRef: string | undefined
      readonly title: string | undefined
      readonly url: string | undefined
    } & EventFacts)
  | ({
      readonly _tag: "IssueChanged"
      readonly number: number
      readonly title: string | undefined
      readonly url: string | undefined
    } & EventFacts)
  | ({ readonly _tag: "Ping" } & Omit<EventFacts, "repo">)
  /** An app installation changed, so that cached tokens of the owner are dropped; or a repository was created, renamed, moved or the like. */
  | ({ readonly _tag: "Lifecycle"; readonly changed: "installation" | "repository" } & Omit<EventFacts, "repo">)
  | ({ readonly _tag: "Ignored"; readonly reason: "unsupported_event" | "unsupported_action" | "own_event" } & Omit<
      EventFacts,
      "repo"
    > & {
        readonly repo: Repo | undefined
        /** Username of the author of the comment that the event is about, as far as the payload has it. */
        readonly writer?: string | undefined
      })
