/** GitHub's REST API, hosted and Enterprise Server, with a token or an app's installation. */
import { Effect, Redacted, Schema } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Repo } from "../../domain/Change.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import type { ForgeClient, ForgeError, HostPull, OwnText } from "../Forge.ts"
import { make } from "../Http.ts"
import type { Rest, RestOptions } from "../Http.ts"
import { missingWriteAccess } from "../WriteAccess.ts"
import { apiUrl, basicHeader, dispatcher, ownerAndName, remembered, sameName, tokenCredential } from "../Profile.ts"
import { Commit, ListedPull, Note, Permission, Pull, Repository, Status, User, personOf } from "./answers.ts"
import { appAuth } from "./AppAuth.ts"
import { githubIssues } from "./issues.ts"
import { missingOfInstallation, missingOfScopes } from "./missing.ts"
import { githubThreads } from "./threads.ts"

const pages = { name: "per_page", value: 100 } as const
const statusContext = "aicr/review"
const longestStatus = 140

const pullOf = (pull: typeof Pull.Type): HostPull => ({
  number: pull.number,
  state: pull.merged === true ? "merged" : pull.state,
  draft: pull.draft ?? false,
  head: pull.head.sha,
  base: pull.base.sha,
  headRef: pull.head.ref,
  baseRef: pull.base.ref,
  title: pull.title,
  description: pull.body ?? "",
  url: pull.html_url,
  author: personOf(pull.user),
  labels: (pull.labels ?? []).map((label) => label.name),
  repo: {
    fullName: pull.base.repo.full_name,
    cloneUrl: pull.base.repo.clone_url,
    webUrl: pull.base.repo.html_url,
    hostId: pull.base.repo.id
  }
})

/** Where GitHub puts a comment: its last line, and the first one where there are several. */
const placeOf = (comment: InlineComment) => {
  const side = comment.side === "new" ? "RIGHT" : "LEFT"
  return {
    path: comment.path,
    body: comment.body,
    line: comment.line,
    side,
    ...(comment.start === undefined || comment.start >= comment.line
      ? {}
      : { start_line: comment.start, start_side: side })
  }
}

const textOf = (item: typeof Note.Type): OwnText => ({
  hostId: String(item.id),
  url: item.html_url ?? undefined,
  body: item.body ?? ""
})

/** How a profile signs its requests: the same REST client for all repositories, or one per installation. */
interface Access {
  readonly rest: (repo: Repo) => Rest
  readonly self: ForgeClient["self"]
  readonly gitAuthorization: ForgeClient["gitAuthorization"]
  /** What the credential itself may not do; what its account may not do is asked of the repository. */
  readonly missing: (repo: Repo, isPrivate: boolean) => Effect.Effect<ReadonlyArray<string>, ForgeError>
}

const access = (profile: TriggerProfile): Access => {
  const options: Omit<RestOptions, "credential"> = {
    apiUrl: apiUrl(profile),
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
    dispatcher: dispatcher(profile)
  }
  const { app } = profile.settings
  if (app !== undefined) {
    const auth = appAuth(profile.name, app, options)
    const bearer = (token: Redacted.Redacted) => ({
      account: auth.account,
      headers: { authorization: Redacted.make(`Bearer ${Redacted.value(token)}`) },
      secrets: [token]
    })
    return {
      rest: (repo) => make({ ...options, credential: Effect.map(auth.token(repo), bearer) }),
      self: auth.self,
      gitAuthorization: (repo) => Effect.map(auth.token(repo), (token) => basicHeader("x-access-token", token)),
      missing: (repo) => Effect.map(auth.permissions(repo), missingOfInstallation)
    }
  }
  const rest = make({
    ...options,
    credential: tokenCredential(profile, (token) => ["authorization", `Bearer ${token}`])
  })
  const { token } = profile
  return {
    rest: () => rest,
    self: remembered(
      Effect.map(rest.get({ path: "/user" }, User), (user) => personOf(user) ?? { username: user.login })
    ),
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("x-access-token", token)),
    missing: (_, isPrivate) =>
      Effect.map(rest.headers({ path: "/user" }), (headers) => missingOfScopes(headers["x-oauth-scopes"], isPrivate))
  }
}

export const githubClient = (profile: TriggerProfile): ForgeClient => {
  const { rest, self, gitAuthorization, missing } = access(profile)
  const repoPath = "/repos/{owner}/{repo}"

  const own = Effect.fnUntraced(function* (repo: Repo, path: string, params: Record<string, string | number>) {
    const me = yield* self
    const notes = yield* rest(repo).pages({ path, params: { ...ownerAndName(repo), ...params } }, Note, pages)
    return notes.filter((note) => sameName(note.user?.login, me.username)).map(textOf)
  })

  const canWrite = (repo: Repo, username: string): Effect.Effect<boolean, ForgeError> =>
    rest(repo)
      .get(
        {
          path: `${repoPath}/collaborators/{username}/permission`,
          params: { ...ownerAndName(repo), username }
        },
        Permission
      )
      .pipe(
        Effect.map(({ permission }) => permission === "write" || permission === "admin"),
        Effect.catchIf(
          (error) => error.reason === "not_found",
          () => Effect.succeed(false)
        )
      )

  const comment = (
    repo: Repo,
    call: {
      readonly method: "POST" | "PATCH"
      readonly path: string
      readonly params: Record<string, string | number>
    },
    body: string
  ) =>
    Effect.map(
      rest(repo).write(
        { ...call, params: { ...ownerAndName(repo), ...call.params }, body: { body }, content: true },
        Note
      ),
      textOf
    )

  return {
    self,
    gitAuthorization,
    canWrite,
    missing: Effect.fnUntraced(function* (repo) {
      const found = yield* rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, Repository)
      const ofCredential = yield* missing(repo, found.private === true)
      // An app's installation has no role; what GitHub says of one there is not about it.
      return profile.settings.app === undefined
        ? [...ofCredential, ...missingWriteAccess(found.permissions)]
        : ofCredential
    }),
    pull: (repo, number) =>
      Effect.map(
        rest(repo).get(
          { path: `${repoPath}/pulls/{pull_number}`, params: { ...ownerAndName(repo), pull_number: number } },
          Pull
        ),
        pullOf
      ),
    openPulls: (repo, head) =>
      rest(repo)
        .pages(
          { path: `${repoPath}/commits/{commit_sha}/pulls`, params: { ...ownerAndName(repo), commit_sha: head } },
          ListedPull,
          pages
        )
        .pipe(
          Effect.map((found) =>
            found.flatMap((one) => (one.state === "open" && one.head.sha === head ? [one.number] : []))
          ),
          Effect.catchIf(
            (error) => error.reason === "not_found" || error.reason === "invalid",
            () => Effect.succeed([])
          )
        ),
    branchHead: (repo, branch) =>
      Effect.map(
        rest(repo).get(
          { path: `${repoPath}/commits/{ref}`, params: { ...ownerAndName(repo), ref: `heads/${branch}` } },
          Commit
        ),
        (commit) => commit.sha
      ),
    newestCommit: (repo, { branch, until }) =>
      Effect.map(
        rest(repo).get(
          {
            path: `${repoPath}/commits`,
            params: ownerAndName(repo),
            query: { sha: branch, until: until === undefined ? undefined : new Date(until).toISOString(), per_page: 1 }
          },
          Schema.Array(Commit)
        ),
        (commits) => commits[0]?.sha
      ),
    createReview: (repo, number, review) =>
      Effect.map(
        rest(repo).write(
          {
            method: "POST",
            path: `${repoPath}/pulls/{pull_number}/reviews`,
            params: { ...ownerAndName(repo), pull_number: number },
            body: {
              event: review.event,
              commit_id: review.head,
              body: review.body,
              comments: review.comments.map(placeOf)
            },
            content: true
          },
          Note
        ),
        (made) => ({ hostId: String(made.id), url: made.html_url ?? undefined, refused: [] })
      ),
    reviewTexts: Effect.fnUntraced(function* (repo, number) {
      const reviews = yield* own(repo, `${repoPath}/pulls/{pull_number}/reviews`, { pull_number: number })
      const comments = yield* own(repo, `${repoPath}/pulls/{pull_number}/comments`, { pull_number: number })
      return [...reviews, ...comments]
    }),
    createComment: (repo, number, body) =>
      comment(
        repo,
        { method: "POST", path: `${repoPath}/issues/{issue_number}/comments`, params: { issue_number: number } },
        body
      ),
    updateComment: (repo, _number, hostId, body) =>
      comment(
        repo,
        { method: "PATCH", path: `${repoPath}/issues/comments/{comment_id}`, params: { comment_id: hostId } },
        body
      ),
    findComment: (repo, number, marker) =>
      Effect.map(own(repo, `${repoPath}/issues/{issue_number}/comments`, { issue_number: number }), (comments) =>
        comments.findLast((found) => found.body.includes(marker))
      ),
    setStatus: (repo, head, status) =>
      Effect.map(
        rest(repo).write(
          {
            method: "POST",
            path: `${repoPath}/statuses/{sha}`,
            params: { ...ownerAndName(repo), sha: head },
            body: {
              context: statusContext,
              state: status.state,
              description: status.description.slice(0, longestStatus),
              ...(status.url === undefined ? {} : { target_url: status.url })
            },
            content: false
          },
          Status
        ),
        (made) => ({ hostId: String(made.id), url: made.url ?? undefined })
      ),
    ...githubIssues(rest, self),
    threads: githubThreads(rest, self)
  }
}
