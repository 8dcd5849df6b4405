/**
 * A change under review in the form that every part behind the ingress uses. Only `src/forge/<kind>/Webhook.ts` reads host payloads and
 * converts them to this.
 */
import { Schema } from "effect"
import { GroupMember } from "./GroupMembers.ts"
import { TargetKind, TriggerKind } from "./Kinds.ts"
import { TargetKey } from "./Keys.ts"

/** A repository in its host's terms. `fullName` is `owner/name` (GitLab: `group/sub/name`), in the host's spelling. */
export const Repo = Schema.Struct({
  fullName: Schema.String,
  /** HTTP(S) clone URL without credentials, below the configured base URL of the host. */
  cloneUrl: Schema.optional(Schema.String),
  webUrl: Schema.optional(Schema.String),
  /** Numeric id at the host, from a payload or from the host. Match rules may name it; requests use `fullName`. */
  hostId: Schema.optional(Schema.Int)
})
export type Repo = typeof Repo.Type

/** A person in the host's terms. E-mail addresses are never stored or echoed. */
export const Person = Schema.Struct({
  username: Schema.String,
  name: Schema.optional(Schema.String)
})
export type Person = typeof Person.Type

/** Returns whether a name is that of a person. Hosts ignore the case of names. */
export const hasUsername = (person: Person | undefined, username: string): boolean =>
  person?.username.toLowerCase() === username.toLowerCase()

/** Repository of the head of a pull request, as far as the host names it. */
export const HeadRepo = Schema.Struct({
  fullName: Schema.optional(Schema.String),
  hostId: Schema.optional(Schema.Int)
})
export type HeadRepo = typeof HeadRepo.Type

/**
 * A comment in a conversation with people, where a host has it. `id` is the same in a delivery and in a list, unique in the repository, with
 * a prefix where a host numbers kinds of comments apart.
 */
export const CommentPlace = Schema.Struct({
  id: Schema.String,
  on: Schema.Literals(["pull_request", "issue", "commit"]),
  /** `general`: below the change or issue. `line`: at a line of the change. `review`: the text of a review. */
  kind: Schema.Literals(["general", "line", "review"]),
  /** Id of the thread of a comment at a line, where the delivery names it: its first comment, its discussion or its review. */
  thread: Schema.optional(Schema.String)
})
export type CommentPlace = typeof CommentPlace.Type

/** The unit whose reviews are serial and published together: one PR/MR, branch, issue or manual range. */
export const Target = Schema.Struct({
  kind: TargetKind,
  /** PR/MR or issue number (GitLab: iid). Of a merge group that of its last pull request, where its branch names it. */
  number: Schema.optional(Schema.Int),
  /** Branch without `refs/heads/` for push and scheduled targets, and that of a merge group; for manual ones the requested range. */
  branch: Schema.optional(Schema.String),
  /** Comment that gets a reply, for the kind `comment`. `number` is then that of its change or issue. */
  comment: Schema.optional(CommentPlace)
})
export type Target = typeof Target.Type

/** An objection of a program to a finding, with the code of the head that is to prove it. */
export const Dispute = Schema.TaggedStruct("Dispute", {
  fingerprint: Schema.String,
  reason: Schema.String,
  path: Schema.String,
  quote: Schema.String
})
export type Dispute = typeof Dispute.Type

/** A comment on a review of Swarm, by their ids there, on a channel that shows the review of a run. `target`: that of the reviewed change. */
export const SwarmQuestion = Schema.TaggedStruct("SwarmQuestion", {
  channel: Schema.String,
  review: Schema.String,
  comment: Schema.String,
  run: Schema.String,
  target: Target
})
export type SwarmQuestion = typeof SwarmQuestion.Type

/** Source of words that get a reply and are no comment at the host. `ChatQuestion`: a request from chat about the review of a run, by their ids. */
export const WordSource = Schema.Union([
  Dispute,
  Schema.TaggedStruct("ChatQuestion", { request: Schema.String, run: Schema.String }),
  SwarmQuestion
])
export type WordSource = typeof WordSource.Type

export const Change = Schema.Struct({
  provider: TriggerKind,
  /** Name of the trigger profile that admitted it. */
  trigger: Schema.String,
  /** Name of the trigger profile of the repository's git host if it is another one: see `hostTrigger`. */
  host: Schema.optional(Schema.String),
  workspace: Schema.String,
  repo: Repo,
  target: Target,
  /** Full commit id of the head. Absent if the delivery does not contain it (comment commands): read before the run. */
  head: Schema.optional(Schema.String),
  /** Tip of the base branch (PR/MR) or the commit before the push. Absent: read before the run. */
  base: Schema.optional(Schema.String),
  headRef: Schema.optional(Schema.String),
  /** Repository to which the head of a pull request is pushed; absent if it was deleted or is hidden. */
  headRepo: Schema.optional(HeadRepo),
  baseRef: Schema.optional(Schema.String),
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String),
  author: Schema.optional(Person),
  /** Perforce client workspace from which it was submitted. */
  client: Schema.optional(Schema.String),
  /** Number of commits of a push, as counted by the host. */
  commits: Schema.optional(Schema.Int),
  /** Ids of the commits of a push that a search found, at most 100. Deliveries of the pushes that it was made of name them as heads. */
  covers: Schema.optional(Schema.Array(Schema.String)),
  /** Pull requests of a merge group in the order of merging. Absent if they are not known. */
  members: Schema.optional(Schema.Array(GroupMember)),
  /** Person who requested this review by comment or chat: windows and "already reviewed" do not apply. */
  requestedBy: Schema.optional(Schema.String),
  /** Present for the kind `comment` if there is no comment at the host: nothing is written there. */
  source: Schema.optional(WordSource),
  /** Files that an earlier review read are read again, because a person requested it. */
  full: Schema.optional(Schema.Literal(true))
})
export type Change = typeof Change.Type

/** The id that hosts and git use where there is no commit: before a branch, or after it. */
export const noCommit = "0".repeat(40)

/** Value of `requestedBy` for a user of the administration. No account of a host has a space in its name. */
export const administrator = (name: string): string => `administrator ${name}`
/** Value of `requestedBy` for a person of a chat platform, whose rights a command binding grants. */
export const chatRequester = (id: string): string => `chat ${id}`
export const isChatRequester = (person: string | undefined): boolean => person?.startsWith("chat ") === true
/** Returns whether the requester needs no rights at the host: a user of the administration, or a person authorised by a command binding. */
export const isTrustedRequester = (person: string): boolean =>
  person.startsWith("administrator ") || isChatRequester(person)

/** Returns the rank of a requester by what is known without the host: chat gets the results too, and an account may have no rights there. */
export const requesterRank = (person: string | undefined): number =>
  person === undefined ? 0 : isChatRequester(person) ? 3 : isTrustedRequester(person) ? 2 : 1

/** Returns the requester of higher rank, the earlier one of two with the same. */
export const higherRequester = (earlier: string | undefined, later: string | undefined): string | undefined =>
  requesterRank(later) > requesterRank(earlier) ? later : earlier

/** Returns whether the change is a shelved changelist of Perforce, which ends when it is submitted. */
export const isShelf = ({ provider, target }: Pick<Change, "provider" | "target">): boolean =>
  provider === "perforce" && target.kind === "commit"

/** Returns the name of a shelf in its target: its branch, and its changelist in the syntax of Perforce. */
export const toShelfName = (branch: string, changelist: string): string => `${branch}@=${changelist}`

const shelfName = /^(.*)@=(\d+)$/s

/** Returns the branch and the changelist that the name of a shelf has; undefined for any other name. */
export const readShelfName = (name: string) => {
  const [, branch, number] = shelfName.exec(name) ?? []
  return branch === undefined ? undefined : { branch, number: Number(number) }
}

/** Returns the trigger profile whose credentials read from and write to the change's host. */
export const hostTrigger = (change: Pick<Change, "trigger" | "host">): string => change.host ?? change.trigger

/**
 * Returns the key of a change's actor, queue position and publications: `<trigger>:<repo>:<kind>:<number|branch>`, repository case-folded; of a comment with its id at the end.
 * The same pull request has the same key in every event, and each merge group one of its own. A manual trigger serves many workspaces and hosts, so its keys contain them too.
 */
export const targetKey = (change: Pick<Change, "trigger" | "repo" | "target" | "workspace" | "host">): TargetKey => {
  const { kind, number, branch, comment } = change.target
  const name = kind === "merge_group" ? branch : (number ?? branch)
  const key = `${change.trigger}:${foldRepo(change.repo.fullName)}:${kind}:${name ?? ""}`
  if (comment !== undefined) return TargetKey.make(`${key}:${comment.id}`)
  return TargetKey.make(
    kind === "manual"
      ? `${key}:${encodeURIComponent(hostTrigger(change))}:${encodeURIComponent(change.workspace)}`
      : key
  )
}

export const isOnPull = ({ target }: Pick<Change, "target">): boolean =>
  target.kind === "pull_request" && target.number !== undefined

/** Returns the change whose reviews and decisions of people count for this one: of a merge group its pull request, of others themselves. */
export const toDecided = (change: Change): Change => {
  const { kind, number } = change.target
  return kind === "merge_group" && number !== undefined
    ? { ...change, target: { kind: "pull_request", number } }
    : change
}

/** Returns the changes whose reviews and decisions of people count for this one: of a merge group all its pull requests. */
export const listDecided = (change: Change): ReadonlyArray<Change> =>
  change.members === undefined
    ? [toDecided(change)]
    : change.members.map(({ number }) => ({ ...change, target: { kind: "pull_request", number } }))

export const decidedKey = (change: Change): TargetKey => targetKey(toDecided(change))

/** Returns the change, issue or commit below which a comment is; other changes themselves. */
export const toDiscussed = <A extends Pick<Change, "source" | "target">>(change: A): A => {
  const { source, target } = change
  const { comment, number } = target
  if (source?._tag === "SwarmQuestion") return { ...change, target: source.target }
  return comment === undefined ? change : { ...change, target: { kind: comment.on, number } }
}

/** Returns the key of the change, issue or commit below which a comment is; of other changes their own. */
export const discussedKey = (change: Parameters<typeof targetKey>[0] & Pick<Change, "source">): TargetKey =>
  targetKey(toDiscussed(change))

/** Returns the change whose target is words about another one that are no comment at the host. `id` names them. */
export const toWordsAbout = (
  { covers: _covers, full: _full, members: _members, requestedBy: _requester, ...reviewed }: Change,
  head: string,
  { author, id, source }: { readonly author: string; readonly id: string; readonly source: WordSource }
): Change => ({
  ...reviewed,
  head,
  target: { kind: "comment", number: reviewed.target.number, comment: { id, on: "pull_request", kind: "general" } },
  author: { username: author },
  source
})

/** Returns the number or branch in the key of a change. */
export const numberOrBranch = (
  key: TargetKey,
  { repo, target: { kind }, trigger }: Pick<Change, "trigger" | "repo"> & { readonly target: Pick<Target, "kind"> }
): string => {
  const name = key.slice(`${trigger}:${foldRepo(repo.fullName)}:${kind}:`.length)
  return kind === "manual" ? name.split(":").slice(0, -2).join(":") : name
}

/** Returns `<trigger>:<account>`, case-folded: the key of review limits per author. Undefined if the host names no author. */
export const authorKey = (change: Pick<Change, "trigger" | "host" | "author">): string | undefined =>
  change.author === undefined ? undefined : `${hostTrigger(change)}:${change.author.username.toLowerCase()}`

/** Returns the case-folded, slash-trimmed repository name, which is compared between configuration and payload. */
export const foldRepo = (fullName: string): string =>
  (fullName.startsWith("/") || fullName.endsWith("/")
    ? fullName.replace(/^\/+|(?<!\/)\/+$/g, "")
    : fullName
  ).toLowerCase()

/** Returns the name that changes have of a repository of Subversion or Perforce: its URL or depot path without scheme and `...`. */
export const toRepositoryName = (location: string): string =>
  location
    .replace(/\/?\.\.\.$/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^(?:[a-z+]+:)?\/\/\/?/, "")

/** Returns the key of a repository's lessons and budget. */
export const repositoryKey = (change: Change): string => `${hostTrigger(change)}:${foldRepo(change.repo.fullName)}`

/** Returns whether both have the same target branch, or one has none. The same head has another diff against another branch. */
export const haveSameBase = (one: Pick<Change, "baseRef">, other: Pick<Change, "baseRef">): boolean =>
  one.baseRef === undefined || other.baseRef === undefined || one.baseRef === other.baseRef
