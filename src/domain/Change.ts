/**
 * A change under review, as every part behind the ingress sees it. Host payloads become this in `src/forge/<kind>/webhook.ts`
 * and nothing else reads them.
 */
import { Schema } from "effect"
import { TargetKind, TriggerKind } from "./Kinds.ts"

/** A repository as its host names it. `fullName` is `owner/name` (GitLab: `group/sub/name`), in the host's spelling. */
export const Repo = Schema.Struct({
  fullName: Schema.String,
  /** HTTP(S) clone URL without credentials, as the host reports it. */
  cloneUrl: Schema.optional(Schema.String),
  webUrl: Schema.optional(Schema.String),
  /** Numeric id at the host (GitLab needs it; others ignore it). */
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
 * case-folded. The same pull request has the same key in every event.
 */
export const targetKey = (change: Pick<Change, "trigger" | "repo" | "target">): string => {
  const { kind, number, branch } = change.target
  return `${change.trigger}:${foldRepo(change.repo.fullName)}:${kind}:${number ?? branch ?? ""}`
}

/** Case-folded, slash-trimmed repository name: how configuration and payload are compared (decisions 2.2). */
export const foldRepo = (fullName: string): string =>
  (fullName.startsWith("/") || fullName.endsWith("/") ? fullName.replace(/^\/+|\/+$/g, "") : fullName).toLowerCase()
