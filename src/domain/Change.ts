/**
 * A change under review, as every part behind the ingress sees it. Host payloads become this in `src/forge/<kind>/webhook.ts`
 * and nothing else reads them.
 */
import { Schema } from "effect"
import { TargetKind, TriggerKind } from "./Kinds.ts"

/** A repository as its host names it. `fullName` is `owner/name` (GitLab: `group/sub/name`), in the host's spelling. */
export const Repo = Schema.Struct({
  fullName: Schema.String,
  /** HTTP(S) clone URL without credentials, below the configured base URL of the host. */
  cloneUrl: Schema.optional(Schema.String),
  webUrl: Schema.optional(Schema.String),
  /** Numeric id at the host, as a payload claims it or the host says it. Match rules may name it; requests go by `fullName`. */
  hostId: Schema.optional(Schema.Int)
})
export type Repo = typeof Repo.Type

/** A person as the host names them. No e-mail address is kept here: it is never echoed (decisions 2.4). */
export const Person = Schema.Struct({
  username: Schema.String,
  name: Schema.optional(Schema.String)
})
export type Person = typeof Person.Type

/** The thing whose reviews are serial and published together: one PR/MR, branch, issue or manual range. */
export const Target = Schema.Struct({
  kind: TargetKind,
  /** PR/MR or issue number (GitLab: iid). */
  number: Schema.optional(Schema.Int),
  /** Branch without `refs/heads/`, for push and scheduled targets; for manual ones the range as it was asked for. */
  branch: Schema.optional(Schema.String)
})
export type Target = typeof Target.Type

export const Change = Schema.Struct({
  provider: TriggerKind,
  /** Name of the trigger profile that admitted it. */
  trigger: Schema.String,
  /** Name of the trigger profile of the git host that has the repository, where it is another one: see `hostTrigger`. */
  host: Schema.optional(Schema.String),
  workspace: Schema.String,
  repo: Repo,
  target: Target,
  /** Full commit id of the head. Absent where the host did not say (comment commands): looked up before the run. */
  head: Schema.optional(Schema.String),
  /** Tip of the base branch (PR/MR) or the commit before the push. Absent: looked up. */
  base: Schema.optional(Schema.String),
  headRef: Schema.optional(Schema.String),
  baseRef: Schema.optional(Schema.String),
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String),
  author: Schema.optional(Person),
  /** Commits of a push, as its host counts them. */
  commits: Schema.optional(Schema.Int),
  /** A person asked for this review by comment or chat: windows and "already reviewed" do not hold it back. */
  requestedBy: Schema.optional(Schema.String)
})
export type Change = typeof Change.Type

/** Stands in `requestedBy` for somebody who is logged in here. No account of a host has a space in its name. */
export const administrator = (name: string): string => `administrator ${name}`
/** Who is logged in here needs no rights at the host. */
export const isAdministrator = (person: string): boolean => person.startsWith("administrator ")

/** The trigger profile whose credentials read from and write to the change's host. */
export const hostTrigger = (change: Pick<Change, "trigger" | "host">): string => change.host ?? change.trigger

/**
 * The key of a change's actor, queue place and publications: `<trigger>:<repo>:<kind>:<number|branch>`, repository
 * case-folded. The same pull request has the same key in every event. A manual trigger serves many workspaces and hosts, so its
 * keys name them too.
 */
export const targetKey = (change: Pick<Change, "trigger" | "repo" | "target" | "workspace" | "host">): string => {
  const { kind, number, branch } = change.target
  const key = `${change.trigger}:${foldRepo(change.repo.fullName)}:${kind}:${number ?? branch ?? ""}`
  return kind === "manual"
    ? `${key}:${encodeURIComponent(hostTrigger(change))}:${encodeURIComponent(change.workspace)}`
    : key
}

/** `<trigger>:<account>`, case-folded: whose limits a review counts towards. Undefined where the host names no author. */
export const authorKey = (change: Pick<Change, "trigger" | "host" | "author">): string | undefined =>
  change.author === undefined ? undefined : `${hostTrigger(change)}:${change.author.username.toLowerCase()}`

/** Case-folded, slash-trimmed repository name: how configuration and payload are compared (decisions 2.2). */
export const foldRepo = (fullName: string): string =>
  (fullName.startsWith("/") || fullName.endsWith("/")
    ? fullName.replace(/^\/+|(?<!\/)\/+$/g, "")
    : fullName
  ).toLowerCase()

/** What lessons and money of a repository are kept under. */
export const repositoryKey = (change: Change): string => `${hostTrigger(change)}:${foldRepo(change.repo.fullName)}`

/** Whether both are to be merged into the same branch, as far as their hosts say it. The same head differs from another branch in something else. */
export const haveSameBase = (one: Pick<Change, "baseRef">, other: Pick<Change, "baseRef">): boolean =>
  one.baseRef === undefined || other.baseRef === undefined || one.baseRef === other.baseRef
