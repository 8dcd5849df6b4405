/**
 * Facts about GitLab (gitlab.com and self-managed, REST API version 4) that its API description does not contain. The client, `aicr doctor`
 * and docs/publishing.md follow them.
 *
 * | Fact | Where it matters |
 * | --- | --- |
 * | Publishing drafts applies to all drafts of the account | gitlab/Review.ts |
 * | A line outside of the diff refuses its draft, not the review | gitlab/Review.ts |
 * | The list of notes has those at lines, too | gitlab/Comments.ts |
 * | Some versions refuse line numbers next to line codes in the position of a range | gitlab/Review.ts |
 * | The difference of a merge request is computed in the background: `diff_refs` is null until then | gitlab/Pulls.ts |
 * | A status that is set already is refused with 400 and words | gitlab/Comments.ts |
 * | Only personal, project and group tokens read their own record | gitlab/Permissions.ts |
 * | Deliveries of a webhook are listed from 17.3 on, comments that people edit are delivered from 16.1 on | gitlab/Webhooks.ts, outputs/KeptNotes.ts |
 * | Only groups have a list of merge requests, with those of their subgroups; the name of a person is no group (404) | gitlab/Changes.ts |
 * | A listed merge request has the name of its project in `references` from 12.7 on | gitlab/Changes.ts |
 * | A list of more than 10,000 items has no total | Http.ts |
 * | A label that exists is refused with 409 | gitlab/Labels.ts |
 */

/** Number of items of a page. */
export const pages = { name: "per_page", value: 100 } as const

/** Words of GitLab in refusals. */
export const gitlabWords = {
  /** The commit status is set already. */
  gitlabKeepsStatus: /Cannot transition status/,
  /** This version cannot parse the position. It reports a line outside of the diff differently. */
  gitlabRefusesPosition: /valid json schema/
} as const

/** Meanings of refusals, by what was requested. */
export const refusals = {
  /** A label with this name exists: it keeps its colour. */
  labelExists: ["conflict"],
  /** The namespace belongs to a person, or is hidden. */
  noGroup: ["not_found"],
  /** The repository does not have the commit. */
  commitUnknown: ["not_found"],
  /** This version does not list the deliveries of a webhook. */
  noDeliveries: ["not_found"],
  /** A token of another kind, or of a version without such records. */
  tokenWithoutRecord: ["not_found", "forbidden", "unauthorized", "invalid"]
} as const

/** Level of the role Developer, the lowest that may push. */
export const developer = 30
/** Maximum length of the description of a commit status. */
export const maxStatusLength = 255
