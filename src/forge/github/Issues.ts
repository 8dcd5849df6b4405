/** Issues of GitHub. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostIssues } from "../Forge.ts"
import { toHostIssue } from "../GithubResponses.ts"
import type { Rest } from "../Http.ts"
import { isBy, listCreated } from "../OwnAccount.ts"
import type { Account, OwnAccount } from "../OwnAccount.ts"
import { ownerAndName } from "../Profile.ts"
import { orWithoutAssignees } from "../WithoutAssignees.ts"
import { Issue, toAuthor } from "./Responses.ts"
import { githubLabels } from "./Labels.ts"

const repoPath = "/repos/{owner}/{repo}"
const pages = { name: "per_page", value: 100 } as const

/** GitHub returns labels as names or as objects. */
const labelName = (label: string | { readonly name?: string | null | undefined }): ReadonlyArray<string> => {
  const name = typeof label === "string" ? label : label.name
  return name === undefined || name === null ? [] : [name]
}

const hostIssues = (
  rest: (repo: Repo) => Rest,
  account: OwnAccount,
  { ensure }: ReturnType<typeof githubLabels>
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
        (issue) => ({ ...toHostIssue(issue), labels: (issue.labels ?? []).flatMap(labelName) })
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
        toHostIssue
      ),
    // The REST API cannot delete issues; the configuration refuses resolved_action delete for this kind.
    remove: (repo, number) => Effect.asVoid(issues.edit(repo, number, { state: "closed" }))
  }
  return issues
}

export const githubIssues = (
  rest: (repo: Repo) => Rest,
  account: OwnAccount
): Pick<ForgeClient, "issues" | "addLabel"> => ({
  issues: hostIssues(rest, account, githubLabels(rest)),
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
    )
})
