/** Issues, labels, files and commit comments of GitLab. Assignees go by id there; a name that is no account is left out. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostIssue, HostIssues, HostLabel } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { sameName } from "../Profile.ts"
import { RepoFile, textOfFile } from "../RepoFile.ts"
import { orWithoutAssignees } from "../WithoutAssignees.ts"
import { Account, CommitNote, Issue, WrittenCommit } from "./answers.ts"

const project = "/projects/{id}"
const pages = { name: "per_page", value: 100 } as const
const mostAssignees = 10

const issueOf = (issue: typeof Issue.Type): HostIssue => ({
  hostId: String(issue.iid),
  url: issue.web_url ?? undefined,
  number: issue.iid,
  title: issue.title,
  body: issue.description ?? "",
  state: issue.state === "opened" ? "open" : "closed",
  comments: issue.user_notes_count ?? 0
})

export const gitlabIssues = (
  rest: Rest,
  self: ForgeClient["self"],
  projectId: (repo: Repo) => string | number
): Pick<ForgeClient, "issues" | "addLabel" | "file" | "commitAuthor" | "accountOf" | "commitComments"> => {
  const coloured = new Set<string>()

  const ensure = (repo: Repo, { name, color }: HostLabel) => {
    const key = `${repo.fullName}\n${name}`
    if (color === undefined || coloured.has(key)) return Effect.void
    return rest
      .write(
        {
          method: "POST",
          path: `${project}/labels`,
          params: { id: projectId(repo) },
          body: { name, color: `#${color}` },
          content: false
        },
        Schema.Unknown
      )
      .pipe(
        // It is there already and keeps the colour it has.
        Effect.catchIf(
          (error) => error.reason === "conflict",
          () => Effect.void
        ),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }

  const accounts = (query: Record<string, string>) =>
    rest.get({ path: "/users", query: { ...query, per_page: 2 } }, Schema.Array(Account))

  const idsOf = Effect.fnUntraced(function* (usernames: ReadonlyArray<string>) {
    const ids: Array<number> = []
    for (const username of usernames.slice(0, mostAssignees)) {
      const [found] = yield* accounts({ username })
      if (found !== undefined) ids.push(found.id)
    }
    return ids
  })

  const issues: HostIssues = {
    list: Effect.fnUntraced(function* (repo, state, most) {
      const query = {
        state: state === "open" ? "opened" : "closed",
        scope: "created_by_me",
        order_by: "created_at",
        sort: "desc"
      }
      const found = yield* rest.pages({ path: `${project}/issues`, params: { id: projectId(repo) }, query }, Issue, {
        ...pages,
        most
      })
      return found.map(issueOf)
    }),
    read: (repo, number) =>
      Effect.map(
        rest.get({ path: `${project}/issues/{issue_iid}`, params: { id: projectId(repo), issue_iid: number } }, Issue),
        (issue) => ({ ...issueOf(issue), labels: issue.labels ?? [] })
      ),
    create: Effect.fnUntraced(function* (repo, issue) {
      for (const label of issue.labels) yield* ensure(repo, label)
      const labels = issue.labels.map(({ name }) => name).join(",")
      return yield* orWithoutAssignees(issue, (wanted) =>
        Effect.flatMap(idsOf(wanted.assignees), (assignees) =>
          Effect.map(
            rest.write(
              {
                method: "POST",
                path: `${project}/issues`,
                params: { id: projectId(repo) },
                body: {
                  title: issue.title,
                  description: issue.body,
                  ...(labels === "" ? {} : { labels }),
                  ...(assignees.length === 0 ? {} : { assignee_ids: assignees })
                },
                content: true
              },
              Issue
            ),
            issueOf
          )
        )
      )
    }),
    edit: (repo, number, { title, body, state }) =>
      Effect.map(
        rest.write(
          {
            method: "PUT",
            path: `${project}/issues/{issue_iid}`,
            params: { id: projectId(repo), issue_iid: number },
            body: {
              title,
              description: body,
              ...(state === undefined ? {} : { state_event: state === "closed" ? "close" : "reopen" })
            },
            content: true
          },
          Issue
        ),
        issueOf
      ),
    // Only owners may delete on GitLab; the configuration refuses resolved_action delete for this kind.
    remove: (repo, number) => Effect.asVoid(issues.edit(repo, number, { state: "closed" }))
  }

  return {
    issues,
    addLabel: (repo, number, name) =>
      Effect.as(
        rest.write(
          {
            method: "PUT",
            path: `${project}/merge_requests/{merge_request_iid}`,
            params: { id: projectId(repo), merge_request_iid: number },
            body: { add_labels: name },
            content: true
          },
          Schema.Unknown
        ),
        { hostId: name, url: undefined }
      ),
    file: (repo, ref, path) =>
      textOfFile(
        rest.get(
          {
            path: `${project}/repository/files/{file_path}`,
            params: { id: projectId(repo), file_path: path },
            query: { ref }
          },
          RepoFile
        )
      ),
    commitAuthor: (repo, head) =>
      Effect.map(
        rest.get(
          { path: `${project}/repository/commits/{sha}`, params: { id: projectId(repo), sha: head } },
          WrittenCommit
        ),
        ({ author_email: email, author_name: name }) => ({
          name: name ?? undefined,
          email: email || undefined,
          account: undefined
        })
      ),
    accountOf: (email) =>
      Effect.map(accounts({ search: email }), (found) => (found.length === 1 ? found[0]?.username : undefined)),
    commitComments: {
      create: (repo, head, body) =>
        Effect.as(
          rest.write(
            {
              method: "POST",
              path: `${project}/repository/commits/{sha}/comments`,
              params: { id: projectId(repo), sha: head },
              body: { note: body },
              content: true
            },
            Schema.Unknown
          ),
          { hostId: head, url: undefined }
        ),
      find: Effect.fnUntraced(function* (repo, head, marker) {
        const me = yield* self
        const notes = yield* rest.pages(
          { path: `${project}/repository/commits/{sha}/comments`, params: { id: projectId(repo), sha: head } },
          CommitNote,
          pages
        )
        const found = notes.findLast(
          (note) => sameName(note.author?.username, me.username) && note.note.includes(marker)
        )
        return found === undefined ? undefined : { hostId: head, url: undefined, body: found.note }
      })
    }
  }
}
