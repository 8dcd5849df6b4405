/** Issues of GitLab. The API takes assignees by id. */
import { Effect, Schema } from "effect"
import type { ForgeClient, HostIssue, HostIssues, HostLabel } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { orWithoutAssignees } from "../hosts/WithoutAssignees.ts"
import { accountIds } from "./Accounts.ts"
import { Issue } from "./Responses.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./Paths.ts"
import { pages, refusals } from "./Facts.ts"
import type { Repo } from "../../domain/Change.ts"
import { isRefused } from "../http/HostWords.ts"

/** Labels of GitLab. The API takes names; a missing label is created when it is used. */

const gitlabLabels = (rest: Rest) => {
  const coloured = new Set<string>()

  /** Sets the colour of a label once. */
  const ensure = (repo: Repo, { name, color }: HostLabel) => {
    const key = `${repo.fullName}\n${name}`
    if (color === undefined || coloured.has(key)) return Effect.void
    return rest
      .write(
        {
          method: "POST",
          path: `${projectPath}/labels`,
          params: { id: projectId(repo) },
          body: { name, color: `#${color}` },
          content: false
        },
        Schema.Unknown
      )
      .pipe(
        Effect.catchIf(isRefused(refusals.labelExists), () => Effect.void),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }
  return { ensure }
}

const toIssue = (issue: typeof Issue.Type): HostIssue => ({
  hostId: String(issue.iid),
  url: issue.web_url ?? undefined,
  number: issue.iid,
  title: issue.title,
  body: issue.description ?? "",
  state: issue.state === "opened" ? "open" : "closed",
  comments: issue.user_notes_count ?? 0,
  labels: issue.labels ?? []
})

const createIssue = (rest: Rest, ensure: ReturnType<typeof gitlabLabels>["ensure"]): HostIssues["create"] =>
  Effect.fnUntraced(function* (repo, issue) {
    for (const label of issue.labels) yield* ensure(repo, label)
    const labels = issue.labels.map(({ name }) => name).join(",")
    return yield* orWithoutAssignees(issue, (wanted) =>
      Effect.flatMap(accountIds(rest, wanted.assignees), (assignees) =>
        Effect.map(
          rest.write(
            {
              method: "POST",
              path: `${projectPath}/issues`,
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
          toIssue
        )
      )
    )
  })

const hostIssues = (rest: Rest, ensure: ReturnType<typeof gitlabLabels>["ensure"]): HostIssues => {
  const issues: HostIssues = {
    list: Effect.fnUntraced(function* (repo, state, max) {
      const query = {
        state: state === "open" ? "opened" : "closed",
        scope: "created_by_me",
        order_by: "created_at",
        sort: "desc"
      }
      const listed = yield* rest.pages(
        { path: `${projectPath}/issues`, params: { id: projectId(repo) }, query },
        Issue,
        {
          ...pages,
          max
        }
      )
      return listed.map(toIssue)
    }),
    read: (repo, number) =>
      Effect.map(
        rest.get(
          { path: `${projectPath}/issues/{issue_iid}`, params: { id: projectId(repo), issue_iid: number } },
          Issue
        ),
        (issue) => ({
          ...toIssue(issue),
          ...(issue.confidential === true ? { confidential: true as const } : {})
        })
      ),
    create: createIssue(rest, ensure),
    edit: Effect.fnUntraced(function* (repo, number, { title, body, state, labels }) {
      if (labels !== undefined) yield* ensure(repo, labels.added)
      const edited = yield* rest.write(
        {
          method: "PUT",
          path: `${projectPath}/issues/{issue_iid}`,
          params: { id: projectId(repo), issue_iid: number },
          body: {
            title,
            description: body,
            ...(state === undefined ? {} : { state_event: state === "closed" ? "close" : "reopen" }),
            ...(labels === undefined ? {} : { add_labels: labels.added.name, remove_labels: labels.removed.join(",") })
          },
          content: true
        },
        Issue
      )
      return toIssue(edited)
    }),
    // Only owners may delete issues on GitLab; the configuration refuses resolved_action delete for this kind.
    remove: (repo, number) => Effect.asVoid(issues.edit(repo, number, { state: "closed" }))
  }
  return issues
}

export const gitlabIssues = (rest: Rest): Pick<ForgeClient, "issues" | "addLabel"> => ({
  issues: hostIssues(rest, gitlabLabels(rest).ensure),
  addLabel: (repo, number, name) =>
    Effect.as(
      rest.write(
        {
          method: "PUT",
          path: mergeRequestPath,
          params: mergeRequest(repo, number),
          body: { add_labels: name },
          content: true
        },
        Schema.Unknown
      ),
      { hostId: name, url: undefined }
    )
})
