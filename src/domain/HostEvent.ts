/**
 * A verified delivery, normalised: what a host said, before anything is decided. Produced by `Forge.parse`, consumed by
 * `admit`. Names and rules: decisions.md 2.3.
 */
import type { Person, Repo } from "./Change.ts"
import type { ForgeKind } from "./Kinds.ts"

export interface EventFacts {
  readonly provider: ForgeKind
  /** The host's own event and action names, for records and answers. */
  readonly event: string
  readonly action: string | undefined
  readonly repo: Repo
  readonly sender: Person | undefined
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

/** What source exclusion looks at. Not kept: the e-mail address leaves no trace in records. */
export interface CommitFacts {
  readonly author: string | undefined
  readonly email: string | undefined
  readonly message: string
}

export type HostEvent =
  /** A pull request that should be reviewed if configuration allows. */
  | ({ readonly _tag: "PullRequestUpdated"; readonly pull: PullRequestFacts } & EventFacts)
  /** Closed or merged: waiting work for it is cancelled. */
  | ({ readonly _tag: "PullRequestClosed"; readonly number: number; readonly baseRef: string | undefined } & EventFacts)
  | ({
      readonly _tag: "Pushed"
      readonly branch: string
      readonly before: string
      readonly after: string
      readonly created: boolean
      readonly commits: number
      /** As many of the commits as the host lists, at most 100. */
      readonly listed: ReadonlyArray<CommitFacts>
    } & EventFacts)
  /** `/aicr review`, `/review`, `/aicr help`, `/aicr cancel` in a comment on a pull request. */
  | ({
      readonly _tag: "Commanded"
      readonly command: "review" | "help" | "cancel"
      readonly number: number
      /** The branch that the pull request is to be merged into; not all hosts say it with a comment. */
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
  /** App installation changed: cached tokens of the owner are dropped. */
  | ({ readonly _tag: "Lifecycle" } & Omit<EventFacts, "repo">)
  | ({ readonly _tag: "Ignored"; readonly reason: "unsupported_event" | "unsupported_action" | "own_event" } & Omit<
      EventFacts,
      "repo"
    > & {
        readonly repo: Repo | undefined
      })
