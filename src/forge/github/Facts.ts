/**
 * Facts about GitHub (github.com and Enterprise Server, REST API version 2022-11-28) that its API description does not contain. The client,
 * `aicr doctor` and docs/publishing.md follow them.
 *
 * | Fact | Where it matters |
 * | --- | --- |
 * | An account has one review that is not submitted; a second one is refused with 422 and words | github/Reviews.ts |
 * | A limit of requests is refused with 403, with 422 and words, or in a GraphQL response of status 200 | HostResponse.ts, github/Graphql.ts |
 * | One line outside of the diff refuses the whole review with 422 | outputs/ReviewSend.ts |
 * | REST neither resolves a thread nor names who did; GraphQL resolves where the credential permits it | github/ResolveThread.ts |
 * | A classic token reports its scopes in a header, an installation its permissions, a fine-grained token neither | github/Missing.ts |
 * | A search has at most 1,000 results from 4,000 repositories and 30 requests a minute apart from other requests, and may say that it is incomplete | github/ChangedPulls.ts |
 * | A search for an owner that is unknown or hidden is refused with 422 | github/ChangedPulls.ts |
 * | The first page of a comparison has the files, too | github/Changes.ts |
 * | Only an app writes check runs; a required check passes with `success`, `neutral` or `skipped`, and the newest of a name counts | github/CheckRuns.ts |
 * | The response to the request for a token of an installation has its permissions | github/Access.ts |
 * | The installation of an app has no role in a repository | github/Permissions.ts |
 * | A renamed or transferred repository is redirected to | Http.ts, WriteAccess.ts |
 */

/** Number of items of a page. */
export const pages = { name: "per_page", value: 100 } as const

/** Most results of a search. */
export const maxSearchResults = 1000

/** Words of GitHub in refusals. */
export const githubWords = {
  /** A limit that has the status of a refusal, or that of a success (GraphQL). */
  githubLimits: /rate limit|abuse detection/i,
  /** A limit that has the status of an invalid request. */
  githubTooQuick: /submitted too quickly/i,
  /** The account has a review that is not submitted. */
  githubOnePending: /one pending review/i
} as const

/** Meanings of refusals, by what was requested. */
export const refusals = {
  /** A label with this name exists: it keeps its colour. */
  labelExists: ["invalid"],
  /** The issue or the label is gone. */
  labelGone: ["not_found"],
  /** No pull request has the commit, or the repository does not have it. */
  commitUnknown: ["not_found", "invalid"],
  /** The account has no role in the repository. */
  noCollaborator: ["not_found"],
  /** The owner is unknown, or hidden from the account. */
  ownerUnknown: ["invalid"],
  /** The check run is gone, or of another repository or app. */
  checkGone: ["not_found"],
  /** The texts or the lines of a check run. */
  detailsRefused: ["invalid"],
  /** The app may not write check runs. */
  checkForbidden: ["forbidden"],
  /** The app is not installed on the repository. */
  notInstalled: ["not_found"]
} as const

/** Levels of a role that may push, as `permission` of a collaborator has them. */
export const writers: ReadonlyArray<string> = ["write", "admin"]
/** Levels of a permission of an app, the lowest first. */
export const levels: ReadonlyArray<string> = ["read", "write", "admin"]
