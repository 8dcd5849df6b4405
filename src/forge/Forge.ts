/**
 * The contract of a git host adapter. Every folder under forge/ has the same files: `webhook.ts` (pure: signature and payload),
 * `client.ts` (REST) and the row that joins them. Forgejo is gitea's row with its differences listed.
 */
import { Schema } from "effect"
import type { Effect, Redacted } from "effect"
import type { RejectReason } from "../domain/Decision.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { InlineComment, ReviewEvent, StatusState } from "../domain/Publication.ts"
import type { Person, Repo } from "../domain/Change.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { Writing } from "./WriteOwner.ts"
import type { CommitAuthor, CommitComments, HostIssues, HostThreads } from "./HostIssues.ts"
export type {
  CommitAuthor,
  CommitComments,
  HostIssue,
  HostIssues,
  HostLabel,
  HostThread,
  HostThreads,
  NewIssue,
  ReadIssue
} from "./HostIssues.ts"

/** Header names are lower-case, as node gives them. */
export type Headers = Readonly<Record<string, string | undefined>>

export type Parsed =
  | { readonly _tag: "Event"; readonly event: HostEvent }
  | {
      readonly _tag: "Rejected"
      readonly reason: Extract<RejectReason, "invalid_json" | "invalid_payload" | "missing_event">
      /** As the header names it. */
      readonly event: string | undefined
      readonly issues: ReadonlyArray<{ readonly path: string; readonly message: string }>
    }

/** The check of one secret against a signature. It is fed with the signed bytes, in pieces. */
export interface SignatureCheck {
  readonly update: (bytes: Uint8Array) => void
  /** Called once, after the last piece. Constant time. */
  readonly matches: () => boolean
}

/**
 * What the headers of a delivery claim, to be checked against one secret after the other. A boolean where the headers alone
 * decide. `now` (milliseconds since the epoch) is for hosts that sign a timestamp.
 */
export type Signature = (secret: Redacted.Redacted, now: number) => SignatureCheck | boolean

/** The inbound half: pure, no I/O, never throws on any input. */
export interface ForgeWebhook {
  /** What is signed where the body is a form: the form as it was sent, or the JSON in it. */
  readonly signs: "body" | "json"
  /**
   * Undefined when no signature header is present or one of them is malformed: no secret can be right, and the body need not be
   * read. A secret is right when every signature header that is present is right.
   */
  readonly signature: (headers: Headers) => Signature | undefined
  /** Identifies one delivery, also when the host sends it again. Undefined: the caller then hashes JSON and event. */
  readonly deliveryId: (headers: Headers, json: Uint8Array) => string | undefined
  /** The JSON of a delivery to a normalised event. Undefined: the form has no payload that could be decoded. */
  readonly parse: (headers: Headers, json: Uint8Array | undefined) => Parsed
}

export class ForgeError extends Schema.TaggedError<ForgeError>()("ForgeError", {
  /**
   * What the caller does next. `unauthorized`, `forbidden`, `not_found`, `invalid`: do not repeat. `rate_limited`, `unavailable`:
   * repeat after `retryAfterMillis`. `unknown_outcome`: the request was sent and the answer lost, so look before repeating.
   */
  reason: Schema.Literals([
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "invalid",
    "rate_limited",
    "unavailable",
    "unknown_outcome"
  ]),
  status: Schema.optional(Schema.Int),
  retryAfterMillis: Schema.optional(Schema.Int),
  /** The host fails all requests, not only this one: HostHealth.ts. */
  isOutage: Schema.optional(Schema.Boolean),
  /** `POST /repos/{owner}/{repo}/pulls/{index}/reviews`: method and path, never a query or a credential. */
  operation: Schema.String,
  message: Schema.String
}) {}

/** A pull request as it stands at the host now. */
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
}

/** What a change takes over of its pull request as it stands. Without an author where the host names none. */
export const changeOf = ({ repo, head, base, headRef, baseRef, title, description, url, author }: HostPull) => ({
  repo,
  head,
  base,
  headRef,
  baseRef,
  title,
  description,
  url,
  ...(author === undefined ? {} : { author })
})

export interface HostWrite {
  readonly hostId: string
  readonly url: string | undefined
}

/** A text of ours on a pull request. */
export interface OwnText extends HostWrite {
  readonly body: string
}

export interface NewReview {
  readonly head: string
  readonly event: ReviewEvent
  readonly body: string
  readonly comments: ReadonlyArray<InlineComment>
}

/** The outbound half for one trigger's credentials. Every method reads one repository. */
export interface ForgeClient {
  /**
   * Extra header for git over HTTP to this repository, `Authorization: Basic …`; undefined where the trigger has no credential.
   * Works for tokens and for app credentials, whose short-lived tokens are issued per repository.
   */
  readonly gitAuthorization: (repo: Repo) => Effect.Effect<Redacted.Redacted | undefined, ForgeError>
  readonly pull: (repo: Repo, number: number) => Effect.Effect<HostPull, ForgeError>
  /** Numbers of the open pull requests whose head is this commit; none where the host does not know the commit. */
  readonly openPulls: (repo: Repo, head: string) => Effect.Effect<ReadonlyArray<number>, ForgeError>
  /** Tip of a branch. */
  readonly branchHead: (repo: Repo, branch: string) => Effect.Effect<string, ForgeError>
  /** Tip of a branch that the host protects; undefined for an unprotected branch and where there is no such branch. */
  readonly protectedTip: (repo: Repo, branch: string) => Effect.Effect<string | undefined, ForgeError>
  /**
   * The newest commit of a branch (left out: of the default branch), or the newest that was there at a time (milliseconds since
   * the epoch). Undefined when there is none as old as that.
   */
  readonly newestCommit: (
    repo: Repo,
    of: { readonly branch?: string | undefined; readonly until?: number | undefined }
  ) => Effect.Effect<string | undefined, ForgeError>
  /** The account behind the credentials. */
  readonly self: Effect.Effect<Person, ForgeError>
  /** The numeric id that the host gives the repository of this name. */
  readonly repositoryId: (repo: Repo) => Effect.Effect<number, ForgeError>
  readonly canWrite: (repo: Repo, username: string) => Effect.Effect<boolean, ForgeError>
  /**
   * What the credential may not do on this repository that reviews need, in words for people; empty when nothing is known to
   * be missing. Reads only.
   */
  readonly missing: (repo: Repo) => Effect.Effect<ReadonlyArray<string>, ForgeError>
  /**
   * One review carrying all comments. A host that takes or leaves the whole review fails with `invalid` (422) when it refuses a
   * line; one that takes comments singly posts the rest and names the others in `refused`.
   */
  readonly createReview: (
    repo: Repo,
    number: number,
    review: NewReview
  ) => Effect.Effect<HostWrite & { readonly refused: ReadonlyArray<InlineComment> }, ForgeError, Writing>
  /** Our own requests for changes that count; undefined where reviews have no verdict (GitLab). */
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
  /** Our own reviews on the pull request: their bodies and inline comments, each once. Reads all pages. */
  readonly reviewTexts: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<OwnText>, ForgeError>
  readonly createComment: (repo: Repo, number: number, body: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly updateComment: (
    repo: Repo,
    number: number,
    hostId: string,
    body: string
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Our own comment on the pull request that holds `marker`. Reads all pages. */
  readonly findComment: (repo: Repo, number: number, marker: string) => Effect.Effect<OwnText | undefined, ForgeError>
  readonly setStatus: (
    repo: Repo,
    head: string,
    status: {
      readonly state: StatusState
      readonly description: string
      readonly url: string | undefined
    }
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly issues: HostIssues
  readonly threads: HostThreads
  /** Undefined where the host has no comments on commits (Gitea, Forgejo). */
  readonly commitComments: CommitComments | undefined
  /** Adds a label to a pull request; one that the repository lacks is created. */
  readonly addLabel: (repo: Repo, number: number, name: string) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** A text file at a branch or commit; undefined when there is none. */
  readonly file: (repo: Repo, ref: string, path: string) => Effect.Effect<string | undefined, ForgeError>
  readonly commitAuthor: (repo: Repo, head: string) => Effect.Effect<CommitAuthor, ForgeError>
  /** The account with an e-mail address that its owner shows; undefined where commits come with the account. */
  readonly accountOf: ((email: string) => Effect.Effect<string | undefined, ForgeError>) | undefined
}

export interface Forge {
  readonly kind: ForgeKind
  readonly webhook: ForgeWebhook
  readonly client: (profile: TriggerProfile) => ForgeClient
  /** The ref under which the host keeps the head of a pull request in the target repository. */
  readonly pullRef: (number: number) => string
  /** Header value for git over HTTP, e.g. `Authorization: Basic …`. */
  readonly gitAuthorization: (token: Redacted.Redacted) => Redacted.Redacted
  /** Longest body of a comment in characters. */
  readonly bodyLimit: number
}
