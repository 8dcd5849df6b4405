/** Issues, labels, files and commit comments of GitHub. Labels go by name; one that is missing is created by naming it. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostIssue, HostIssues, HostLabel, OwnText } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { RepoFile, segments, textOfFile } from "../RepoFile.ts"
import { orWithoutAssignees } from "../WithoutAssignees.ts"
import { Issue, Note, WrittenCommit } from "./answers.ts"

const repoPath = "/repos/{owner}/{repo}"
const pages = { name: "per_page", value: 100 } as const

const issueOf = (issue: typeof Issue.Type): HostIssue => ({
  hostId: String(issue.number),
  url: issue.html_url ?? undefined,
  number: issue.number,
  title: issue.title,
  body: issue.body ?? "",
  state: issue.state === "open" ? "open" : "closed",
  comments: issue.comments ?? 0
})

/** GitHub names labels by themselves or as objects. */
const labelName = (label: string | { readonly name?: string | null | undefined }): ReadonlyArray<string> => {
  const name = typeof label === "string" ? label : label.name
  return name === undefined || name === null ? [] : [name]
}

const textOf = (note: typeof Note.Type): OwnText => ({
  hostId: String(note.id),
  url: note.html_url ?? undefined,
  body: note.body ?? ""
})

export const githubIssues = (
  rest: (repo: Repo) => Rest,
  self: ForgeClient["self"]
): Pick<ForgeClient, "issues" | "addLabel" | "file" | "commitAuthor" | "accountOf" | "commitComments"> => {
  const coloured = new Set<string>()

  /** Gives a label its colour, once; GitHub says 422 for one that is there, which is left as it is. */
  const ensure = (repo: Repo, { name, color }: HostLabel) => {
    const key = `${repo.fullName}\n${name}`
    if (color === undefined || coloured.has(key)) return Effect.void
    return rest(repo)
      .write(
        {
          method: "POST",
          path: `${repoPath}/labels`,
          params: ownerAndName(repo),
          body: { name, color },
          content: false
        },
        Schema.Unknown
      )
      .pipe(
        Effect.catchIf(
          (error) => error.reason === "invalid",
          () => Effect.void
        ),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }

  const issues: HostIssues = {
    list: Effect.fnUntraced(function* (repo, state, most) {
      const me = yield* self
      const found = yield* rest(repo).pages(
        { path: `${repoPath}/issues`, params: ownerAndName(repo), query: { state, creator: me.username } },
        Issue,
        { ...pages, most }
      )
      return found.filter((issue) => !issue.pull_request && sameName(issue.user?.login, me.username)).map(issueOf)
    }),
    read: (repo, number) =>
      Effect.map(
        rest(repo).get(
          { path: `${repoPath}/issues/{issue_number}`, params: { ...ownerAndName(repo), issue_number: number } },
          Issue
        ),
        (issue) => ({ ...issueOf(issue), labels: (issue.labels ?? []).flatMap(labelName) })
      ),
    create: Effect.fnUntraced(function* (repo, issue) {
      for (const label of issue.labels) yield* ensure(repo, label)
      const { title, body } = issue
      const labels = issue.labels.map(({ name }) => name)
      return yield* orWithoutAssignees(issue, ({ assignees }) =>
        Effect.map(
          rest(repo).write(
            {
              method: "POST",
              path: `${repoPath}/issues`,
              params: ownerAndName(repo),
              body: { title, body, labels, assignees },
              content: true
            },
            Issue
          ),
          issueOf
        )
      )
    }),
    edit: (repo, number, { title, body, state }) =>
      Effect.map(
        rest(repo).write(
          {
            method: "PATCH",
            path: `${repoPath}/issues/{issue_number}`,
            params: { ...ownerAndName(repo), issue_number: number },
            body: { title, body, state },
            content: true
          },
          Issue
        ),
        issueOf
      ),
    // The REST API deletes no issues; the configuration refuses resolved_action delete for this kind.
    remove: (repo, number) => Effect.asVoid(issues.edit(repo, number, { state: "closed" }))
  }

  return {
    issues,
    addLabel: (repo, number, name) =>
      Effect.as(
        rest(repo).write(
          {
            method: "POST",
            path: `${repoPath}/issues/{issue_number}/labels`,
            params: { ...ownerAndName(repo), issue_number: number },
            body: { labels: [name] },
            content: true
          },
          Schema.Unknown
        ),
        { hostId: name, url: undefined }
      ),
    file: (repo, ref, path) => {
      const { template, params } = segments(path)
      return textOfFile(
        rest(repo).get(
          { path: `${repoPath}/contents/${template}`, params: { ...ownerAndName(repo), ...params }, query: { ref } },
          RepoFile
        )
      )
    },
    commitAuthor: (repo, head) =>
      Effect.map(
        rest(repo).get(
          { path: `${repoPath}/commits/{ref}`, params: { ...ownerAndName(repo), ref: head } },
          WrittenCommit
        ),
        ({ author, commit }) => ({
          name: commit.author?.name ?? undefined,
          email: commit.author?.email ?? undefined,
          account: author?.login ?? undefined
        })
      ),
    accountOf: undefined,
    commitComments: {
      create: (repo, head, body) =>
        Effect.map(
          rest(repo).write(
            {
              method: "POST",
              path: `${repoPath}/commits/{commit_sha}/comments`,
              params: { ...ownerAndName(repo), commit_sha: head },
              body: { body },
              content: true
            },
            Note
          ),
          textOf
        ),
      find: Effect.fnUntraced(function* (repo, head, marker) {
        const me = yield* self
        const notes = yield* rest(repo).pages(
          { path: `${repoPath}/commits/{commit_sha}/comments`, params: { ...ownerAndName(repo), commit_sha: head } },
          Note,
          pages
        )
        return notes
          .filter((note) => sameName(note.user?.login, me.username))
          .map(textOf)
          .findLast((note) => note.body.includes(marker))
      })
    }
  }
}
