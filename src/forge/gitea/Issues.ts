/** Issues of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient, HostIssues } from "../Forge.ts"
import { toHostIssue } from "../hosts/GithubResponses.ts"
import type { Rest } from "../http/Http.ts"
import { isBy, listCreated } from "../hosts/OwnAccount.ts"
import type { Account, OwnAccount } from "../hosts/OwnAccount.ts"
import { ownerAndName } from "../http/Profile.ts"
import { orWithoutAssignees } from "../hosts/WithoutAssignees.ts"
import { Issue, toAuthor } from "./Responses.ts"
import { giteaLabels } from "./Labels.ts"
import { pages } from "./Facts.ts"

const repoPath = "/repos/{owner}/{repo}"

type Labels = ReturnType<typeof giteaLabels>

const createIssue = (rest: Rest, { labelIds, forgetOnFailure }: Labels): HostIssues["create"] =>
  Effect.fnUntraced(function* (repo, issue) {
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
        toHostIssue
      )
    )
  }, forgetOnFailure)

const hostIssues = (rest: Rest, own: OwnAccount, labels: Labels): HostIssues => ({
  list: (repo, state, max) =>
    listCreated(own, (account: Account) =>
      Effect.map(
        rest.pages(
          {
            path: `${repoPath}/issues`,
            params: ownerAndName(repo),
            query: { state, type: "issues", created_by: account.username }
          },
          Issue,
          { ...pages, max }
        ),
        (issues) =>
          issues.filter((issue) => !issue.pull_request && isBy(toAuthor(issue.user), account)).map(toHostIssue)
      )
    ),
  read: (repo, number) =>
    Effect.map(
      rest.get({ path: `${repoPath}/issues/{index}`, params: { ...ownerAndName(repo), index: number } }, Issue),
      toHostIssue
    ),
  create: createIssue(rest, labels),
  edit: Effect.fnUntraced(function* (repo, number, { title, body, state, labels: change }) {
    const edited = yield* rest.write(
      {
        method: "PATCH",
        path: `${repoPath}/issues/{index}`,
        params: { ...ownerAndName(repo), index: number },
        body: { title, body, state },
        content: true
      },
      Issue
    )
    if (change !== undefined) yield* labels.relabel(repo, number, change)
    return toHostIssue(edited)
  }),
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
})

export const giteaIssues = (rest: Rest, own: OwnAccount): Pick<ForgeClient, "issues" | "addLabel"> => {
  const labels = giteaLabels(rest)
  return {
    issues: hostIssues(rest, own, labels),
    addLabel: (repo, number, name) =>
      Effect.as(labels.attach(repo, number, { name, color: undefined }), { hostId: name, url: undefined })
  }
}
