/** State of the demo forge: repositories, pull requests and their comments. In memory, with increasing ids. */
import { commit, createBare, git, setRef, tip } from "./DemoForgeGit.ts"
import type { NewCommit } from "./DemoForgeGit.ts"
import { parseDiff } from "./DemoForgeDiff.ts"
import type { DiffFile } from "./DemoForgeDiff.ts"

export type Permission = "none" | "read" | "write" | "admin" | "owner"

export interface DemoUser {
  readonly id: number
  readonly login: string
  readonly name: string
}

export interface DemoLabel {
  readonly id: number
  readonly name: string
}

export interface DemoRepository {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly defaultBranch: string
  readonly protectedBranches: Set<string>
  /** The bare repository. */
  readonly directory: string
  readonly permissions: Map<string, Permission>
  readonly pulls: Map<number, DemoPull>
  /** Statuses by commit id, oldest first. */
  readonly statuses: Map<string, Array<DemoStatus>>
}

export interface DemoPull {
  readonly id: number
  readonly number: number
  readonly repository: DemoRepository
  readonly headBranch: string
  /** The fork that has the head, by default the repository itself; null after it was deleted. */
  headRepository?: Pick<DemoRepository, "id" | "owner" | "fullName"> | null
  readonly author: DemoUser
  readonly createdAt: string
  readonly comments: Array<DemoComment>
  readonly reviews: Array<DemoReview>
  /** Reviews that are not submitted: only their account sees them. */
  readonly pendingReviews: Array<DemoReview>
  baseBranch: string
  title: string
  description: string
  head: string
  base: string
  state: "open" | "closed"
  merged: boolean
  /** Commit of the base branch with the merged change, and the account that merged it. */
  mergeCommit?: string
  mergedBy?: DemoUser
  draft: boolean
  labels: ReadonlyArray<DemoLabel>
  /** Time of the last change, other than comments and reviews. */
  changedAt: string
}

/** Returns when a pull request was updated, as hosts count it: a push, an edit, a comment and a review are updates. */
export const updatedAt = ({ changedAt, comments, reviews }: DemoPull): string =>
  [
    ...comments.map((comment) => comment.updatedAt),
    ...reviews.map((review) => review.createdAt),
    ...reviews.flatMap((review) => review.comments.map(({ reply }) => reply?.createdAt ?? ""))
  ].reduce((latest, time) => (time > latest ? time : latest), changedAt)

/** Returns how many comments on lines a pull request shows. */
export const countLineComments = ({ reviews }: DemoPull): number =>
  reviews.reduce((sum, { comments }) => sum + comments.length, 0)

export interface DemoComment {
  readonly id: number
  readonly user: DemoUser
  readonly createdAt: string
  updatedAt: string
  body: string
  reactions?: Reactions | undefined
}

/** Reactions of people and programs, oldest first. */
type Reactions = ReadonlyArray<{ readonly login: string; readonly content: string }>

export interface DemoReviewComment {
  readonly id: number
  readonly path: string
  readonly side: "new" | "old"
  readonly line: number
  readonly startLine: number | undefined
  readonly hunk: string
  body: string
  /** Author and time of a reply. It belongs to the review whose comment it is about. */
  readonly reply?: { readonly user: DemoUser; readonly createdAt: string }
  /** Account that resolved the comment. */
  resolver?: DemoUser | undefined
  reactions?: Reactions | undefined
}

export interface DemoReview {
  readonly id: number
  readonly user: DemoUser
  readonly state: string
  readonly body: string
  readonly commit: string
  readonly createdAt: string
  readonly comments: Array<DemoReviewComment>
}

export interface DemoStatus {
  readonly id: number
  readonly context: string
  readonly state: string
  readonly description: string
  readonly targetUrl: string
  readonly user: DemoUser
  readonly createdAt: string
}

export interface NewPull {
  readonly title: string
  readonly headBranch: string
  readonly baseBranch?: string | undefined
  readonly description?: string | undefined
  readonly draft?: boolean | undefined
  readonly labels?: ReadonlyArray<string> | undefined
  readonly author?: string | undefined
}

export interface DemoState {
  readonly repositories: Map<string, DemoRepository>
  readonly user: (login: string) => DemoUser
  readonly label: (name: string) => DemoLabel
  readonly nextId: () => number
  readonly now: () => string
  /** Grows with everything that changes what the pages show. */
  version: number
  /** Most items of a page, where the server has a lower limit than its host has by default. */
  pageLimit?: number
}

export const makeState = (): DemoState => {
  let last = 0
  const users = new Map<string, DemoUser>()
  const labels = new Map<string, DemoLabel>()
  const state: DemoState = {
    repositories: new Map(),
    nextId: () => ++last,
    now: () => new Date().toISOString(),
    version: 0,
    user: (login) => {
      const known = users.get(login) ?? { id: users.size + 1, login, name: names[login] ?? "" }
      users.set(login, known)
      return known
    },
    label: (name) => {
      const known = labels.get(name) ?? { id: labels.size + 1, name }
      labels.set(name, known)
      return known
    }
  }
  return state
}

const names: Readonly<Record<string, string>> = { dana: "Dana Developer", aicr: "aicr" }

export const createRepository = async (state: DemoState, root: string, fullName: string): Promise<DemoRepository> => {
  const [owner, name] = fullName.split("/")
  if (owner === undefined || name === undefined) throw new Error(`a repository is named owner/name, not ${fullName}`)
  const directory = `${root}/${fullName.toLowerCase()}.git`
  await createBare(directory, "main")
  const repository: DemoRepository = {
    id: state.nextId(),
    owner,
    name,
    fullName,
    defaultBranch: "main",
    protectedBranches: new Set(),
    directory,
    permissions: new Map([
      [owner, "owner"],
      ["dana", "write"],
      ["aicr", "admin"]
    ]),
    pulls: new Map(),
    statuses: new Map()
  }
  state.repositories.set(fullName.toLowerCase(), repository)
  return repository
}

const findTip = async (repository: DemoRepository, branch: string): Promise<string> => {
  const found = await tip(repository.directory, branch)
  if (found === undefined) throw new Error(`${repository.fullName} has no branch ${branch}`)
  return found
}

/** Updates the heads of open pull requests, as a host does after a push. Returns those whose head moved. */
export const refreshPulls = async (state: DemoState, repository: DemoRepository): Promise<ReadonlyArray<DemoPull>> => {
  const moved: Array<DemoPull> = []
  for (const pull of repository.pulls.values()) {
    if (pull.state !== "open") continue
    pull.base = (await tip(repository.directory, pull.baseBranch)) ?? pull.base
    const head = (await tip(repository.directory, pull.headBranch)) ?? pull.head
    if (head === pull.head) continue
    pull.head = head
    pull.changedAt = state.now()
    await setRef(repository.directory, `refs/pull/${pull.number}/head`, head)
    moved.push(pull)
  }
  state.version++
  return moved
}

export const push = async (state: DemoState, repository: DemoRepository, change: NewCommit): Promise<string> => {
  const id = await commit(repository.directory, change)
  await refreshPulls(state, repository)
  return id
}

/** Reviews that an account sees. */
export const reviewsFor = (pull: DemoPull, user: DemoUser): ReadonlyArray<DemoReview> => [
  ...pull.reviews,
  ...pull.pendingReviews.filter((review) => review.user.login === user.login)
]

export const removePending = (pull: DemoPull, review: DemoReview): void => {
  pull.pendingReviews.splice(pull.pendingReviews.indexOf(review), 1)
}

export const createPull = async (state: DemoState, repository: DemoRepository, wanted: NewPull): Promise<DemoPull> => {
  const baseBranch = wanted.baseBranch ?? repository.defaultBranch
  const [head, base] = await Promise.all([findTip(repository, wanted.headBranch), findTip(repository, baseBranch)])
  const number = Math.max(0, ...repository.pulls.keys()) + 1
  const now = state.now()
  const pull: DemoPull = {
    id: state.nextId(),
    number,
    repository,
    headBranch: wanted.headBranch,
    baseBranch,
    author: state.user(wanted.author ?? "dana"),
    createdAt: now,
    changedAt: now,
    comments: [],
    reviews: [],
    pendingReviews: [],
    title: wanted.title,
    description: wanted.description ?? "",
    head,
    base,
    state: "open",
    merged: false,
    draft: wanted.draft ?? false,
    labels: (wanted.labels ?? []).map(state.label)
  }
  repository.pulls.set(number, pull)
  await setRef(repository.directory, `refs/pull/${number}/head`, head)
  state.version++
  return pull
}

export type PullEdit = Partial<
  Pick<
    DemoPull,
    | "base"
    | "baseBranch"
    | "description"
    | "draft"
    | "labels"
    | "mergeCommit"
    | "merged"
    | "mergedBy"
    | "state"
    | "title"
  >
>

export const editPull = (state: DemoState, pull: DemoPull, edit: PullEdit): void => {
  Object.assign(pull, edit, { changedAt: state.now() })
  state.version++
}

export const retarget = async (state: DemoState, pull: DemoPull, baseBranch: string): Promise<void> =>
  editPull(state, pull, { base: await findTip(pull.repository, baseBranch), baseBranch })

export const addComment = (state: DemoState, pull: DemoPull, user: DemoUser, body: string): DemoComment => {
  const now = state.now()
  const comment: DemoComment = { id: state.nextId(), user, createdAt: now, updatedAt: now, body }
  pull.comments.push(comment)
  state.version++
  return comment
}

const findLineComment = (pull: DemoPull, id: number) => {
  for (const review of pull.reviews) {
    const comment = review.comments.find((candidate) => candidate.id === id)
    if (comment !== undefined) return { review, comment }
  }
  return undefined
}

/** Resolves a comment at a line, or opens it again. */
export const toggleResolved = (state: DemoState, pull: DemoPull, user: DemoUser, id: number): void => {
  const comment = findLineComment(pull, id)?.comment
  if (comment === undefined) return
  comment.resolver = comment.resolver === undefined ? user : undefined
  state.version++
}

/** Replies in the thread of a comment at a line. Returns undefined if there is no such comment. */
export const addReply = (
  state: DemoState,
  pull: DemoPull,
  user: DemoUser,
  about: number,
  body: string
): number | undefined => {
  const found = findLineComment(pull, about)
  if (found === undefined) return undefined
  const { hunk, line, path, side } = found.comment
  const reply = { user, createdAt: state.now() }
  const id = state.nextId()
  found.review.comments.push({ id, path, side, line, startLine: undefined, hunk, body, reply })
  state.version++
  return id
}

/** The newest diffs of each repository, shared by pull requests of the same commits and all comments on them. */
const diffs = new WeakMap<DemoRepository, Map<string, Promise<ReadonlyArray<DiffFile>>>>()
const keptDiffs = 16

/** Returns the changes of the pull request to its base: a three-dot diff with renames. */
export const computeDiff = ({ repository, base, head }: DemoPull): Promise<ReadonlyArray<DiffFile>> => {
  const kept = diffs.get(repository) ?? new Map<string, Promise<ReadonlyArray<DiffFile>>>()
  diffs.set(repository, kept)
  const key = `${base}...${head}`
  const files =
    kept.get(key) ??
    git(repository.directory, ["diff", "--no-color", "--no-ext-diff", "--find-renames", key]).then(parseDiff)
  kept.delete(key)
  kept.set(key, files)
  for (const oldest of kept.keys()) {
    if (kept.size <= keptDiffs) break
    kept.delete(oldest)
  }
  return files
}

/** Returns the text of a file at a commit or branch; undefined where that has no such file. */
export const readText = ({ directory }: DemoRepository, ref: string, path: string): Promise<string | undefined> =>
  git(directory, ["show", "--end-of-options", `${ref}:${path}`]).catch(() => undefined)

/** One commit with what it changes; undefined when there is no such commit. */
export const findCommit = async (repository: DemoRepository, id: string) => {
  if (!/^[0-9a-f]{7,64}$/.test(id)) return undefined
  const args = ["show", "--no-color", "--no-ext-diff", "--find-renames", "--format=%H%n%an%n%s%n", id]
  const shown = await git(repository.directory, args).catch(() => undefined)
  if (shown === undefined) return undefined
  const [full = id, author = "", subject = ""] = shown.split("\n")
  return { commit: { id: full, author, subject }, files: parseDiff(shown) }
}
