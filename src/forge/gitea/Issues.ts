/** Issues of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient, HostIssues } from "../Forge.ts"
import { toHostIssue } from "../GithubResponses.ts"
import type { Rest } from "../Http.ts"
import { isBy, listCreated } from "../OwnAccount.ts"
import type { Account, OwnAccount } from "../OwnAccount.ts"
import { ownerAndName } from "../Profile.ts"
import { orWithoutAssignees } from "../WithoutAssignees.ts"
import { Issue, toAuthor } from "./Responses.ts"
import { giteaLabels } from "./Labels.ts"
import { pages } from "./Facts.ts"

const repoPath = "/repos/{owner}/{repo}"

const labelName = ({ name }: { readonly name: string }): string => name

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
      (issue) => ({ ...toHostIssue(issue), labels: (issue.labels ?? []).map(labelName) })
    ),
  create: createIssue(rest, labels),
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
      toHostIssue
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
})

export const giteaIssues = (rest: Rest, own: OwnAccount): Pick<ForgeClient, "issues" | "addLabel"> => {
  const labels = giteaLabels(rest)
  return {
    issues: hostIssues(rest, own, labels),
    addLabel: Effect.fnUntraced(function* (repo, number, name) {
      const ids = yield* labels.labelIds(repo, [{ name, color: undefined }])
      yield* rest.write(
        {
          method: "POST",
          path: `${repoPath}/issues/{index}/labels`,
          params: { ...ownerAndName(repo), index: number },
          body: { labels: ids },
          content: true
        },
        Schema.Unknown
      )
      return { hostId: name, url: undefined }
    }, labels.forgetOnFailure)
  }
}
