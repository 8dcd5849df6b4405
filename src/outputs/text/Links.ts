/**
 * Builds links to commits, lines and comments: by the template of the channel, else of the trigger, else in the form of the host.
 * Templates support only `{{name}}`; values are URL-encoded. Pure.
 */
import { createHash } from "node:crypto"
import type { Change } from "../../domain/Change.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { ForgeKind } from "../../domain/Kinds.ts"
import type { Anchor, Finding } from "../../domain/Problem.ts"
import type { HostThread } from "../../forge/Forge.ts"

export interface LinkTemplates {
  readonly commit: string | undefined
  readonly revision: string | undefined
  readonly change: string | undefined
}

/** Replaces known names only: a misspelt one stays visible in the link. */
export const fillUrl = (template: string, values: Readonly<Record<string, string | undefined>>): string =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? whole : encodeURIComponent(value)
  })

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`

/** Returns a URL that is safe in a link of any markup; undefined unless it is http or https. */
export const safeUrl = (value: string | undefined): string | undefined => {
  if (value === undefined || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined
  const { href, username, password } = new URL(value)
  if (username !== "" || password !== "") return undefined
  return href.replace(/[\s<>()[\]"'`\\|*^@!]/g, percent)
}

const webUrl = (value: string | undefined): string | undefined => safeUrl(value)?.replace(/\/$/, "")

/** Returns the link to the head of a change: a commit, a revision or a changelist. */
export const headUrl = (change: Change, head: string, templates: LinkTemplates | undefined): string | undefined => {
  const { repo, provider, target } = change
  const [owner, name] = [repo.fullName.split("/").slice(0, -1).join("/"), repo.fullName.split("/").at(-1)]
  // A shelf has its version behind the number of its changelist.
  const changelist = provider === "perforce" ? (head.split("-", 1)[0] ?? head) : head
  const values = {
    sha: head,
    commit: head,
    short_sha: head.slice(0, 12),
    revision: head,
    rev: head,
    change: changelist,
    changelist,
    repo: repo.fullName,
    owner,
    name,
    branch: target.branch ?? change.headRef,
    trigger: change.trigger,
    workspace: change.workspace
  }
  const template =
    provider === "perforce" ? templates?.change : provider === "subversion" ? templates?.revision : templates?.commit
  if (template !== undefined) return safeUrl(fillUrl(template, values))
  const web = webUrl(repo.webUrl)
  return web === undefined ? undefined : `${web}${provider === "gitlab" ? "/-" : ""}/commit/${head}`
}

/** Also encodes characters that encodeURIComponent keeps and markup interprets. */
const encodedPath = (path: string): string =>
  path
    .toWellFormed()
    .split("/")
    .map(encodeURIComponent)
    .join("/")
    .replace(/[!'()*]/g, percent)

const files = {
  gitea: (web: string, head: string, path: string) => `${web}/src/commit/${head}/${path}`,
  forgejo: (web: string, head: string, path: string) => `${web}/src/commit/${head}/${path}`,
  github: (web: string, head: string, path: string) => `${web}/blob/${head}/${path}`,
  gitlab: (web: string, head: string, path: string) => `${web}/-/blob/${head}/${path}`
} as const

/**
 * Returns the link to the lines of a finding in the file at the head. Undefined for the old side, which the head does not
 * contain.
 */
export const lineUrl = (change: Change, head: string, { anchor }: Finding): string | undefined => {
  const web = webUrl(change.repo.webUrl)
  const { provider } = change
  if (web === undefined || anchor === undefined || anchor.side === "old") return undefined
  if (provider !== "gitea" && provider !== "forgejo" && provider !== "github" && provider !== "gitlab") return undefined
  const first = anchor.start ?? anchor.line
  const range =
    first === anchor.line
      ? `L${first}`
      : provider === "gitlab"
        ? `L${first}-${anchor.line}`
        : `L${first}-L${anchor.line}`
  return `${files[provider](web, head, encodedPath(anchor.path))}#${range}`
}

const hashed = (algorithm: "sha1" | "sha256", path: string): string => createHash(algorithm).update(path).digest("hex")

const giteaDiff = (path: string, lines: DiffLines): string => `files#diff-${hashed("sha1", path)}${sideLine(lines)}`
const sideLine = ({ line, side }: DiffLines): string => `${side === "old" ? "L" : "R"}${line}`

type DiffLines = Pick<Anchor, "line" | "newLine" | "oldLine" | "side">

const diffAnchors = {
  gitea: giteaDiff,
  forgejo: giteaDiff,
  github: (path, lines) => `files#diff-${hashed("sha256", path)}${sideLine(lines)}`,
  // A line has the numbers of both sides in its address. An added or deleted one is recorded with one: then it is the address of the file.
  gitlab: (path, { newLine, oldLine }) => {
    const file = `diffs#${hashed("sha1", path)}`
    return newLine === undefined || oldLine === undefined ? file : `${file}_${oldLine}_${newLine}`
  }
} as const satisfies Record<ForgeKind, (path: string, lines: DiffLines) => string>

/** Returns the link to the line of a finding in the diff of a pull request, below which its comment is. */
export const diffUrl = ({ provider, target, url }: Change, { anchor }: Finding): string | undefined => {
  const address = safeUrl(url)
  return address === undefined || anchor === undefined || target.kind !== "pull_request" || !isForgeKind(provider)
    ? undefined
    : `${address.replace(/\/$/, "")}/${diffAnchors[provider](anchor.path, anchor)}`
}

const threadAnchors = {
  gitea: ({ hostId }) => `issuecomment-${hostId}`,
  forgejo: ({ hostId }) => `issuecomment-${hostId}`,
  github: ({ hostId }) => `discussion_r${hostId}`,
  // The id of a discussion is in no address, that of its first note is.
  gitlab: ({ commentId }) => (commentId === undefined ? undefined : `note_${commentId}`)
} as const satisfies Record<ForgeKind, (thread: ThreadIds) => string | undefined>

type ThreadIds = Pick<HostThread, "commentId" | "hostId">

/** Returns the link to a thread at lines of a pull request. */
export const threadUrl = ({ provider, url }: Change, thread: ThreadIds): string | undefined => {
  const address = safeUrl(url)
  const anchor = isForgeKind(provider) ? threadAnchors[provider](thread) : undefined
  return address === undefined || anchor === undefined || !/^[\w-]+\d$/.test(anchor)
    ? undefined
    : `${address}#${anchor}`
}

/** Returns the link to a comment on a pull request. GitLab returns no URL with a note. */
export const commentUrl = (
  { provider, url: pull }: Change,
  { hostId, url }: { readonly hostId?: string | undefined; readonly url?: string | undefined }
): string | undefined => {
  const safe = safeUrl(url)
  if (safe !== undefined || provider !== "gitlab" || hostId === undefined || !/^\d+$/.test(hostId)) return safe
  const address = safeUrl(pull)
  return address === undefined ? undefined : `${address}#note_${hostId}`
}
