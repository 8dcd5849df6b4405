/** Converts responses that GitHub, Gitea and Forgejo write in the same form. */
import type { Person, Repo } from "../../domain/Change.ts"
import type { HostIssue, HostPull } from "../Forge.ts"

type Optional<A> = A | null | undefined

interface ResponseIssue {
  readonly number: number
  readonly html_url?: Optional<string>
  readonly title: string
  readonly body?: Optional<string>
  readonly state: string
  readonly comments?: Optional<number>
  readonly labels?: Optional<ReadonlyArray<string | { readonly name?: Optional<string> }>>
}

interface ResponsePull<User> {
  readonly number: number
  readonly comments?: Optional<number>
  /** Gitea and Forgejo omit 0; old versions count comments on lines in `comments`. */
  readonly review_comments?: Optional<number>
  readonly state: "open" | "closed"
  readonly merged?: Optional<boolean>
  readonly merged_by?: Optional<User>
  /** While the pull request is open, a commit that only tries the merge. */
  readonly merge_commit_sha?: Optional<string>
  readonly draft?: Optional<boolean>
  readonly title: string
  readonly body?: Optional<string>
  readonly html_url: string
  readonly user?: User | undefined
  readonly labels?: Optional<ReadonlyArray<{ readonly name: string }>>
  readonly head: {
    readonly ref: string
    readonly sha: string
    readonly repo?: Optional<{ readonly id: number; readonly full_name: string }>
  }
  readonly base: {
    readonly ref: string
    readonly sha: string
    readonly repo?: Optional<{
      readonly id: number
      readonly full_name: string
      readonly clone_url: string
      readonly html_url: string
      readonly default_branch?: string | undefined
    }>
  }
}

/** GitHub returns labels as names or as objects. */
const labelName = (label: string | { readonly name?: Optional<string> }): ReadonlyArray<string> => {
  const name = typeof label === "string" ? label : label.name
  return name === undefined || name === null ? [] : [name]
}

export const toHostIssue = (issue: ResponseIssue): HostIssue => ({
  hostId: String(issue.number),
  url: issue.html_url ?? undefined,
  number: issue.number,
  title: issue.title,
  body: issue.body ?? "",
  state: issue.state === "open" ? "open" : "closed",
  comments: issue.comments ?? 0,
  labels: (issue.labels ?? []).flatMap(labelName)
})

/** Uses the requested repository where the response does not name one. */
export const toHostPull = <User>(
  pull: ResponsePull<User>,
  requested: Repo,
  toPerson: (user: User | undefined) => Person | undefined
): HostPull => {
  const { base, head } = pull
  return {
    number: pull.number,
    state: pull.merged === true ? "merged" : pull.state,
    draft: pull.draft ?? false,
    head: head.sha,
    base: base.sha,
    headRef: head.ref,
    baseRef: base.ref,
    title: pull.title,
    description: pull.body ?? "",
    url: pull.html_url,
    author: toPerson(pull.user),
    labels: (pull.labels ?? []).map((label) => label.name),
    repo: base.repo
      ? {
          fullName: base.repo.full_name,
          cloneUrl: base.repo.clone_url,
          webUrl: base.repo.html_url,
          hostId: base.repo.id
        }
      : requested,
    defaultBranch: base.repo?.default_branch,
    comments: typeof pull.comments === "number" ? pull.comments + (pull.review_comments ?? 0) : undefined,
    headRepo: head.repo ? { fullName: head.repo.full_name, hostId: head.repo.id } : undefined,
    ...(pull.merged === true
      ? { mergeCommit: pull.merge_commit_sha ?? undefined, mergedBy: toPerson(pull.merged_by ?? undefined) }
      : {})
  }
}
