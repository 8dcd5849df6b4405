/**
 * Gitea's REST API, and Forgejo's, which differs in the `Dialect`. What the API cannot do is decided here: a Gitea comment stands on
 * one line, so a range is a comment on its last line; only one of the two positions may be set, the old one wins if both are.
 */
import { Effect, Schema } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Person, Repo } from "../../domain/Change.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import { ForgeError } from "../Forge.ts"
import type { ForgeClient, HostPull, OwnText } from "../Forge.ts"
import { make } from "../Http.ts"
import { missingWriteAccess } from "../WriteAccess.ts"
import { apiUrl, basicHeader, dispatcher, ownerAndName, remembered, sameName, tokenCredential } from "../Profile.ts"
import {
  Comment,
  Commit,
  ListedPull,
  Permission,
  Pull,
  Repository,
  Review,
  ReviewComment,
  Status,
  User,
  personOf,
  usernameOf
} from "./answers.ts"
import { giteaIssues } from "./issues.ts"
import { giteaThreads } from "./threads.ts"

export interface Dialect {
  /** A comment may span lines: `extra_lines_count` after its first line. */
  readonly ranges: boolean
}

const pages = { name: "limit", value: 50 } as const
const statusContext = "aicr/review"

const pullOf = (pull: typeof Pull.Type, asked: Repo): HostPull => ({
  number: pull.number,
  state: pull.merged ? "merged" : pull.state,
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
  repo: pull.base.repo
    ? {
        fullName: pull.base.repo.full_name,
        cloneUrl: pull.base.repo.clone_url,
        webUrl: pull.base.repo.html_url,
        hostId: pull.base.repo.id
      }
    : asked
})

/** Where Gitea puts a comment. Line numbers, despite the name `position`. */
const positionOf = (comment: InlineComment, dialect: Dialect) => {
  const first = dialect.ranges && comment.start !== undefined ? comment.start : comment.line
  return {
    path: comment.path,
    body: comment.body,
    new_position: comment.side === "new" ? first : 0,
    old_position: comment.side === "old" ? first : 0,
    ...(first === comment.line ? {} : { extra_lines_count: comment.line - first })
  }
}

const textOf = (item: typeof Comment.Type | typeof Review.Type): OwnText => ({
  hostId: String(item.id),
  url: item.html_url ?? undefined,
  body: item.body ?? ""
})

export const giteaClient =
  (dialect: Dialect) =>
  (profile: TriggerProfile): ForgeClient => {
    const rest = make({
      apiUrl: apiUrl(profile),
      credential: tokenCredential(profile, (token) => ["authorization", `token ${token}`]),
      headers: {},
      dispatcher: dispatcher(profile)
    })
    const repoPath = "/repos/{owner}/{repo}"

    const self: ForgeClient["self"] = remembered(
      Effect.flatMap(rest.get({ path: "/user" }, User), (user): Effect.Effect<Person, ForgeError> => {
        const person = personOf(user)
        return person === undefined ? Effect.fail(anonymous) : Effect.succeed(person)
      })
    )

    const pull: ForgeClient["pull"] = (repo, number) =>
      Effect.map(
        rest.get({ path: `${repoPath}/pulls/{index}`, params: { ...ownerAndName(repo), index: number } }, Pull),
        (found) => pullOf(found, repo)
      )

    const openPulls: ForgeClient["openPulls"] = (repo, head) =>
      Effect.map(
        rest.pages(
          {
            path: `${repoPath}/pulls`,
            params: ownerAndName(repo),
            query: { state: "open", sort: "recentupdate" }
          },
          ListedPull,
          pages
        ),
        (found) => found.flatMap((one) => (one.state === "open" && one.head.sha === head ? [one.number] : []))
      )

    const newestCommit: ForgeClient["newestCommit"] = (repo, { branch, until }) => {
      const one = { limit: 1, page: 1, stat: "false", verification: "false", files: "false" }
      const query = { sha: branch, until: until === undefined ? undefined : new Date(until).toISOString(), ...one }
      return Effect.map(
        rest.get({ path: `${repoPath}/commits`, params: ownerAndName(repo), query }, Schema.Array(Commit)),
        (commits) => commits[0]?.sha
      )
    }

    const branchHead: ForgeClient["branchHead"] = Effect.fnUntraced(function* (repo, branch) {
      const tip = yield* newestCommit(repo, { branch })
      if (tip === undefined) {
        return yield* new ForgeError({
          reason: "not_found",
          operation: `GET ${repoPath}/commits`,
          message: `branch ${branch} of ${repo.fullName} has no commits`
        })
      }
      return tip
    })

    const writers = ["write", "admin", "owner"]
    const permission = (repo: Repo, username: string) =>
      rest.get(
        {
          path: `${repoPath}/collaborators/{collaborator}/permission`,
          params: { ...ownerAndName(repo), collaborator: username }
        },
        Permission
      )
    /** Only administrators of a repository may ask for the permission of others; everyone may list who can be assigned. */
    const assignable = (repo: Repo) =>
      rest.get({ path: `${repoPath}/assignees`, params: ownerAndName(repo) }, Schema.Array(User))
    const canWrite: ForgeClient["canWrite"] = (repo, username) =>
      permission(repo, username).pipe(
        Effect.map((answer) => writers.includes(answer.permission)),
        Effect.catchIf(
          (error) => error.reason === "forbidden",
          () => Effect.map(assignable(repo), (users) => users.some((user) => sameName(usernameOf(user), username)))
        ),
        Effect.catchIf(
          (error) => error.reason === "not_found",
          () => Effect.succeed(false)
        )
      )

    /** A token's scopes cannot be asked for; a read of each kind is refused with the name of the scope that lacks. */
    const missing: ForgeClient["missing"] = Effect.fnUntraced(function* (repo) {
      const params = ownerAndName(repo)
      const { permissions } = yield* rest.get({ path: repoPath, params }, Repository)
      yield* rest.get({ path: `${repoPath}/issues`, params, query: { limit: 1 } }, Schema.Unknown)
      return missingWriteAccess(permissions)
    })

    const createReview: ForgeClient["createReview"] = (repo, number, review) =>
      Effect.map(
        rest.write(
          {
            method: "POST",
            path: `${repoPath}/pulls/{index}/reviews`,
            params: { ...ownerAndName(repo), index: number },
            body: {
              event: review.event,
              commit_id: review.head,
              body: review.body,
              comments: review.comments.map((comment) => positionOf(comment, dialect))
            },
            content: true
          },
          Review
        ),
        (made) => ({ hostId: String(made.id), url: made.html_url ?? undefined, refused: [] })
      )

    const reviewTexts: ForgeClient["reviewTexts"] = Effect.fnUntraced(function* (repo, number) {
      const me = yield* self
      const path = `${repoPath}/pulls/{index}/reviews`
      const params = { ...ownerAndName(repo), index: number }
      const reviews = yield* rest.pages({ path, params }, Review, pages)
      const own = reviews.filter((review) => sameName(usernameOf(review.user), me.username))
      const texts: Array<OwnText> = []
      for (const review of own) {
        texts.push(textOf(review))
        if (review.comments_count === 0) continue
        const comments = yield* rest.get(
          { path: `${path}/{id}/comments`, params: { ...params, id: review.id } },
          Schema.NullOr(Schema.Array(ReviewComment))
        )
        texts.push(...(comments ?? []).map(textOf))
      }
      return texts
    })

    const createComment: ForgeClient["createComment"] = (repo, number, body) =>
      Effect.map(
        rest.write(
          {
            method: "POST",
            path: `${repoPath}/issues/{index}/comments`,
            params: { ...ownerAndName(repo), index: number },
            body: { body },
            content: true
          },
          Comment
        ),
        textOf
      )

    const updateComment: ForgeClient["updateComment"] = (repo, _number, hostId, body) =>
      Effect.map(
        rest.write(
          {
            method: "PATCH",
            path: `${repoPath}/issues/comments/{id}`,
            params: { ...ownerAndName(repo), id: hostId },
            body: { body },
            content: true
          },
          Comment
        ),
        textOf
      )

    const findComment: ForgeClient["findComment"] = Effect.fnUntraced(function* (repo, number, marker) {
      const me = yield* self
      // This list is not paged: Gitea answers with all comments at once.
      const comments = yield* rest.get(
        { path: `${repoPath}/issues/{index}/comments`, params: { ...ownerAndName(repo), index: number } },
        Schema.Array(Comment)
      )
      const found = comments.findLast(
        (comment) => sameName(usernameOf(comment.user), me.username) && (comment.body ?? "").includes(marker)
      )
      return found === undefined ? undefined : textOf(found)
    })

    const setStatus: ForgeClient["setStatus"] = (repo, head, status) =>
      Effect.map(
        rest.write(
          {
            method: "POST",
            path: `${repoPath}/statuses/{sha}`,
            params: { ...ownerAndName(repo), sha: head },
            body: {
              context: statusContext,
              state: status.state,
              description: status.description,
              ...(status.url === undefined ? {} : { target_url: status.url })
            },
            content: false
          },
          Status
        ),
        (made) => ({ hostId: String(made.id), url: made.url ?? undefined })
      )

    const { token } = profile
    return {
      gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("aicr", token)),
      pull,
      branchHead,
      newestCommit,
      openPulls,
      self,
      canWrite,
      missing,
      createReview,
      reviewTexts,
      createComment,
      updateComment,
      findComment,
      setStatus,
      ...giteaIssues(rest, self),
      threads: giteaThreads(rest, self, updateComment),
      accountOf: undefined,
      commitComments: undefined
    }
  }

const anonymous = new ForgeError({
  reason: "unauthorized",
  operation: "GET /user",
  message: "GET /user names no account; check token_env of the trigger"
})
