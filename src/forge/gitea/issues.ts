/** Issues, labels and files of Gitea and Forgejo. Labels go by id there; a name is looked up, and created when it is missing. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { CommitAuthor, ForgeClient, ForgeError, HostIssue, HostIssues, HostLabel } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { RepoFile, segments, textOfFile } from "../RepoFile.ts"
import { orWithoutAssignees } from "../WithoutAssignees.ts"
import { Issue, Label, WrittenCommit, usernameOf } from "./answers.ts"

const repoPath = "/repos/{owner}/{repo}"
const pages = { name: "limit", value: 50 } as const
const plainColor = "6b7280"

const issueOf = (issue: typeof Issue.Type): HostIssue => ({
  hostId: String(issue.number),
  url: issue.html_url ?? undefined,
  number: issue.number,
  title: issue.title,
  body: issue.body ?? "",
  state: issue.state,
  comments: issue.comments ?? 0
})

const labelName = ({ name }: { readonly name: string }): string => name

export const giteaIssues = (
  rest: Rest,
  self: ForgeClient["self"]
): Pick<ForgeClient, "issues" | "addLabel" | "file" | "commitAuthor"> => {
  const known = new Map<string, Map<string, number>>()
  /** After a failure nobody knows which labels are there: one may have been created or deleted. Gitea takes two of one name. */
  const relearning = <A>(write: Effect.Effect<A, ForgeError>, repo: Repo) =>
    Effect.tapError(write, () => Effect.sync(() => known.delete(repo.fullName)))

  /** Ids of labels by name, read once per repository. */
  const labelIds = Effect.fnUntraced(function* (repo: Repo, labels: ReadonlyArray<HostLabel>) {
    if (labels.length === 0) return []
    const params = ownerAndName(repo)
    const ids =
      known.get(repo.fullName) ??
      new Map(
        (yield* rest.pages({ path: `${repoPath}/labels`, params }, Label, pages)).map(({ name, id }) => [
          name.toLowerCase(),
          id
        ])
      )
    known.set(repo.fullName, ids)
    const found: Array<number> = []
    for (const { name, color } of labels) {
      const id = ids.get(name.toLowerCase())
      if (id !== undefined) {
        found.push(id)
        continue
      }
      const body = { name, color: `#${color ?? plainColor}` }
      const made = yield* rest.write(
        { method: "POST", path: `${repoPath}/labels`, params, body, content: false },
        Label
      )
      ids.set(name.toLowerCase(), made.id)
      found.push(made.id)
    }
    return found
  })

  const issues: HostIssues = {
    list: Effect.fnUntraced(function* (repo, state, most) {
      const me = yield* self
      const found = yield* rest.pages(
        {
          path: `${repoPath}/issues`,
          params: ownerAndName(repo),
          query: { state, type: "issues", created_by: me.username }
        },
        Issue,
        { ...pages, most }
      )
      return found.filter((issue) => !issue.pull_request && sameName(usernameOf(issue.user), me.username)).map(issueOf)
    }),
    read: (repo, number) =>
      Effect.map(
        rest.get({ path: `${repoPath}/issues/{index}`, params: { ...ownerAndName(repo), index: number } }, Issue),
        (issue) => ({ ...issueOf(issue), labels: (issue.labels ?? []).map(labelName) })
      ),
    create: Effect.fnUntraced(function* (repo, issue) {
      const labels = [...issue.labelIds, ...(yield* labelIds(repo, issue.labels))]
      const { title, body } = issue
      return yield* orWithoutAssignees(issue, ({ assignees }) =>
        Effect.map(
          rest.write(
            {
              method: "POST",
              path: `${repoPath}/issues`,
              params: ownerAndName(repo),
              body: { title, body, labels: [...new Set(labels)], assignees },
              content: true
            },
            Issue
          ),
          issueOf
        )
      )
    }, relearning),
    edit: (repo, number, { title, body, state }) =>
      Effect.map(
        rest.write(
          {
            method: "PATCH",
            path: `${repoPath}/issues/{index}`,
            params: { ...ownerAndName(repo), index: number },
            body: { title, body, state },
            content: true
          },
          Issue
        ),
        issueOf
      ),
    remove: (repo, number) =>
      Effect.asVoid(
        rest.write(
          {
            method: "DELETE",
            path: `${repoPath}/issues/{index}`,
            params: { ...ownerAndName(repo), index: number },
            content: true
          },
          Schema.Unknown
        )
      )
  }

  return {
    issues,
    addLabel: Effect.fnUntraced(function* (repo, number, name) {
      const labels = yield* labelIds(repo, [{ name, color: undefined }])
      yield* rest.write(
        {
          method: "POST",
          path: `${repoPath}/issues/{index}/labels`,
          params: { ...ownerAndName(repo), index: number },
          body: { labels },
          content: true
        },
        Schema.Unknown
      )
      return { hostId: name, url: undefined }
    }, relearning),
    file: (repo, ref, path) => {
      const { template, params } = segments(path)
      return textOfFile(
        rest.get(
          { path: `${repoPath}/contents/${template}`, params: { ...ownerAndName(repo), ...params }, query: { ref } },
          RepoFile
        )
      )
    },
    commitAuthor: (repo, head): Effect.Effect<CommitAuthor, ForgeError> =>
      Effect.map(
        rest.get(
          {
            path: `${repoPath}/git/commits/{sha}`,
            params: { ...ownerAndName(repo), sha: head },
            query: { stat: "false", verification: "false", files: "false" }
          },
          WrittenCommit
        ),
        ({ author, commit }) => ({
          name: commit?.author?.name ?? undefined,
          email: commit?.author?.email ?? undefined,
          account: usernameOf(author)
        })
      )
  }
}
