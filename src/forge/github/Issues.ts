/** Issues of GitHub. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostIssues, HostLabel, LabelChange } from "../Forge.ts"
import { toHostIssue } from "../hosts/GithubResponses.ts"
import type { Rest } from "../http/Http.ts"
import { isBy, listCreated } from "../hosts/OwnAccount.ts"
import type { Account, OwnAccount } from "../hosts/OwnAccount.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { orWithoutAssignees } from "../hosts/WithoutAssignees.ts"
import { Issue, toAuthor } from "./Responses.ts"
import { pages, refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

/** Labels of GitHub. The API takes names; a missing label is created when it is used. */

const githubLabels = (rest: (repo: Repo) => Rest) => {
  const coloured = new Set<string>()

  /** Sets the colour of a label once. GitHub responds with 422 for an existing label, which keeps its colour. */
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
        Effect.catchIf(isRefused(refusals.labelExists), () => Effect.void),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }

  const attach = (repo: Repo, number: number, name: string) =>
    rest(repo).write(
      {
        method: "POST",
        path: `${repoPath}/issues/{issue_number}/labels`,
        params: { ...ownerAndName(repo), issue_number: number },
        body: { labels: [name] },
        content: true
      },
      Schema.Unknown
    )

  /** A label that a person removed in the meantime stays removed. */
  const relabel = Effect.fnUntraced(function* (repo: Repo, number: number, { added, removed }: LabelChange) {
    yield* ensure(repo, added)
    yield* attach(repo, number, added.name)
    for (const name of removed) {
      const params = { ...ownerAndName(repo), issue_number: number, name }
      const path = `${repoPath}/issues/{issue_number}/labels/{name}`
      const call = { method: "DELETE", path, params, content: true } as const
      yield* Effect.catchIf(rest(repo).write(call, Schema.Unknown), isRefused(refusals.labelGone), () => Effect.void)
    }
  })
  return { attach, ensure, relabel }
}

const hostIssues = (
  rest: (repo: Repo) => Rest,
  account: OwnAccount,
  { ensure, relabel }: ReturnType<typeof githubLabels>
): HostIssues => {
  const issues: HostIssues = {
    list: (repo, state, max) =>
      listCreated(account, (own: Account) =>
        Effect.map(
          rest(repo).pages(
            { path: `${repoPath}/issues`, params: ownerAndName(repo), query: { state, creator: own.username } },
            Issue,
            { ...pages, max }
          ),
          (listed) => listed.filter((issue) => !issue.pull_request && isBy(toAuthor(issue.user), own)).map(toHostIssue)
        )
      ),
    read: (repo, number) =>
      Effect.map(
        rest(repo).get(
          { path: `${repoPath}/issues/{issue_number}`, params: { ...ownerAndName(repo), issue_number: number } },
          Issue
        ),
        toHostIssue
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
          toHostIssue
        )
      )
    }),
    edit: Effect.fnUntraced(function* (repo, number, { title, body, state, labels }) {
      const edited = yield* rest(repo).write(
        {
          method: "PATCH",
          path: `${repoPath}/issues/{issue_number}`,
          params: { ...ownerAndName(repo), issue_number: number },
          body: { title, body, state },
          content: true
        },
        Issue
      )
      if (labels !== undefined) yield* relabel(repo, number, labels)
      return toHostIssue(edited)
    }),
    // The REST API cannot delete issues; the configuration refuses resolved_action delete for this kind.
    remove: (repo, number) => Effect.asVoid(issues.edit(repo, number, { state: "closed" }))
  }
  return issues
}

export const githubIssues = (
  rest: (repo: Repo) => Rest,
  account: OwnAccount
): Pick<ForgeClient, "issues" | "addLabel"> => {
  const labels = githubLabels(rest)
  return {
    issues: hostIssues(rest, account, labels),
    addLabel: (repo, number, name) => Effect.as(labels.attach(repo, number, name), { hostId: name, url: undefined })
  }
}
