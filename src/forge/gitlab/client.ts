/** GitLab's REST API. A merge request is addressed by its `iid` within its project; reviews are in review.ts. */
import { Effect, Schema } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostPull, HostWrite, OwnText } from "../Forge.ts"
import { make } from "../Http.ts"
import { apiUrl, basicHeader, dispatcher, remembered, sameName, tokenCredential } from "../Profile.ts"
import {
  Commit,
  Discussion,
  ListedMergeRequest,
  Member,
  MergeRequest,
  Note,
  Project,
  Status,
  Token,
  User,
  personOf
} from "./answers.ts"
import { gitlabIssues } from "./issues.ts"
import { missingOfRole, missingOfScopes } from "./missing.ts"
import { createReview } from "./review.ts"
import { gitlabThreads } from "./threads.ts"

const pages = { name: "per_page", value: 100 } as const
const mr = "/projects/{id}/merge_requests/{merge_request_iid}"
const statusName = "aicr/review"
const longestStatus = 255
/** Developer: the least role that may push. */
const writes = 30

const projectId = (repo: Repo): string | number => repo.hostId ?? repo.fullName
const states = { opened: "open", locked: "open", closed: "closed", merged: "merged" } as const

const pullOf = (found: typeof MergeRequest.Type, repo: Repo): HostPull => ({
  number: found.iid,
  state: states[found.state],
  draft: found.draft ?? found.work_in_progress ?? false,
  head: found.diff_refs?.head_sha ?? found.sha ?? "",
  base: found.diff_refs?.start_sha ?? "",
  headRef: found.source_branch,
  baseRef: found.target_branch,
  title: found.title,
  description: found.description ?? "",
  url: found.web_url,
  author: found.author ? personOf(found.author) : undefined,
  labels: found.labels ?? [],
  repo
})

const textOf = (note: typeof Note.Type): OwnText => ({ hostId: String(note.id), url: undefined, body: note.body })

export const gitlabClient = (profile: TriggerProfile): ForgeClient => {
  const rest = make({
    apiUrl: apiUrl(profile),
    credential: tokenCredential(profile, (token) => ["private-token", token]),
    headers: {},
    dispatcher: dispatcher(profile)
  })
  const { token } = profile
  const self: ForgeClient["self"] = remembered(Effect.map(rest.get({ path: "/user" }, User), personOf))
  const at = (repo: Repo, number: number) => ({ id: projectId(repo), merge_request_iid: number })

  return {
    self,
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("oauth2", token)),
    pull: (repo, number) =>
      Effect.map(rest.get({ path: mr, params: at(repo, number) }, MergeRequest), (found) => pullOf(found, repo)),
    openPulls: (repo, head) =>
      rest
        .pages(
          {
            path: "/projects/{id}/repository/commits/{sha}/merge_requests",
            params: { id: projectId(repo), sha: head }
          },
          ListedMergeRequest,
          pages
        )
        .pipe(
          Effect.map((found) => found.flatMap((one) => (one.state === "opened" && one.sha === head ? [one.iid] : []))),
          Effect.catchIf(
            (error) => error.reason === "not_found",
            () => Effect.succeed([])
          )
        ),
    branchHead: (repo, branch) =>
      Effect.map(
        rest.get(
          { path: "/projects/{id}/repository/commits/{sha}", params: { id: projectId(repo), sha: branch } },
          Commit
        ),
        (commit) => commit.id
      ),
    newestCommit: (repo, { branch, until }) =>
      Effect.map(
        rest.get(
          {
            path: "/projects/{id}/repository/commits",
            params: { id: projectId(repo) },
            query: {
              ref_name: branch,
              until: until === undefined ? undefined : new Date(until).toISOString(),
              per_page: 1
            }
          },
          Schema.Array(Commit)
        ),
        (commits) => commits[0]?.id
      ),
    canWrite: (repo, username) =>
      Effect.map(
        rest.pages(
          { path: "/projects/{id}/members/all", params: { id: projectId(repo) }, query: { query: username } },
          Member,
          pages
        ),
        (members) => members.some((member) => sameName(member.username, username) && member.access_level >= writes)
      ),
    missing: Effect.fnUntraced(function* (repo) {
      const { permissions } = yield* rest.get({ path: "/projects/{id}", params: { id: projectId(repo) } }, Project)
      const { project_access: project, group_access: group } = permissions ?? {}
      const levels = [project, group].flatMap((role) => role?.access_level ?? [])
      // Only tokens of people, projects and groups can be asked about themselves.
      const own = yield* Effect.catchIf(
        rest.get({ path: "/personal_access_tokens/self" }, Token),
        ({ reason }) =>
          reason === "not_found" || reason === "forbidden" || reason === "unauthorized" || reason === "invalid",
        () => Effect.succeed(undefined)
      )
      return [...missingOfScopes(own?.scopes), ...missingOfRole(levels.length === 0 ? undefined : Math.max(...levels))]
    }),
    createReview: (repo, number, review) => createReview(rest, at(repo, number), review),
    reviewTexts: Effect.fnUntraced(function* (repo, number) {
      const me = yield* self
      const all = yield* rest.pages({ path: `${mr}/discussions`, params: at(repo, number) }, Discussion, pages)
      return all
        .flatMap((discussion) => discussion.notes)
        .filter((note) => sameName(note.author.username, me.username))
        .map(textOf)
    }),
    createComment: (repo, number, body) =>
      Effect.map(
        rest.write(
          { method: "POST", path: `${mr}/notes`, params: at(repo, number), body: { body }, content: true },
          Note
        ),
        textOf
      ),
    updateComment: (repo, number, hostId, body) =>
      Effect.map(
        rest.write(
          {
            method: "PUT",
            path: `${mr}/notes/{note_id}`,
            params: { ...at(repo, number), note_id: hostId },
            body: { body },
            content: true
          },
          Note
        ),
        textOf
      ),
    findComment: Effect.fnUntraced(function* (repo, number, marker) {
      const me = yield* self
      const query = { order_by: "created_at", sort: "asc" }
      const notes = yield* rest.pages({ path: `${mr}/notes`, params: at(repo, number), query }, Note, pages)
      const found = notes.findLast((note) => sameName(note.author.username, me.username) && note.body.includes(marker))
      return found === undefined ? undefined : textOf(found)
    }),
    setStatus: (repo, head, status) =>
      rest
        .write(
          {
            method: "POST",
            path: "/projects/{id}/statuses/{sha}",
            params: { id: projectId(repo), sha: head },
            body: {
              name: statusName,
              state: status.state === "failure" ? "failed" : status.state,
              description: status.description.slice(0, longestStatus),
              ...(status.url === undefined ? {} : { target_url: status.url })
            },
            content: false
          },
          Status
        )
        .pipe(
          Effect.map((made): HostWrite => ({ hostId: String(made.id), url: made.target_url ?? undefined })),
          // GitLab refuses to set a status that already stands; that is what was wanted.
          Effect.catchIf(
            (error) => error.reason === "invalid" && error.message.includes("Cannot transition status"),
            () => Effect.succeed({ hostId: statusName, url: undefined })
          )
        ),
    ...gitlabIssues(rest, self, projectId),
    threads: gitlabThreads(rest, self, at)
  }
}
