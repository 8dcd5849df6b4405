/** Issues of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient, HostIssues, HostLabel, LabelChange } from "../Forge.ts"
import { toHostIssue } from "../hosts/GithubResponses.ts"
import type { Call, Rest } from "../http/Http.ts"
import { isBy, listCreated } from "../hosts/OwnAccount.ts"
import type { Account, OwnAccount } from "../hosts/OwnAccount.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { orWithoutAssignees } from "../hosts/WithoutAssignees.ts"
import { Issue, Label, toAuthor } from "./Responses.ts"
import { pages, refusals } from "./Facts.ts"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import { isRefused } from "../http/HostWords.ts"

/** Labels of Gitea and Forgejo. Their APIs take ids; a name is resolved to its id, and created when it is missing. */

const plainColor = "6b7280"

const makeLabelIds = (rest: Rest) => {
  const idsByRepo = new Map<string, Map<string, number>>()
  /** Reads the labels again after a failure, because one may have been created or deleted. Gitea accepts duplicate names. */
  const forgetOnFailure = <A, R>(write: Effect.Effect<A, ForgeError, R>, repo: Repo) =>
    Effect.tapError(write, () => Effect.sync(() => idsByRepo.delete(repo.fullName)))

  const readIds = (call: Call) =>
    Effect.map(
      rest.pages(call, Label, pages),
      (labels) => new Map(labels.map(({ name, id }) => [name.toLowerCase(), id] as const))
    )

  /**
   * Adds the labels of the organisation, which count in all its repositories. An owner who is a person has none, and a token without
   * the scope `read:organization` does not see them.
   */
  const addOrganisationIds = Effect.fnUntraced(function* (repo: Repo, ids: Map<string, number>) {
    const { owner } = ownerAndName(repo)
    const shared = yield* Effect.catchIf(
      readIds({ path: "/orgs/{org}/labels", params: { org: owner } }),
      isRefused(refusals.labelsHidden),
      () => Effect.succeed(new Map<string, number>())
    )
    for (const [name, id] of shared) if (!ids.has(name)) ids.set(name, id)
  })

  /** Returns the ids of labels by name, read once per repository, and of its organisation where one of `names` is missing. */
  const knownIds = Effect.fnUntraced(function* (repo: Repo, names: ReadonlyArray<string>) {
    const ids =
      idsByRepo.get(repo.fullName) ?? (yield* readIds({ path: `${repoPath}/labels`, params: ownerAndName(repo) }))
    idsByRepo.set(repo.fullName, ids)
    if (names.some((name) => !ids.has(name.toLowerCase()))) yield* addOrganisationIds(repo, ids)
    return ids
  })

  /** Returns the ids of labels. One that neither the repository nor its organisation has is created. */
  const labelIds = Effect.fnUntraced(function* (repo: Repo, labels: ReadonlyArray<HostLabel>) {
    if (labels.length === 0) return []
    const params = ownerAndName(repo)
    const ids = yield* knownIds(
      repo,
      labels.map(({ name }) => name)
    )
    const matching: Array<number> = []
    for (const { name, color } of labels) {
      const id = ids.get(name.toLowerCase())
      if (id !== undefined) {
        matching.push(id)
        continue
      }
      const body = { name, color: `#${color ?? plainColor}` }
      const label = yield* rest.write(
        { method: "POST", path: `${repoPath}/labels`, params, body, content: false },
        Label
      )
      ids.set(name.toLowerCase(), label.id)
      matching.push(label.id)
    }
    return matching
  })

  return { forgetOnFailure, knownIds, labelIds }
}

const giteaLabels = (rest: Rest) => {
  const { forgetOnFailure, knownIds, labelIds } = makeLabelIds(rest)

  const attach = Effect.fnUntraced(function* (repo: Repo, number: number, label: HostLabel) {
    const labels = yield* labelIds(repo, [label])
    const params = { ...ownerAndName(repo), index: number }
    const path = `${repoPath}/issues/{index}/labels`
    yield* rest.write({ method: "POST", path, params, body: { labels }, content: true }, Schema.Unknown)
  }, forgetOnFailure)

  /** A label that a person removed or deleted in the meantime stays removed. */
  const relabel = Effect.fnUntraced(function* (repo: Repo, number: number, { added, removed }: LabelChange) {
    yield* attach(repo, number, added)
    const ids = yield* knownIds(repo, removed)
    for (const name of removed) {
      const id = ids.get(name.toLowerCase())
      if (id === undefined) continue
      const params = { ...ownerAndName(repo), index: number, id }
      const path = `${repoPath}/issues/{index}/labels/{id}`
      yield* Effect.catchIf(
        rest.write({ method: "DELETE", path, params, content: true }, Schema.Unknown),
        isRefused(refusals.labelGone),
        () => Effect.void
      )
    }
  })

  return { attach, labelIds, forgetOnFailure, relabel }
}

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
