/**
 * Reads the items in lists of changes of all hosts like the parts of deliveries, without those that cannot be read. Puts pull requests in
 * order and cuts their list, and reads it by repository where an owner has none.
 */
import { Effect, Option, Schema } from "effect"
import type { CommentPlace, Person } from "../../domain/Change.ts"
import type { CommitFacts } from "../../domain/HostEvent.ts"
import { StatusState } from "../../domain/Publication.ts"
import { truncate } from "../../domain/Text.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Call, Codec, ListedItems, PageSize, Rest } from "../http/Http.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { branch, commit, fullName, limits, optional } from "../webhook/Payload.ts"
import type { BranchTip, ChangedPull, ChangedPulls, FoundComment, HostChanges, HostOwner } from "./HostChanges.ts"

/** Most comments of one pull request that are read. */
export const maxComments = 1000
/** Most branches of a repository that are read. */
const maxBranches = 5000
/** Most statuses of a commit that are read in search of the own one. */
export const maxStatuses = 500

/** Returns what reads an item with a schema; undefined for an item that does not have what the schema needs. */
export const reader =
  <S extends Codec, A>(schema: S, convert: (item: S["Type"]) => A | undefined) =>
  (item: unknown): A | undefined =>
    Option.match(Schema.decodeUnknownOption(schema)(item), { onNone: () => undefined, onSome: convert })

export const readTime = (time: string | null | undefined): number | undefined => {
  const millis = Date.parse(time ?? "")
  return Number.isNaN(millis) ? undefined : millis
}

/** Returns the start of the second: hosts keep and compare times in seconds. */
export const toSecond = (millis: number): number => Math.floor(millis / 1000) * 1000

export const toIsoSecond = (millis: number): string => new Date(toSecond(millis)).toISOString().replace(".000Z", "Z")

interface PullParts {
  readonly fullName: string | undefined
  readonly hostId: number | undefined
  readonly number: number
  readonly updatedAt: string | null | undefined
}

export const readChangedPull = ({ hostId, number, ...parts }: PullParts): ChangedPull | undefined => {
  const name = optional(() => fullName(parts.fullName, "repository"))
  const updatedAt = readTime(parts.updatedAt)
  if (name === undefined || updatedAt === undefined || number <= 0) return undefined
  return { repo: { fullName: name, ...(hostId === undefined ? {} : { hostId }) }, number, updatedAt }
}

export const readTip = (name: string, id: string | undefined): BranchTip | undefined => {
  const found = optional(() => branch(name, "branch"))
  const head = optional(() => commit({ id }, "id", "commit"))
  return found === undefined || head === undefined ? undefined : { branch: found, head }
}

/**
 * Lists all branches at `path`; or these, in one list if there are several, and one by one what a list of as many pages does not have. A branch
 * that the host redirects to is another one.
 */
export const listTips = (
  rest: Rest,
  { params, path }: Pick<Call, "path" | "params">,
  size: PageSize,
  read: (item: unknown) => BranchTip | undefined,
  branches: ReadonlyArray<string> | undefined
): Effect.Effect<ReadonlyArray<BranchTip>, ForgeError> =>
  Effect.gen(function* () {
    const list = (max: number, isEnough?: (listed: ListedItems<BranchTip>) => boolean) =>
      rest.list({ path, params: { ...params }, isPolled: true }, read, { ...size, max }, isEnough)
    if (branches === undefined) return (yield* list(maxBranches)).items
    const found = new Map<string, BranchTip>()
    let isComplete = false
    if (branches.length > 1) {
      const max = Math.min(branches.length * size.value, maxBranches)
      const { items, more } = yield* list(max, (listed) =>
        branches.every((name) => listed.items.some(({ branch: one }) => one === name))
      )
      for (const tip of items) found.set(tip.branch, tip)
      isComplete = more === 0
    }
    for (const name of isComplete ? [] : branches.filter((one) => !found.has(one))) {
      const call = { path: `${path}/{branch}`, params: { ...params, branch: name }, isPolled: true }
      const tip = yield* undefinedIfMissing(Effect.map(rest.get(call, Schema.Unknown), read))
      if (tip?.branch === name) found.set(name, tip)
    }
    return branches.flatMap((name) => found.get(name) ?? [])
  })

interface CommentParts {
  readonly body: string | null | undefined
  readonly author: Person | undefined
  readonly createdAt: string | null | undefined
}

/** Returns a comment with a bounded text; undefined for one without a time. */
export const readComment = ({ author, body, createdAt }: CommentParts) => {
  const at = readTime(createdAt)
  return at === undefined ? undefined : { body: truncate(body ?? "", limits.description), author, createdAt: at }
}

export const readFound = (place: CommentPlace, isReply: boolean, parts: CommentParts): FoundComment | undefined => {
  const comment = readComment(parts)
  return comment === undefined ? undefined : { place, isReply, ...comment }
}

/** Returns the comments since a time, each once, the oldest first. */
export const writtenSince = (comments: ReadonlyArray<FoundComment>, since: number): ReadonlyArray<FoundComment> =>
  [...new Map(comments.map((comment) => [comment.place.id, comment])).values()]
    .filter(({ createdAt }) => createdAt >= toSecond(since))
    .toSorted((a, b) => a.createdAt - b.createdAt)

/** Reads a commit as a delivery has it. Its author is the account, else the name in the commit. */
export const readCommit = (
  id: string | null | undefined,
  message: string | null | undefined,
  ...authors: ReadonlyArray<string | null | undefined>
): CommitFacts => {
  const [account, name, email] = authors.map((text) => (text ? truncate(text, limits.name) : undefined))
  const known = optional(() => commit({ id: id ?? undefined }, "id", "commit"))
  return { id: known, author: account ?? name, email, message: truncate(message ?? "", limits.message) }
}

/** Returns the state that has this name at a host. */
const readState = (names: Readonly<Record<StatusState, string>>, name: string): StatusState | undefined =>
  StatusState.literals.find((state) => names[state] === name)

/** Returns state and time of a status of the service; undefined for one of others, and for a state that the service does not set. */
export const readOwnStatus = (
  names: Readonly<Record<StatusState, string>>,
  {
    createdAt,
    isOwn,
    name
  }: { readonly isOwn: boolean; readonly name: string; readonly createdAt: string | null | undefined }
) => {
  const [state, at] = [readState(names, name), readTime(createdAt)]
  return isOwn && state !== undefined && at !== undefined ? { state, at } : undefined
}

/** Returns the latest pull requests, each once. `more` is the number of those that were not read. */
export const newestPulls = (pulls: ReadonlyArray<ChangedPull>, more: number, max: number): ChangedPulls => {
  const sorted = pulls.toSorted((a, b) => b.updatedAt - a.updatedAt)
  const found = new Map<string, ChangedPull>()
  for (const pull of sorted) {
    const key = `${pull.repo.fullName.toLowerCase()} ${pull.number}`
    if (!found.has(key)) found.set(key, pull)
  }
  return { pulls: [...found.values()].slice(0, max), more: more + Math.max(0, found.size - max) }
}

interface PullLists {
  /** Undefined if the host does not return the whole list now. */
  readonly ofOwner: (
    owner: HostOwner,
    since: number | undefined,
    max: number
  ) => Effect.Effect<ChangedPulls | undefined, ForgeError>
  readonly ofRepository: (
    fullName: string,
    since: number | undefined,
    max: number
  ) => Effect.Effect<ChangedPulls, ForgeError>
  /** Whether the host has no list of this owner. */
  readonly hasNone: (error: ForgeError) => boolean
}

/** Reads the list of the owner, or those of the repositories one by one. Remembers which owners have none. */
export const listPulls = ({ hasNone, ofOwner, ofRepository }: PullLists): HostChanges["pulls"] => {
  const without = new Set<string>()
  const oneByOne: HostChanges["pulls"] = (owner, since, max) =>
    Effect.map(
      Effect.forEach(owner.repositories, (name) =>
        Effect.catchIf(
          ofRepository(name, since, max),
          // A repository that is gone or hidden does not hide the others.
          ({ reason }) => reason === "not_found" || reason === "forbidden",
          () => Effect.succeed<ChangedPulls>({ pulls: [], more: 0 })
        )
      ),
      (lists) =>
        newestPulls(
          lists.flatMap(({ pulls }) => pulls),
          lists.reduce((sum, { more }) => sum + more, 0),
          max
        )
    )
  return (owner, since, max) => {
    if (without.has(owner.name)) return oneByOne(owner, since, max)
    return ofOwner(owner, since, max).pipe(
      Effect.catchIf(
        (error) => hasNone(error) && owner.repositories.length > 0,
        () => Effect.sync(() => void without.add(owner.name))
      ),
      Effect.flatMap((found) => (found === undefined ? oneByOne(owner, since, max) : Effect.succeed(found)))
    )
  }
}
